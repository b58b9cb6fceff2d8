package bourdon.tomcat.work;

import bourdon.work.BadSetting;
import bourdon.work.Settings;
import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class KindsTest {
    @TempDir
    Path scratch;

    private Settings settings(String... pairs) throws IOException {
        String lines = IntStream.rangeClosed(1, Kinds.KEYS).mapToObj(key -> key + "\tvalue of " + key + "\n")
                .collect(Collectors.joining());
        Path file = Files.writeString(scratch.resolve("work.tsv"), lines);
        Map<String, String> variables = new HashMap<>(
                Map.of("PORT", "8080", "SCRATCH", scratch.toString(), "WORK_FILE", file.toString()));
        for (int i = 0; i < pairs.length; i += 2) {
            variables.put(pairs[i], pairs[i + 1]);
        }
        return new Settings(variables::get);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "sleep", "file", "sqlite"})
    void eachKindGivesItsValue(String name) throws Exception {
        givesItsValue(settings("WORK", name));
    }

    @Test
    void anotherServerGivesTheValue() throws Exception {
        HttpServer backend = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        backend.createContext("/hello/", exchange -> {
            byte[] body = exchange.getRequestURI().getPath().replace("/hello/", "value of ").getBytes(UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        backend.start();
        try {
            givesItsValue(settings("WORK", "http", "BACKEND", "http://127.0.0.1:" + backend.getAddress().getPort()));
        } finally {
            backend.stop(0);
        }
    }

    private static void givesItsValue(Settings settings) throws Exception {
        Kinds.Kind kind = Kinds.of(settings);
        for (int key : new int[] {1, 10, 1000}) {
            assertEquals("value of " + key, kind.value(key));
        }
    }

    /** The same figures stand in the tests of the other languages. */
    @ParameterizedTest
    @CsvSource({"1, 3083738941", "1000, 3655363837"})
    void computed(int key, String expected) {
        assertEquals(expected, Kinds.computed(key));
    }

    @ParameterizedTest
    @CsvSource({"WORK, play, WORK", "WORK, http, BACKEND", "WORK_FILE, /no/where, WORK_FILE"})
    void whatCannotBeUsedIsNamed(String variable, String value, String named) throws IOException {
        Settings settings = settings(variable, value);
        String message = assertThrows(BadSetting.class, () -> Kinds.of(settings)).getMessage();
        assertTrue(message.startsWith(named + "="), message);
        assertEquals(1, message.lines().count(), message);
    }
}
