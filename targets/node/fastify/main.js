// The target node-fastify: Fastify.

import Fastify from "fastify";

import { applyTimeouts, main } from "../work/run.js";
import { TOO_LARGE } from "../work/work.js";

main("node-fastify", build);

function build(settings, work) {
  // To Fastify an empty segment is a parameter too; then there is no answer here.
  const answer = (handler) => async (req, reply) => {
    const answered = await handler(req);
    return answered ? send(reply, answered) : reply.callNotFound();
  };

  const app = Fastify();
  // The body as it came: Fastify would parse JSON and refuse what does not say that it is JSON. Its limit for a body
  // is the contract's by default.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (req, body, done) => done(null, body));
  app.setErrorHandler((error, req, reply) =>
    error.code === "FST_ERR_CTP_BODY_TOO_LARGE" ? send(reply, TOO_LARGE) : reply.send(error),
  );

  app.get("/", answer(() => work.welcome()));
  app.get("/rest/hello", answer(() => work.hello()));
  app.get("/index", answer(() => work.index()));
  app.get("/hello/:name", answer((req) => req.params.name && work.greet(req.params.name)));
  app.get("/user/:id", answer((req) => req.params.id && work.user(req.params.id)));
  app.get("/ping", answer(() => work.ping()));
  app.post("/submit", answer((req) => work.submit(req.body)));
  app.get("/hash", answer((req) => work.hash(req.query.n, req.query.nonce)));
  app.get("/whoami", answer(() => work.whoami()));

  applyTimeouts(app.server, settings);
  return { listen: (port, host) => app.listen({ port, host }), close: () => app.close() };
}

function send(reply, { status, type, body }) {
  return reply.code(status).header("Content-Type", type).send(body);
}
