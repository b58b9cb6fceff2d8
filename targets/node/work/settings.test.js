import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { readSettings, SettingError } from "./settings.js";

const UNSET = {
  address: "127.0.0.1",
  adminPort: undefined,
  workers: 1,
  rendering: "bytes",
  paths: "all",
  handlerDelayMs: 0,
  readTimeoutMs: undefined,
  readHeaderTimeoutMs: undefined,
  idleTimeoutMs: undefined,
  dataFile: undefined,
  tls: undefined,
};

test("settings come from the environment", (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "settings-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "data");
  writeFileSync(file, "x");
  const settings = readSettings({
    ADDRESS: "0.0.0.0",
    PORT: "8080",
    ADMIN_PORT: "8081",
    WORKERS: "4",
    RENDERING: "schema",
    PATHS: "json",
    HANDLER_DELAY: "1500ms",
    READ_TIMEOUT: "1s",
    READ_HEADER_TIMEOUT: "10ms",
    IDLE_TIMEOUT: "0ms",
    DATA_FILE: file,
  });
  assert.deepEqual(settings, {
    address: "0.0.0.0",
    port: 8080,
    adminPort: 8081,
    workers: 4,
    rendering: "schema",
    paths: "json",
    handlerDelayMs: 1500,
    readTimeoutMs: 1000,
    readHeaderTimeoutMs: 10,
    idleTimeoutMs: 0,
    dataFile: file,
    tls: undefined,
  });
});

test("unset and empty are the default", () => {
  assert.deepEqual(readSettings({ PORT: "8080" }), { port: 8080, ...UNSET });
  const empty = { PORT: "8080", ADMIN_PORT: "", WORKERS: "", HANDLER_DELAY: "", READ_TIMEOUT: "", DATA_FILE: "" };
  assert.deepEqual(readSettings(empty), { port: 8080, ...UNSET });
});

for (const [env, ...says] of [
  [{}, "PORT is not set"],
  [{ PORT: "http" }, "PORT", '"http"', "65535"],
  [{ PORT: "0" }, "PORT", '"0"'],
  [{ PORT: "65536" }, "PORT", '"65536"'],
  [{ PORT: "-1" }, "PORT", '"-1"'],
  [{ PORT: "8080", ADDRESS: "localhost" }, "ADDRESS", '"localhost"', "0.0.0.0", "127.0.0.1"],
  [{ PORT: "8080", ADDRESS: "::" }, "ADDRESS", '"::"'],
  [{ PORT: "8080", ADMIN_PORT: "x" }, "ADMIN_PORT", '"x"'],
  [{ PORT: "8080", ADMIN_PORT: "8080" }, "ADMIN_PORT", "8080", "same"],
  [{ PORT: "8080", WORKERS: "0" }, "WORKERS", '"0"'],
  [{ PORT: "8080", WORKERS: "all" }, "WORKERS", '"all"'],
  [{ PORT: "8080", HANDLER_DELAY: "10" }, "HANDLER_DELAY", '"10"', "10ms"],
  [{ PORT: "8080", HANDLER_DELAY: "99999999s" }, "HANDLER_DELAY", "24 days"],
  [{ PORT: "8080", READ_TIMEOUT: "-1s" }, "READ_TIMEOUT", '"-1s"'],
  [{ PORT: "8080", READ_HEADER_TIMEOUT: "soon" }, "READ_HEADER_TIMEOUT", '"soon"'],
  [{ PORT: "8080", IDLE_TIMEOUT: "1 s\n" }, "IDLE_TIMEOUT", '"1 s\\n"'],
  [{ PORT: "8080", DATA_FILE: "/nowhere/at/all" }, "DATA_FILE", "/nowhere/at/all", "ENOENT"],
  [{ PORT: "8080", DATA_FILE: "/" }, "DATA_FILE", '"/"', "not a regular file"],
]) {
  test(`a bad setting is named: ${JSON.stringify(env)}`, () => {
    assert.throws(
      () => readSettings(env),
      (error) => {
        assert.ok(error instanceof SettingError);
        for (const part of says) assert.ok(error.message.includes(part), error.message);
        assert.ok(!error.message.includes("\n"), error.message);
        return true;
      },
    );
  });
}
