// Figures: read from the page, and as people read them.

/** The page's data: base64 of compressed JSON. */
async function unpacked(element) {
  const letters = atob(element.textContent.trim());
  const bytes = new Uint8Array(letters.length);
  // Some megabytes: a function for each letter takes ten times as long.
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** Three significant digits, and thousands in groups. */
function number(value) {
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)) + 1e-9));
  const shown = Math.abs(value) >= 1000 ? Math.round(value) : +value.toFixed(Math.min(digits, 9));
  return shown.toLocaleString("en-US", { maximumFractionDigits: 9 });
}

function scaled(value, step, names) {
  let at = 0;
  while (Math.abs(value) >= step && at + 1 < names.length) [value, at] = [value / step, at + 1];
  return `${number(value)} ${names[at]}`;
}

/** A value with its unit. */
function quantity(value, unit) {
  switch (unit) {
    case "us": return scaled(value, 1000, ["µs", "ms", "s"]);
    case "ms": return scaled(value, 1000, ["ms", "s"]);
    case "bytes": return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
    case "": return number(value);
    default: return `${number(value)} ${unit}`;
  }
}

/** The same at an axis, where what is counted goes without its name. */
function tickWords(value, unit) {
  return ["us", "ms", "bytes"].includes(unit) ? quantity(value, unit) : number(value);
}

/** Round values from one to another, a few. */
function roundValues(low, high, unit, isLog) {
  const digits = (from, to, of) => {
    const all = [];
    for (let decade = Math.floor(Math.log10(from)); decade <= Math.ceil(Math.log10(to)); decade++) {
      all.push(...of.map((digit) => digit * 10 ** decade));
    }
    return all.filter((value) => value >= from && value <= to);
  };
  if (isLog) {
    const sets = [[1, 2, 5], [1, 3], [1]].map((of) => digits(low, high, of));
    return sets.find((set) => set.length <= 7) || sets[2].filter((_, at) => at % 2 === 0);
  }
  const binary = unit === "bytes" ? 1024 ** Math.max(0, Math.floor(Math.log2(high || 1) / 10)) : 1;
  const step = digits(high / binary / 40, high / binary, [1, 2, 5]).find((step) => high / binary / step <= 3) || 1;
  return Array.from({ length: Math.floor(high / binary / step + 1e-9) + 1 }, (_, at) => at * step * binary);
}

/** Latency buckets: 20 for each factor of ten, in µs. */
const BUCKETS_PER_DECADE = 20;
const bucketFrom = (bucket) => 10 ** (bucket / BUCKETS_PER_DECADE);

/** The counts of a step: `[bucket, count]` each. */
function counts(steps) {
  const all = [];
  for (let at = 0, bucket = 0; at < steps.length; at += 2) all.push([(bucket += steps[at]), steps[at + 1]]);
  return all;
}

/** The step in which a second lies; the nearer one of two with a gap between them, or beyond the ends. */
function stepAt(launch, second) {
  let best = 0;
  let least = Infinity;
  launch.at_s.forEach((from, at) => {
    const to = from + launch.length_s[at];
    const off = second < from ? from - second : second >= to ? second - to + 1e-9 : -1;
    if (off < least) [best, least] = [at, off];
  });
  return best;
}

/** What is in the address behind #, where it is ours: `#launch=b01-c02&zoom=2,7&filter=go`. */
function readAddress() {
  const hash = location.hash.slice(1);
  const said = new URLSearchParams(hash.includes("=") ? hash : "");
  const zoom = (said.get("zoom") || "").split(",").map(Number);
  return {
    launch: said.get("launch") || "",
    filter: said.get("filter") || "",
    zoom: zoom.length === 2 && zoom.every(Number.isFinite) && zoom[0] < zoom[1] ? zoom : null,
    open: places(said.get("open")),
    whole: places(said.get("whole")),
  };
}

/** Places in a list, as the address has them. */
function places(said) {
  return (said || "").split(",").filter(Boolean).map(Number).filter(Number.isInteger);
}

function writeAddress({ launch, filter, zoom, open, whole }) {
  const said = new URLSearchParams();
  if (launch) said.set("launch", launch);
  if (zoom) said.set("zoom", zoom.map((second) => +second.toFixed(3)).join(","));
  if (filter) said.set("filter", filter);
  if (open.length > 0) said.set("open", open.join(","));
  if (whole.length > 0) said.set("whole", whole.join(","));
  const hash = said.toString().replaceAll("%2C", ",");
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}
