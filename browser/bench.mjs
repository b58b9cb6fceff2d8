// How long a page takes to open: until its load event, and until a launch is drawn. The median of five.

import { statSync } from "node:fs";
import { chromium } from "playwright-core";

const file = process.argv[2];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const times = [];
for (let round = 0; round < 5; round++) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const begun = performance.now();
  await page.goto(`file://${file}`, { waitUntil: "load" });
  const loaded = performance.now();
  await page.waitForSelector("#explorer:not([hidden]) .panel canvas");
  times.push([loaded - begun, performance.now() - begun]);
  await page.close();
}
await browser.close();
const median = (at) => times.map((of) => of[at]).sort((one, other) => one - other)[2];
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
console.log(`${(statSync(file).size / 1e6).toFixed(2)} MB; loaded after ${seconds(median(0))}, a launch drawn after ${seconds(median(1))}`);
