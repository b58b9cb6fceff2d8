package bourdon.webflux;

import bourdon.work.Reply;
import bourdon.work.Work;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The routes, as annotated methods. */
@RestController
class Endpoints {
    private static final byte[] EMPTY = {};

    private final Work work;

    Endpoints(Work work) {
        this.work = work;
    }

    @GetMapping("/")
    ResponseEntity<byte[]> welcome() {
        return entity(work.welcome());
    }

    @GetMapping("/rest/hello")
    Mono<ResponseEntity<byte[]>> hello() {
        return later(work.hello());
    }

    @GetMapping("/index")
    Mono<ResponseEntity<byte[]>> index() {
        return later(work.index());
    }

    @GetMapping("/hello/{name}")
    ResponseEntity<byte[]> greet(@PathVariable String name) {
        return entity(work.greet(name));
    }

    /** Reads the body itself, because {@code @RequestBody} refuses the type of a form, which many clients send. */
    @PostMapping("/submit")
    Mono<ResponseEntity<byte[]>> submit(ServerHttpRequest request) {
        return DataBufferUtils.join(request.getBody(), Work.SUBMIT_LIMIT)
                .map(Endpoints::bytes)
                .defaultIfEmpty(EMPTY)
                .map(work::submit)
                .onErrorReturn(DataBufferLimitException.class, Work.TOO_LARGE)
                .map(Endpoints::entity);
    }

    /** Reads a file and may take long, so it leaves the event loop, the way Spring's documentation wraps such a call. */
    @GetMapping("/hash")
    Mono<ResponseEntity<byte[]>> hash(@RequestParam(required = false) String n,
                                      @RequestParam(required = false) String nonce) {
        return Mono.fromCallable(() -> entity(work.hash(n, nonce))).subscribeOn(Schedulers.boundedElastic());
    }

    @GetMapping("/whoami")
    ResponseEntity<byte[]> whoAmI() {
        return entity(work.whoAmI());
    }

    private Mono<ResponseEntity<byte[]>> later(Reply reply) {
        Mono<ResponseEntity<byte[]>> answer = Mono.just(entity(reply));
        return work.delay().isZero() ? answer : answer.delayElement(work.delay());
    }

    private static byte[] bytes(DataBuffer body) {
        byte[] bytes = new byte[body.readableByteCount()];
        body.read(bytes);
        DataBufferUtils.release(body);
        return bytes;
    }

    static ResponseEntity<byte[]> entity(Reply reply) {
        // As text, because Spring would write a MediaType without the space before the charset.
        return ResponseEntity.status(reply.status())
                .header(HttpHeaders.CONTENT_TYPE, reply.contentType())
                .body(reply.body());
    }
}
