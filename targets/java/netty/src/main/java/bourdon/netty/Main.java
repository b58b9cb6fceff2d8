package bourdon.netty;

import bourdon.work.Target;

/** Netty, as a bare HTTP server. */
public final class Main {
    private Main() {
    }

    public static void main(String[] arguments) throws InterruptedException {
        Target.run("java-netty", NettyServer::new);
    }
}
