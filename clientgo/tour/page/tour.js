// The tour: which run, which hop of it, and what the keys and buttons do.

import { $, complain, fail, flipTheme, paint, remember, remembered } from "/page/shell.js";
import { live } from "/page/live.js";
import { source } from "/page/source.js";
import { CHINESE, GLOSSARY, WORDS } from "/page/words.js";
import { EXTRAS, Picture, make } from "/page/picture.js";
import { lessonIn, lessonPane } from "/page/lesson.js";
import { breakPane, el, helpDialog, now, objectPane, sourcePane } from "/page/panel.js";
import { noteStep, progressOf } from "/page/progress.js";
import { listen, markPlaces } from "/page/questions.js";
import { SPEEDS, momentOf, replayPane } from "/page/replay.js";

const app = {
  tour: null, trace: null, states: [], at: -1, scenario: "", settings: {}, decisions: [], lesson: null, place: { step: -1, asked: false }, stops: [],
  tab: "lesson", ref: "", station: "", playing: false, language: "en", sources: new Map(), turn: 0,
  start: 0, recorded: null, recordedAt: -1, reading: false, byPointer: false,
};
const t = (word) => WORDS[app.language][word] ?? WORDS.en[word] ?? word;
const kindOf = (station, kind) => (app.language === "zh" && CHINESE[`${station}.${kind}`]) || app.tour.kinds[station][kind];
const faultOf = (name) => (app.language === "zh" && CHINESE[name]) || app.tour.faults[name];
// A lesson's title is that of its scenario.
const titleOf = (scenario) => {
  const lesson = app.tour.lessons.find((each) => each.scenario === scenario.name);
  return lesson ? `${lesson.number}. ${lesson[app.language]?.title || lesson.title}${progressOf(lesson.name).done ? " ✓" : ""}` : scenario.title;
};

const picture = new Picture($("picture"), t, (station) => { app.station = station; show("source"); }, (ref, key) => {
  app.ref = ref || newest(key);
  show("object");
});

// ---- runs

async function run(limit = 250) {
  const { scenario, settings, decisions, start } = app;
  const turn = ++app.turn;
  const trace = await source.run({ scenario, settings, decisions, limit, ...(app.tour.replay ? { start } : {}) });
  if (turn !== app.turn) return false; // a newer one is under way
  app.trace = trace;
  app.states = [];
  let state = {};
  for (const point of trace.points) app.states.push((state = { ...state, ...point.changed }));
  app.at = Math.min(app.at, trace.points.length - 1);
  return true;
}

async function reach(number) {
  while (number >= app.trace.points.length && !app.trace.complete && number < app.tour.maxHops) {
    if (!(await run(Math.max(2 * app.trace.points.length, number + 1)))) return false;
  }
  return number < app.trace.points.length;
}

async function open(scenario, settings, start = 0) {
  stop();
  Object.assign(app, { start, scenario, settings, decisions: [], at: -1, ref: "", station: "", stops: [], place: { step: -1, asked: false } });
  const about = app.tour.lessons.find((lesson) => lesson.scenario === scenario);
  const [lesson] = await Promise.all([about ? source.lesson(about.name) : null, run()]);
  app.lesson = lesson;
  remember("scenario", scenario);
  history.replaceState(null, "", `#${scenario}`);
  drawSettings();
  draw();
}

async function decide(kind, name) {
  if (app.at < 0) return;
  stop();
  const at = app.at;
  app.decisions = [...app.decisions.filter((each) => each.at <= at), { at, kind, name }];
  if (await run(Math.max(250, 2 * at))) draw();
}

// ---- moving

async function to(number, moving = false) {
  const there = await reach(number);
  const before = app.at;
  app.at = Math.max(-1, Math.min(number, app.trace.points.length - 1));
  app.station = "";
  draw();
  if (moving && there && app.at === before + 1) await picture.travel(app.trace.points[app.at].hop, Math.min(600, Math.max(1, pace() * 0.7)));
  return there;
}

async function find(matches) {
  for (let number = app.at + 1; await reach(number); number++) if (matches(app.trace.points[number].hop)) return number;
  return -1;
}

