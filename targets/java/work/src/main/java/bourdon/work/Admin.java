package bourdon.work;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;

/** The admin server: figures of the process and the JVM under /metrics, on the JDK's own small HTTP server. */
final class Admin {
    /** Of the Prometheus text format. */
    private static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private Admin() {
    }

    static HttpServer start(int port) throws CannotListen {
        HttpServer server;
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        } catch (IOException e) {
            throw new CannotListen("ADMIN_PORT", Settings.LOOPBACK, port, e);
        }
        PrometheusMeterRegistry registry = registry();
        server.createContext("/metrics", exchange -> answer(exchange, registry));
        server.start();
        return server;
    }

    private static PrometheusMeterRegistry registry() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        // It listens to the collector as long as the process lives.
        @SuppressWarnings("resource")
        JvmGcMetrics collector = new JvmGcMetrics();
        List<MeterBinder> binders = List.of(new JvmMemoryMetrics(), collector, new JvmThreadMetrics(),
                new ClassLoaderMetrics(), new ProcessorMetrics(), new FileDescriptorMetrics(), new UptimeMetrics());
        binders.forEach(binder -> binder.bindTo(registry));
        return registry;
    }

    private static void answer(HttpExchange exchange, PrometheusMeterRegistry registry) throws IOException {
        try (exchange) {
            if (!exchange.getRequestURI().getPath().equals("/metrics")) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            byte[] body = registry.scrape().getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", CONTENT_TYPE);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }
}
