package bourdon.webflux;

import bourdon.work.Target;

/** Spring Boot with WebFlux. */
public final class Main {
    private Main() {
    }

    public static void main(String[] arguments) throws InterruptedException {
        Target.run("java-webflux", WebFluxServer::new);
    }
}
