// A server with one fault, or none, for `make diagnose-live`: the environment says which, and how large it is.
import { Agent, createServer, get } from 'node:http';
import { openSync, renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

const setting = (name, usual) => Number(process.env[name] ?? usual);
const faults = (process.env.FAULTS ?? '').split(',');
const has = (fault) => faults.includes(fault);
const workers = setting('WORKERS', 1);
const delayMs = setting('DELAY_US', 0) / 1000;
const heavyMs = setting('HEAVY_MS', 0);
const bytes = setting('BYTES', 0);
const every = setting('EVERY', 1);
const trips = setting('TRIPS', 1);
const agent = new Agent({ keepAlive: true });
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
  const pause = () => (ms > 0 ? setTimeout(done, ms) : done());
  if (has('upstream')) ask(trips, pause);
  else pause();
}

/** So many round trips, one after another, to what is behind the server. */
function ask(left, done) {
  if (left === 0) return done();
  get(`http://${process.env.UPSTREAM}/`, { agent }, (reply) => {
    reply.resume();
    reply.on('end', () => ask(left - 1, done));
  }).on('error', () => ask(left - 1, done));
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

/** Writes to a file, twice a second, what Clinic.js Doctor goes by. */
function watch(file) {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  let collecting = [];
  const shares = [];
  let most = 0;
  new PerformanceObserver((list) => {
    collecting.push(...list.getEntries().map((entry) => [performance.now(), entry.duration]));
    collecting = collecting.filter(([at]) => performance.now() - at < 1000);
    most = Math.max(most, collecting.reduce((sum, [, ms]) => sum + ms, 0));
  }).observe({ entryTypes: ['gc'] });
  let [at, used] = [performance.now(), process.cpuUsage()];
  setInterval(() => {
    const { user, system } = process.cpuUsage(used);
    shares.push((user + system) / 1000 / (performance.now() - at));
    [at, used] = [performance.now(), process.cpuUsage()];
    const sorted = [...shares].sort((a, b) => a - b);
    const seen = {
      loop_median_ms: delay.percentile(50) / 1e6 - 10,
      loop_longest_ms: delay.max / 1e6 - 10,
      collections_ms_in_a_second: most,
      cpu_p90: sorted[Math.floor(sorted.length * 0.9)],
    };
    writeFileSync(`${file}.new`, JSON.stringify(seen));
    renameSync(`${file}.new`, file);
  }, 500);
}

if (process.env.CLINIC) watch(process.env.CLINIC);
if (has('stall')) setInterval(() => compute(setting('STALL_MS', 700)), setting('STALL_EVERY_MS', 3000));
if (has('burn')) setInterval(() => compute(3), 10);
server.listen(Number(process.env.PORT), '127.0.0.1');
