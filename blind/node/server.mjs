// A server with one fault, or none, for `make diagnose-live`: the environment says which, and how large it is.
import { createServer } from 'node:http';
import { openSync } from 'node:fs';

const setting = (name, usual) => Number(process.env[name] ?? usual);
const faults = (process.env.FAULTS ?? '').split(',');
const has = (fault) => faults.includes(fault);
const workers = setting('WORKERS', 1);
const delayMs = setting('DELAY_US', 0) / 1000;
const heavyMs = setting('HEAVY_MS', 0);
const bytes = setting('BYTES', 0);
const every = setting('EVERY', 1);
const kept = [];
let requests = 0;

/** A queue in which so many work at a time. */
class Queue {
  constructor(most) {
    this.most = most;
    this.working = 0;
    this.waiting = [];
  }
  enter(work) {
    if (this.working < this.most) {
      this.working += 1;
      work();
    } else {
      this.waiting.push(work);
    }
  }
  leave() {
    const next = this.waiting.shift();
    if (next) next();
    else this.working -= 1;
  }
}

const all = new Queue(workers);
const paths = new Map();

function compute(ms) {
  const until = performance.now() + ms;
  let x = 1;
  while (performance.now() < until) for (let i = 0; i < 1000; i += 1) x = (x * 48271) % 2147483647;
  return x;
}

function queueOf(path) {
  if (has('limit')) return all;
  if (!has('path-lock')) return undefined;
  if (!paths.has(path)) paths.set(path, new Queue(1));
  return paths.get(path);
}

function wait(count, done) {
  let ms = delayMs;
  if (has('sometimes-slow') && count % every === 0) ms += setting('SLOW_MS', 30);
  if (has('slower')) ms += count / 1000;
  if (ms > 0) setTimeout(done, ms);
  else done();
}

function keep(count) {
  if (count % every !== 0) return;
  if (has('memory') || (has('cache') && kept.length * bytes < setting('CACHE_BYTES', 1 << 20))) kept.push(Buffer.alloc(bytes, 1));
  if (has('files')) kept.push(openSync('/dev/null'));
}

function answer(count, response) {
  keep(count);
  if (has('close')) response.setHeader('Connection', 'close');
  if (has('errors') && count % every === 0) {
    response.writeHead(500).end('out of luck');
    return;
  }
  if (has('garbage')) Buffer.alloc(bytes, 1);
  const body = 'ok'.repeat(1 + setting('BODY', 0) / 2);
  response.setHeader('Content-Length', body.length);
  if (has('split')) {
    response.write('o');
    setImmediate(() => response.end('k'));
  } else {
    response.end(body);
  }
}

const server = createServer({ noDelay: !has('split'), keepAliveTimeout: 60_000 }, (request, response) => {
  requests += 1;
  const count = requests;
  if (has('die') && count >= every) {
    console.error('fatal: no luck left');
    process.exit(3);
  }
  if (request.url.startsWith('/heavy')) {
    compute(heavyMs);
    answer(count, response);
    return;
  }
  const queue = queueOf(request.url);
  if (!queue) return wait(count, () => answer(count, response));
  queue.enter(() =>
    wait(count, () => {
      queue.leave();
      answer(count, response);
    }),
  );
});

if (has('stall')) setInterval(() => compute(setting('STALL_MS', 700)), setting('STALL_EVERY_MS', 3000));
if (has('burn')) setInterval(() => compute(3), 10);
server.listen(Number(process.env.PORT), '127.0.0.1');
