package bourdon.tomcat.work;

import bourdon.tomcat.Endpoint;
import bourdon.tomcat.TomcatServer;
import bourdon.work.Reply;
import bourdon.work.Settings;
import bourdon.work.Target;
import org.apache.catalina.Context;

import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;

/** The same server, whose one servlet does one kind of work, each in the way that is usual in Java. */
public final class Main {
    private static final Reply PING = new Reply(200, Reply.JSON, "{\"message\":\"pong\"}".getBytes(UTF_8));
    private static final Pattern KEY = Pattern.compile("0*([1-9][0-9]{0,2}|1000)");

    private Main() {
    }

    public static void main(String[] arguments) throws InterruptedException {
        Target.run("java-tomcat-work", Main::server);
    }

    private static TomcatServer server(Settings settings) {
        Kinds.Kind kind = Kinds.of(settings);
        return new TomcatServer(settings, connector -> { }) {
            @Override
            protected void deploy(Context context) {
                route(context, "/ping", Endpoint.get(request -> PING));
                route(context, "/work", Endpoint.get(request -> reply(kind, request.getParameter("key"))));
            }
        };
    }

    private static Reply reply(Kinds.Kind kind, String key) {
        if (key == null || !KEY.matcher(key).matches()) {
            return text(400, "key must be a whole number from 1 to 1000\n");
        }
        try {
            return text(200, kind.value(Integer.parseInt(key)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return text(500, "the server is being stopped\n");
        } catch (Exception e) {
            return text(500, "the work failed: " + e.getMessage() + "\n");
        }
    }

    private static Reply text(int status, String body) {
        return new Reply(status, Reply.TEXT, body.getBytes(UTF_8));
    }
}
