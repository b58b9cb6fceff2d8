package bourdon.tomcat;

import bourdon.work.Target;

/** Tomcat with its own pool of threads. */
public final class Main {
    private Main() {
    }

    public static void main(String[] arguments) throws InterruptedException {
        Target.run("java-tomcat", settings -> new TomcatServer(settings, connector -> { }));
    }
}
