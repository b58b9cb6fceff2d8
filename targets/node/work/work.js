// What each endpoint answers, for all Node targets. A target's own main.js adds only its framework, so that a
// difference between two targets is a difference between their frameworks.

import { createHash } from "node:crypto";
import { readFile as readFileThen } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/** With the callback, as most programs read files: that of node:fs/promises opens a handle for itself first. */
export const readFile = promisify(readFileThen);

/** The largest body /submit takes, in bytes. */
export const SUBMIT_LIMIT = 1024 * 1024;

/** The largest number of passes /hash makes. */
const HASH_LIMIT = 100_000;

// A reply is what a handler answers; the target sends it with what its framework offers for that. Text is a string,
// as Node's users have it. JSON is a buffer: to a string, Express and Fastify would add a charset to the content type.
const text = (status, body) => ({ status, type: "text/plain; charset=utf-8", body });
const json = (body) => ({ status: 200, type: "application/json", body: Buffer.from(body) });

const WELCOME = text(200, "Welcome!\n");
const HELLO = text(200, "Hello world");
const INDEX = text(200, "index\n");
const PONG = json('{"message":"pong"}');

/** Answers a body over SUBMIT_LIMIT. Frameworks refuse such a body before any handler runs. */
export const TOO_LARGE = text(413, "the body is larger than 1 MiB\n");
const NOT_JSON = text(400, "the body is not valid JSON\n");

const NO_DATA_FILE = text(503, "DATA_FILE is not set; start the target with DATA_FILE naming a file to hash\n");
const BAD_PASSES = text(400, `n must be a whole number from 1 to ${HASH_LIMIT}\n`);
const BAD_DATA_FILE = text(500, "DATA_FILE can no longer be read\n");

/** What GET /ping and GET /user/:id tell, for frameworks that render it themselves. */
export const pong = () => ({ message: "pong" });
export const person = (id) => ({ id, name: "User" });

/** Makes the replies. Those that wait for something are promises. */
export class Work {
  #delayMs;
  #dataFile;

  constructor({ handlerDelayMs, dataFile }) {
    this.#delayMs = handlerDelayMs;
    this.#dataFile = dataFile;
  }

  /** GET / */
  welcome() {
    return WELCOME;
  }

  /** GET /rest/hello, after the handler delay. */
  async hello() {
    if (this.#delayMs > 0) await sleep(this.#delayMs);
    return HELLO;
  }

  /** GET /index, after the handler delay. */
  async index() {
    if (this.#delayMs > 0) await sleep(this.#delayMs);
    return INDEX;
  }

  /** GET /hello/:name */
  greet(name) {
    return text(200, `hello, ${name}!\n`);
  }

  /** GET /user/:id */
  user(id) {
    return json(JSON.stringify(person(id)));
  }

  /** GET /ping */
  ping() {
    return PONG;
  }

  /** POST /submit: the body itself if it is JSON. The framework has looked after the limit. */
  submit(body) {
    try {
      JSON.parse(body);
    } catch {
      return NOT_JSON;
    }
    return { status: 200, type: "application/json", body };
  }

  /**
   * GET /hash?n=N&nonce=X: the SHA-256 of N copies of the data file followed by the nonce. The file is read without
   * holding up the event loop; the hashing holds it up, for Node hashes on it unless told otherwise.
   */
  async hash(n, nonce) {
    if (!this.#dataFile) return NO_DATA_FILE;
    const passes = /^\d{1,9}$/.test(n) ? Number(n) : 0;
    if (passes < 1 || passes > HASH_LIMIT) return BAD_PASSES;
    let data;
    try {
      data = await readFile(this.#dataFile);
    } catch {
      return BAD_DATA_FILE;
    }
    const hash = createHash("sha256");
    for (let pass = 0; pass < passes; pass++) hash.update(data);
    return text(200, hash.update(String(nonce ?? "")).digest("hex"));
  }

  /** GET /whoami: the event loop, of which a process has one. */
  whoami() {
    return text(200, `loop ${process.pid}`);
  }
}
