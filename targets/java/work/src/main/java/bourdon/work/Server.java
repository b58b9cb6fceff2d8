package bourdon.work;

/** A framework's server. It is made before anything listens, and refuses bad settings then. */
public interface Server {
    /**
     * Listens and returns; the framework's own threads serve.
     *
     * @throws Exception if it cannot; {@link CannotListen} if that is not about PORT
     */
    void start() throws Exception;

    /**
     * Takes no new connections and waits for the requests in flight. It may take longer than
     * {@link Target#GRACE}: the process ends then in any case.
     */
    void stop() throws Exception;

    /** Whether the framework serves /metrics on ADMIN_PORT by itself. */
    default boolean hasAdmin() {
        return false;
    }
}
