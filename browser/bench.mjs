// How large a page is, how long it takes to open (until its load event, and until a launch is drawn; the median of five), and how
// long its frames take while it is scrolled from one end to the other. Ends with 1 where one of them is beyond its bar.

import { statSync } from "node:fs";
import { chromium } from "playwright-core";

const MOST = { bytes: 12e6, open_ms: 2_000, frame_ms: 50 };
const file = process.argv[2];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const times = [];
let frames;
for (let round = 0; round < 5; round++) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(watched);
  await page.goto(`file://${file}`, { waitUntil: "load" });
  await page.waitForFunction(() => window.drawn_ms);
  times.push(await page.evaluate(() => [performance.getEntriesByType("navigation")[0].loadEventEnd, window.drawn_ms]));
  frames = await page.evaluate(scrolled);
  await page.close();
}
await browser.close();

/** Keeps when a launch was on the screen, in milliseconds since the page was asked for, by the page's own clock: what the driver needs
 * to look costs as much as some of what it looks at. */
function watched() {
  const look = () => {
    const isDrawn = document.querySelector("#explorer:not([hidden]) .panel canvas");
    requestAnimationFrame(isDrawn ? () => { window.drawn_ms = performance.now(); } : look);
  };
  requestAnimationFrame(look);
}

/** Scrolls through the page in 200 frames; gives how long each took, in ascending order. */
function scrolled() {
  const [all, took] = [document.documentElement.scrollHeight - innerHeight, []];
  return new Promise((done) => {
    let last = performance.now();
    const frame = (now) => {
      took.push(now - last);
      last = now;
      scrollTo(0, (all * took.length) / 200);
      if (took.length < 200) requestAnimationFrame(frame);
      else done(took.sort((one, other) => one - other));
    };
    requestAnimationFrame(frame);
  });
}

const median = (at) => times.map((of) => of[at]).sort((one, other) => one - other)[2];
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
const seen = { bytes: statSync(file).size, open_ms: median(1), frame_ms: frames[Math.floor(frames.length * 0.95)] };
console.log(`${(seen.bytes / 1e6).toFixed(2)} MB; loaded after ${seconds(median(0))}, a launch drawn after ${seconds(seen.open_ms)}`);
console.log(`scrolled: half of the frames within ${frames[100].toFixed(0)} ms, 19 of 20 within ${seen.frame_ms.toFixed(0)} ms`);
for (const [what, most] of Object.entries(MOST)) {
  if (seen[what] <= most) continue;
  console.log(`beyond its bar: ${what} ${seen[what].toFixed(0)}, at most ${most}`);
  process.exitCode = 1;
}
