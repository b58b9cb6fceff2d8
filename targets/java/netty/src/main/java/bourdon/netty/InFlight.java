package bourdon.netty;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.IdleStateEvent;

/**
 * Knows how many requests of a connection have no response yet, from their first line on. So it can close a
 * connection that is idle for too long, or at the end of the server, without cutting off a request.
 */
final class InFlight extends ChannelDuplexHandler {
    /** The event that ends a connection once nothing is in flight on it. */
    static final Object STOP = new Object();

    private int requests;
    private boolean stopping;
    private boolean interim;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        if (message instanceof HttpRequest) {
            requests++;
        }
        super.channelRead(context, message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
        if (message instanceof HttpResponse response) {
            // "100 Continue" is not the response yet.
            interim = response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
        }
        if (message instanceof LastHttpContent && !interim) {
            promise.addListener(written -> {
                requests--;
                if (stopping) {
                    closeIfIdle(context);
                }
            });
        }
        super.write(context, message, promise);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
        if (event == STOP) {
            stopping = true;
            closeIfIdle(context);
        } else if (event instanceof IdleStateEvent) {
            closeIfIdle(context);
        } else {
            super.userEventTriggered(context, event);
        }
    }

    private void closeIfIdle(ChannelHandlerContext context) {
        if (requests == 0) {
            context.close();
        }
    }
}
