package bourdon.netty;

import bourdon.work.Work;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;

/** Gathers a request with its body, and refuses one that is too large with a text; Netty's own refusal has none. */
final class Aggregator extends HttpObjectAggregator {
    Aggregator() {
        super(Work.SUBMIT_LIMIT);
    }

    @Override
    protected void handleOversizedMessage(ChannelHandlerContext context, HttpMessage oversized) {
        context.writeAndFlush(Router.response(Work.TOO_LARGE));
    }

    @Override
    protected Object newContinueResponse(HttpMessage start, int limit, ChannelPipeline pipeline) {
        Object response = super.newContinueResponse(start, limit, pipeline);
        boolean refused = response instanceof FullHttpResponse full
                && full.status().equals(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
        return refused ? Router.response(Work.TOO_LARGE) : response;
    }
}
