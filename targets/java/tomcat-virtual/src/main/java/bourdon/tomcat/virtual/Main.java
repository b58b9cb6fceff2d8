package bourdon.tomcat.virtual;

import bourdon.tomcat.TomcatServer;
import bourdon.work.Target;

/** The same server, which starts a virtual thread for each request instead of taking one of a pool. */
public final class Main {
    private Main() {
    }

    public static void main(String[] arguments) throws InterruptedException {
        Target.run("java-tomcat-virtual", settings -> new TomcatServer(settings, connector ->
                connector.setProperty("useVirtualThreads", "true")));
    }
}
