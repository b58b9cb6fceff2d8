package bourdon.work;

import java.io.PrintStream;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** The whole life of a target: read the settings, make the server, listen, serve until SIGTERM, and exit. */
public final class Target {
    /** How long requests in flight may take to end once the target is told to stop. The rest is cut off. */
    public static final Duration GRACE = Duration.ofSeconds(1);

    static final int EXIT_OK = 0;
    /** Could not listen, or the server failed. */
    static final int EXIT_SERVE = 1;
    /** A bad or missing setting. */
    static final int EXIT_USAGE = 2;

    private Target() {
    }

    /** Runs a target; does not return. */
    public static void run(String name, Function<Settings, Server> make) throws InterruptedException {
        int status = start(name, System::getenv, System.err, make, Target::stopAtTheEnd);
        if (status != EXIT_OK) {
            // What stops a server need not run for one that did not start.
            Runtime.getRuntime().halt(status);
        }
        Thread.currentThread().join();
    }

    /**
     * Starts a target; what went wrong is one line on {@code err}.
     *
     * @param made is told of the server before it listens
     * @return an exit status, which is good if it serves now
     */
    static int start(String name, UnaryOperator<String> environment, PrintStream err,
                     Function<Settings, Server> make, Consumer<Server> made) {
        try {
            Settings settings = new Settings(environment);
            Server server = make.apply(settings);
            made.accept(server);
            if (settings.adminPort() != 0 && !server.hasAdmin()) {
                Admin.start(settings.adminPort());
            }
            listen(server, settings);
            return EXIT_OK;
        } catch (BadSetting e) {
            err.println(name + ": " + e.getMessage());
            return EXIT_USAGE;
        } catch (CannotListen e) {
            err.println(name + ": " + e.getMessage());
            return EXIT_SERVE;
        }
    }

    private static void listen(Server server, Settings settings) throws CannotListen {
        try {
            server.start();
        } catch (CannotListen e) {
            throw e;
        } catch (Exception e) {
            throw new CannotListen("PORT", settings.address(), settings.port(), e);
        }
    }

    /** Stops the server at SIGTERM or an interrupt. After a signal the JVM's own exit status would not be 0. */
    private static void stopAtTheEnd(Server server) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stop(server, GRACE);
            Runtime.getRuntime().halt(EXIT_OK);
        }));
    }

    /** Stops a server, waiting no longer than this even if it does not mind the time. */
    static void stop(Server server, Duration wait) {
        Thread stopping = new Thread(() -> {
            try {
                server.stop();
            } catch (Exception e) {
                // Its only news is that requests were left over.
            }
        });
        stopping.setDaemon(true);
        stopping.start();
        try {
            stopping.join(wait.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
