package bourdon.webflux;

import bourdon.work.Work;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** The routes of JSON, as bytes that are there already. */
@RestController
@ConditionalOnProperty(name = WebFluxServer.RENDERS, havingValue = "false")
class SentJson {
    private final Work work;

    SentJson(Work work) {
        this.work = work;
    }

    @GetMapping("/user/{id}")
    ResponseEntity<byte[]> user(@PathVariable String id) {
        return Endpoints.entity(work.user(id));
    }

    @GetMapping("/ping")
    ResponseEntity<byte[]> ping() {
        return Endpoints.entity(work.ping());
    }
}
