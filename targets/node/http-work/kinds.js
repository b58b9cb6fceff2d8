// The kinds of work that a handler may do. Waiting, files and other servers leave the event loop alone; computing and the
// database hold it up.

import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { SettingError } from "../work/settings.js";
import { readFile } from "../work/work.js";

/** How many keys there are: 1 and up. */
export const KEYS = 1000;

/** How often the generator of the work `cpu` is run. */
const ROUNDS = 100_000;

/** What is done for a key: gives the body of the reply, or a promise of it. */
export async function kindOf(env, { handlerDelayMs }) {
  switch (env.WORK || "sleep") {
    case "sleep":
      return sleeping(env, handlerDelayMs);
    case "cpu":
      return computed;
    case "file":
      return reading(env);
    case "sqlite":
      return querying(env);
    case "http":
      return calling(env);
    default: {
      const cure = "set it to sleep, cpu, file, sqlite or http, or leave it unset";
      throw new SettingError(`WORK=${JSON.stringify(env.WORK)} is not known; ${cure}`);
    }
  }
}

function sleeping(env, ms) {
  const values = valuesOf(env);
  return async (key) => {
    if (ms > 0) await sleep(ms);
    return values[key - 1];
  };
}

/** The state of a xorshift generator after so many rounds. */
export function computed(key) {
  let x = key;
  for (let i = 0; i < ROUNDS; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  return String(x >>> 0);
}

/** Reads the whole file for each request and looks for the key in it. */
function reading(env) {
  valuesOf(env);
  return async (key) => {
    const wanted = `${key}\t`;
    const lines = (await readFile(env.WORK_FILE, "utf8")).split("\n");
    const line = lines.find((line) => line.startsWith(wanted));
    if (line === undefined) throw new Error("the key is not in the file");
    return line.slice(wanted.length);
  };
}

/** Puts the values into a database of its own and asks that. */
async function querying(env) {
  const values = valuesOf(env);
  const { default: sqlite } = await import("node-sqlite3-wasm");
  try {
    const db = new sqlite.Database(path.join(env.SCRATCH ?? "", "work.sqlite"));
    db.exec("CREATE TABLE work (key INTEGER PRIMARY KEY, value TEXT NOT NULL); BEGIN");
    values.forEach((value, index) => db.run("INSERT INTO work VALUES (?, ?)", [index + 1, value]));
    db.exec("COMMIT");
    const question = db.prepare("SELECT value FROM work WHERE key = ?");
    return (key) => question.get([key]).value;
  } catch (error) {
    const cure = "set it to an empty folder this process can write to";
    throw new SettingError(`SCRATCH=${JSON.stringify(env.SCRATCH)} cannot hold work.sqlite (${error.message}); ${cure}`);
  }
}

/** Asks another server for each request. */
function calling({ BACKEND = "" }) {
  if (!BACKEND.startsWith("http://")) {
    const cure = "set it to such as http://127.0.0.1:8080";
    throw new SettingError(`BACKEND=${JSON.stringify(BACKEND)} is not the address of a server; ${cure}`);
  }
  return async (key) => {
    const response = await fetch(`${BACKEND}/hello/${key}`);
    const body = await response.text();
    if (response.status !== 200) throw new Error(`the other server answered ${response.status}`);
    return body;
  };
}

/** Reads WORK_FILE: a line `key TAB value` for each key, in order. */
function valuesOf({ WORK_FILE = "" }) {
  const unusable = (why) => {
    const cure = `set it to a file with a line \`key TAB value\` for each key from 1 to ${KEYS}`;
    return new SettingError(`WORK_FILE=${JSON.stringify(WORK_FILE)} cannot be used (${why}); ${cure}`);
  };
  let lines;
  try {
    lines = readFileSync(WORK_FILE, "utf8").replace(/\n$/, "").split("\n");
  } catch (error) {
    throw unusable(error.code ?? error.message);
  }
  const values = lines.map((line, index) => {
    const prefix = `${index + 1}\t`;
    if (!line.startsWith(prefix)) throw unusable(`its line ${index + 1} has not that key`);
    return line.slice(prefix.length);
  });
  if (values.length !== KEYS) throw unusable(`it has ${values.length} lines`);
  return values;
}
