// The pages that are tested: of recorded runs, and of a run and a comparison that are made now.

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
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
  run(folder, "run", join(here, "live.toml"));
  run(folder, "compare", "--run", "$BOURDON specimen clean", "--run", "$BOURDON specimen clean",
    "--path", "/rest/hello", "--duration", "1s", "--warm-up", "100ms", "--blocks", "2", "-c", "4", "--runs", "compared");
  const made = (runs) => join(folder, runs, readdirSync(join(folder, runs)).find((name) => !name.startsWith(".")));
  found.live = made("runs");
  found.compared = made("compared");
  return { found, remove: () => rmSync(folder, { recursive: true }) };
}

export const trials = (folder) =>
  readFileSync(join(folder, "trials.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
