// The tour: which run, which hop of it, and what the keys and buttons do.

import { copy, fromHash, link, toHash } from "/page/address.js";
import { drawTicks } from "/page/ticks.js";
import { AT_ONCE, breakPane, closestOffer, faultsAt, isCut, marks, obstacle, onMenuKey, openMenu } from "/page/breaks.js";
import { $, complain, fail, flipTheme, giveKeysBack, keepFocusInView, paint, remember, remembered, say, whileBusy } from "/page/shell.js";
import { errorIn } from "/page/errors.js";
import { live } from "/page/live.js";
import { drawMachine } from "/page/machine.js";
import { playOpening, wasSeen } from "/page/overlay.js";
import { source } from "/page/source.js";
import { GLOSSARY } from "/page/words.js";
import { EXTRAS, Picture } from "/page/picture.js";
import { lessonIn, lessonPane } from "/page/lesson.js";
import { lessonWalk } from "/page/walk.js";
import { el, helpDialog, now, objectPane, sourcePane } from "/page/panel.js";
import { choiceOf, pastOfRun } from "/page/past.js";
import { pace, player } from "/page/play.js";
import { branchOf, listen, markPlaces } from "/page/questions.js";
import { tips } from "/page/tip.js";
import { SPEEDS, momentOf, replayPane } from "/page/replay.js";
import { address, app, faultOf, hop, kindOf, t, titleOf } from "/page/state.js";

const { play: playOn, stop } = player({ to, reach });
const { openQuestion, judged, isLost, ...walk } = lessonWalk(
  { run, find, to, draw, stop, withDecisions, drawSettings: () => drawSettings(), noted: () => drawScenarios() });
// A reader's act while a scenario is on its way waits for it: it is not meant for what is still shown.
const afterOpening = (act) => async (...all) => { while (app.pending) await app.pending; return act(...all); };
const whenOpened = (act) => (...all) => (app.pending ? afterOpening(act)(...all) : act(...all));
const [lessonAnswer, lessonNext, lessonBack, toLesson, toBranch] = [walk.lessonAnswer, walk.lessonNext, walk.lessonBack, walk.toLesson, walk.toBranch]
  .map((act) => whenOpened((...all) => { newMove(); return act(...all); }));
const picture = new Picture($("picture"), t, (station) => { app.station = station; show("source"); }, (ref, key) => {
  app.ref = ref || newest(key);
  show("object");
}, { onBreak: (place, node) => breakAt(place, node), onUndo: () => undo().catch(fail) });

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

// Whether the run has such a hop: execute as far as needed.
async function reach(number) {
  while (number >= app.trace.points.length && !app.trace.complete && number < app.tour.maxHops) {
    if (!(await extend(Math.max(2 * app.trace.points.length, number + 1)))) return false;
  }
  return number < app.trace.points.length;
}

// Execute more of the run, which may take seconds. The request that is on its way serves everyone whom it is enough for.
let extending = null;
function extend(limit) {
  if (extending?.turn === app.turn && extending.limit >= limit) return extending.there;
  const there = whileBusy(t("busy"), () => run(limit)).finally(() => { if (extending === mine) extending = null; });
  const mine = extending = { turn: app.turn, limit, there };
  return there;
}

// Open a scenario, after those that are on their way. `state`: what an address says beside scenario and settings, see
// fromHash.
function open(...all) {
  const opening = Promise.resolve(app.pending).then(() => openNow(...all));
  const ended = app.pending = opening.catch(() => undefined).then(() => { if (app.pending === ended) app.pending = null; });
  return opening;
}

async function openNow(scenario, settings, start = 0, state = null) {
  halt();
  if (!state) address.mark();
  Object.assign(app, { start, scenario, settings, decisions: state?.decisions ?? [], at: -1, ref: "", station: "", stops: [], place: { step: -1, asked: false } });
  const about = app.tour.lessons.find((lesson) => lesson.scenario === scenario);
  const started = Promise.all([about ? source.lesson(about.name) : null, source.offers(scenario, settings), run()]);
  try {
    const [lesson, offers] = await started;
    Object.assign(app, { lesson, offers });
  } catch (error) {
    // An address may name a fault or a machine that is not there: open the scenario without them.
    if (!state || (!state.decisions.length && !Object.keys(settings).length)) throw error;
    complain(errorIn(app.language, error.message));
    return openNow(scenario, {}, start, { ...state, decisions: [] });
  }
  remember("scenario", scenario);
  if (state) await restore(state);
  $("scenario").value = scenario;
  await drawSettings();
  draw();
  document.body.dataset.opened = Number(document.body.dataset.opened ?? 0) + 1;
}

