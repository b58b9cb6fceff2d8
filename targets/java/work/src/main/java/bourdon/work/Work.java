package bourdon.work;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The work behind the endpoints, the same in every Java target. A target adds only its framework, so that a
 * difference between two targets is a difference between their frameworks.
 */
public final class Work {
    /** The largest body /submit takes, in bytes. */
    public static final int SUBMIT_LIMIT = 1 << 20;
    /** The largest number of passes /hash makes. */
    static final int HASH_LIMIT = 100_000;

    /** Answers a /submit body over the limit, for frameworks that refuse one before any handler runs. */
    public static final Reply TOO_LARGE = text(413, "the body is larger than 1 MiB\n");
    /** Answers a request whose path or query cannot be decoded, where the framework leaves that to the handler. */
    public static final Reply BAD_REQUEST = text(400, "the request cannot be read\n");
    /** Answers any other path, where the framework leaves that to the handler. */
    public static final Reply NOT_FOUND = text(404, "there is nothing at this path\n");

    private static final Reply WELCOME = text(200, "Welcome!\n");
    private static final Reply HELLO = text(200, "Hello world");
    private static final Reply INDEX = text(200, "index\n");
    private static final Reply PONG = json("{\"message\":\"pong\"}".getBytes(UTF_8));
    private static final Reply NOT_JSON = text(400, "the body is not valid JSON\n");
    private static final Reply NO_DATA_FILE =
            text(503, "DATA_FILE is not set; start the target with DATA_FILE naming a file to hash\n");
    private static final Reply BAD_PASSES = text(400, "n must be a whole number from 1 to " + HASH_LIMIT + "\n");
    private static final Reply BAD_DATA_FILE = text(500, "DATA_FILE can no longer be read\n");

    private static final Pattern PASSES = Pattern.compile("0*([1-9][0-9]{0,5})");

    private final Duration delay;
    private final Path dataFile;

    public Work(Settings settings) {
        this(settings.handlerDelay(), settings.dataFile());
    }

    Work(Duration delay, Path dataFile) {
        this.delay = delay;
        this.dataFile = dataFile;
    }

    /** How long /rest/hello and /index wait; the waiting itself is the framework's. Zero for not at all. */
    public Duration delay() {
        return delay;
    }

    /** Answers GET /. */
    public Reply welcome() {
        return WELCOME;
    }

    /** Answers GET /rest/hello, after the delay. */
    public Reply hello() {
        return HELLO;
    }

    /** Answers GET /index, after the delay. */
    public Reply index() {
        return INDEX;
    }

    /** Answers GET /hello/:name. */
    public Reply greet(String name) {
        return text(200, "hello, " + name + "!\n");
    }

    /** Answers GET /user/:id. */
    public Reply user(String id) {
        return json(Json.write(User.of(id)));
    }

    /** Answers GET /ping. */
    public Reply ping() {
        return PONG;
    }

    /** Answers GET /ping with JSON that is made for it, where there is no framework that would. */
    public Reply renderedPing() {
        return json(Json.write(Pong.PONG));
    }

    /** Answers POST /submit: the body itself if it is JSON. A caller need not read more than one byte over the limit. */
    public Reply submit(byte[] body) {
        if (body.length > SUBMIT_LIMIT) {
            return TOO_LARGE;
        }
        return Json.isValid(body) ? json(body) : NOT_JSON;
    }

    /**
     * Answers GET /hash?n=N&amp;nonce=X: the SHA-256 of N copies of the data file followed by the nonce. The file is
     * read once; every copy is really hashed.
     *
     * @param n     null if absent
     * @param nonce null if absent
     */
    public Reply hash(String n, String nonce) {
        if (dataFile == null) {
            return NO_DATA_FILE;
        }
        int passes = passes(n);
        if (passes < 1 || passes > HASH_LIMIT) {
            return BAD_PASSES;
        }
        byte[] data;
        try {
            data = Files.readAllBytes(dataFile);
        } catch (IOException e) {
            return BAD_DATA_FILE;
        }
        MessageDigest hash = sha256();
        for (int i = 0; i < passes; i++) {
            hash.update(data);
        }
        if (nonce != null) {
            hash.update(nonce.getBytes(UTF_8));
        }
        return text(200, HexFormat.of().formatHex(hash.digest()));
    }

    /** Answers GET /whoami with the id of the calling thread, so it has to be called on the one that serves the request. */
    public Reply whoAmI() {
        return text(200, "thread " + Thread.currentThread().getId());
    }

    private static int passes(String n) {
        Matcher number = PASSES.matcher(n == null ? "" : n);
        return number.matches() ? Integer.parseInt(number.group(1)) : 0;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private static Reply text(int status, String body) {
        return new Reply(status, Reply.TEXT, body.getBytes(UTF_8));
    }

    private static Reply json(byte[] body) {
        return new Reply(200, Reply.JSON, body);
    }

    /** What GET /user/:id tells, for frameworks that render it themselves. */
    public record User(String id, String name) {
        /** The one with that id. */
        public static User of(String id) {
            return new User(id, "User");
        }
    }

    /** What GET /ping tells, likewise. */
    public record Pong(String message) {
        public static final Pong PONG = new Pong("pong");
    }
}
