package bourdon.work;

import java.io.IOException;

/** A port that cannot be listened on. The message is one line: the variable, its value and the cure. */
public final class CannotListen extends Exception {
    /**
     * @param variable where the port came from, PORT or ADMIN_PORT
     * @param host     where it was to listen with that
     * @param cause    what the framework threw, however deep the system's error is in it
     */
    public CannotListen(String variable, String host, int port, Throwable cause) {
        super(message(variable, host, port, root(cause)), cause);
    }

    private static String message(String variable, String host, int port, Throwable root) {
        String address = host + ":" + port;
        // Java has no error number, only the system's words for it.
        String said = String.valueOf(root.getMessage());
        if (said.contains("Address already in use")) {
            return "%s=%d: %s is already in use; stop what listens there or set %s to a free port"
                    .formatted(variable, port, address, variable);
        }
        String reason = root instanceof IOException ? said : root.toString();
        return "%s=%d: cannot listen on %s (%s); set %s to a port this process may use"
                .formatted(variable, port, address, reason.lines().findFirst().orElse(""), variable);
    }

    private static Throwable root(Throwable error) {
        Throwable root = error;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }
}
