import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { SettingError } from "../work/settings.js";
import { computed, KEYS, kindOf } from "./kinds.js";

function environment(t, variables) {
  const scratch = mkdtempSync(path.join(tmpdir(), "kinds-"));
  t.after(() => rmSync(scratch, { recursive: true }));
  const file = path.join(scratch, "work.tsv");
  writeFileSync(file, Array.from({ length: KEYS }, (_, index) => `${index + 1}\tvalue of ${index + 1}\n`).join(""));
  return { SCRATCH: scratch, WORK_FILE: file, ...variables };
}

async function givesItsValue(env) {
  const kind = await kindOf(env, { handlerDelayMs: 1 });
  for (const key of [1, 10, 1000]) assert.equal(await kind(key), `value of ${key}`);
}

// The work `sqlite` needs what the build installs; `bourdon targets check` tries it.
for (const name of ["", "sleep", "file"]) {
  test(`the work ${name || "by default"} gives its value`, (t) => givesItsValue(environment(t, { WORK: name })));
}

test("another server gives the value", async (t) => {
  const backend = http.createServer((req, res) => res.end(req.url.replace("/hello/", "value of ")));
  t.after(() => backend.closeAllConnections());
  t.after(() => backend.close());
  await once(backend.listen(0, "127.0.0.1"), "listening");
  await givesItsValue({ WORK: "http", BACKEND: `http://127.0.0.1:${backend.address().port}` });
});

test("computing gives what it gives in the other languages", () => {
  assert.deepEqual([computed(1), computed(1000)], ["3083738941", "3655363837"]);
});

for (const [variables, named] of [
  [{ WORK: "play" }, "WORK"],
  [{ WORK: "http" }, "BACKEND"],
  [{ WORK: "http", BACKEND: "localhost" }, "BACKEND"],
  [{ WORK_FILE: "/no/where" }, "WORK_FILE"],
]) {
  test(`a bad setting is named: ${JSON.stringify(variables)}`, async (t) => {
    await assert.rejects(kindOf(environment(t, variables), { handlerDelayMs: 0 }), (error) => {
      assert.ok(error instanceof SettingError);
      assert.ok(error.message.startsWith(`${named}=`) && !error.message.includes("\n"), error.message);
      return true;
    });
  });
}
