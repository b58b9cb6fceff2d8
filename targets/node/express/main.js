// The target node-express: Express on Node's own HTTP server.

import express from "express";
import http from "node:http";

import { fromHttpServer, hasJsonAlone, main, rendering } from "../work/run.js";
import { person, pong, SUBMIT_LIMIT, TOO_LARGE } from "../work/work.js";

main("node-express", build);

function build(settings, work) {
  const answer = (handler) => async (req, res) => send(res, await handler(req));
  // Of what waits for nothing, as handlers that let the framework make the JSON do not.
  const answerAtOnce = (handler) => (req, res) => send(res, handler(req));
  const body = express.raw({ type: () => true, limit: SUBMIT_LIMIT });

  const renders = rendering(settings, "bytes", "framework") === "framework";

  const app = express();
  const user = renders ? (req, res) => res.json(person(req.params.id)) : answerAtOnce((req) => work.user(req.params.id));
  const ping = renders ? (req, res) => res.json(pong()) : answerAtOnce(() => work.ping());
  if (hasJsonAlone(settings)) {
    app.get("/user/:id", user);
    app.get("/ping", ping);
    return fromHttpServer(http.createServer(app), settings);
  }

  app.get("/", answer(() => work.welcome()));
  app.get("/rest/hello", answer(() => work.hello()));
  app.get("/index", answer(() => work.index()));
  app.get("/hello/:name", answer((req) => work.greet(req.params.name)));
  app.get("/user/:id", user);
  app.get("/ping", ping);
  app.post("/submit", body, answer((req) => work.submit(req.body)));
  app.get("/hash", answer((req) => work.hash(req.query.n, req.query.nonce)));
  app.get("/whoami", answer(() => work.whoami()));
  app.use((error, req, res, next) => (error.type === "entity.too.large" ? send(res, TOO_LARGE) : next(error)));

  return fromHttpServer(http.createServer(app), settings);
}

function send(res, { status, type, body }) {
  // res.type() would add a charset to the type of JSON.
  res.status(status).setHeader("Content-Type", type);
  res.send(body);
}