// Go where an address says: what is not there, such as a hop behind the end, is left out.
async function restore({ hop: number, tab, object, station, step, asked }) {
  await reach(number - 1);
  app.at = Math.max(-1, Math.min(number - 1, app.trace.points.length - 1));
  const reached = app.lesson ? Math.min(step, app.lesson.steps.length - 1) : -1;
  app.place = { step: reached, asked: asked && Boolean(app.lesson?.steps[reached + 1]?.ask) };
  app.place.lost = await isLost();
  const branch = reached >= 0 ? branchOf(app.lesson.steps[reached], app) : undefined;
  if (branch) app.place.branch = { settings: app.lesson.steps[reached].machine, fault: branch.fault };
  app.tab = tab;
  app.station = station in app.tour.kinds ? station : "";
  if (tab === "object") app.ref = object in app.trace.objects ? object : "";
}

const here = () => fromHash(location.hash, (name) => app.tour.scenarios.find((each) => each.name === name)?.settings);

async function goToAddress() {
  const state = here();
  if (state.language && state.language !== app.language) speak(state.language);
  await open(state.scenario || app.scenario, state.settings, 0, state);
}

// The browser has gone to another entry of its history. What is still on its way must not write its address there.
async function follow() {
  address.moved();
  const move = app.move = {};
  try {
    await whenOpened(() => app.move === move && goToAddress())();
  } finally {
    if (app.move === move) app.move = null;
  }
  if (!app.move) keepAddress();
}

async function decide(kind, name) {
  if (app.at < 0) return complain(t("break-start"));
  halt();
  address.mark();
  const { at, decisions: before } = app;
  app.decisions = [...before.filter((each) => each.at <= at), { at, kind, name }];
  try {
    if (!(await run(Math.max(250, 2 * at)))) return undefined;
  } catch (error) {
    app.decisions = before;
    throw error;
  }
  const lost = await isLost();
  // The decision ends a run between a question and its answer.
  const { running, ...place } = app.place;
  app.place = { ...place, lost };
  return draw();
}

// Take back the last decision, and go to where it was made.
async function undo() {
  const last_ = app.decisions.at(-1);
  if (!last_) return;
  await withDecisions(app.decisions.slice(0, -1), Math.min(app.at, last_.at));
}

async function withDecisions(decisions, at) {
  halt();
  address.mark();
  Object.assign(app, { decisions, at });
  if (!(await run(Math.max(250, at + 1)))) return;
  // Without its fault the run of an answer is the lesson's own. A run between a question and its answer ends.
  const { branch, running, ...place } = app.place;
  app.place = { ...place, ...(branch && (!branch.fault || decisions.length) ? { branch } : {}), lost: await isLost() };
  draw();
}

// A click on a place of the picture where something can break.
function breakAt(place, node) {
  const names = faultsAt(app, place);
  const why = (name) => obstacle(app.offers, app, name);
  if (AT_ONCE[place] && !why(AT_ONCE[place])) return decide("fault", AT_ONCE[place]).catch(fail);
  const title = place === "wire" || place === "clock" ? t(`break-${place}`) : `${t("break")}${t("colon")}${t(place)}`;
  openMenu(t, node, { title, names, faultOf, why, closest: closestOffer(app.offers, app.at, names), canUndo: app.decisions.length > 0 },
    { fault: (name) => decide("fault", name).catch(fail), undo: () => undo().catch(fail), to: (number) => { halt(); return to(number).catch(fail); } });
  return undefined;
}

// ---- moving

// Begin a move of the reader. It ends those before it that still wait for their hops: the last move counts.
let move = null;
const newMove = () => (move = {});
const halt = () => { stop(); return newMove(); };
const play = () => { newMove(); return playOn(); };

