// The target node-http: Node's own HTTP server, without a framework.

import { createServer, fromHttpServer, main } from "../work/run.js";
import { SUBMIT_LIMIT, TOO_LARGE } from "../work/work.js";

main("node-http", build);

function build(settings, work) {
  const fixed = new Map([
    ["/", () => work.welcome()],
    ["/rest/hello", () => work.hello()],
    ["/index", () => work.index()],
    ["/ping", () => work.ping()],
    ["/whoami", () => work.whoami()],
  ]);

  function get(path, query) {
    const handler = fixed.get(path);
    if (handler) return handler();
    if (path === "/hash") {
      const parameters = new URLSearchParams(query);
      return work.hash(parameters.get("n"), parameters.get("nonce"));
    }
    const [, collection, escaped, ...more] = path.split("/");
    if (!escaped || more.length > 0) return NOT_FOUND;
    if (collection === "hello") return withParameter(escaped, (name) => work.greet(name));
    if (collection === "user") return withParameter(escaped, (id) => work.user(id));
    return NOT_FOUND;
  }

  async function answer(req) {
    const mark = req.url.indexOf("?");
    const path = mark < 0 ? req.url : req.url.slice(0, mark);
    if (req.method === "POST" && path === "/submit") {
      const body = await bodyOf(req);
      return body ? work.submit(body) : TOO_LARGE;
    }
    return req.method === "GET" ? get(path, mark < 0 ? "" : req.url.slice(mark + 1)) : NOT_FOUND;
  }

  const server = createServer(settings, async (req, res) => {
    let reply;
    try {
      reply = await answer(req);
    } catch {
      reply = BROKEN; // the client has gone amid its body: nobody is left to tell
    }
    res.statusCode = reply.status;
    res.setHeader("Content-Type", reply.type);
    res.end(reply.body);
  });
  return fromHttpServer(server, settings);
}

const refusal = (status, body) => ({ status, type: "text/plain; charset=utf-8", body });
const NOT_FOUND = refusal(404, "not found\n");
const BAD_ESCAPE = refusal(400, "the path has a broken percent escape\n");
const BROKEN = refusal(400, "the body could not be read\n");

function withParameter(escaped, handler) {
  try {
    escaped = decodeURIComponent(escaped);
  } catch {
    return BAD_ESCAPE;
  }
  return handler(escaped);
}

/** The body, or null if it is larger than the limit: then the rest is read and dropped, so that the reply arrives. */
async function bodyOf(req) {
  const chunks = [];
  let size = 0;
  for await (const chunk of req) {
    size += chunk.length;
    if (size <= SUBMIT_LIMIT) chunks.push(chunk);
  }
  return size <= SUBMIT_LIMIT ? Buffer.concat(chunks) : null;
}
