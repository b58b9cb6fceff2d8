package bourdon.tomcat;

import bourdon.work.Server;
import bourdon.work.Settings;
import bourdon.work.Target;
import bourdon.work.Work;
import jakarta.servlet.http.HttpServlet;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardService;
import org.apache.catalina.startup.ExpandWar;
import org.apache.catalina.startup.Tomcat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Embedded Tomcat, one servlet for each endpoint. */
public class TomcatServer implements Server {
    /** Kept, because the logging of the JDK forgets the level of a logger that nobody holds. */
    private static final Logger LOG = Logger.getLogger("org.apache");

    private final Tomcat tomcat = new Tomcat();
    private final Work work;
    private final boolean renders;

    /**
     * Makes the server; it does not listen yet.
     *
     * @param change what is different from the default connector
     */
    public TomcatServer(Settings settings, Consumer<Connector> change) {
        work = new Work(settings);
        renders = settings.frameworkRenders();
        Connector connector = new Connector();
        connector.setPort(settings.port());
        connector.setProperty("address", settings.address());
        settings.duration("IDLE_TIMEOUT").ifPresent(timeout ->
                connector.setProperty("keepAliveTimeout", Integer.toString(milliseconds(timeout))));
        settings.count("MAX_THREADS").ifPresent(most -> connector.setProperty("maxThreads", Integer.toString(most)));
        settings.count("MAX_KEEP_ALIVE_REQUESTS").ifPresent(most ->
                connector.setProperty("maxKeepAliveRequests", Integer.toString(most)));
        // An error to listen would otherwise be logged only.
        connector.setThrowOnFailure(true);
        // Lets stop() close the listening socket before the requests in flight have ended.
        connector.setProperty("bindOnInit", "false");
        change.accept(connector);
        tomcat.setConnector(connector);
        ((StandardService) tomcat.getService()).setGracefulStopAwaitMillis(Target.GRACE.toMillis());
    }

    /** For Tomcat, an endless timeout is -1. */
    private static int milliseconds(Duration timeout) {
        return timeout.isZero() ? -1 : (int) Math.min(timeout.toMillis(), Integer.MAX_VALUE);
    }

    @Override
    public void start() throws LifecycleException, IOException {
        // Tomcat reports on its start, and its failure at length. Warnings about requests are let through.
        LOG.setLevel(Level.OFF);
        // Tomcat wants a folder for the work files of JSPs and uploads. There are none, so it need not stay.
        Path folder = Files.createTempDirectory("java-tomcat");
        try {
            tomcat.setBaseDir(folder.toString());
            deploy(tomcat.addContext("", null));
            tomcat.start();
        } finally {
            ExpandWar.delete(folder.toFile());
        }
        LOG.setLevel(Level.WARNING);
    }

    /** Puts the servlets where they belong. */
    protected void deploy(Context context) {
        // The empty pattern is exactly "/".
        route(context, "", Endpoint.get(request -> work.welcome()));
        route(context, "/rest/hello", Endpoint.get(request -> {
            sleep();
            return work.hello();
        }));
        route(context, "/index", Endpoint.get(request -> {
            sleep();
            return work.index();
        }));
        route(context, "/hello/*", Endpoint.getSegment(work::greet));
        route(context, "/user/*", Endpoint.getSegment(work::user));
        route(context, "/ping", Endpoint.get(request -> renders ? work.renderedPing() : work.ping()));
        route(context, "/submit", Endpoint.post(request ->
                work.submit(request.getInputStream().readNBytes(Work.SUBMIT_LIMIT + 1))));
        route(context, "/hash", Endpoint.get(request ->
                work.hash(request.getParameter("n"), request.getParameter("nonce"))));
        route(context, "/whoami", Endpoint.get(request -> work.whoAmI()));
    }

    /** Puts a servlet at a pattern. */
    protected static void route(Context context, String pattern, HttpServlet endpoint) {
        String name = "endpoint " + pattern;
        Tomcat.addServlet(context, name, endpoint).addMapping(pattern);
    }

    private void sleep() throws IOException {
        if (work.delay().isZero()) {
            return;
        }
        try {
            Thread.sleep(work.delay().toMillis());
        } catch (InterruptedException e) {
            throw new IOException("the server is being stopped", e);
        }
    }

    @Override
    public void stop() throws LifecycleException {
        tomcat.stop();
    }
}
