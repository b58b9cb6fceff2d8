// The life of a target, tried on node-http, which needs nothing installed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../http/main.js", import.meta.url));

/** A port that nothing listens on, and with `hold` the server that keeps it taken. */
async function freePort({ hold = false } = {}) {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  if (!hold) await new Promise((closed) => server.close(closed));
  return { port, server };
}

function start(env) {
  const child = spawn(process.execPath, [MAIN], { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
  const ended = once(child, "close").then(([status, signal]) => ({ status, signal, said }));
  return { child, ended };
}

async function get(port, path) {
  for (;;) {
    try {
      return await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    } catch (error) {
      if (error.cause?.code !== "ECONNREFUSED") throw error;
      await sleep(5); // it does not listen yet
    }
  }
}

for (const workers of [1, 2]) {
  test(`workers ${workers}: TERM lets a request in flight end`, async () => {
    const { port } = await freePort();
    const { child, ended } = start({ PORT: port, WORKERS: workers, HANDLER_DELAY: "500ms" });
    await get(port, "/ping");
    const request = http.get({ port, path: "/index", headers: { Expect: "100-continue" } });
    await once(request, "continue"); // the server has it
    child.kill("SIGTERM");
    const [reply] = await once(request, "response");
    assert.equal(await text(reply), "index\n");
    assert.deepEqual(await ended, { status: 0, signal: null, said: "" });
  });

  test(`workers ${workers}: a taken port is said in one line`, async (t) => {
    const { port, server } = await freePort({ hold: true });
    t.after(() => server.close());
    const { status, said } = await start({ PORT: port, WORKERS: workers }).ended;
    assert.equal(status, 1);
    assert.match(said, new RegExp(`^node-http: PORT=${port}: .* already in use; .*\n$`));
  });
}

test("a bad setting is said in one line", async () => {
  const { status, said } = await start({ PORT: "x" }).ended;
  assert.equal(status, 2);
  assert.match(said, /^node-http: PORT="x" .*\n$/);
});

test("a worker that dies ends the target", async () => {
  const { port } = await freePort();
  const { ended } = start({ PORT: port, WORKERS: 2 });
  const worker = Number((await get(port, "/whoami")).replace("loop ", ""));
  process.kill(worker, "SIGKILL");
  const { status, said } = await ended;
  assert.equal(status, 1);
  assert.match(said, new RegExp(`^node-http: worker ${worker} was ended by SIGKILL; .*\n$`));
});
