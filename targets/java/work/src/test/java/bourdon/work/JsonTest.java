package bourdon.work;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class JsonTest {
    private static final int MEBIBYTE = 1 << 20;

    @ParameterizedTest
    @ValueSource(strings = {
        "{}", "[]", "0", "-0", "1.5e+300", "\"\"", "\"é\\ud83d\\ude00\"", "true", "null", " \t\r\n[ ] \n",
        "{\"a\":1,\"a\":2}", "[1,[2,{\"b\":[]}],null]", "\"\\/\\b\"",
    })
    void takesJson(String text) {
        assertTrue(Json.isValid(text.getBytes(UTF_8)));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", " ", "{", "}", "[1", "[1,]", "{\"a\"}", "{\"a\":1,}", "{a:1}", "{'a':1}", "{}{}", "[] []", "1 2", "[]x",
        "nope", "nul", "NaN", "Infinity", "01", "+1", "1.", ".5", "1e", "--1", "\"a", "\"\\x\"", "\"\\u12\"",
        "\"\n\"", "// c\n1", "/**/1", "[1 2]", "\u00a01", "\ufeff{}", "true false", "trueX", "1x",
    })
    void refusesAnythingElse(String text) {
        assertFalse(Json.isValid(text.getBytes(UTF_8)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-16LE", "UTF-16BE", "UTF-16", "UTF-32LE", "UTF-32BE"})
    void refusesOtherEncodings(String charset) {
        assertFalse(Json.isValid("[0]".getBytes(Charset.forName(charset))));
        assertFalse(Json.isValid("0".getBytes(Charset.forName(charset))));
    }

    @Test
    void refusesBytesThatAreNoUtf8() {
        assertFalse(Json.isValid("\"é\"".getBytes(StandardCharsets.ISO_8859_1)));
    }

    @Test
    void onlyTheSizeOfTheBodyLimitsIt() {
        int half = MEBIBYTE / 2;
        assertTrue(Json.isValid(("[".repeat(half) + "]".repeat(half)).getBytes(UTF_8)));
        assertFalse(Json.isValid("[".repeat(MEBIBYTE).getBytes(UTF_8)));
        assertTrue(Json.isValid("1".repeat(MEBIBYTE).getBytes(UTF_8)));
        assertTrue(Json.isValid(("{\"" + "k".repeat(MEBIBYTE - 7) + "\":0}").getBytes(UTF_8)));
    }
}
