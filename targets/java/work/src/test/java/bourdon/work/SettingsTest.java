package bourdon.work;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SettingsTest {
    static UnaryOperator<String> environment(String... pairs) {
        Map<String, String> variables = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            variables.put(pairs[i], pairs[i + 1]);
        }
        return variables::get;
    }

    @Test
    void whoMakesTheJson() {
        for (String text : new String[] {"", "bytes"}) {
            assertEquals(false, new Settings(environment("PORT", "8080", "RENDERING", text)).frameworkRenders());
        }
        assertTrue(new Settings(environment("PORT", "8080", "RENDERING", "framework")).frameworkRenders());
        Settings other = new Settings(environment("PORT", "8080", "RENDERING", "json"));
        assertTrue(assertThrows(BadSetting.class, other::frameworkRenders).getMessage().contains("bytes or framework"));
    }

    @Test
    void fromTheEnvironment(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("data"), "x");
        Settings settings = new Settings(environment("ADDRESS", "0.0.0.0", "PORT", "8080", "ADMIN_PORT", "65535",
                "HANDLER_DELAY", "1500ms",
                "DATA_FILE", file.toString(), "IDLE_TIMEOUT", "0s"));
        assertEquals("0.0.0.0", settings.address());
        assertEquals(8080, settings.port());
        assertEquals(65535, settings.adminPort());
        assertEquals(Duration.ofMillis(1500), settings.handlerDelay());
        assertEquals(file, settings.dataFile());
        assertEquals(Optional.of(Duration.ZERO), settings.duration("IDLE_TIMEOUT"));
    }

    @Test
    void emptyIsUnset() {
        Settings settings =
                new Settings(environment("PORT", "8080", "ADDRESS", "", "ADMIN_PORT", "", "HANDLER_DELAY", "", "IDLE_TIMEOUT", ""));
        assertEquals("127.0.0.1", settings.address());
        assertEquals(0, settings.adminPort());
        assertEquals(Duration.ZERO, settings.handlerDelay());
        assertNull(settings.dataFile());
        assertEquals(Optional.empty(), settings.duration("IDLE_TIMEOUT"));
    }

    @ParameterizedTest
    @CsvSource({"0ms, 0", "10ms, 10", "1s, 1000", "1500ms, 1500", "007s, 7000", "999999999s, 999999999000"})
    void durations(String text, long milliseconds) {
        Settings settings = new Settings(environment("PORT", "8080", "IDLE_TIMEOUT", text));
        assertEquals(Optional.of(Duration.ofMillis(milliseconds)), settings.duration("IDLE_TIMEOUT"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10", "-1s", "+1s", "1 s", "s", "soon", "1.5s", "1m", "1000000000s", "1s\n", "١s"})
    void otherDurations(String text) {
        refused("HANDLER_DELAY", environment("PORT", "8080", "HANDLER_DELAY", text));
    }

    @Test
    void counts() {
        assertEquals(Optional.empty(), new Settings(environment("PORT", "8080", "MAX_THREADS", "")).count("MAX_THREADS"));
        for (String text : new String[] {"1", "400", "99999"}) {
            Settings settings = new Settings(environment("PORT", "8080", "MAX_THREADS", text));
            assertEquals(Optional.of(Integer.valueOf(text)), settings.count("MAX_THREADS"));
        }
        for (String text : new String[] {"0", "-1", "100000", "1.5", "many", " 1"}) {
            Settings settings = new Settings(environment("PORT", "8080", "MAX_THREADS", text));
            assertThrows(BadSetting.class, () -> settings.count("MAX_THREADS"), text);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "0", "00", "65536", "-1", "+1", "1.0", " 1", "99999999999", "a\nb"})
    void otherPorts(String text) {
        refused("PORT", environment("PORT", text));
        refused("ADMIN_PORT", environment("PORT", "1", "ADMIN_PORT", text));
    }

    @Test
    void messagesNameTheValueAndTheCure() {
        assertEquals("PORT is not set; set it to the TCP port to listen on, such as PORT=8080", refused("PORT", environment()));
        assertEquals("PORT=\"http\" is not a TCP port; set it to a whole number from 1 to 65535",
                refused("PORT", environment("PORT", "http")));
        for (String text : new String[] {"localhost", "::", "1.2.3", "1.2.3.256", "1.2.3.4.5"}) {
            assertEquals("ADDRESS=\"" + text + "\" is not an IPv4 address; set it to such as 0.0.0.0, or leave it unset for "
                    + "127.0.0.1", refused("ADDRESS", environment("PORT", "80", "ADDRESS", text)));
        }
        assertEquals("ADMIN_PORT=80 is the same as PORT; give it a port of its own or leave it unset",
                refused("ADMIN_PORT", environment("PORT", "80", "ADMIN_PORT", "80")));
        assertEquals("HANDLER_DELAY=\"10\" is not a duration; set it to a whole number with a unit, such as 10ms or 1s, "
                + "or leave it unset", refused("HANDLER_DELAY", environment("PORT", "80", "HANDLER_DELAY", "10")));
        assertTrue(refused("DATA_FILE", environment("PORT", "80", "DATA_FILE", "/no/where"))
                .startsWith("DATA_FILE=\"/no/where\" cannot be used (no such file); "));
        assertTrue(refused("DATA_FILE", environment("PORT", "80", "DATA_FILE", "/"))
                .startsWith("DATA_FILE=\"/\" cannot be used (not a regular file); "));
    }

    private static String refused(String variable, UnaryOperator<String> environment) {
        String message = assertThrows(BadSetting.class, () -> new Settings(environment)).getMessage();
        assertTrue(message.startsWith(variable), message);
        assertEquals(1, message.lines().count(), message);
        return message;
    }
}
