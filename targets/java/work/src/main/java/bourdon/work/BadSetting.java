package bourdon.work;

/** A setting that is missing or cannot be used. The message is one line: the variable, its value and the cure. */
public final class BadSetting extends RuntimeException {
    public BadSetting(String message) {
        super(message);
    }
}