async function to(number, moving = false) {
  const mine = move;
  const there = await reach(number);
  if (move !== mine) {
    draw(); // there are more hops than before
    return false;
  }
  const before = app.at;
  app.at = Math.max(-1, Math.min(number, app.trace.points.length - 1));
  app.station = "";
  draw();
  if (moving && there && app.at === before + 1) await picture.travel(app.trace.points[app.at].hop, Math.min(600, Math.max(1, pace() * 0.7)));
  return there;
}

// Whether the run goes on behind the last hop that the tour executes.
const isLimited = () => !app.trace.complete && app.trace.points.length >= app.tour.maxHops;

async function find(matches, behind = app.at, isWanted = () => true) {
  for (let number = behind + 1; isWanted() && await reach(number); number++) if (matches(app.trace.points[number].hop)) return number;
  return -1;
}

async function findAndGo(matches) {
  const mine = halt();
  address.mark();
  const number = await find(matches, app.at, () => move === mine);
  if (move !== mine) return draw();
  if (number < 0) return complain(isLimited() ? t("limit") : t("notfound"));
  await to(number, true);
}

const next = () => { halt(); return to(app.at + 1, true); };
const back = () => { halt(); return to(app.at - 1); };
const same = () => {
  const key = app.ref ? app.ref.slice(0, app.ref.lastIndexOf("@")) : hop()?.key;
  return key ? findAndGo((each) => each.key === key) : next();
};
const breakpoint = () => {
  const [station, kind, key] = [$("bp-station").value, $("bp-kind").value, $("bp-key").value];
  return findAndGo((each) => (!station || each.station === station) && (!kind || each.kind === kind) && (!key || each.key === key));
};
const first = () => { halt(); address.mark(); return to(-1); };
const last = async () => {
  const mine = halt();
  address.mark();
  // At once: to execute a part, and then more of it, takes twice as long.
  if (!app.trace.complete && app.trace.points.length < app.tour.maxHops) await extend(app.tour.maxHops);
  return move === mine ? to(app.trace.points.length - 1) : draw();
};

// ---- showing

const newest = (key) => Object.keys(app.trace.objects).filter((ref) => ref.startsWith(`${key}@`)).sort((a, b) => Number(b.split("@")[1]) - Number(a.split("@")[1]))[0] ?? "";

function show(tab) {
  app.tab = tab;
  drawPane();
  markPlaces($("picture"), openQuestion(), judged());
  keepAddress();
}

function keepAddress() {
  if (app.tour.replay || app.move) return;
  const { scenario, decisions, settings, language, tab, ref, station, place } = app;
  address.show(toHash({ scenario, hop: app.at + 1, decisions, settings, language, tab, object: ref, station, step: place.step, asked: place.asked }));
}

// The places of the picture that can break; null in a recording.
const broken = () => (app.tour.replay ? null : { places: ["wire", "clock", ...Object.keys(app.tour.kinds).filter((station) => faultsAt(app, station).length)],
  marks: marks(faultOf, app.tour, app), isCut: isCut(app), clock: hop()?.time ?? 0 });

// Decisions lead away from a lesson: say so, and offer the way back.
function drawStrayed() {
  const { step, lost, branch } = app.place;
  const isAway = Boolean(app.lesson) && (app.decisions.length > 0 || Boolean(branch)) && step >= 0;
  // The run of an answer has the answer's fault; what is broken besides may make the answer wrong again.
  const isBroken = app.decisions.length > (branch?.fault ? 1 : 0);
  const why = branch && !isBroken ? "in-branch" : lost ? "lost" : "strayed";
  const wanted = isAway ? `${app.language} ${why}` : "";
  $("strayed").hidden = !isAway;
  if ($("strayed").dataset.what === wanted) return;
  $("strayed").dataset.what = wanted;
  $("strayed").replaceChildren(...(isAway ? [el("span", {}, t(why)), " ", el("button", { type: "button", id: "to-lesson", onclick: () => toLesson().catch(fail) }, t("to-lesson"))] : []));
}

function opening() {
  halt();
  playOpening({ language: () => app.language, t, speak: (language) => { speak(language); drawSettings().catch(fail); draw(); }, done: draw });
}

async function copyLink() {
  address.flush();
  if (await copy(link())) say(t("copied"));
  else complain(`${t("copy-this")}${link()}`);
}

