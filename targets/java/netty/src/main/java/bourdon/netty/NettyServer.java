package bourdon.netty;

import bourdon.work.BadSetting;
import bourdon.work.Server;
import bourdon.work.Settings;
import bourdon.work.Target;
import bourdon.work.Work;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.handler.timeout.WriteTimeoutHandler;
import io.netty.util.concurrent.GlobalEventExecutor;

import java.time.Duration;

import javax.net.ssl.SSLException;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

/** Netty's HTTP codec with the handlers that Netty has for it, and a router of ours, because Netty has none. */
final class NettyServer extends ChannelInitializer<SocketChannel> implements Server {
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final String address;
    private final int port;
    private final long writeTimeoutMs;
    private final long idleTimeoutMs;
    private final Router router;
    /** Null for no TLS. */
    private final SslContext tls;
    private Channel listener;

    NettyServer(Settings settings) {
        address = settings.address();
        port = settings.port();
        writeTimeoutMs = settings.duration("WRITE_TIMEOUT").orElse(Duration.ZERO).toMillis();
        idleTimeoutMs = settings.duration("IDLE_TIMEOUT").orElse(Duration.ZERO).toMillis();
        router = new Router(new Work(settings));
        tls = settings.secured().map(NettyServer::context).orElse(null);
    }

    private static SslContext context(Settings.Tls files) {
        try {
            return SslContextBuilder.forServer(files.certificate().toFile(), files.key().toFile()).build();
        } catch (SSLException | IllegalArgumentException e) {
            throw new BadSetting(("TLS_CERT=%s with TLS_KEY=%s cannot be used (%s); set them to a certificate and its key "
                    + "as PEM files, or leave both unset").formatted(files.certificate(), files.key(), e.getMessage()));
        }
    }

    @Override
    public void start() throws InterruptedException {
        listener = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(this)
                .bind(address, port)
                .sync()
                .channel();
    }

    @Override
    protected void initChannel(SocketChannel connection) {
        connections.add(connection);
        ChannelPipeline pipeline = connection.pipeline();
        if (tls != null) {
            pipeline.addLast(tls.newHandler(connection.alloc()));
        }
        pipeline.addLast(new HttpServerCodec());
        if (writeTimeoutMs > 0) {
            pipeline.addLast(new WriteTimeoutHandler(writeTimeoutMs, MILLISECONDS));
        }
        if (idleTimeoutMs > 0) {
            pipeline.addLast(new IdleStateHandler(0, 0, idleTimeoutMs, MILLISECONDS));
        }
        pipeline.addLast(new InFlight());
        pipeline.addLast(new HttpServerKeepAliveHandler());
        // Holds back pipelined requests while the router has told the connection not to read.
        pipeline.addLast(new FlowControlHandler());
        pipeline.addLast(new Aggregator());
        pipeline.addLast(router);
    }

    @Override
    public void stop() throws InterruptedException {
        listener.close().sync();
        connections.forEach(connection -> connection.pipeline().fireUserEventTriggered(InFlight.STOP));
        connections.newCloseFuture().await(Target.GRACE.toMillis());
    }
}
