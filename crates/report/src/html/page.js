// The page: what is chosen, in the address, and drawn.

const at = (id) => document.getElementById(id);

function explorer({ panels, cells: all }) {
  const cells = all.filter((cell) => cell.launches.length > 0);
  const [filter, cellList, launchList, frame] = ["filter", "cell", "launch", "panels"].map(at);
  // What compares two servers is about both.
  const tables = [...document.querySelectorAll("#figures .table")].filter((table) => !table.closest(".whole"));
  const rows = tableRows(tables, write);
  const folded = [...document.querySelectorAll("main details")];
  const figures = [...document.querySelectorAll("#time figure")];
  let state = readAddress();
  let cell, launch, drawn;
  let step = null;

  const option = (value, words) => Object.assign(document.createElement("option"), { value, textContent: words });
  const ends = () => [launch.at_s[0], launch.at_s.at(-1) + launch.length_s.at(-1)];
  const view = () => state.zoom || ends();

  /** Chooses a launch by its name; else the middle one of the first cell that is shown. */
  function choose(id) {
    const wanted = state.filter.trim().toLowerCase();
    const fit = cells.filter((cell) => searched(cell.name).includes(searched(wanted)));
    const offered = fit.length > 0 ? fit : cells;
    cell = offered.find((cell) => cell.launches.some((launch) => launch.id === id)) || offered[0];
    launch = [id, cell.middle].map((id) => cell.launches.find((launch) => launch.id === id)).find(Boolean) || cell.launches[0];
    cellList.replaceChildren(...offered.map((cell) => option(cells.indexOf(cell), cell.name)));
    cellList.value = cells.indexOf(cell);
    launchList.replaceChildren(...cell.launches.map((launch) => option(launch.id, launch.label)));
    launchList.value = launch.id;
    const shown = rows.find(wanted);
    const whole = fit.length > 0 ? "" : "; the chart offers all cells";
    at("found").textContent = wanted ? `${number(fit.length)} of ${number(cells.length)} cells, ${number(shown)} rows of tables${whole}` : "";
    showFigures(wanted);
    draw();
  }

  function showFigures(wanted) {
    figures.forEach((figure) => { figure.hidden = !figure.dataset.name.toLowerCase().includes(wanted); });
  }

  /** Writes the address. */
  function write() {
    const open = folded.flatMap((one, place) => (one.open ? [place] : []));
    writeAddress({ ...state, launch: launch.id, open, whole: rows.whole() });
  }

  function draw() {
    if (drawn) drawn.remove();
    step = null;
    at("values").textContent = "";
    const said = [launch.note && `Launch ${launch.id} is ${launch.note}.`, launch.fault].filter(Boolean).join(" ");
    at("note").textContent = said;
    at("note").hidden = said === "";
    frame.setAttribute("aria-label", `${cell.name}, ${launch.label}, over time`);
    drawn = drawLaunch({ into: frame, panels, cell, launch, onCursor: pointed, onZoom: zoom });
    zoom(state.zoom);
  }

  function zoom(to) {
    const [first, last] = ends();
    const [from, until] = to ? [Math.max(to[0], first), Math.min(to[1], last)] : [first, last];
    const isWhole = !to || until - from < 1e-3 || (from <= first && until >= last);
    state.zoom = isWhole ? null : [from, until];
    drawn.zoom(view());
    at("whole").disabled = at("wider").disabled = isWhole;
    write();
  }

  /** Zooms by a factor around the cursor, or the middle. */
  function zoomBy(factor) {
    const [from, until] = view();
    const middle = step === null ? (from + until) / 2 : launch.at_s[step] + launch.length_s[step] / 2;
    const share = Math.min(Math.max((middle - from) / (until - from), 0), 1);
    const length = Math.max((until - from) * factor, Math.min(...launch.length_s));
    zoom([middle - share * length, middle + (1 - share) * length]);
  }

  let told;
  function pointed(to) {
    if (to >= launch.at_s.length) return;
    step = to;
    const parts = values(to);
    drawn.shown.forEach((panel) => { panel.readout.textContent = parts.filter((part) => part.id === panel.id).map((part) => part.words).join(", "); });
    clearTimeout(told);
    const from = number(launch.at_s[to]);
    const until = number(launch.at_s[to] + launch.length_s[to]);
    const words = [`Second ${from} to ${until}`, ...parts.map((part) => part.words)].join(", ");
    told = setTimeout(() => { at("values").textContent = words; }, 150);
  }

  /** The figures of a step in words. */
  function values(step) {
    const parts = [];
    const latency = (name, us) => {
      const bound = launch.exact_below_us[step];
      const sign = bound !== null && us >= bound ? "≥ " : "";
      if (us !== null) parts.push({ id: "latency", words: `${name} ${sign}${quantity(us, "us")}` });
    };
    // By the words alone it must be clear what a figure is.
    const named = { cpu: "CPUs", memory: "resident memory", pauses: "pauses", collections: "collections", threads: "threads", connections: "connections" };
    panels.forEach(({ id, unit }, place) => {
      const value = launch.amounts[place][step];
      if (id === "throughput") {
        const failed = launch.failures[step];
        const rate = value === null ? "warm-up" : quantity(value, unit);
        parts.push({ id, words: `${rate}, ${failed === 0 ? "none" : number(failed)} failed` });
        latency("p50", launch.p50_us[step]);
        latency("p99", launch.p99_us[step]);
      } else if (value !== null && value !== undefined) {
        parts.push({ id, words: `${named[id]} ${tickWords(value, unit)}` });
      }
    });
    return parts;
  }

  function move(to) {
    const last = launch.at_s.length - 1;
    step = Math.min(Math.max(to, 0), last);
    const [from, until] = view();
    const [begin, end] = [launch.at_s[step], launch.at_s[step] + launch.length_s[step]];
    if (begin < from) zoom([begin, begin + until - from]);
    else if (end > until) zoom([end - until + from, end]);
    drawn.point(step);
    pointed(step);
  }

  const keys = {
    ArrowRight: () => move(step === null ? 0 : step + 1),
    ArrowLeft: () => move(step === null ? launch.at_s.length - 1 : step - 1),
    Home: () => move(0),
    End: () => move(launch.at_s.length - 1),
    "+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2), 0: () => zoom(null),
  };
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  at("closer").addEventListener("click", () => zoomBy(0.5));
  at("wider").addEventListener("click", () => zoomBy(2));
  at("whole").addEventListener("click", () => zoom(null));
  cellList.addEventListener("change", () => { state.zoom = null; choose(cells[cellList.value].middle); });
  launchList.addEventListener("change", () => choose(launchList.value));
  filter.addEventListener("input", () => { state.filter = filter.value; choose(launch.id); });
  folded.forEach((one) => one.addEventListener("toggle", write));
  addEventListener("hashchange", restore);
  addEventListener("beforeprint", () => showFigures(""));
  addEventListener("afterprint", () => showFigures(state.filter.trim().toLowerCase()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  let width = 0;
  new ResizeObserver(() => {
    if (frame.clientWidth !== width && drawn) drawn.size();
    width = frame.clientWidth;
  }).observe(frame);

  function restore() {
    state = readAddress();
    filter.value = state.filter;
    folded.forEach((one, place) => { one.open ||= state.open.includes(place); });
    rows.unfold(state.whole);
    choose(state.launch);
  }
  at("explorer").hidden = false;
  restore();
}

// The address is what was chosen: a link within the page leaves it as it is.
document.querySelectorAll("nav a[href^='#']").forEach((link) => link.addEventListener("click", (event) => {
  if (!at("timelines") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const part = at(link.getAttribute("href").slice(1));
  part.tabIndex = -1;
  part.focus({ preventScroll: true });
  part.scrollIntoView();
}));

if (at("timelines")) {
  unpacked(at("timelines")).then(explorer).catch((error) => {
    at("note").textContent = `This browser could not draw the launches (${error.message}); one of each cell is drawn below.`;
    at("explorer").before(at("note"));
    at("note").hidden = false;
  });
}
