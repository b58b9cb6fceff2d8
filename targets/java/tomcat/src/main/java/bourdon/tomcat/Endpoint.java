package bourdon.tomcat;

import bourdon.work.Reply;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import java.io.IOException;
import java.util.function.Function;

/** The servlets: each answers one method of one path and leaves the others to the servlet API, which refuses them. */
public final class Endpoint {
    /** Answers a request; null if there is nothing at its path. */
    @FunctionalInterface
    public interface Handler {
        Reply answer(HttpServletRequest request) throws IOException;
    }

    private Endpoint() {
    }

    /** Answers GET. */
    public static HttpServlet get(Handler handler) {
        return new HttpServlet() {
            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
                send(response, handler.answer(request));
            }
        };
    }

    /** For a pattern that ends in an asterisk, which has to stand for one segment that is not empty. */
    static HttpServlet getSegment(Function<String, Reply> handler) {
        return get(request -> {
            String rest = request.getPathInfo();
            boolean isSegment = rest != null && rest.length() > 1 && rest.indexOf('/', 1) < 0;
            return isSegment ? handler.apply(rest.substring(1)) : null;
        });
    }

    static HttpServlet post(Handler handler) {
        return new HttpServlet() {
            @Override
            protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
                send(response, handler.answer(request));
            }
        };
    }

    private static void send(HttpServletResponse response, Reply reply) throws IOException {
        if (reply == null) {
            response.sendError(HttpServletResponse.SC_NOT_FOUND);
            return;
        }
        response.setStatus(reply.status());
        response.setContentType(reply.contentType());
        // Of what fits in its buffer, Tomcat finds the length by itself, and sends it after the servlet has returned.
        if (reply.body().length > response.getBufferSize()) {
            response.setContentLength(reply.body().length);
        }
        response.getOutputStream().write(reply.body());
    }
}