async function findAndGo(matches) {
  stop();
  const number = await find(matches);
  if (number < 0) return complain(t("notfound"));
  await to(number, true);
}

const next = () => { stop(); return to(app.at + 1, true); };
const back = () => { stop(); return to(app.at - 1); };
const same = () => {
  const key = app.ref ? app.ref.slice(0, app.ref.lastIndexOf("@")) : hop()?.key;
  return key ? findAndGo((each) => each.key === key) : next();
};
const breakpoint = () => {
  const [station, kind, key] = [$("bp-station").value, $("bp-kind").value, $("bp-key").value];
  return findAndGo((each) => (!station || each.station === station) && (!kind || each.kind === kind) && (!key || each.key === key));
};
const last = async () => { stop(); while (await reach(app.trace.points.length)) { /* all of it */ } return to(app.trace.points.length - 1); };

// Milliseconds from hop to hop. A recording may go by its own times instead: "r10" is ten times as fast.
const pace = () => ($("speed").value.startsWith("r") ? 0 : Number($("speed").value));

function stop() {
  app.playing = false;
  $("play").textContent = "▶▶";
  $("play").title = t("play");
}

// A recording by its own times: hops that are closer than a frame are drawn together, so that the speed is kept.
async function playByTimes(playing) {
  const time = (at) => app.trace.points[at]?.hop.time ?? 0;
  let [moment, before] = [time(app.at), performance.now()];
  while (app.playing === playing) {
    await new Promise((done) => requestAnimationFrame(done));
    const now_ = performance.now();
    const { value } = $("speed");
    if (!value.startsWith("r")) { app.playing = false; return play(); }
    moment += ((now_ - before) / 1000) * Number(value.slice(1));
    before = now_;
    let number = app.at;
    while (app.playing === playing && (await reach(number + 1)) && time(number + 1) <= moment) number += 1;
    if (app.playing !== playing) return undefined;
    if (number > app.at) await to(number);
    if (!(await reach(number + 1))) return stop();
  }
  return undefined;
}

async function play() {
  if (app.playing) return stop();
  const playing = app.playing = {};
  $("play").textContent = "▮▮";
  $("play").title = t("pause");
  if ($("speed").value.startsWith("r")) return playByTimes(playing);
  while (app.playing === playing) {
    const began = performance.now();
    if (!(await to(app.at + 1, true))) return stop();
    await reach(app.at + 1);
    if ($("speed").value.startsWith("r")) return playByTimes(playing);
    const pause = Math.max(30, pace());
    while (app.playing === playing && performance.now() - began < pause) await new Promise((done) => setTimeout(done, Math.min(100, pause - (performance.now() - began))));
  }
  return undefined;
}

// ---- lessons

// The question that is open, for the places in the picture and the letters; null without one.
function openQuestion() {
  const { place, lesson } = app;
  const step = lesson?.steps[place.step + 1];
  const isOpen = app.tab === "lesson" && place.asked && !place.lost && step?.answers.length;
  return isOpen ? { answers: step.answers, choose: (number) => lessonAnswer(number).catch(fail) } : null;
}

async function lessonAnswer(answered) {
  const { step } = app.place;
  const { answers } = app.lesson.steps[step + 1];
  await lessonNext(answered);
  if (app.place.step === step + 1) noteStep(app.lesson, step + 1, answers[answered].right);
}

