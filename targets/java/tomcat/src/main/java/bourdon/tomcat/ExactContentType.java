package bourdon.tomcat;

import bourdon.work.Reply;
import jakarta.servlet.ServletException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.tomcat.util.buf.CharsetHolder;

import java.io.IOException;

/**
 * Puts the space before {@code charset} that the contract wants. However a servlet sets the Content-Type, Tomcat
 * takes it apart and writes it without one.
 */
final class ExactContentType extends ValveBase {
    private static final String AS_TOMCAT_WRITES_IT = Reply.TEXT.replace(" ", "");

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        getNext().invoke(request, response);
        // The texts fit in the buffer, so nothing has been sent yet.
        if (AS_TOMCAT_WRITES_IT.equals(response.getContentType())) {
            response.getCoyoteResponse().setContentTypeNoCharset(Reply.TEXT);
            response.getCoyoteResponse().setCharsetHolder(CharsetHolder.EMPTY);
        }
    }
}
