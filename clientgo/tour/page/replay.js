// A recording that is replayed: what it is, where in it one is, and what the recorded program did then.

import { errorIn } from "/page/errors.js";
import { el } from "/page/panel.js";
import { count, numbered } from "/page/shell.js";

// The moment of the recording that a hop stands for.
export const momentOf = (trace, at) => trace.origin + (trace.points[at]?.hop.time ?? 0);

// `recorded`: the program's own hops up to that moment; null while they are asked for.
export function replayPane(t, app, recorded, act) {
  const about = app.tour.replay;
  const now = momentOf(app.trace, app.at);
  const end = Math.ceil(about.duration);
  const source = about.sources.find((each) => `source-${each.source}` === app.scenario);
  const slider = el("input", { id: "moment", type: "range", min: "0", max: String(end), step: "any", value: String(Math.min(now, end)), "aria-valuetext": `${now.toFixed(1)}s`,
    "aria-label": t("moment"), onchange: (event) => act.start(Number(event.target.value)), oninput: (event) => { document.getElementById("moment-shown").textContent = `${Number(event.target.value).toFixed(1)}s`; } });
  const fact = ([word, text]) => el("tr", {}, el("td", {}, t(word)), el("td", { class: "figure" }, text));
  const facts = [["file", about.path], ["program", about.program || "–"], ["began", about.began.replace("T", " ").slice(0, 19)], ["lasted", `${about.duration.toFixed(1)}s`],
    ["came-lists", count(source?.lists ?? 0)], ["came-events", count(source?.events ?? 0)], ["recorded-hops", count(about.hops)]];
  const warnings = [about.whole ? "" : t("not-whole"), about.damaged ? numbered(t, about.damaged, "damaged") : "", about.skipped ? numbered(t, about.skipped, "not-written") : ""].filter(Boolean);
  const hops = (recorded ?? []).slice(-40).reverse().map((hop) => el("tr", {},
    el("td", { class: "figure" }, `${hop.time.toFixed(3)}s`), el("td", {}, el("span", { class: "pill", "data-station": hop.station }, `${hop.station}.${hop.kind}`)),
    el("td", { class: "mono" }, `${hop.key}${hop.version ? ` @${hop.version}` : ""}${hop.more.error ? ` ${errorIn(document.documentElement.lang, hop.more.error)}` : ""}`)));
  return [
    el("p", { class: "quiet" }, t("replay-what")),
    el("label", { class: "field" }, el("span", {}, t("moment")), slider, el("output", { id: "moment-shown" }, `${now.toFixed(1)}s`)),
    el("table", { class: "figures" }, facts.map(fact)),
    ...warnings.map((text) => el("p", { class: "log" }, text)),
    el("h3", {}, t("program-did")),
    el("table", { class: "figures hops", id: "recorded" }, hops.length ? hops : el("tr", {}, el("td", {}, t("nothing")))),
  ];
}

export const SPEEDS = [["r1", "= 1×"], ["r10", "= 10×"], ["r100", "= 100×"], ["r1000", "= 1000×"]];
