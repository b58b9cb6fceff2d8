package bourdon.webflux;

import bourdon.work.Work.Pong;
import bourdon.work.Work.User;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** The routes of JSON, which Spring has Jackson make from what they return. */
@RestController
@ConditionalOnProperty(name = WebFluxServer.RENDERS, havingValue = "true")
class RenderedJson {
    @GetMapping("/user/{id}")
    User user(@PathVariable String id) {
        return User.of(id);
    }

    @GetMapping("/ping")
    Pong ping() {
        return Pong.PONG;
    }
}
