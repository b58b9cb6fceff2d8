// What report.html does in a browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { makePages, trials } from "./pages.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SIZES = [[1440, 900], [390, 844]];
let browser, made;

before(async () => {
  made = makePages();
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(async () => {
  await browser?.close();
  made?.remove();
});

/** Opens a page, does something with it, and closes it; nothing may be asked for, and nothing be complained of. */
async function opened(name, options, use, hash = "") {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  const address = `file://${made.found[name]}/report.html`;
  page.on("request", (request) => request.url().split("#")[0] === address || wrong.push(`asks for ${request.url()}`));
  page.on("console", (message) => wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(address + hash);
  if (options.javaScriptEnabled !== false) await page.waitForSelector("#explorer:not([hidden]) .panel canvas");
  await use(page);
  await context.close();
  assert.deepEqual(wrong, [], name);
}

/** Drags over the middle of a panel of a page that shows all of the time, and gives the two ends of what is shown then. */
async function zoomedByDragging(page, at, leavesBelow = false) {
  const isZoomed = (wanted) => page.waitForFunction((wanted) => location.hash.includes("zoom=") === wanted, wanted);
  await isZoomed(false);
  const panel = page.locator(".u-over").nth(at);
  await panel.evaluate((one) => one.scrollIntoView({ block: "center" }));
  const box = await panel.boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 5 });
  if (leavesBelow) await page.mouse.move(box.x + box.width * 0.6, box.y + box.height + 6, { steps: 3 });
  await page.mouse.up();
  await isZoomed(true);
  const hash = await page.evaluate(() => location.hash.slice(1));
  return new URLSearchParams(hash).get("zoom").split(",").map(Number);
}

const data = async (page) => JSON.parse(gunzipSync(Buffer.from(await page.locator("#timelines").textContent(), "base64")));
const said = (page) => page.waitForFunction(() => document.getElementById("values").textContent).then((it) => it.jsonValue());
const luminance = (colour) => {
  const [red, green, blue] = colour.match(/[\d.]+/g).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

test("every page, wide and narrow, light and dark: nothing asked for, no error, no scrolling aside, open to all", async () => {
  const lookAt = (name, [width, height], colorScheme) =>
    opened(name, { viewport: { width, height }, colorScheme }, async (page) => {
      await page.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
      const [shown, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      assert.ok(shown <= room, `${name} at ${width}: ${shown} of ${room}`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
      const broken = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join("; ")}`);
      assert.deepEqual(broken, [], `${name} at ${width}, ${colorScheme}`);
    });
  // Both colours at a time, for no figure of it is a time.
  for (const name of Object.keys(made.found)) {
    for (const size of SIZES) await Promise.all(["light", "dark"].map((scheme) => lookAt(name, size, scheme)));
  }
});

test("without a script the question, the figures and every picture can be read", async () => {
  for (const name of Object.keys(made.found)) {
    await opened(name, { javaScriptEnabled: false }, async (page) => {
      assert.ok((await page.locator("h1").innerText()).length > 5);
      assert.ok(await page.locator("#figures table:not(details table)").first().isVisible());
      assert.equal(await page.locator("#explorer").isVisible(), false, "what only a script can do is not shown");
      for (const details of await page.locator("details").all()) await details.locator("> summary").click();
      const pictures = await page.locator("#time figure svg").all();
      assert.ok(pictures.length > 0, name);
      for (const picture of pictures) assert.ok((await picture.boundingBox()).height > 100);
    });
  }
});

test("arrow keys move the cursor through the steps, and its figures are those of the record", async () => {
  await opened("live", {}, async (page) => {
    const chosen = await page.locator("#launch").inputValue();
    const steps = trials(made.found.live).find(({ id }) => id === chosen).measurement.steps.filter(({ at_s }) => at_s >= 0);
    await page.locator("#panels").focus();
    await page.keyboard.press("End");
    const words = await said(page);
    const last = steps.at(-1);
    assert.ok(words.startsWith(`Second ${last.at_s} to `), words);
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction((words) => document.getElementById("values").textContent !== words, words);
    const before = steps.at(-2);
    const now = await said(page);
    const rate = Math.round(before.ok).toLocaleString("en-US");
    assert.ok(now.startsWith(`Second ${before.at_s} to `) && now.includes(`${rate} requests/s`), `${now}: ${rate}`);
    assert.equal(await page.locator("#values").getAttribute("aria-live"), "polite");
    const lines = await page.locator(".u-cursor-x").evaluateAll((all) => all.map((one) => one.style.transform));
    assert.ok(lines.length >= 4 && new Set(lines).size === 1, `one cursor for all panels: ${lines}`);
    const box = await page.locator(".u-over").nth(1).boundingBox();
    await page.mouse.move(box.x + 5, box.y + 5);
    await page.waitForFunction((now) => document.getElementById("values").textContent !== now, now);
  });
});

test("the columns of the page are the figures of the record", async () => {
  for (const name of ["live", "compared", "in-turn"]) {
    await opened(name, {}, async (page) => {
      const { cells, panels } = await data(page);
      const known = Object.fromEntries(trials(made.found[name]).map((trial) => [trial.id, trial]));
      const rate = panels.findIndex(({ id }) => id === "throughput");
      let seen = 0;
      for (const launch of cells.flatMap((cell) => cell.launches)) {
        const { steps } = known[launch.id].measurement;
        assert.deepEqual(launch.p99_us, steps.map(({ p99_us }) => p99_us));
        assert.deepEqual(launch.failures, steps.map(({ failed, completed, ok }) => failed + completed - ok));
        steps.forEach(({ ok, at_s }, at) => {
          const drawn = launch.amounts[rate][at];
          assert.ok(at_s < 0 ? drawn === null : Math.abs(drawn * launch.length_s[at] - ok) < 1, `${launch.id} ${at}: ${drawn}`);
        });
        seen += 1;
      }
      assert.equal(seen, Object.keys(known).length, name);
    });
  }
});

test("the map of latency has each reply once", async () => {
  await opened("live", {}, async (page) => {
    const { cells } = await data(page);
    for (const launch of cells.flatMap((cell) => cell.launches)) {
      const { steps } = trials(made.found.live).find(({ id }) => id === launch.id).measurement;
      launch.latencies.forEach((counts, at) => {
        if (steps[at].at_s < 0) return;
        const sum = counts.filter((_, place) => place % 2 === 1).reduce((sum, count) => sum + count, 0);
        // A reply on the edge of a second is booked by whole requests there, and by its last byte here.
        assert.ok(Math.abs(sum - steps[at].completed) <= 10, `${launch.id} ${at}: ${sum} of ${steps[at].completed}`);
      });
    }
  });
});

test("the address holds launch, zoom and filter, and brings them back", async () => {
  await opened("live", {}, async (page) => {
    await page.locator("#filter").fill("stalling");
    await page.locator("#cell").selectOption({ index: 1 });
    await page.locator("#panels").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("+");
    const state = () => page.evaluate(() => ({
      hash: location.hash, launch: document.getElementById("launch").value, filter: document.getElementById("filter").value,
      rows: [...document.querySelectorAll("#figures tbody tr")].filter((row) => row.checkVisibility()).length,
    }));
    const chosen = await state();
    assert.match(chosen.hash, /^#launch=b01-c\d+&zoom=[-\d.]+,[\d.]+&filter=stalling$/);
    assert.ok(chosen.rows > 0);
    await page.reload();
    await page.waitForSelector("#explorer:not([hidden]) .panel canvas");
    assert.deepEqual(await state(), chosen);
    await page.locator("#whole").click();
    await zoomedByDragging(page, 0);
  });
  await opened("live", {}, (page) => page.waitForSelector(".panel canvas"), "#launch=b99-c99&zoom=9,1&filter=none+such");
});

test("a selection that leaves its panel ends where it was let go, and links to parts of the page leave the address alone", async () => {
  await opened("live", {}, async (page) => {
    const within = await zoomedByDragging(page, 1);
    await page.locator("#whole").click();
    const beyond = await zoomedByDragging(page, 1, true);
    within.forEach((end, at) => assert.ok(Math.abs(end - beyond[at]) < 0.02, `${within} and ${beyond}`));
    const address = await page.evaluate(() => location.href);
    await page.locator("nav a", { hasText: "Figures" }).click();
    await page.waitForFunction(() => Math.abs(document.querySelector("#figures h2").getBoundingClientRect().top) < 200);
    assert.equal(await page.evaluate(() => location.href), address);
  });
});

test("a filter finds rows by their conditions, and leaves the tables that compare two servers", async () => {
  const rows = (page) => page.evaluate(() => [...document.querySelectorAll("#figures > section > .table tbody tr, #figures .whole tbody tr")]
    .filter((row) => row.checkVisibility()).length);
  await opened("live", {}, async (page) => {
    const cells = (await data(page)).cells.map(({ name }) => name);
    const conditions = cells.map((name) => /\((.*)\)/.exec(name)).find(Boolean);
    assert.ok(conditions, cells.join("; "));
    const all = await rows(page);
    await page.locator("#filter").fill(conditions[1]);
    const found = await rows(page);
    assert.ok(found > 0 && found < all, `${conditions[1]}: ${found} of ${all}`);
  });
  await opened("compared", {}, async (page) => {
    const all = await rows(page);
    await page.locator("#filter").fill("new");
    assert.equal(await rows(page), all);
  });
});

test("a long table is folded until somebody asks for all of it; the address brings that back, and prints have all", async () => {
  await opened("long", {}, async (page) => {
    const { launches } = await page.evaluate(() => {
      const table = [...document.querySelectorAll("#figures details .table")].find((one) => one.querySelectorAll("tbody tr").length > 40);
      table.closest("details").open = true;
      table.id = "longest";
      return { launches: table.querySelectorAll("tbody tr").length };
    });
    const shown = () => page.evaluate(() => [...document.querySelectorAll("#longest tbody tr")].filter((row) => !row.hidden).length);
    const fire = (name) => page.evaluate((name) => dispatchEvent(new Event(name)), name);
    assert.equal(await shown(), 40);
    await fire("beforeprint");
    assert.equal(await shown(), launches);
    await fire("afterprint");
    assert.equal(await shown(), 40);
    await page.locator("#longest + button").click();
    assert.equal(await shown(), launches);
    await page.waitForFunction(() => /open=\d/.test(location.hash) && /whole=\d/.test(location.hash));
    await page.reload();
    await page.waitForSelector("#explorer:not([hidden]) .panel canvas");
    const after = await page.evaluate(() => [...document.querySelectorAll("#figures details[open] .table")]
      .map((table) => [...table.querySelectorAll("tbody tr")].filter((row) => !row.hidden).length));
    assert.ok(after.includes(launches), `${after} of ${launches}`);
    await page.locator("#filter").fill("none of them");
    await fire("beforeprint");
    assert.equal(await page.locator("#time figure[hidden]").count(), 0, "prints leave out no picture");
    await fire("afterprint");
    assert.ok((await page.locator("#time figure[hidden]").count()) > 0);
  });
});

test("the index of a site: nothing asked for, no scrolling aside, open to all, and it leads to each page", async () => {
  for (const [width, height] of SIZES) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme });
      const asked = [];
      page.on("request", (request) => asked.push(request.url()));
      await page.goto(`file://${made.site}`);
      assert.deepEqual(asked, [`file://${made.site}`]);
      const [shown, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      assert.ok(shown <= room, `${shown} of ${room} at ${width}`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
      assert.deepEqual(violations.map(({ id }) => id), [], `${width}, ${colorScheme}`);
      await page.locator("a").first().click();
      assert.ok((await page.locator("h1").innerText()).length > 5);
      await page.getByRole("link", { name: "All verdicts" }).click();
      assert.equal(page.url(), `file://${made.site}`);
      await page.close();
    }
  }
});

test("a void launch is crossed out and says why", async () => {
  const isVoid = (launch) => launch.is_void;
  await opened("side-by-side", {}, async (page) => {
    const { cells } = await data(page);
    const wanted = cells.flatMap((cell) => cell.launches).find(isVoid);
    await page.evaluate((id) => { location.hash = `#launch=${id}`; }, wanted.id);
    await page.waitForFunction((id) => document.getElementById("launch").value === id, wanted.id);
    assert.ok((await page.locator("#note").innerText()).includes(wanted.note));
    assert.ok((await page.locator("#launch option:checked").innerText()).includes("void"));
  });
});

test("printed: light, with every launch, no picture cut, and pictures without their tables of values", async () => {
  await opened("live", { colorScheme: "dark" }, async (page) => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const look = await page.evaluate(() => ({
      paper: getComputedStyle(document.body).backgroundColor,
      cut: [...document.querySelectorAll("figure")].filter((one) => getComputedStyle(one).breakInside !== "avoid").length,
      hidden: [...document.querySelectorAll("details figure, details tr")].filter((one) => !one.closest(".values") && one.getBoundingClientRect().height === 0).length,
      values: [...document.querySelectorAll(".values")].filter((one) => one.checkVisibility()).length,
      asked: document.getElementById("explorer").checkVisibility(),
    }));
    assert.deepEqual(look, { paper: "rgb(255, 255, 255)", cut: 0, hidden: 0, values: 0, asked: false });
    assert.ok((await page.pdf()).length > 10_000);
  });
});

test("in grey each level of the map is darker than the one before, and a lone reply is seen", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await opened("live", { colorScheme }, async (page) => {
      const { paper, heat } = await page.evaluate(() => {
        const svg = document.querySelector("#explorer .ramp");
        const of = (name) => {
          const mark = svg.appendChild(document.createElementNS(svg.namespaceURI, "rect"));
          mark.setAttribute("class", name);
          return getComputedStyle(mark).fill;
        };
        return { paper: of("paper"), heat: Array.from({ length: 8 }, (_, at) => of(`heat-${at + 1}`)) };
      });
      const light = heat.map(luminance);
      const rising = colorScheme === "dark" ? light : light.toReversed();
      rising.slice(1).forEach((level, at) => assert.ok(level > rising[at] * 1.1, `${colorScheme} ${rising}`));
      const [low, high] = [luminance(paper), light[0]].toSorted((one, other) => one - other);
      assert.ok((high + 0.05) / (low + 0.05) > 1.8, `${colorScheme}: ${paper} and ${heat[0]}`);
    });
  }
});

/** The colours in the middle of so many parts of a picture, side by side. */
async function coloursOf(png, parts) {
  const page = await browser.newPage();
  const colours = await page.evaluate(async ([base64, parts]) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const at = (part) => canvas.getImageData(Math.floor((part + 0.5) * image.width / parts), Math.floor(image.height / 2), 1, 1).data;
    return Array.from({ length: parts }, (_, part) => `rgb(${[...at(part)].slice(0, 3).join(", ")})`);
  }, [png.toString("base64"), parts]);
  await page.close();
  return colours;
}

test("who cannot tell red from green tells the levels of the map, and verdicts by their words and edges", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await opened("side-by-side", { colorScheme }, async (page) => {
      const devtools = await page.context().newCDPSession(page);
      await devtools.send("Emulation.setEmulatedVisionDeficiency", { type: "deuteranopia" });
      const seen = (await coloursOf(await page.locator("#explorer .ramp").screenshot(), 8)).map(luminance);
      const rising = colorScheme === "dark" ? seen : seen.toReversed();
      rising.slice(1).forEach((level, at) => assert.ok(level > rising[at] * 1.1, `${colorScheme} ${rising}`));
      // Of each verdict one, whatever the record has.
      await page.evaluate(() => document.querySelectorAll("li.claim").forEach((claim, at) => {
        claim.className = `claim ${["good", "bad", "unsure", "dim"][at % 4]}`;
      }));
      const claims = await page.evaluate(() => [...document.querySelectorAll("li.claim")].map((claim) => ({
        verdict: claim.className,
        edge: `${getComputedStyle(claim).borderLeftStyle} ${getComputedStyle(claim).borderLeftWidth}`,
      })));
      const edges = new Map(claims.map(({ verdict, edge }) => [verdict, edge]));
      assert.equal(edges.size, 4, JSON.stringify(claims));
      assert.equal(new Set(edges.values()).size, edges.size, `each verdict has an edge of its own: ${JSON.stringify(claims)}`);
    });
  }
});

test("what others wrote stays text", async () => {
  await opened("live", {}, async (page) => {
    assert.ok((await page.locator("h1").innerText()).includes("</script><img src=x"));
    assert.equal(await page.locator("img").count(), 0);
  });
});

test("a page of other bytes draws what it can, and says so", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const whole = readFileSync(`${made.found.live}/report.html`, "utf8");
  await page.setContent(whole.replace(/(id="timelines"[^>]*>)[^<]{200}/, "$1"));
  await page.waitForSelector("#note:not([hidden])");
  assert.match(await page.locator("#note").innerText(), /could not draw the launches/);
  await context.close();
});

test("what is not ours is what the registry has", () => {
  const ours = (name) => readFileSync(new URL(`../crates/report/src/html/vendor/${name}`, import.meta.url));
  const theirs = (path) => readFileSync(new URL(`node_modules/uplot/${path}`, import.meta.url));
  const files = { "uPlot-1.6.32.iife.min.js": "dist/uPlot.iife.min.js", "uPlot-1.6.32.min.css": "dist/uPlot.min.css", "uPlot-LICENSE": "LICENSE" };
  for (const [name, path] of Object.entries(files)) assert.ok(ours(name).equals(theirs(path)), name);
});
