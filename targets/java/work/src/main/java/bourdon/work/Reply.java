package bourdon.work;

/**
 * What a handler answers; the target writes it with whatever its framework offers for that.
 *
 * @param body shared between requests, so it must not be changed
 */
public record Reply(int status, String contentType, byte[] body) {
    public static final String TEXT = "text/plain; charset=utf-8";
    public static final String JSON = "application/json";
}
