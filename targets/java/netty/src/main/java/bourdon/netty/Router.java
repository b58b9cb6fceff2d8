package bourdon.netty;

import bourdon.work.Reply;
import bourdon.work.Work;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.NettyRuntime;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutorGroup;

import java.util.List;
import java.util.function.Function;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

/** Brings each request to the work behind its path. */
@Sharable
final class Router extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static final String HELLO = "/hello/";
    private static final String USER = "/user/";

    /**
     * Hashes, because Netty's documentation keeps what blocks or takes long away from the event loops. As many
     * threads as Netty makes event loops.
     */
    private final EventExecutorGroup hashers =
            new DefaultEventExecutorGroup(2 * NettyRuntime.availableProcessors(), new DefaultThreadFactory("hash", true));
    private final Work work;

    Router(Work work) {
        this.work = work;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        if (request.decoderResult().isFailure()) {
            refuse(context);
            return;
        }
        try {
            QueryStringDecoder target = new QueryStringDecoder(request.uri());
            if (request.method().equals(HttpMethod.GET)) {
                get(context, target);
            } else if (request.method().equals(HttpMethod.POST) && target.path().equals("/submit")) {
                send(context, work.submit(ByteBufUtil.getBytes(request.content())));
            } else {
                notFound(context);
            }
        } catch (IllegalArgumentException e) {
            // What the decoder says of a bad percent escape.
            send(context, Work.BAD_REQUEST);
        }
    }

    private void get(ChannelHandlerContext context, QueryStringDecoder target) {
        String path = target.path();
        switch (path) {
            case "/" -> send(context, work.welcome());
            case "/rest/hello" -> sendLater(context, work.hello());
            case "/index" -> sendLater(context, work.index());
            case "/ping" -> send(context, work.ping());
            case "/hash" -> hash(context, first(target, "n"), first(target, "nonce"));
            case "/whoami" -> send(context, work.whoAmI());
            default -> {
                if (path.startsWith(HELLO)) {
                    segment(context, path.substring(HELLO.length()), work::greet);
                } else if (path.startsWith(USER)) {
                    segment(context, path.substring(USER.length()), work::user);
                } else {
                    notFound(context);
                }
            }
        }
    }

    private static String first(QueryStringDecoder target, String name) {
        List<String> values = target.parameters().get(name);
        return values == null ? null : values.get(0);
    }

    private static void segment(ChannelHandlerContext context, String rest, Function<String, Reply> handler) {
        if (rest.isEmpty() || rest.indexOf('/') >= 0) {
            notFound(context);
        } else {
            send(context, handler.apply(rest));
        }
    }

    private void sendLater(ChannelHandlerContext context, Reply reply) {
        if (work.delay().isZero()) {
            send(context, reply);
            return;
        }
        hold(context, true);
        context.executor().schedule(() -> {
            send(context, reply);
            hold(context, false);
        }, work.delay().toNanos(), NANOSECONDS);
    }

    private void hash(ChannelHandlerContext context, String n, String nonce) {
        hold(context, true);
        hashers.submit(() -> work.hash(n, nonce)).addListener(done -> context.executor().execute(() -> {
            if (done.isSuccess()) {
                send(context, (Reply) done.getNow());
            } else {
                context.close();
            }
            hold(context, false);
        }));
    }

    /** While a response is on its way, the connection's next request waits: responses come in the requests' order. */
    private static void hold(ChannelHandlerContext context, boolean on) {
        context.channel().config().setAutoRead(!on);
    }

    private static void notFound(ChannelHandlerContext context) {
        send(context, Work.NOT_FOUND);
    }

    /** Answers what is no HTTP. Where a next request would begin is not known, so the connection ends. */
    private static void refuse(ChannelHandlerContext context) {
        FullHttpResponse response = response(Work.BAD_REQUEST);
        response.headers().set(HttpHeaderNames.CONNECTION, "close");
        context.writeAndFlush(response);
    }

    private static void send(ChannelHandlerContext context, Reply reply) {
        context.writeAndFlush(response(reply));
    }

    static FullHttpResponse response(Reply reply) {
        FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(reply.status()), Unpooled.wrappedBuffer(reply.body()));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, reply.contentType())
                .setInt(HttpHeaderNames.CONTENT_LENGTH, reply.body().length);
        return response;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // The client has gone, or a timeout has passed; nobody is left to tell.
        context.close();
    }
}
