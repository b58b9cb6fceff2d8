import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A server with one fault, or none, for `make diagnose-live`: the environment says which, and how large it is. */
public final class Blind {
    private static final List<String> FAULTS = Arrays.asList(text("FAULTS", "").split(","));
    private static final Semaphore WORKERS = new Semaphore(setting("WORKERS", 1), true);
    private static final long DELAY_NS = setting("DELAY_US", 0) * 1000L;
    private static final int BYTES = setting("BYTES", 0);
    private static final int EVERY = setting("EVERY", 1);
    private static final byte[] BODY = "ok".repeat(1 + setting("BODY", 0) / 2).getBytes();
    private static final AtomicLong REQUESTS = new AtomicLong();
    private static final Map<String, Semaphore> PATHS = new ConcurrentHashMap<>();
    private static final ReentrantReadWriteLock STANDING = new ReentrantReadWriteLock(true);
    private static final List<Object> KEPT = new ArrayList<>();
    private static final int TRIPS = setting("TRIPS", 1);
    private static final HttpClient UPSTREAM =
        has("upstream") ? HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build() : null;

    private static String text(String name, String usual) {
        return System.getenv().getOrDefault(name, usual);
    }

    private static int setting(String name, int usual) {
        return Integer.parseInt(text(name, Integer.toString(usual)));
    }

    private static boolean has(String fault) {
        return FAULTS.contains(fault);
    }

    private static void pause(long ns) {
        long until = System.nanoTime() + ns;
        for (long left = ns; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static long compute(long ns) {
        long until = System.nanoTime() + ns;
        long x = 1;
        while (System.nanoTime() < until) {
            for (int i = 0; i < 1000; i++) {
                x = x * 48271 % 2147483647;
            }
        }
        return x;
    }

    private static void work(String path, long count) {
        if (path.equals("/heavy")) {
            compute(setting("HEAVY_MS", 0) * 1_000_000L);
            return;
        }
        if (has("sometimes-slow") && count % EVERY == 0) {
            pause(setting("SLOW_MS", 30) * 1_000_000L);
        }
        if (has("slower")) {
            pause(count * 1000);
        }
        if (has("garbage")) {
            byte[] block = new byte[Math.max(BYTES, 1)];
            block[(int) (count % block.length)] = 1;
        }
        for (int at = 0; has("upstream") && at < TRIPS; at++) {
            ask();
        }
        pause(DELAY_NS);
    }

    /** One round trip to what is behind the server. */
    private static void ask() {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + text("UPSTREAM", "") + "/")).build();
        try {
            UPSTREAM.send(request, BodyHandlers.discarding());
        } catch (IOException | InterruptedException lost) {
            // It is not there.
        }
    }

    private static void keep(long count) throws IOException {
        if (count % EVERY != 0) {
            return;
        }
        synchronized (KEPT) {
            if (has("memory") || has("cache") && (long) KEPT.size() * BYTES < setting("CACHE_BYTES", 1 << 20)) {
                KEPT.add(new byte[BYTES]);
            }
            if (has("files")) {
                KEPT.add(new FileInputStream("/dev/null"));
            }
        }
        if (has("threads")) {
            Thread thread = new Thread(LockSupport::park);
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static void answer(String path, long count) throws InterruptedException {
        Semaphore gate = null;
        if (has("limit")) {
            gate = WORKERS;
        } else if (has("path-lock")) {
            gate = PATHS.computeIfAbsent(path, it -> new Semaphore(1, true));
        }
        if (gate != null) {
            gate.acquire();
        }
        STANDING.readLock().lock();
        try {
            work(path, count);
        } finally {
            STANDING.readLock().unlock();
            if (gate != null) {
                gate.release();
            }
        }
    }

    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
            int next = in.read();
            if (next < 0) {
                return null;
            }
            head.append((char) next);
        }
        return head.toString();
    }

    private static void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(!has("split"));
            InputStream in = new BufferedInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            boolean last = false;
            while (!last) {
                String head = head(in);
                if (head == null) {
                    return;
                }
                long count = REQUESTS.incrementAndGet();
                if (has("die") && count >= EVERY) {
                    System.err.println("fatal: no luck left");
                    Runtime.getRuntime().halt(3);
                }
                last = has("close") || head.toLowerCase(Locale.ROOT).contains("connection: close");
                answer(head.split(" ", 3)[1], count);
                keep(count);
                String status = has("errors") && count % EVERY == 0 ? "500 Internal Server Error" : "200 OK";
                String end = last ? "Connection: close\r\n" : "";
                String said = "HTTP/1.1 " + status + "\r\nContent-Length: " + BODY.length + "\r\n" + end + "\r\n";
                byte[] reply = (said + new String(BODY)).getBytes();
                int first = has("split") ? reply.length - 1 : reply.length;
                out.write(reply, 0, first);
                if (first < reply.length) {
                    out.write(reply, first, reply.length - first);
                }
            }
        } catch (IOException | InterruptedException gone) {
            // The client left.
        }
    }

    private static void accept(ServerSocket listening) {
        while (true) {
            try {
                Socket socket = listening.accept();
                if (has("held")) {
                    serve(socket);
                } else {
                    new Thread(() -> serve(socket)).start();
                }
            } catch (IOException lost) {
                return;
            }
        }
    }

    private static void beside(String fault, Runnable work) {
        if (has(fault)) {
            Thread thread = new Thread(() -> {
                while (true) {
                    work.run();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
    }

    public static void main(String[] arguments) throws IOException {
        ServerSocket listening =
            new ServerSocket(Integer.parseInt(System.getenv("PORT")), 4096, InetAddress.getLoopbackAddress());
        beside("stall", () -> {
            pause(setting("STALL_EVERY_MS", 3000) * 1_000_000L);
            STANDING.writeLock().lock();
            pause(setting("STALL_MS", 700) * 1_000_000L);
            STANDING.writeLock().unlock();
        });
        beside("burn", () -> {
            compute(3_000_000);
            pause(7_000_000);
        });
        int acceptors = has("held") ? setting("WORKERS", 1) : 1;
        for (int at = 0; at < acceptors; at++) {
            new Thread(() -> accept(listening)).start();
        }
    }
}
