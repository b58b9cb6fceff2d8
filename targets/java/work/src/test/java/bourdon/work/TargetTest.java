package bourdon.work;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;

import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.Test;

import static bourdon.work.SettingsTest.environment;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class TargetTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    /** Does nothing but what a test overrides. */
    private static class Fake implements Server {
        @Override
        public void start() throws Exception {
        }

        @Override
        public void stop() throws Exception {
        }
    }

    private int start(UnaryOperator<String> environment, Server server) {
        return Target.start("target", environment, new PrintStream(said, true, UTF_8), settings -> server, made -> { });
    }

    private static ServerSocket taken() throws Exception {
        return new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
    }

    @Test
    void badSettings() {
        assertEquals(2, start(environment("PORT", "x"), new Fake()));
        assertEquals("target: PORT=\"x\" is not a TCP port; set it to a whole number from 1 to 65535\n",
                said.toString(UTF_8));
    }

    @Test
    void aPortInUse() throws Exception {
        try (ServerSocket taken = taken()) {
            int port = taken.getLocalPort();
            Server server = new Fake() {
                @Override
                public void start() throws Exception {
                    try {
                        new ServerSocket(port, 0, InetAddress.getLoopbackAddress()).close();
                    } catch (Exception e) {
                        throw new IllegalStateException("as frameworks wrap it", e);
                    }
                }
            };
            assertEquals(1, start(environment("PORT", "" + port), server));
            assertEquals("target: PORT=%d: 127.0.0.1:%d is already in use; stop what listens there or set PORT to a free port\n"
                    .formatted(port, port), said.toString(UTF_8));
        }
    }

    @Test
    void anAdminPortInUse() throws Exception {
        try (ServerSocket taken = taken()) {
            int port = taken.getLocalPort();
            String other = port == 1 ? "2" : "1";
            assertEquals(1, start(environment("PORT", other, "ADMIN_PORT", "" + port), new Fake()));
            assertTrue(said.toString(UTF_8).startsWith("target: ADMIN_PORT=" + port + ": 127.0.0.1:" + port));
        }
    }

    @Test
    void anyOtherFailureIsOneLine() {
        assertEquals(1, start(environment("PORT", "1"), new Fake() {
            @Override
            public void start() throws Exception {
                throw new IllegalStateException("first\nsecond");
            }
        }));
        assertEquals(1, said.toString(UTF_8).lines().count());
    }

    @Test
    void stoppingDoesNotWaitForever() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch told = new CountDownLatch(1);
        Target.stop(new Fake() {
            @Override
            public void stop() throws InterruptedException {
                told.countDown();
                never.await();
            }
        }, Duration.ofMillis(1));
        told.await();
    }

    @Test
    void metrics() throws Exception {
        HttpServer admin = Admin.start(0);
        try {
            String base = "http://127.0.0.1:" + admin.getAddress().getPort();
            HttpClient client = HttpClient.newHttpClient();
            HttpResponse<String> answer = client.send(HttpRequest.newBuilder(URI.create(base + "/metrics")).build(),
                    HttpResponse.BodyHandlers.ofString());
            assertEquals(200, answer.statusCode());
            for (String figure : new String[] {"jvm_memory_used_bytes", "jvm_gc_", "jvm_threads_live_threads", "process_cpu_usage"}) {
                assertTrue(answer.body().contains(figure), figure);
            }
            HttpResponse<String> other = client.send(HttpRequest.newBuilder(URI.create(base + "/metricsfoo")).build(),
                    HttpResponse.BodyHandlers.ofString());
            assertEquals(404, other.statusCode());
        } finally {
            admin.stop(0);
        }
    }
}
