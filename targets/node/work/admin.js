// The admin server: figures of the process and of the runtime, in the Prometheus text format.

import { once } from "node:events";
import http from "node:http";
import client from "prom-client";

import { LOOPBACK } from "./settings.js";

/** Serves the figures of this process. */
export function serveOwn(port) {
  client.collectDefaultMetrics();
  return serve(port, () => client.register.metrics());
}

/** In a worker: collects its figures and gives them to the primary when it asks. */
export function collectForPrimary() {
  client.collectDefaultMetrics();
  new client.AggregatorRegistry(); // listens for the primary's questions
}

/** In the primary: serves the figures of all workers together. Its own are not among them; it answers no request. */
export function serveWorkers(port) {
  const registry = new client.AggregatorRegistry();
  return serve(port, () => registry.clusterMetrics());
}

async function serve(port, figures) {
  const server = http.createServer(async (req, res) => {
    if (req.method !== "GET" || req.url !== "/metrics") {
      res.writeHead(404).end();
      return;
    }
    try {
      const body = await figures();
      res.writeHead(200, { "Content-Type": client.register.contentType }).end(body);
    } catch (error) {
      res.writeHead(500, { "Content-Type": "text/plain; charset=utf-8" }).end(`${error.message}\n`);
    }
  });
  server.listen(port, LOOPBACK);
  await once(server, "listening");
}
