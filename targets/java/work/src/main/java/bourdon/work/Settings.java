package bourdon.work;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;

/** The settings, from the environment. Unset and empty mean the same. */
public final class Settings {
    /** Where a target listens unless ADDRESS says otherwise, and its admin server always. */
    public static final String LOOPBACK = "127.0.0.1";
    private static final Pattern ADDRESS =
            Pattern.compile("(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(\\.(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])){3}");
    private static final Pattern PORT = Pattern.compile("0*[1-9][0-9]{0,4}");
    private static final int LARGEST_PORT = 65_535;
    /** Nine digits of seconds are thirty years, and their milliseconds still fit everywhere. */
    private static final Pattern DURATION = Pattern.compile("([0-9]{1,9})(ms|s)");
    private static final Pattern COUNT = Pattern.compile("[1-9][0-9]{0,4}");

    private final UnaryOperator<String> environment;
    private final String address;
    private final int port;
    private final int adminPort;
    private final Duration handlerDelay;
    private final Path dataFile;
    private final Tls tls;

    /**
     * Reads what every target has.
     *
     * @param environment gives the value of a variable, or null
     * @throws BadSetting if one cannot be used
     */
    public Settings(UnaryOperator<String> environment) {
        this.environment = environment;
        port = port("PORT").orElseThrow(() ->
                new BadSetting("PORT is not set; set it to the TCP port to listen on, such as PORT=8080"));
        address = read("ADDRESS").map(Settings::address).orElse(LOOPBACK);
        adminPort = port("ADMIN_PORT").orElse(0);
        if (adminPort == port) {
            throw new BadSetting("ADMIN_PORT=%d is the same as PORT; give it a port of its own or leave it unset"
                    .formatted(adminPort));
        }
        handlerDelay = duration("HANDLER_DELAY").orElse(Duration.ZERO);
        dataFile = file("DATA_FILE").orElse(null);
        tls = tls();
    }

    private static String address(String text) {
        if (!ADDRESS.matcher(text).matches()) {
            throw new BadSetting("ADDRESS=%s is not an IPv4 address; set it to such as 0.0.0.0, or leave it unset for %s"
                    .formatted(quoted(text), LOOPBACK));
        }
        return text;
    }

    /** An IPv4 address: where it listens with its port. */
    public String address() {
        return address;
    }

    public int port() {
        return port;
    }

    /** Zero for no admin server. */
    public int adminPort() {
        return adminPort;
    }

    /** Zero for none. */
    public Duration handlerDelay() {
        return handlerDelay;
    }

    /** Null for none: /hash is not available. */
    public Path dataFile() {
        return dataFile;
    }

    /** A certificate and its key, as PEM files. */
    public record Tls(Path certificate, Path key) {
    }

    /** Empty for no TLS. */
    public Optional<Tls> secured() {
        return Optional.ofNullable(tls);
    }

    private Tls tls() {
        Optional<Path> certificate = file("TLS_CERT");
        Optional<Path> key = file("TLS_KEY");
        if (certificate.isPresent() != key.isPresent()) {
            throw new BadSetting("%s is set and %s is not; set both to PEM files, or leave both unset"
                    .formatted(certificate.isPresent() ? "TLS_CERT" : "TLS_KEY", key.isPresent() ? "TLS_CERT" : "TLS_KEY"));
        }
        return certificate.map(file -> new Tls(file, key.get())).orElse(null);
    }

    private Optional<Path> file(String name) {
        return read(name).map(text -> readable(name, text));
    }

    /**
     * A timeout that only some frameworks have: empty leaves it to the framework, zero is no timeout.
     *
     * @throws BadSetting if it cannot be used
     */
    public Optional<Duration> duration(String name) {
        return read(name).map(text -> {
            Matcher parts = DURATION.matcher(text);
            if (!parts.matches()) {
                throw new BadSetting(("%s=%s is not a duration; set it to a whole number with a unit, such as 10ms "
                        + "or 1s, or leave it unset").formatted(name, quoted(text)));
            }
            long number = Long.parseLong(parts.group(1));
            return parts.group(2).equals("s") ? Duration.ofSeconds(number) : Duration.ofMillis(number);
        });
    }

    /**
     * Whether the framework is asked to make the JSON of /ping and /user/:id from a value, for the targets that have
     * the setting.
     *
     * @throws BadSetting if it cannot be used
     */
    public boolean frameworkRenders() {
        String text = read("RENDERING").orElse("bytes");
        return switch (text) {
            case "bytes" -> false;
            case "framework" -> true;
            default -> throw new BadSetting("RENDERING=%s is not known; set it to bytes or framework, or leave it unset"
                    .formatted(quoted(text)));
        };
    }

    /**
     * A number of something that only some frameworks have: empty leaves it to the framework.
     *
     * @throws BadSetting if it cannot be used
     */
    public Optional<Integer> count(String name) {
        return read(name).map(text -> {
            if (!COUNT.matcher(text).matches()) {
                throw new BadSetting("%s=%s is not a number; set it to a whole one from 1 to 99999, or leave it unset"
                        .formatted(name, quoted(text)));
            }
            return Integer.valueOf(text);
        });
    }

    private Optional<Integer> port(String name) {
        return read(name).map(text -> {
            if (!PORT.matcher(text).matches() || Integer.parseInt(text) > LARGEST_PORT) {
                throw new BadSetting("%s=%s is not a TCP port; set it to a whole number from 1 to 65535"
                        .formatted(name, quoted(text)));
            }
            return Integer.valueOf(text);
        });
    }

    /** A text; empty if it is unset. */
    public Optional<String> text(String name) {
        return read(name);
    }

    private Optional<String> read(String name) {
        return Optional.ofNullable(environment.apply(name)).filter(text -> !text.isEmpty());
    }

    private static Path readable(String name, String text) {
        Path file = Path.of(text);
        String trouble = !Files.exists(file) ? "no such file"
                : !Files.isRegularFile(file) ? "not a regular file"
                : !Files.isReadable(file) ? "permission denied"
                : null;
        if (trouble != null) {
            String without = name.equals("DATA_FILE") ? "/hash" : "TLS";
            throw new BadSetting(("%s=%s cannot be used (%s); set it to a file this process can read, or leave "
                    + "it unset to do without %s").formatted(name, quoted(text), trouble, without));
        }
        return file;
    }

    /** The text in quotes, on one line whatever it holds. */
    private static String quoted(String text) {
        return new String(Json.write(text), UTF_8);
    }
}