// `answered`: the answer to the open question; -1 to see the answer without one.
async function lessonNext(answered = -1) {
  const { place, lesson } = app;
  if (!lesson?.steps[place.step + 1]) return;
  const from = app.at;
  if (place.lost) {
    app.decisions = [];
    app.place = { ...place, lost: false };
    if (!(await run())) return;
    return lessonNext(answered);
  }
  if (!place.asked && lesson.steps[place.step + 1].ask) {
    app.place = { ...place, asked: true };
    return draw();
  }
  const { station, kind, key, handler } = lesson.steps[place.step + 1].stop;
  const anew = await useMachine(lesson, place.step + 1);
  app.at = place.step < 0 || anew ? -1 : app.stops[place.step];
  const number = await find((each) => each.station === station && each.kind === kind && (!key || each.key === key) && (each.more.handler ?? "").endsWith(handler));
  if (number < 0 && app.decisions.length) {
    // The decisions led away from the lesson: say so, and let the same key lead back.
    app.at = place.step < 0 ? -1 : app.stops[place.step];
    app.place = { ...place, lost: true };
    return draw();
  }
  if (number < 0) return complain(t("notfound"));
  app.stops[place.step + 1] = number;
  app.place = { step: place.step + 1, asked: false, ...(place.asked ? { answered } : {}) };
  if (place.asked && !anew) await runThrough(from, number);
  app.at = number - 1;
  await reading(() => to(number, true));
  noteStep(lesson, place.step + 1);
}

