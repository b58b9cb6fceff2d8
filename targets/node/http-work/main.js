// The target node-http-work: Node's own HTTP server, whose handler does one kind of work.

import { createServer, fromHttpServer, main } from "../work/run.js";
import { KEYS, kindOf } from "./kinds.js";

main("node-http-work", build);

async function build(settings, work) {
  const kind = await kindOf(process.env, settings);

  async function answer(req) {
    const [path, query = ""] = req.url.split("?", 2);
    if (req.method !== "GET") return text(404, "not found\n");
    if (path === "/ping") return work.ping();
    if (path !== "/work") return text(404, "not found\n");
    const key = new URLSearchParams(query).get("key") ?? "";
    const number = /^\d{1,4}$/.test(key) ? Number(key) : 0;
    if (number < 1 || number > KEYS) return text(400, `key must be a whole number from 1 to ${KEYS}\n`);
    return text(200, await kind(number));
  }

  const server = createServer(settings, async (req, res) => {
    let reply;
    try {
      reply = await answer(req);
    } catch (error) {
      reply = text(500, `the work failed: ${error.message}\n`);
    }
    res.statusCode = reply.status;
    res.setHeader("Content-Type", reply.type);
    res.end(reply.body);
  });
  return fromHttpServer(server, settings);
}

const text = (status, body) => ({ status, type: "text/plain; charset=utf-8", body });
