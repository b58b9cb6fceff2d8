// The panels of one launch: an axis of seconds and a cursor for all of them, each with a unit of its own.

const SIDE = 76;
const HEIGHT = { throughput: 120, latency: 220, other: 96 };
const LEVELS = 8;

/** Colours are those of the pictures: read from their style, for a canvas has none. */
function colours() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "bourdon");
  svg.setAttribute("width", "0");
  svg.setAttribute("height", "0");
  document.body.append(svg);
  const of = (name, property) => {
    const mark = svg.appendChild(document.createElementNS(svg.namespaceURI, name === "small" ? "text" : "rect"));
    mark.setAttribute("class", name);
    return getComputedStyle(mark)[property];
  };
  const found = {
    ink: of("cross", "stroke"), dim: of("small", "fill"), line: of("line", "stroke"), halo: of("halo", "stroke"),
    grid: of("grid", "stroke"), warmUp: of("warm-up", "fill"), paper: of("paper", "fill"),
    heat: Array.from({ length: LEVELS }, (_, at) => of(`heat-${at + 1}`, "fill")),
  };
  svg.remove();
  return found;
}

/** 1 for a lone reply, the last level for the most that there is, and between them equal factors. */
function level(count, most) {
  if (count <= 1 || most <= 1) return 1;
  return 1 + Math.ceil((Math.log(count) / Math.log(most)) * (LEVELS - 1));
}

/** What is the same for all launches of a cell, so that one can be held against another. */
function extents(cell) {
  const all = cell.launches;
  const most = (values) => values.reduce((most, value) => (value > most ? value : most), 0);
  let [low, high, fullest] = [Infinity, 0, 0];
  const take = (us) => { if (us > 0) [low, high] = [Math.min(low, us), Math.max(high, us)]; };
  for (const launch of all) {
    launch.p50_us.forEach(take);
    launch.p99_us.forEach(take);
    for (const [bucket, count] of launch.latencies.flatMap(counts)) {
      take(bucketFrom(bucket));
      take(bucketFrom(bucket + 1));
      fullest = Math.max(fullest, count);
    }
  }
  const amounts = all[0] ? all[0].amounts.map((_, at) => most(all.flatMap((launch) => launch.amounts[at]))) : [];
  return { amounts, low: low / 1.1, high: high * 1.1, fullest };
}

/** Lines from the begin of each step to its end, with a gap where a step or its value is missing. */
function steppedPath(launch) {
  return (plot, series) => {
    const stroke = new Path2D();
    const values = plot.data[series];
    const scale = plot.series[series].scale;
    let end = NaN;
    launch.at_s.forEach((from, at) => {
      if (values[at] === null || values[at] === undefined) return;
      const to = from + launch.length_s[at];
      const [left, right] = [from, to].map((second) => plot.valToPos(second, "x", true));
      const y = plot.valToPos(values[at], scale, true);
      if (Math.abs(from - end) < 0.01) stroke.lineTo(left, y);
      else stroke.moveTo(left, y);
      stroke.lineTo(right, y);
      end = to;
    });
    return { stroke, fill: null, clip: null, band: null, gaps: null, flags: 0 };
  };
}

/** The columns of a plot: seconds, then values; the last begin is followed by its end. */
function columns(launch, ...values) {
  const last = launch.at_s.length - 1;
  return [[...launch.at_s, launch.at_s[last] + launch.length_s[last]], ...values.map((column) => [...column, null])];
}

function within(plot, draw) {
  const { left, top, width, height } = plot.bbox;
  plot.ctx.save();
  plot.ctx.beginPath();
  plot.ctx.rect(left, top, width, height);
  plot.ctx.clip();
  draw(plot.ctx, { left, top, right: left + width, bottom: top + height });
  plot.ctx.restore();
}

function cross(ctx, x, y, half) {
  ctx.moveTo(x - half, y - half);
  ctx.lineTo(x + half, y + half);
  ctx.moveTo(x - half, y + half);
  ctx.lineTo(x + half, y - half);
}

/** Where a step lies, in whole pixels, so that neighbours touch. */
function edges(plot, launch, at) {
  return [launch.at_s[at], launch.at_s[at] + launch.length_s[at]].map((second) => Math.round(plot.valToPos(second, "x", true)));
}

/** The warm-up, shaded. */
function warmUp(plot, launch, seen, isNamed) {
  within(plot, (ctx, { top, bottom }) => {
    launch.at_s.forEach((from, at) => {
      if (from >= 0) return;
      const [left, right] = edges(plot, launch, at);
      ctx.fillStyle = seen.warmUp;
      ctx.fillRect(left, top, right - left, bottom - top);
      ctx.font = `${12 * (devicePixelRatio || 1)}px system-ui, sans-serif`;
      ctx.fillStyle = seen.dim;
      ctx.textAlign = "center";
      if (isNamed && ctx.measureText("warm-up").width < right - left) ctx.fillText("warm-up", (left + right) / 2, (top + bottom) / 2);
    });
  });
}

/** Counts of replies by latency, over the grid. */
function map(plot, launch, seen, fullest) {
  within(plot, (ctx) => {
    launch.latencies.forEach((column, at) => {
      const [left, right] = edges(plot, launch, at);
      for (const [bucket, count] of counts(column)) {
        const [low, high] = [bucket, bucket + 1].map((edge) => Math.round(plot.valToPos(bucketFrom(edge), "y", true)));
        ctx.fillStyle = seen.heat[level(count, fullest) - 1];
        ctx.fillRect(left, high, right - left, Math.max(low - high, 1));
      }
    });
  });
}