function draw() {
  const point = app.trace.points[app.at];
  picture.draw(app.states[app.at] ?? {}, point?.hop, EXTRAS.filter((name) => Object.keys(app.states.at(-1)?.[name] ?? {}).length), !app.reading, broken());
  const [where, what, more] = now(t, kindOf, app, point);
  $("now-where").replaceChildren(...where.filter(Boolean));
  // A decision takes effect behind this hop: until the next one only these words show it.
  const decided = app.decisions.filter((each) => each.at === app.at && point).map((each) => el("span", { class: "decided" }, `⚡ ${t(each.kind === "fault" ? "breaks-here" : "thread-here")}${t("colon")}${each.kind === "fault" ? faultOf(each.name) : each.name}`));
  $("now-what").replaceChildren(...decided, what, ...(point && app.at === app.trace.points.length - 1 && app.trace.complete ? [" · ", t("end")] : []), ...(isLimited() && app.at === app.trace.points.length - 1 ? [" · ", t("limit")] : []));
  $("now-more").textContent = more;
  if (point?.hop.key && app.tab !== "object") app.ref = point.hop.version ? `${point.hop.key}@${point.hop.version}` : "";
  $("time").max = app.trace.points.length - 1;
  $("time").value = app.at;
  $("time").setAttribute("aria-valuetext", `${t("hop")} ${app.at + 1}${t("colon")}${what}`);
  $("count").textContent = `${app.at + 1} / ${app.trace.points.length}${app.trace.complete ? "" : "+"}`;
  $("back").disabled = $("first").disabled = app.at < 0;
  $("next").disabled = (app.trace.complete || isLimited()) && app.at === app.trace.points.length - 1;
  drawTicks(app);
  drawBreakpoint();
  drawStrayed();
  drawPane();
  markPlaces($("picture"), openQuestion(), judged());
  keepAddress();
  document.body.dataset.running = app.place.running !== undefined;
  document.body.dataset.drawn = Number(document.body.dataset.drawn ?? 0) + 1;
}

function options(select, values, chosen) {
  const wanted = JSON.stringify([app.language, values]);
  if (select.dataset.values !== wanted) {
    select.dataset.values = wanted;
    select.replaceChildren(...values.map(([value, text]) => el("option", { value }, text)));
  }
  select.value = values.some(([value]) => value === chosen) ? chosen : values[0]?.[0];
}

// The list of lessons, in which those that were done have a mark.
const drawScenarios = () => options($("scenario"), app.tour.scenarios.map((each) => [each.name, titleOf(each)]), app.scenario);

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
  const act = { fault: whenOpened((name) => decide("fault", name)), thread: whenOpened((name) => decide("thread", name)), lessonNext: () => lessonNext().catch(fail), lessonBack: () => lessonBack().catch(fail), lessonAnswer: (number) => lessonAnswer(number).catch(fail), toBranch: (branch) => toBranch(branch).catch(fail),
    openLesson: (scenario) => { $("scenario").value = scenario; open(scenario, {}).catch(fail); },
    obstacle: (name) => obstacle(app.offers, app, name), isThreadFree: !source.isExported, undo: () => withDecisions([], app.at).catch(fail) };
  const fill = (parts) => {
    const focused = document.activeElement?.id;
    $("pane").replaceChildren(...parts.filter(Boolean));
    if (focused && $(focused) && !document.activeElement?.id) $(focused).focus({ preventScroll: true });
  };
  if (app.tab === "lesson" && app.tour.replay) return drawRecording(fill);
  if (app.tab === "lesson") return fill(lessonPane(t, app.language, lessonIn(app.language, app.lesson), app.tour.lessons, app.place, app.states[app.at] ?? {}, act));
  if (app.tab === "object") return fill(objectPane(t, app.trace.objects, app.ref));
  if (app.tab === "past") return fill(pastOfRun(t, kindOf, app, (number) => { halt(); to(number).catch(fail); }));
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
  // Include the hops of the same millisecond: the replayed hops are not the recorded ones.
  const { hops } = await source.recorded(moment + 0.001);
  if (app.recordedAt !== moment || app.tab !== "lesson") return undefined;
  app.recorded = hops;
  return show_();
}

const drawSettings = () => drawMachine(app, t, source, (settings) => open(app.scenario, settings).catch(fail));

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
  drawScenarios();
}

