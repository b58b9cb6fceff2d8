package bourdon.webflux;

import bourdon.work.CannotListen;
import bourdon.work.Server;
import bourdon.work.Settings;
import bourdon.work.Work;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import reactor.netty.ChannelBindException;

import java.util.HashMap;
import java.util.Map;

/** The application that Spring Boot makes of {@link Endpoints}. What never changes is in application.properties. */
final class WebFluxServer implements Server {
    @SpringBootApplication
    static class Application {
    }

    /** The property that says whether Spring makes the JSON of replies. */
    static final String RENDERS = "bourdon.renders";

    private final Map<String, Object> properties = new HashMap<>();
    private final Settings settings;
    private ConfigurableApplicationContext context;

    WebFluxServer(Settings settings) {
        this.settings = settings;
        properties.put("server.address", settings.address());
        properties.put("server.port", settings.port());
        // Of zero, Boot makes a port of its choice; of -1, no admin server.
        properties.put("management.server.port", settings.adminPort() == 0 ? -1 : settings.adminPort());
        // Without an admin server nobody reads what Boot counts of each request.
        properties.put("management.observations.enable.http.server.requests", settings.adminPort() != 0);
        properties.put(RENDERS, settings.frameworkRenders());
        settings.duration("IDLE_TIMEOUT").filter(timeout -> !timeout.isZero())
                .ifPresent(timeout -> properties.put("server.netty.idle-timeout", timeout));
    }

    @Override
    public void start() throws CannotListen {
        SpringApplication application = new SpringApplication(Application.class);
        application.setDefaultProperties(properties);
        // What stops the server decides on the exit status too.
        application.setRegisterShutdownHook(false);
        Work work = new Work(settings);
        application.addInitializers(starting ->
                ((GenericApplicationContext) starting).registerBean(Work.class, () -> work));
        try {
            context = application.run();
        } catch (RuntimeException e) {
            boolean isAdmin = settings.adminPort() != 0 && refusedPort(e) == settings.adminPort();
            throw isAdmin ? new CannotListen("ADMIN_PORT", Settings.LOOPBACK, settings.adminPort(), e)
                    : new CannotListen("PORT", settings.address(), settings.port(), e);
        }
    }

    /** The port that a failure to start is about, or 0. */
    private static int refusedPort(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ChannelBindException refused) {
                return refused.localPort();
            }
        }
        return 0;
    }

    @Override
    public boolean hasAdmin() {
        return true;
    }

    @Override
    public void stop() {
        context.close();
    }
}
