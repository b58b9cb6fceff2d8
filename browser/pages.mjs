// The pages that are tested: of recorded runs, and of a run and a comparison that are made now.

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = resolve(here, "..");
const target = process.env.CARGO_TARGET_DIR || join(root, "target");
const bourdon = process.env.BOURDON || join(target, "debug/bourdon");
const RECORDS = ["side-by-side", "in-turn", "few-at-once", "unsteady", "rotating-comparison"];
/** What bourdon says of an answer: a run is judged whatever it found. */
const JUDGED = [0, 1, 3];

function run(folder, ...args) {
  try {
    execFileSync(bourdon, args, { cwd: folder, stdio: "pipe", env: { ...process.env, BOURDON_HOME: root } });
  } catch (error) {
    if (!JUDGED.includes(error.status)) throw new Error(`bourdon ${args.join(" ")}: ${error.status}: ${error.stderr}`);
  }
}

/** Makes all pages. Returns their folders by name, and how to remove them. */
export function makePages() {
  const folder = mkdtempSync(join(tmpdir(), "bourdon-pages-"));
  const found = {};
  for (const name of RECORDS) {
    cpSync(join(root, "crates/report/tests/records", name), join(folder, name), { recursive: true });
    run(folder, "report", name);
    found[name] = join(folder, name);
  }
  cpSync(join(folder, "side-by-side"), join(folder, "long"), { recursive: true });
  repeat(join(folder, "long"), 8);
  run(folder, "report", "long");
  found.long = join(folder, "long");
  run(folder, "run", join(here, "live.toml"));
  run(folder, "compare", "--run", "$BOURDON specimen clean", "--run", "$BOURDON specimen clean",
    "--path", "/rest/hello", "--duration", "1s", "--warm-up", "100ms", "--blocks", "2", "-c", "4", "--runs", "compared");
  const made = (runs) => join(folder, runs, readdirSync(join(folder, runs)).find((name) => !name.startsWith(".")));
  found.live = made("runs");
  found.compared = made("compared");
  run(folder, "site", ...RECORDS, "-o", "public");
  return { found, site: join(folder, "public/index.html"), remove: () => rmSync(folder, { recursive: true }) };
}

/** A record with all of its blocks so often, one set after the other. */
function repeat(folder, times) {
  const all = trials(folder);
  const blocks = Math.max(...all.map(({ block }) => block));
  const again = (trial, round) => {
    const block = trial.block + round * blocks;
    return { ...trial, block, id: trial.id.replace(/^b\d+/, `b${String(block).padStart(2, "0")}`) };
  };
  const repeated = Array.from({ length: times }, (_, round) => all.map((trial) => again(trial, round))).flat();
  writeFileSync(join(folder, "trials.jsonl"), repeated.map((trial) => `${JSON.stringify(trial)}\n`).join(""));
}

export const trials = (folder) =>
  readFileSync(join(folder, "trials.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
