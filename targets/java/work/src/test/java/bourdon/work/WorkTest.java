package bourdon.work;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class WorkTest {
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String JSON = "application/json";

    private final Work work = new Work(Duration.ZERO, null);

    private static void same(Reply got, int status, String contentType, String body) {
        assertEquals(status, got.status());
        assertEquals(contentType, got.contentType());
        assertEquals(body, new String(got.body(), UTF_8));
    }

    @Test
    void fixedReplies() {
        same(work.welcome(), 200, TEXT, "Welcome!\n");
        same(work.hello(), 200, TEXT, "Hello world");
        same(work.index(), 200, TEXT, "index\n");
        same(work.greet("ann"), 200, TEXT, "hello, ann!\n");
        same(work.greet("é"), 200, TEXT, "hello, é!\n");
        same(work.ping(), 200, JSON, "{\"message\":\"pong\"}");
    }

    @Test
    void userIsJson() {
        same(work.user("42"), 200, JSON, "{\"id\":\"42\",\"name\":\"User\"}");
        same(work.user("<&>é/"), 200, JSON, "{\"id\":\"<&>é/\",\"name\":\"User\"}");
        same(work.user("a\"b\\c\n\0"), 200, JSON, "{\"id\":\"a\\\"b\\\\c\\n\\u0000\",\"name\":\"User\"}");
    }

    @Test
    void submitGivesTheBodyBack() {
        byte[] body = " {\"a\": [1, 2.50,null]}\n".getBytes(UTF_8);
        Reply got = work.submit(body);
        assertEquals(200, got.status());
        assertEquals(JSON, got.contentType());
        assertArrayEquals(body, got.body());
        same(work.submit("{broken".getBytes(UTF_8)), 400, TEXT, "the body is not valid JSON\n");
    }

    @Test
    void submitTakesOneMebibyte() {
        String largest = '"' + "x".repeat((1 << 20) - 2) + '"';
        assertEquals(200, work.submit(largest.getBytes(UTF_8)).status());
        same(work.submit((largest + " ").getBytes(UTF_8)), 413, TEXT, "the body is larger than 1 MiB\n");
    }

    // The digests come from Python's hashlib.sha256(b"some data\n" * n + nonce).
    @ParameterizedTest
    @CsvSource({
        "1, , 5aa03f96c77536579166fba147929626cc3a97960e994057a9d80271a736d10f",
        "3, é&1, b36907cc095ffbd52d47cb5f6a6653ec518d40c09c5f898c5ff4f8fce05f9ef7",
        "007, a, 7342e2d2ec0f3e33b74876532624a2015f41940755ec02c5b0d60de41d937fc4",
        "100000, x, ab33747262ffb6bd98a9fc6590825afecafccaabc4cae1fbaa0d04e4f1a615a0"
    })
    void hashGivesKnownDigests(String n, String nonce, String digest, @TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("data"), "some data\n");
        same(new Work(Duration.ZERO, file).hash(n, nonce), 200, TEXT, digest);
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "0", "000", "-1", "+1", "1.5", "100001", "99999999999999999999", "x", "1 ", "١"})
    void hashRefusesOtherNumbers(String n, @TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("data"), "");
        assertEquals(400, new Work(Duration.ZERO, file).hash(n, "").status());
    }

    @Test
    void hashWithoutItsFile(@TempDir Path folder) {
        assertEquals(503, work.hash("1", "").status());
        assertEquals(500, new Work(Duration.ZERO, folder.resolve("gone")).hash("1", "").status());
    }

    @Test
    void whoAmINamesTheThread() throws Exception {
        String here = new String(work.whoAmI().body(), UTF_8);
        assertTrue(here.matches("thread [0-9]+"), here);
        same(work.whoAmI(), 200, TEXT, here);
        FutureTask<Reply> other = new FutureTask<>(work::whoAmI);
        new Thread(other).start();
        assertNotEquals(here, new String(other.get().body(), UTF_8));
    }
}
