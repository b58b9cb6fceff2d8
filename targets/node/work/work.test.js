import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { SUBMIT_LIMIT, TOO_LARGE, Work } from "./work.js";

const T = "text/plain; charset=utf-8";
const J = "application/json";

function same(reply, status, type, body) {
  assert.deepEqual({ ...reply, body: reply.body.toString() }, { status, type, body });
}

test("replies are exact", async () => {
  const work = new Work({ handlerDelayMs: 0 });
  same(work.welcome(), 200, T, "Welcome!\n");
  same(await work.hello(), 200, T, "Hello world");
  same(await work.index(), 200, T, "index\n");
  same(work.greet("ann"), 200, T, "hello, ann!\n");
  same(work.ping(), 200, J, '{"message":"pong"}');
  same(work.whoami(), 200, T, `loop ${process.pid}`);
  assert.equal(TOO_LARGE.status, 413);
});

test("an id is escaped as JSON requires and no more", () => {
  const work = new Work({ handlerDelayMs: 0 });
  same(work.user("42"), 200, J, '{"id":"42","name":"User"}');
  same(work.user("<&>é"), 200, J, '{"id":"<&>é","name":"User"}');
  for (const id of ['a"b\\c', "tab\tline\n", "\0"]) {
    assert.deepEqual(JSON.parse(work.user(id).body), { id, name: "User" });
  }
});

test("the delay holds up its own endpoints only", async () => {
  const work = new Work({ handlerDelayMs: 20 });
  for (const delayed of [() => work.hello(), () => work.index()]) {
    const start = performance.now();
    await delayed();
    assert.ok(performance.now() - start >= 19); // a timer may fire a fraction of a millisecond early
  }
  // The others have no way to wait: they give a reply, not a promise.
  for (const reply of [work.welcome(), work.ping(), work.greet("ann"), work.user("1")]) {
    assert.equal(reply.status, 200);
  }
});

test("/submit echoes JSON and nothing else", () => {
  const work = new Work({ handlerDelayMs: 0 });
  const largest = `"${"x".repeat(SUBMIT_LIMIT - 2)}"`;
  for (const body of ['{"a": [1, 2.50,null]}', " \n[ ]\n", '"x"', "0", largest]) {
    same(work.submit(Buffer.from(body)), 200, J, body);
  }
  for (const body of ["", "{", "{}{}", "nope"]) {
    assert.equal(work.submit(Buffer.from(body)).status, 400);
  }
  assert.equal(work.submit(undefined).status, 400); // what Express and Fastify give without a body
});

test("/hash hashes the file n times and the nonce", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "work-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const dataFile = path.join(folder, "data");
  writeFileSync(dataFile, "some data\n");
  const work = new Work({ handlerDelayMs: 0, dataFile });

  for (const [n, nonce] of [["1", undefined], ["1", ""], ["3", "é&1"], ["100000", "x"]]) {
    const all = "some data\n".repeat(Number(n)) + (nonce ?? "");
    same(await work.hash(n, nonce), 200, T, createHash("sha256").update(all).digest("hex"));
  }
  for (const n of [undefined, null, "", "0", "-1", "+1", "1.5", "1e3", "100001", "99999999999999999999", "x"]) {
    assert.equal((await work.hash(n, "")).status, 400, String(n));
  }
  assert.equal((await new Work({ handlerDelayMs: 0 }).hash("1", "")).status, 503);
  rmSync(dataFile);
  assert.equal((await work.hash("1", "")).status, 500);
});
