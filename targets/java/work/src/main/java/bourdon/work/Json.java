package bourdon.work;

import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/** JSON by Jackson. */
final class Json {
    /** Any JSON counts, so what limits it is the size of a body alone. Nothing here recurses or keeps numbers. */
    private static final StreamReadConstraints UNLIMITED = StreamReadConstraints.builder()
            .maxNestingDepth(Integer.MAX_VALUE)
            .maxNumberLength(Integer.MAX_VALUE)
            .maxNameLength(Integer.MAX_VALUE)
            .maxStringLength(Integer.MAX_VALUE)
            .build();

    private static final JsonMapper MAPPER =
            JsonMapper.builder(JsonFactory.builder().streamReadConstraints(UNLIMITED).build()).build();

    private Json() {
    }

    static byte[] write(Object value) {
        return MAPPER.writeValueAsBytes(value);
    }

    /** Whether the bytes are one JSON value, with nothing but white space around it. */
    static boolean isValid(byte[] text) {
        if (!beginsAsUtf8(text)) {
            return false;
        }
        try (JsonParser parser = MAPPER.createParser(text)) {
            if (parser.nextToken() == null) {
                return false;
            }
            parser.skipChildren();
            return parser.nextToken() == null;
        } catch (JacksonException e) {
            return false;
        }
    }

    /**
     * Jackson recognises UTF-16, UTF-32 and byte order marks by the first four bytes, but JSON is UTF-8 without a
     * mark (RFC 8259, section 8.1): it begins with an ASCII character and has no zero byte.
     */
    private static boolean beginsAsUtf8(byte[] text) {
        for (int i = 0; i < Math.min(4, text.length); i++) {
            if (text[i] == 0) {
                return false;
            }
        }
        return text.length > 0 && text[0] > 0;
    }
}
