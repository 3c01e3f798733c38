// The marks of a run's hops above the timeline, a row for each station, and of its decisions.

import { make } from "/page/picture.js";
import { $ } from "/page/shell.js";

// Made once for a run: of hundreds, a step changes one.
const ticks = { trace: null, decisions: null, rects: [], at: -1 };

export function drawTicks(app) {
  if (ticks.trace !== app.trace || ticks.decisions !== app.decisions) makeTicks(app);
  for (let number = Math.min(ticks.at, app.at) + 1; number <= Math.max(ticks.at, app.at); number++) ticks.rects[number].setAttribute("opacity", number <= app.at ? 1 : 0.35);
  ticks.at = app.at;
}

function makeTicks(app) {
  const { points } = app.trace;
  const width = Math.max(points.length, 1);
  $("ticks").setAttribute("viewBox", `0 0 ${width} 10`);
  const rows = Object.fromEntries(Object.keys(app.tour.kinds).map((station, number, all) => [station, (number * 10) / all.length]));
  const thick = 10 / Object.keys(rows).length;
  const rects = points.map((point, number) => make("rect", { "data-station": point.hop.station, x: number, y: rows[point.hop.station], width: 1, height: thick,
    fill: `var(--${point.hop.station})`, opacity: 0.35 }));
  $("ticks").replaceChildren(...rects, ...app.decisions.map((each) => make("rect", { x: each.at, y: 0, width: 0.6, height: 10, fill: "var(--bad)" })));
  Object.assign(ticks, { trace: app.trace, decisions: app.decisions, rects, at: -1 });
}
