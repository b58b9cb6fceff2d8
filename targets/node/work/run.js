// The whole life of a target: read the settings, listen, serve until SIGTERM or an interrupt, and exit.

import cluster from "node:cluster";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { setTimeout as sleep } from "node:timers/promises";

import { LOOPBACK, readSettings, SettingError } from "./settings.js";
import { Work } from "./work.js";

// How long requests in flight may take to end once the target has been told to stop.
const GRACE_MS = 1000;
// How long the primary waits for its workers then, before it kills them.
const WORKERS_GRACE_MS = 1500;

const EXIT_SERVE = 1; // could not listen, or the server failed
const EXIT_USAGE = 2; // a bad or missing setting

/**
 * Runs a target. `build(settings, work)` gives its server: `listen(port, host)` and `close()`, both promises, where
 * close takes no new connections and waits for the requests in flight.
 */
export async function main(name, build) {
  const told = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  const fail = (status, message) => {
    process.stderr.write(`${name}: ${message}\n`);
    process.exit(status);
  };
  try {
    const settings = readSettings(process.env);
    if (settings.workers === 1) await serveAlone(settings, build, told);
    else if (cluster.isPrimary) await superviseWorkers(settings, told);
    else await serveAsWorker(settings, build, told);
  } catch (error) {
    if (error instanceof SettingError) fail(EXIT_USAGE, error.message);
    if (error instanceof ServeError) fail(EXIT_SERVE, error.message);
    throw error;
  }
  process.exit(0);
}

/** Which of these ways to make JSON is asked for. */
export function rendering(settings, ...known) {
  if (known.includes(settings.rendering)) return settings.rendering;
  const cure = `set it to ${known.slice(0, -1).join(", ")} or ${known.at(-1)}, or leave it unset`;
  throw new SettingError(`RENDERING=${JSON.stringify(settings.rendering)} is not known; ${cure}`);
}

/** Whether the paths of JSON are asked for alone. */
export function hasJsonAlone({ paths }) {
  if (paths === "json" || paths === "all") return paths === "json";
  throw new SettingError(`PATHS=${JSON.stringify(paths)} is not known; set it to all or json, or leave it unset`);
}

/** One of Node's own servers, over TLS where that is asked for. */
export function createServer({ tls }, handler) {
  return tls ? https.createServer(tls, handler) : http.createServer(handler);
}

/** A target's server from one of Node's own, with the timeouts that are asked for. */
export function fromHttpServer(server, settings) {
  applyTimeouts(server, settings);
  return {
    listen: (port, host) => once(server.listen(port, host), "listening"),
    close: () => new Promise((closed) => server.close(closed)),
  };
}

/** Sets the timeouts that are asked for and leaves the others at what they are. */
export function applyTimeouts(server, { readTimeoutMs, readHeaderTimeoutMs, idleTimeoutMs }) {
  if (readTimeoutMs !== undefined) server.requestTimeout = readTimeoutMs;
  if (readHeaderTimeoutMs !== undefined) server.headersTimeout = readHeaderTimeoutMs;
  if (idleTimeoutMs !== undefined) server.keepAliveTimeout = idleTimeoutMs;
}

class ServeError extends Error {}

async function serveAlone(settings, build, told) {
  // Loaded only here: without ADMIN_PORT nothing of the kind runs.
  if (settings.adminPort) {
    const admin = await import("./admin.js");
    await listening("ADMIN_PORT", LOOPBACK, settings.adminPort, admin.serveOwn(settings.adminPort));
  }
  await serve(settings, build, told);
}

async function serveAsWorker(settings, build, told) {
  if (settings.adminPort) (await import("./admin.js")).collectForPrimary();
  // Connections are kept: were the first worker to listen before the others can, it would get them all.
  const allReady = async () => {
    const listen = new Promise((resolve) => process.on("message", (message) => message?.listen && resolve()));
    process.send({ ready: true });
    await listen;
  };
  try {
    await serve(settings, build, told, allReady);
  } catch (error) {
    if (!(error instanceof ServeError)) throw error;
    // All workers fail alike; the primary says it once.
    await new Promise((sent) => process.send({ failed: error.message }, sent));
    process.exit(EXIT_SERVE);
  }
}

async function serve(settings, build, told, ready = () => {}) {
  const server = await build(settings, new Work(settings));
  await ready();
  await listening("PORT", settings.address, settings.port, server.listen(settings.port, settings.address));
  await told;
  await Promise.race([server.close(), sleep(GRACE_MS)]);
}

async function listening(variable, address, port, attempt) {
  try {
    await attempt;
  } catch (error) {
    const where = `${address}:${port}`;
    throw new ServeError(
      error.code === "EADDRINUSE"
        ? `${variable}=${port}: ${where} is already in use; stop what listens there or set ${variable} to a free port`
        : `${variable}=${port}: cannot listen on ${where} (${error.code ?? error.message}); ` +
          `set ${variable} to a port this process may use`,
    );
  }
}

/** Starts the workers and waits until told to stop. A worker that dies is not replaced: its load would be lost. */
async function superviseWorkers(settings, told) {
  if (settings.adminPort) {
    const admin = await import("./admin.js");
    await listening("ADMIN_PORT", LOOPBACK, settings.adminPort, admin.serveWorkers(settings.adminPort));
  }
  const workers = Array.from({ length: settings.workers }, () => cluster.fork());
  // What can no longer be sent to a worker is an error here as well; its exit says it.
  for (const worker of workers) worker.on("error", () => {});
  const exitOf = (worker) =>
    new Promise((resolve) => worker.on("exit", (status, signal) => resolve({ worker, status, signal })));
  const ended = workers.map(exitOf);
  const failed = new Promise((resolve) => {
    cluster.on("message", (_, message) => message?.failed && resolve(message.failed));
  });
  let ready = 0;
  cluster.on("message", (_, message) => {
    if (message?.ready && ++ready === workers.length) workers.forEach((worker) => worker.send({ listen: true }));
  });
  const died = Promise.race(ended).then(({ worker, status, signal }) => {
    const how = signal ? `was ended by ${signal}` : `exited with status ${status}`;
    return `worker ${worker.process.pid} ${how}; all workers are stopped`;
  });

  const failure = await Promise.race([told.then(() => undefined), failed, died]);
  for (const worker of workers) worker.process.kill(failure ? "SIGKILL" : "SIGTERM");
  await Promise.race([Promise.all(ended), sleep(WORKERS_GRACE_MS)]);
  for (const worker of workers) worker.process.kill("SIGKILL");
  if (failure) throw new ServeError(failure);
}