// Run the hops between a question and its answer, in a few seconds at most; at once for readers who want no motion.
const LONGEST_RUN = 2400;
async function runThrough(from, number) {
  if (from >= number - 1 || document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const { trace, place } = app;
  const began = performance.now();
  const each = Math.min(260, LONGEST_RUN / (number - from));
  while (app.trace === trace && app.place === place) {
    const at = Math.min(number - 1, from + Math.floor((performance.now() - began) / each));
    if (at !== app.at && at > from) { app.at = at; draw(); }
    if (at >= number - 1) return;
    await new Promise((done) => requestAnimationFrame(done));
  }
}

// On a narrow page the lesson is below the picture: its reader is not taken to the picture, and a step begins at its top.
async function reading(move) {
  app.reading = true;
  try {
    return await move();
  } finally {
    app.reading = false;
    if (!matchMedia("(min-width: 821px)").matches) $("pane").scrollIntoView({ block: "start" });
  }
}

// The machine that a lesson wants for a step; whether it is another one than before. Most lessons want none.
async function useMachine(lesson, step) {
  if (lesson.steps.every((each) => !Object.keys(each.machine).length)) return false;
  const wanted = lesson.steps[step]?.machine ?? {};
  if (JSON.stringify(wanted) === JSON.stringify(app.settings)) return false;
  Object.assign(app, { settings: wanted, decisions: [], at: -1 });
  await run();
  drawSettings();
  return true;
}

async function lessonBack() {
  if (app.place.asked) app.place = { ...app.place, asked: false };
  else app.place = { step: app.place.step - 1, asked: false };
  await useMachine(app.lesson, app.place.step);
  return reading(() => to(app.place.step < 0 ? -1 : app.stops[app.place.step]));
}

// ---- showing

const hop = () => app.trace?.points[app.at]?.hop;
const newest = (key) => Object.keys(app.trace.objects).filter((ref) => ref.startsWith(`${key}@`)).sort((a, b) => Number(b.split("@")[1]) - Number(a.split("@")[1]))[0] ?? "";

function show(tab) {
  app.tab = tab;
  drawPane();
  markPlaces($("picture"), openQuestion());
}

function draw() {
  const point = app.trace.points[app.at];
  picture.draw(app.states[app.at] ?? {}, point?.hop, EXTRAS.filter((name) => Object.keys(app.states.at(-1)?.[name] ?? {}).length), !app.reading);
  const [where, what, more] = now(t, kindOf, app, point);
  $("now-where").replaceChildren(...where.filter(Boolean));
  // A decision takes effect behind this hop: until the next one only these words show it.
  const decided = app.decisions.filter((each) => each.at === app.at && point).map((each) => el("span", { class: "decided" }, `⚡ ${t(each.kind === "fault" ? "breaks-here" : "thread-here")}${t("colon")}${each.kind === "fault" ? faultOf(each.name) : each.name}`));
  $("now-what").replaceChildren(...decided, what, ...(point && app.at === app.trace.points.length - 1 && app.trace.complete ? [" ", t("end")] : []));
  $("now-more").textContent = more;
  if (point?.hop.key && app.tab !== "object") app.ref = point.hop.version ? `${point.hop.key}@${point.hop.version}` : "";
  $("time").max = app.trace.points.length - 1;
  $("time").value = app.at;
  $("time").setAttribute("aria-valuetext", `${t("hop")} ${app.at + 1}${t("colon")}${what}`);
  $("count").textContent = `${app.at + 1} / ${app.trace.points.length}${app.trace.complete ? "" : "+"}`;
  $("back").disabled = $("first").disabled = app.at < 0;
  $("next").disabled = app.trace.complete && app.at === app.trace.points.length - 1;
  drawTicks();
  drawBreakpoint();
  drawPane();
  markPlaces($("picture"), openQuestion());
  document.body.dataset.drawn = Number(document.body.dataset.drawn ?? 0) + 1;
}

// Made once for a run: of hundreds, a step changes one.
const ticks = { trace: null, decisions: null, rects: [], at: -1 };

function drawTicks() {
  if (ticks.trace !== app.trace || ticks.decisions !== app.decisions) makeTicks();
  for (let number = Math.min(ticks.at, app.at) + 1; number <= Math.max(ticks.at, app.at); number++) ticks.rects[number].setAttribute("opacity", number <= app.at ? 1 : 0.35);
  ticks.at = app.at;
}

function makeTicks() {
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

function options(select, values, chosen) {
  const wanted = JSON.stringify([app.language, values]);
  if (select.dataset.values !== wanted) {
    select.dataset.values = wanted;
    select.replaceChildren(...values.map(([value, text]) => el("option", { value }, text)));
  }
  select.value = values.some(([value]) => value === chosen) ? chosen : values[0]?.[0];
}

function drawBreakpoint() {
  const station = $("bp-station").value;
  options($("bp-station"), [["", t("any")], ...Object.keys(app.tour.kinds).map((name) => [name, t(name)])], station);
  options($("bp-kind"), [["", t("any")], ...Object.keys(app.tour.kinds[station] ?? {}).map((kind) => [kind, app.language === "zh" ? kindOf(station, kind) : kind])], $("bp-kind").value);
  const keys = [...new Set(app.trace.points.map((point) => point.hop.key).filter(Boolean))].sort();
  options($("bp-key"), [["", t("any")], ...keys.map((key) => [key, key.replace(/^default\//, "")])], $("bp-key").value);
}

async function drawPane() {
  for (const tab of $("tabs").children) tab.setAttribute("aria-selected", String(tab.id === `tab-${app.tab}`));
  for (const tab of $("tabs").children) tab.tabIndex = tab.id === `tab-${app.tab}` ? 0 : -1;
  $("pane").setAttribute("aria-labelledby", `tab-${app.tab}`);
  const act = { fault: (name) => decide("fault", name), thread: (name) => decide("thread", name), lessonNext: () => lessonNext().catch(fail), lessonBack: () => lessonBack().catch(fail), lessonAnswer: (number) => lessonAnswer(number).catch(fail),
    openLesson: (scenario) => { $("scenario").value = scenario; open(scenario, {}).catch(fail); },
    undo: async () => { app.decisions = []; if (await run()) draw(); } };
  const fill = (parts) => {
    const focused = document.activeElement?.id;
    $("pane").replaceChildren(...parts.filter(Boolean));
    if (focused && $(focused) && !document.activeElement?.id) $(focused).focus({ preventScroll: true });
  };
  if (app.tab === "lesson" && app.tour.replay) return drawRecording(fill);
  if (app.tab === "lesson") return fill(lessonPane(t, app.language, lessonIn(app.language, app.lesson), app.tour.lessons, app.place, app.states[app.at] ?? {}, act));
  if (app.tab === "object") return fill(objectPane(t, app.trace.objects, app.ref));
  if (app.tab === "break") return fill(breakPane(t, faultOf, app, app.trace.points[app.at], act));
  let shown = hop();
  if (app.station) shown = app.trace.points.slice(0, app.at + 1).reverse().find((point) => point.hop.station === app.station)?.hop
    ?? app.trace.points.find((point) => point.hop.station === app.station)?.hop;
  if (!shown) return fill(sourcePane(t, null, null));
  const name = `${shown.code.file} ${shown.code.function}`;
  if (!app.sources.has(name)) app.sources.set(name, await source.code(shown.code));
  if (app.tab !== "source") return undefined;
  const running = shown.station === "workers" ? app.states[app.at]?.workers.workers[shown.thread]?.line : 0;
  fill(sourcePane(t, app.sources.get(name), shown, running));
  $("pane").querySelector(".last, .ran")?.scrollIntoView({ block: "nearest" });
  return undefined;
}

async function drawRecording(fill) {
  const moment = momentOf(app.trace, app.at);
  const show_ = () => fill(replayPane(t, app, app.recorded, { start: (start) => open(app.scenario, app.settings, start).catch(fail) }));
  if (app.recordedAt === moment) return show_();
  app.recordedAt = moment;
  show_();
  // What happened in the same millisecond is shown too: the replayed hops are not the recorded ones.
  const { hops } = await source.recorded(moment + 0.001);
  if (app.recordedAt !== moment || app.tab !== "lesson") return undefined;
  app.recorded = hops;
  return show_();
}

function drawSettings() {
  const { settings } = app;
  const { settings: known, switches = [] } = app.tour.scenarios.find((scenario) => scenario.name === app.scenario);
  const value = (name) => settings[name] ?? known[name];
  const change = (name, read) => (event) => open(app.scenario, { ...settings, [name]: read(event.target.value) });
  const choice = (name, values, read) => {
    const select = el("select", { id: `s-${name}`, onchange: change(name, read) }, values.map(([each, text]) => el("option", { value: String(each) }, text)));
    select.value = String(value(name));
    return el("label", { class: "field" }, el("span", {}, t(`s-${name}`)), select);
  };
  const numbers = (values) => values.map((each) => [each, String(each)]);
  $("settings-sheet").replaceChildren(
    ...Object.entries(app.tour.choices).map(([name, words]) => choice(name, words.map((each) => [each, (app.language === "zh" && CHINESE[`choice.${each}`]) || each]), String)),
    choice("watch_list", [[false, t("no")], [true, t("yes")]], (text) => text === "true"),
    choice("resync", [[0, t("none")], ...numbers([1, 5, 10, 30])], Number),
    choice("handlers", numbers([1, 2]), Number), choice("replicas", numbers([1, 2]), Number), choice("events", [[false, t("no")], [true, t("yes")]], (text) => text === "true"), choice("workers", numbers([1, 2, 3, 4]), Number),
    choice("base_delay", numbers([0.005, 0.1, 1, 5]), Number), choice("words", [[false, t("no")], [true, t("yes")]], (text) => text === "true"),
    choice("last", [["", t("none")], ...["reflector", "informer", "handler", "worker", "kubectl"].map((each) => [each, each])], String));
  // A recording, or a program, decides some of them.
  const count = app.tour.switches ?? (switches.length ? switches : null);
  for (const select of $("settings-sheet").querySelectorAll("select")) if (count && !count.includes(select.id.slice(2))) select.closest("label").remove();
}

function speak(language) {
  app.language = language;
  document.documentElement.lang = language;
  remember("language", language);
  for (const node of document.querySelectorAll("[data-word]")) node.textContent = t(node.dataset.word);
  for (const node of document.querySelectorAll("[data-title]")) { node.title = t(node.dataset.title); node.setAttribute("aria-label", t(node.dataset.title)); }
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", t(node.dataset.label));
  document.title = t("title");
  $("language").textContent = language === "zh" ? "English" : "中文";
  $("language").lang = language === "zh" ? "en" : "zh";
  options($("scenario"), app.tour.scenarios.map((each) => [each.name, titleOf(each)]), app.scenario);
}

const help = () => {
  $("help-dialog").replaceChildren(...helpDialog(t, GLOSSARY, app.language, () => $("help-dialog").close()));
  $("help-dialog").showModal();
};

const KEYS = {
  ArrowRight: next, n: next, ArrowLeft: back, p: back, o: same, " ": play, Home: () => { stop(); return to(-1); }, End: last, b: breakpoint, "?": help,
  Enter: () => app.tab === "lesson" && lessonNext(), 1: () => show("lesson"), 2: () => show("source"), 3: () => show("object"), 4: () => show("break"),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help-dialog").open) return;
  const node = event.target;
  if (node.closest?.("[role=tablist]") && event.key.startsWith("Arrow")) {
    const tabs = [...$("tabs").children];
    const to_ = tabs[(tabs.indexOf(node) + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length];
    to_.focus();
    to_.click();
    return;
  }
  // A list of choices keeps its own keys, but for those that the page suggests: they make hops wherever the focus is.
  const suggested = node.matches?.("select") && (event.key === "ArrowRight" || event.key === "ArrowLeft" || (event.key === "Enter" && !node.form));
  if (!suggested && node.matches?.("select, input:not([type=range])")) return;
  if (node.matches?.("input") && (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End")) return;
  const isShownTab = event.key === "Enter" && node.matches?.("[role=tab][aria-selected=true]");
  if (!isShownTab && node.matches?.("button, summary, [role=button]") && (event.key === "Enter" || event.key === " ")) return;
  const shifted = event.shiftKey && /^Digit([1-9])$/.exec(event.code);
  const act = shifted ? () => { const name = Object.keys(app.tour.faults)[shifted[1] - 1]; return name && decide("fault", name); } : KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  Promise.resolve(act()).catch(fail);
}

async function begin() {
  app.tour = await source.tour();
  picture.schema = app.tour.views;
  if (app.tour.live) return live(app.tour);
  if (app.tour.replay) {
    document.body.dataset.replay = "true";
    document.querySelector("[data-word=scenario]").dataset.word = "informer";
    $("tab-lesson").dataset.word = "recording";
    $("speed").append(...SPEEDS.map(([value, text]) => el("option", { value }, text)));
  }
  const wanted = decodeURIComponent(location.hash.slice(1)) || remembered("scenario");
  app.scenario = app.tour.scenarios.some((each) => each.name === wanted) ? wanted : app.tour.scenarios[0].name;
  paint(remembered("theme") || undefined);
  speak(remembered("language") || (navigator.language.startsWith("zh") ? "zh" : "en"));
  const safely = (act) => (event) => Promise.resolve(act(event)).catch(fail);
  const click = { first: () => { stop(); return to(-1); }, back, play, next, same, help, language: () => { speak(app.language === "zh" ? "en" : "zh"); drawSettings(); draw(); },
    theme: flipTheme };
  for (const [id, act] of Object.entries(click)) $(id).addEventListener("click", safely(act));
  for (const tab of $("tabs").children) tab.addEventListener("click", safely((event) => {
    show(tab.id.slice(4));
    if (event.detail) $("pane").focus({ preventScroll: true }); // by a click: the arrow keys go on making hops
  }));
  $("scenario").addEventListener("change", safely((event) => open(event.target.value, {})));
  $("time").addEventListener("input", safely((event) => { stop(); return to(Number(event.target.value)); }));
  $("bp-station").addEventListener("change", drawBreakpoint);
  $("breakpoint").addEventListener("submit", safely((event) => { event.preventDefault(); return breakpoint(); }));
  document.addEventListener("keydown", onKey);
  listen($("picture"), openQuestion);
  // After a choice by pointer the keys belong to the page again; who chooses by keys stays in the list.
  document.addEventListener("pointerdown", () => { app.byPointer = true; }, true);
  document.addEventListener("keydown", () => { app.byPointer = false; }, true);
  document.addEventListener("change", (event) => { if (app.byPointer && event.target.matches("select")) $("pane").focus({ preventScroll: true }); });
  document.addEventListener("click", (event) => { if (!$("settings").contains(event.target)) $("settings").open = false; });
  await open(app.scenario, {});
  let size = "";
  new ResizeObserver(() => {
    const now_ = `${innerWidth} ${$("stage").clientHeight}`;
    if (now_ !== size) { size = now_; draw(); }
  }).observe($("stage"));
  document.body.dataset.ready = "true";
  return undefined;
}

begin().catch(fail);
