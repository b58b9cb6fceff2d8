package bourdon.tomcat.work;

import bourdon.work.BadSetting;
import bourdon.work.Settings;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** The kinds of work that a handler may do. Each blocks the thread that does it. */
final class Kinds {
    /** How many keys there are: 1 and up. */
    static final int KEYS = 1000;
    /** How often the generator of the work {@code cpu} is run. */
    private static final int ROUNDS = 100_000;

    /** What is done for a key, and gives the body of the reply. */
    @FunctionalInterface
    interface Kind {
        String value(int key) throws Exception;
    }

    private Kinds() {
    }

    /**
     * Makes what the settings ask for ready.
     *
     * @throws BadSetting if one cannot be used
     */
    static Kind of(Settings settings) {
        String name = settings.text("WORK").orElse("sleep");
        return switch (name) {
            case "sleep" -> sleeping(settings);
            case "cpu" -> Kinds::computed;
            case "file" -> reading(settings);
            case "sqlite" -> querying(settings);
            case "http" -> calling(settings);
            default -> throw new BadSetting(
                    "WORK=\"%s\" is not known; set it to sleep, cpu, file, sqlite or http, or leave it unset".formatted(name));
        };
    }

    private static Kind sleeping(Settings settings) {
        List<String> values = values(settings);
        long milliseconds = settings.handlerDelay().toMillis();
        return key -> {
            if (milliseconds > 0) {
                Thread.sleep(milliseconds);
            }
            return values.get(key - 1);
        };
    }

    /** The state of a xorshift generator after so many rounds. */
    static String computed(int key) {
        int x = key;
        for (int i = 0; i < ROUNDS; i++) {
            x ^= x << 13;
            x ^= x >>> 17;
            x ^= x << 5;
        }
        return Integer.toUnsignedString(x);
    }

    /** Reads the whole file for each request and looks for the key in it. */
    private static Kind reading(Settings settings) {
        values(settings);
        Path file = Path.of(settings.text("WORK_FILE").orElse(""));
        return key -> {
            String wanted = key + "\t";
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith(wanted)) {
                    return line.substring(wanted.length());
                }
            }
            throw new IOException("the key is not in the file");
        };
    }

    /** Puts the values into a database of its own and asks that, on the connections of a pool. */
    private static Kind querying(Settings settings) {
        List<String> values = values(settings);
        String scratch = settings.text("SCRATCH").orElse("");
        HikariConfig pool = new HikariConfig();
        pool.setJdbcUrl("jdbc:sqlite:" + Path.of(scratch, "work.sqlite"));
        HikariDataSource source = null;
        try {
            source = new HikariDataSource(pool);
            fill(source, values);
        } catch (RuntimeException | SQLException e) {
            if (source != null) {
                source.close();
            }
            throw new BadSetting(("SCRATCH=\"%s\" cannot hold work.sqlite (%s); set it to an empty folder this process can "
                    + "write to").formatted(scratch, String.valueOf(e.getMessage()).lines().findFirst().orElse("")));
        }
        DataSource connections = source;
        return key -> {
            try (Connection connection = connections.getConnection();
                 PreparedStatement question = connection.prepareStatement("SELECT value FROM work WHERE key = ?")) {
                question.setInt(1, key);
                try (ResultSet answer = question.executeQuery()) {
                    if (!answer.next()) {
                        throw new SQLException("the key is not in the table");
                    }
                    return answer.getString(1);
                }
            }
        };
    }

    private static void fill(DataSource source, List<String> values) throws SQLException {
        try (Connection connection = source.getConnection(); Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE work (key INTEGER PRIMARY KEY, value TEXT NOT NULL)");
            connection.setAutoCommit(false);
            try (PreparedStatement row = connection.prepareStatement("INSERT INTO work VALUES (?, ?)")) {
                for (int i = 0; i < values.size(); i++) {
                    row.setInt(1, i + 1);
                    row.setString(2, values.get(i));
                    row.addBatch();
                }
                row.executeBatch();
            }
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    /** Asks another server for each request. */
    private static Kind calling(Settings settings) {
        String backend = settings.text("BACKEND").orElse("");
        if (!backend.startsWith("http://")) {
            throw new BadSetting(("BACKEND=\"%s\" is not the address of a server; set it to such as "
                    + "http://127.0.0.1:8080").formatted(backend));
        }
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        return key -> {
            HttpRequest request = HttpRequest.newBuilder(URI.create(backend + "/hello/" + key)).build();
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != 200) {
                throw new IOException("the other server answered " + response.statusCode());
            }
            return response.body();
        };
    }

    /** Reads WORK_FILE: a line {@code key TAB value} for each key, in order. */
    private static List<String> values(Settings settings) {
        String file = settings.text("WORK_FILE").orElse("");
        List<String> lines;
        try {
            lines = Files.readAllLines(Path.of(file));
        } catch (IOException e) {
            throw unusable(file, "it cannot be read");
        }
        List<String> values = new ArrayList<>();
        for (String line : lines) {
            String prefix = values.size() + 1 + "\t";
            if (!line.startsWith(prefix)) {
                throw unusable(file, "its line " + (values.size() + 1) + " has not that key");
            }
            values.add(line.substring(prefix.length()));
        }
        if (values.size() != KEYS) {
            throw unusable(file, "it has " + values.size() + " lines");
        }
        return values;
    }

    private static BadSetting unusable(String file, String why) {
        return new BadSetting(("WORK_FILE=\"%s\" cannot be used (%s); set it to a file with a line `key TAB value` for "
                + "each key from 1 to %d").formatted(file, why, KEYS));
    }
}