const help = () => {
  $("help-dialog").replaceChildren(...helpDialog(t, GLOSSARY, app.language, () => $("help-dialog").close()));
  $("help-dialog").showModal();
};

const KEYS = {
  ArrowRight: next, n: next, ArrowLeft: back, p: back, o: same, " ": play, Home: first, End: last, b: breakpoint, u: undo, "?": help,
  Enter: () => app.tab === "lesson" && lessonNext(), 1: () => show("lesson"), 2: () => show("source"), 3: () => show("object"), 4: () => show("break"), 5: () => show("past"),
};

function onKey(event) {
  const node = event.target;
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && app.decisions.length && !node.matches?.("input:not([type=range])")) {
    event.preventDefault();
    undo().catch(fail);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || $("help-dialog").open) return;
  if (node.closest?.("#break-menu")) return;
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
  Promise.resolve(whenOpened(act)()).catch(fail);
}

async function begin() {
  app.tour = await source.tour();
  picture.schema = app.tour.views;
  if (app.tour.live) return live(app.tour);
  if (app.tour.replay) {
    document.body.dataset.replay = "true";
    $("again").hidden = $("copy").hidden = true;
    document.querySelector("[data-word=scenario]").dataset.word = "informer";
    $("tab-lesson").dataset.word = "recording";
    $("speed").append(...SPEEDS.map(([value, text]) => el("option", { value }, text)));
  }
  const hadAddress = location.hash.length > 1; // a link leads to what it says
  const state = here();
  const wanted = state.scenario || remembered("scenario");
  app.scenario = app.tour.scenarios.some((each) => each.name === wanted) ? wanted : app.tour.scenarios[0].name;
  paint(remembered("theme") || undefined);
  speak(state.language || remembered("language") || (navigator.language.startsWith("zh") ? "zh" : "en"));
  const safely = (act) => (event) => Promise.resolve(whenOpened(act)(event)).catch(fail);
  const click = { first, back, play, next, same, help, copy: copyLink, again: opening, theme: flipTheme,
    language: () => { speak(app.language === "zh" ? "en" : "zh"); drawSettings().catch(fail); draw(); } };
  for (const [id, act] of Object.entries(click)) $(id).addEventListener("click", safely(act));
  for (const tab of $("tabs").children) tab.addEventListener("click", safely(() => show(tab.id.slice(4))));
  $("scenario").addEventListener("change", safely((event) => open(event.target.value, {})));
  $("time").addEventListener("input", safely((event) => { halt(); return to(Number(event.target.value)); }));
  $("bp-station").addEventListener("change", drawBreakpoint);
  $("breakpoint").addEventListener("submit", safely((event) => { event.preventDefault(); return breakpoint(); }));
  document.addEventListener("keydown", onKey);
  giveKeysBack();
  keepFocusInView();
  listen($("picture"), openQuestion);
  tips($("picture"));
  $("picture").addEventListener("click", (event) => { app.chosen = choiceOf(event.target); }, true);
  $("break-menu").addEventListener("keydown", onMenuKey);
  $("break-menu").addEventListener("toggle", (event) => { if (event.newState === "closed") $("break-menu").replaceChildren(); });
  if (!app.tour.replay) addEventListener("popstate", () => follow().catch(fail));
  // After a choice by pointer the keys belong to the page again; after a choice by keys the focus stays in the list.
  document.addEventListener("pointerdown", () => { app.byPointer = true; }, true);
  document.addEventListener("keydown", () => { app.byPointer = false; }, true);
  document.addEventListener("change", (event) => { if (app.byPointer && event.target.matches("select")) $("pane").focus({ preventScroll: true }); });
  document.addEventListener("click", (event) => { if (!$("settings").contains(event.target)) $("settings").open = false; });
  await open(app.scenario, state.settings, 0, state);
  let size = "";
  new ResizeObserver(() => {
    const now_ = `${innerWidth} ${$("stage").clientHeight}`;
    if (now_ !== size) { size = now_; draw(); }
  }).observe($("stage"));
  document.body.dataset.ready = "true";
  performance.mark("ready");
  if (!hadAddress && !app.tour.replay && !wasSeen()) opening();
  return undefined;
}

begin().catch(fail);