/** What lies above them: failed requests, and the cross of a void launch. */
function above(plot, launch, seen, hasFailures) {
  const ratio = devicePixelRatio || 1;
  within(plot, (ctx, { left, top, right, bottom }) => {
    ctx.strokeStyle = seen.ink;
    ctx.lineWidth = 2 * ratio;
    ctx.beginPath();
    for (const [at, failures] of hasFailures ? launch.failures.entries() : []) {
      if (failures === 0) continue;
      const x = plot.valToPos(launch.at_s[at] + launch.length_s[at] / 2, "x", true);
      cross(ctx, x, bottom - 8 * ratio, 4 * ratio);
    }
    if (launch.is_void) {
      ctx.moveTo(left, top);
      ctx.lineTo(right, bottom);
      ctx.moveTo(left, bottom);
      ctx.lineTo(right, top);
    }
    ctx.stroke();
  });
}

/** The options of a plot. */
function options({ launch, width, height, unit, y, series, seen, isLast, hooks, onZoom }) {
  const axis = { stroke: seen.dim, grid: { stroke: seen.grid, width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
  return {
    width, height: height + (isLast ? 28 : 0),
    legend: { show: false },
    padding: [8, 14, isLast ? 0 : 4, 0],
    cursor: {
      y: false,
      sync: { key: "launch", setSeries: false },
      points: { show: false },
      drag: { x: true, y: false, setScale: false },
      // A selection that leaves a panel above or below ends where it is let go; uPlot would take it to the panel's edge.
      bind: {
        mouseleave: (plot, target, handle) => (event) => {
          const { left, right } = plot.over.getBoundingClientRect();
          const isBeside = event.clientX <= left || event.clientX >= right;
          return event.buttons === 1 && !isBeside ? null : handle(event);
        },
      },
      dataIdx: (plot, series, near, second) => stepAt(launch, second),
    },
    scales: { x: { time: false, auto: false }, y },
    axes: [
      { ...axis, size: isLast ? 28 : 0, values: (plot, ticks) => ticks.map((second) => (isLast ? `${number(second)} s` : "")) },
      { ...axis, size: SIDE, filter: (plot, ticks) => ticks, splits: (plot, place, low, high) => roundValues(low, high, unit, y.distr === 3), values: (plot, ticks) => ticks.map((value) => tickWords(value, unit)) },
    ],
    series: [{}, ...series],
    hooks: {
      ...hooks,
      setSelect: [(plot) => {
        const { left, width } = plot.select;
        if (width < 4) return;
        const zoom = [left, left + width].map((x) => plot.posToVal(x, "x"));
        plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        onZoom(zoom);
      }],
    },
  };
}

/** Draws a launch into an element. Returns how its plots are zoomed, sized, pointed at and removed. */
function drawLaunch({ into, panels, cell, launch, onCursor, onZoom }) {
  const seen = colours();
  const { amounts, low, high, fullest } = extents(cell);
  const known = panels.map((panel, at) => ({ ...panel, at, values: launch.amounts[at] })).filter(({ values }) => values.length > 0);
  const latency = { id: "latency", title: fullest > 0 ? "Latency of each reply" : "Latency", unit: "us", values: null };
  const shown = [...known.slice(0, 1), ...(high > 0 ? [latency] : []), ...known.slice(1)];
  const line = { stroke: seen.line, width: 2, paths: steppedPath(launch), points: { show: false } };
  const halo = { ...line, stroke: seen.halo, width: 5 };
  const plots = [];
  into.replaceChildren();
  shown.forEach((panel, place) => {
    const frame = into.appendChild(document.createElement("div"));
    frame.className = "panel";
    const heading = frame.appendChild(document.createElement("h3"));
    heading.append(panel.title, panel.readout = document.createElement("span"));
    const isLatency = panel.values === null;
    const most = isLatency ? high : amounts[panel.at] * 1.08 || 1;
    const height = HEIGHT[panel.id] || HEIGHT.other;
    const plot = new uPlot(options({
      launch, height, seen, onZoom, unit: panel.unit, width: into.clientWidth, isLast: place === shown.length - 1,
      y: isLatency ? { distr: 3, range: () => [low, high] } : { range: () => [0, most] },
      series: isLatency ? [halo, { ...line, dash: [6, 4] }, halo, line] : [line],
      hooks: {
        drawClear: [(plot) => warmUp(plot, launch, seen, place === 0)],
        drawAxes: [(plot) => isLatency && map(plot, launch, seen, fullest)],
        draw: [(plot) => above(plot, launch, seen, panel.id === "throughput")],
        setCursor: [(plot) => place === 0 && plot.cursor.idx !== null && onCursor(plot.cursor.idx)],
      },
    }), isLatency ? columns(launch, launch.p50_us, launch.p50_us, launch.p99_us, launch.p99_us) : columns(launch, panel.values), frame);
    plots.push(plot);
  });
  return {
    shown,
    zoom: ([min, max]) => plots.forEach((plot) => plot.setScale("x", { min, max })),
    size: () => plots.forEach((plot) => plot.setSize({ width: into.clientWidth, height: plot.height })),
    point: (step) => {
      const plot = plots[0];
      const middle = launch.at_s[step] + launch.length_s[step] / 2;
      const left = Math.min(Math.max(plot.valToPos(middle, "x"), 0), plot.over.clientWidth);
      plots.forEach((plot) => plot.setCursor({ left, top: 10 }, plot === plots[0]));
    },
    remove: () => plots.forEach((plot) => plot.destroy()),
  };
}
