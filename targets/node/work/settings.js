// What a target is told through its environment.

import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { isIPv4 } from "node:net";
import { createSecureContext } from "node:tls";

/** Where a target listens unless ADDRESS says otherwise, and its admin server always. */
export const LOOPBACK = "127.0.0.1";

// A timer that is set for longer than this fires at once.
const LONGEST_MS = 2 ** 31 - 1;

const MOST_WORKERS = 1024;

/** A bad or missing setting. The message is one line: the variable, its value and the cure. */
export class SettingError extends Error {}

/**
 * The settings in an environment. Durations are in milliseconds. A timeout that is not asked for is undefined,
 * which leaves the framework's default alone; zero is no timeout.
 */
export function readSettings(env) {
  if (!env.PORT) {
    throw new SettingError("PORT is not set; set it to the TCP port to listen on, such as PORT=8080");
  }
  const settings = {
    address: address(env),
    port: port(env, "PORT"),
    adminPort: port(env, "ADMIN_PORT"),
    workers: workers(env),
    rendering: env.RENDERING || "bytes",
    paths: env.PATHS || "all",
    handlerDelayMs: duration(env, "HANDLER_DELAY") ?? 0,
    readTimeoutMs: duration(env, "READ_TIMEOUT"),
    readHeaderTimeoutMs: duration(env, "READ_HEADER_TIMEOUT"),
    idleTimeoutMs: duration(env, "IDLE_TIMEOUT"),
    dataFile: dataFile(env),
    tls: tls(env),
  };
  if (settings.adminPort === settings.port) {
    const cure = "give it a port of its own or leave it unset";
    throw new SettingError(`ADMIN_PORT=${settings.adminPort} is the same as PORT; ${cure}`);
  }
  return settings;
}

function quoted(env, name) {
  return `${name}=${JSON.stringify(env[name])}`;
}

function wholeNumber(text, most) {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= most ? number : undefined;
}

function address(env) {
  if (!env.ADDRESS) return LOOPBACK;
  if (isIPv4(env.ADDRESS)) return env.ADDRESS;
  const cure = `set it to such as 0.0.0.0, or leave it unset for ${LOOPBACK}`;
  throw new SettingError(`${quoted(env, "ADDRESS")} is not an IPv4 address; ${cure}`);
}

function port(env, name) {
  if (!env[name]) return undefined;
  const number = wholeNumber(env[name], 65535);
  if (number) return number;
  throw new SettingError(`${quoted(env, name)} is not a TCP port; set it to a whole number from 1 to 65535`);
}

function workers(env) {
  if (!env.WORKERS) return 1;
  const number = wholeNumber(env.WORKERS, MOST_WORKERS);
  if (number) return number;
  const cure = `set it to a whole number from 1 to ${MOST_WORKERS}, or leave it unset for 1`;
  throw new SettingError(`${quoted(env, "WORKERS")} is not a number of processes; ${cure}`);
}

function duration(env, name) {
  if (!env[name]) return undefined;
  const [, digits, unit] = /^(\d+)(ms|s)$/.exec(env[name]) ?? [];
  const ms = digits * (unit === "s" ? 1000 : 1);
  if (ms <= LONGEST_MS) return ms;
  const cure = "set it to a number with a unit, such as 10ms or 1s and at most 24 days, or leave it unset";
  throw new SettingError(`${quoted(env, name)} is not a duration; ${cure}`);
}

/** The certificate and its key, as PEM; undefined for no TLS. */
function tls(env) {
  if (!env.TLS_CERT && !env.TLS_KEY) return undefined;
  try {
    const pair = { cert: readFileSync(env.TLS_CERT ?? ""), key: readFileSync(env.TLS_KEY ?? "") };
    createSecureContext(pair);
    return pair;
  } catch (error) {
    const cure = "set them to a certificate and its key as PEM files, or leave both unset";
    const named = `${quoted(env, "TLS_CERT")} with ${quoted(env, "TLS_KEY")}`;
    throw new SettingError(`${named} cannot be used (${error.code ?? error.message}); ${cure}`);
  }
}

function dataFile(env) {
  if (!env.DATA_FILE) return undefined;
  try {
    if (!statSync(env.DATA_FILE).isFile()) throw new Error("not a regular file");
    accessSync(env.DATA_FILE, constants.R_OK);
    return env.DATA_FILE;
  } catch (error) {
    const cure = "set it to a file this process can read, or leave it unset to do without /hash";
    throw new SettingError(`${quoted(env, "DATA_FILE")} cannot be used (${error.code ?? error.message}); ${cure}`);
  }
}
