// The target node-fastify: Fastify.

import Fastify from "fastify";

import { applyTimeouts, hasJsonAlone, main, rendering } from "../work/run.js";
import { person, pong, TOO_LARGE } from "../work/work.js";

/** The schema of an object of these texts, with which Fastify compiles a function that writes it. */
function replies(...names) {
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  return { schema: { response: { 200: { type: "object", properties } } } };
}

main("node-fastify", build);

function build(settings, work) {
  // To Fastify an empty segment is a parameter too; then there is no answer here.
  const answer = (handler) => async (req, reply) => {
    const answered = await handler(req);
    return answered ? send(reply, answered) : reply.callNotFound();
  };

  // Of what waits for nothing, as handlers that let the framework make the JSON do not.
  const answerAtOnce = (handler) => (req, reply) => {
    const answered = handler(req);
    return answered ? send(reply, answered) : reply.callNotFound();
  };

  const renders = rendering(settings, "bytes", "framework", "schema");
  const options = (...names) => (renders === "schema" ? replies(...names) : {});

  const app = Fastify();
  // The body as it came: Fastify would parse JSON and refuse what does not say that it is JSON. Its limit for a body
  // is the contract's by default.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (req, body, done) => done(null, body));
  app.setErrorHandler((error, req, reply) =>
    error.code === "FST_ERR_CTP_BODY_TOO_LARGE" ? send(reply, TOO_LARGE) : reply.send(error),
  );

  if (renders === "bytes") {
    app.get("/user/:id", answerAtOnce((req) => req.params.id && work.user(req.params.id)));
    app.get("/ping", answerAtOnce(() => work.ping()));
  } else {
    app.get("/user/:id", options("id", "name"), (req, reply) =>
      req.params.id ? reply.send(person(req.params.id)) : reply.callNotFound(),
    );
    app.get("/ping", options("message"), (req, reply) => reply.send(pong()));
  }
  if (!hasJsonAlone(settings)) addOthers(app, work, answer);

  applyTimeouts(app.server, settings);
  return { listen: (port, host) => app.listen({ port, host }), close: () => app.close() };
}

/** Every path that is not one of JSON. */
function addOthers(app, work, answer) {
  app.get("/", answer(() => work.welcome()));
  app.get("/rest/hello", answer(() => work.hello()));
  app.get("/index", answer(() => work.index()));
  app.get("/hello/:name", answer((req) => req.params.name && work.greet(req.params.name)));
  app.post("/submit", answer((req) => work.submit(req.body)));
  app.get("/hash", answer((req) => work.hash(req.query.n, req.query.nonce)));
  app.get("/whoami", answer(() => work.whoami()));
}

function send(reply, { status, type, body }) {
  return reply.code(status).header("Content-Type", type).send(body);
}
