// The live tour: the picture of a program that really runs, ten times a second and more.

import { Address } from "/page/address.js";
import { fromLiveHash, toLiveHash } from "/page/liveaddress.js";
import { CHINESE, GLOSSARY, WORDS } from "/page/words.js";
import { Picture } from "/page/picture.js";
import { el, helpDialog, objectPane, sourcePane } from "/page/panel.js";
import { choiceOf, pastOfLive } from "/page/past.js";
import { errorIn } from "/page/errors.js";
import { tips } from "/page/tip.js";
import { $, arrange, ask, complain, count, fail, flipTheme, giveKeysBack, keepFocusInView, numbered, paint, remember, remembered } from "/page/shell.js";

const PERIOD = 60;      // milliseconds from one look to the next
const PATIENCE = 3000;  // milliseconds without an answer after which the page says so
const app = { tour: null, seen: null, informer: 0, queue: 0, key: "", hops: [], last: -1, look: 0, rows: new WeakMap(), frozen: false, detached: false, held: false, language: "en", tab: "lesson", ref: "", states: {}, station: "", sources: new Map() };
const t = (word) => WORDS[app.language][word] ?? WORDS.en[word] ?? word;
const kindOf = (hop) => (app.language === "zh" && CHINESE[`${hop.station}.${hop.kind}`]) || app.tour.kinds[hop.station][hop.kind];
const address = new Address();
const picture = new Picture($("picture"), t, (station) => { app.station = station; show("source"); }, (ref, key) => chooseObject(ref, key).catch(fail));

async function look() {
  // Of what was seen before only what has changed comes again.
  const before = app.seen;
  const query = new URLSearchParams({ informer: app.informer, queue: app.queue, since: app.last, key: app.key, after: app.look });
  const late = setTimeout(() => { app.silent = true; draw(); }, PATIENCE);
  const seen = await ask(`/api/live?${query}`).finally(() => { clearTimeout(late); app.silent = false; });
  app.detached ||= seen.detached;
  // Opened behind the end of the observation, or back in a browser's history: there never was a picture.
  app.late = seen.detached && (!before || app.late);
  // A tour that has detached sees no station any more: the last picture stays.
  if (!before || !seen.detached) app.seen = { ...before, ...seen, views: { ...before?.views, ...seen.views } };
  app.look = seen.look;
  app.hops = [...app.hops, ...seen.hops.map((hop) => ({ ...hop, code: seen.codes[hop.code] }))].slice(-200);
  app.last = Math.max(app.last, seen.last);
}

// A click is a press and a release on the same element: draw nothing in between.
async function goOn() {
  for (;;) {
    const began = performance.now();
    try {
      if (!app.frozen && !app.detached && !app.held && !document.hidden) { await look(); app.gone = false; if (!app.held) draw(); }
      $("problem").hidden = $("problem").hidden || $("problem").dataset.why !== "ended";
      delete $("problem").dataset.why;
    } catch (error) {
      if (!error.unreachable) console.error(error);
      if (error.unreachable && !app.gone) { app.gone = true; draw(); }
      complain(error.unreachable ? t("ended") : errorIn(app.language, error.message));
      $("problem").dataset.why = "ended";
      await new Promise((done) => setTimeout(done, 1000));
    }
    await new Promise((done) => setTimeout(done, Math.max(5, PERIOD - (performance.now() - began))));
  }
}

async function chooseObject(ref, key) {
  // At once: the reader may choose another tab before the answer is there.
  show("object");
  await fetchObject(ref, key);
  await onlyHopsOf(key);
  keepAddress();
}

async function fetchObject(ref, key) {
  app.states = key ? await ask(`/api/object?informer=${app.informer}&key=${encodeURIComponent(key)}`) : {};
  const known = Object.keys(app.states);
  app.ref = known.includes(ref) ? ref : known.at(-1) ?? "";
}

async function chooseKey(key) {
  address.mark();
  await onlyHopsOf(key);
  keepAddress();
}

async function onlyHopsOf(key) {
  Object.assign(app, { key, hops: [], last: -1 });
  await look();
  draw();
}

function choose(changes) {
  address.mark();
  Object.assign(app, changes);
  keepAddress();
}

const keepAddress = () => address.show(toLiveHash(app));

// Show the state that an address stands for.
async function restore(hash) {
  const { language, ref, ...state } = fromLiveHash(hash, Object.keys(app.tour.kinds));
  if (language && language !== app.language) speak(language);
  if (state.key !== app.key) Object.assign(app, { hops: [], last: -1 });
  if (app.detached && app.seen) Object.assign(state, { informer: app.informer, queue: app.queue });
  Object.assign(app, state);
  if (state.tab === "object") await fetchObject(ref, state.key);
  app.shown = "";
  await look();
  draw();
}

// ---- showing

function show(tab) {
  if (tab !== app.tab) address.mark();
  app.tab = tab;
  keepAddress();
  drawPane().catch(fail);
}

function choices(select, values, chosen) {
  const wanted = JSON.stringify(values);
  if (select.dataset.values !== wanted) {
    select.dataset.values = wanted;
    select.replaceChildren(...values.map((text, number) => el("option", { value: String(number) }, text)));
  }
  select.value = String(chosen);
}

function draw() {
  const { seen } = app;
  if (!seen) return;
  picture.draw(seen.views, null);
  const isLive = !app.ended && !app.detached && !app.silent && !app.gone;
  $("now-where").replaceChildren(...(isLive ? [el("span", { class: "pill live" }, t("live"))] : []), el("span", {}, app.tour.title), el("span", {}, `${seen.elapsed.toFixed(0)}s`));
  $("now-what").textContent = app.ended || app.gone ? t("ended") : app.detached ? t(detachedWord()) : app.silent ? t("silent") : app.frozen ? t("frozen") : t("live-what");
  // A page without a picture shows nothing one by one.
  $("now-more").textContent = app.late ? "" : `${numbered(t, seen.calls, "calls_")}  ·  ${seen.skipped ? `${count(seen.skipped)} ${t("skipped")}` : t("whole_")}`;
  choices($("scenario"), seen.informers.map((each, number) => `${number + 1}: ${each.kind}`), app.informer);
  choices($("queue-choice"), seen.queues, app.queue);
  settle();
  drawPane().catch(fail);
  document.body.dataset.drawn = Number(document.body.dataset.drawn ?? 0) + 1;
}

// A picture that is the last one cannot be stopped, nor become that of another informer or queue.
function settle() {
  document.querySelector("footer").hidden = app.detached;
  for (const select of [$("scenario"), $("queue-choice")]) {
    select.disabled = app.detached;
    select.closest(".field").hidden = Boolean(app.late);
  }
}

// What a page shows of a tour that has detached: the last picture, or none.
const detachedWord = () => (app.late ? "detached-late" : "detached");

// A hop's row, which stays the same for as long as it is shown.
function hopRow(hop) {
  if (app.rows.get(hop)?.lang !== app.language) app.rows.set(hop, el("tr", { lang: app.language },
    el("td", { class: "figure" }, `+${hop.time.toFixed(2)}s`), el("td", {}, el("span", { class: "pill", "data-station": hop.station, title: kindOf(hop) }, `${hop.station}.${hop.kind}`)),
    el("td", { class: "mono" }, `${hop.key}${hop.version ? ` @${hop.version}` : ""}${hop.more.error ? ` ${errorIn(app.language, hop.more.error)}` : ""}`)));
  return app.rows.get(hop);
}

const hopTable = el("table", { class: "figures hops" });

function overview() {
  const { seen } = app;
  const rows = seen.informers.map((each, number) => el("tr", { class: number === app.informer ? "chosen" : null },
    el("td", {}, app.detached ? each.kind : el("button", { type: "button", id: `informer-${number}`, onclick: () => { choose({ informer: number }); draw(); } }, each.kind)),
    ...[count(each.objects), count(each.pending), each.version ? `@${each.version}` : "–", each.heard === null ? "–" : `${each.heard.toFixed(1)}s`].map((text) => el("td", { class: "figure" }, text))));
  const head = ["informer", "objects", "to-tell", "version", "heard"].map((word) => el("th", {}, t(word)));
  const hops = app.hops.slice(-60).reverse().map(hopRow);
  arrange(hopTable, hops.length ? hops : [el("tr", {}, el("td", {}, t("nothing")))]);
  return [
    el("table", { class: "figures" }, el("tr", {}, head), rows),
    seen.unlisted ? el("p", { class: "quiet" }, `+${seen.unlisted}`) : null,
    el("h3", {}, t("last-hops")),
    app.key ? el("p", { class: "row" }, `${t("only-key")} `, el("code", {}, app.key), el("button", { type: "button", id: "all-keys", onclick: () => chooseKey("").catch(fail) }, t("all"))) : null,
    hopTable,
  ];
}

// All that the pane of handlers and workers depends on.
const steered = () => JSON.stringify([app.language, app.detached, app.ended, (app.seen.views.handlers.handlers ?? []).map((each) => [each.name, each.paused]),
  Object.entries(app.seen.views.workers.workers ?? {}).map(([name, each]) => [name, each.delay])]);

function steering() {
  if (app.detached) return [el("p", { class: "quiet" }, t(app.ended ? "ended" : detachedWord()))];
  const { handlers } = app.seen.views.handlers;
  const { workers } = app.seen.views.workers;
  const control = (asked) => () => ask("/api/control", asked).then(look).then(draw).catch(fail);
  const delays = [0, 0.1, 1, 5];
  const worker = ([name, each]) => {
    const select = el("select", { "data-worker": name, onchange: (event) => { event.target.blur(); control({ slow: name, delay: Number(event.target.value) })(); } },
      [...new Set([...delays, each.delay])].map((delay) => el("option", { value: String(delay), selected: delay === each.delay }, delay ? `+${delay}` : "–")));
    return el("label", { class: "field" }, name, " ", select, ` ${t("seconds_")}`);
  };
  return [
    el("p", { class: "quiet" }, t("pause-what")),
    el("h3", {}, t("handlers")),
    el("div", { class: "list" }, (handlers ?? []).length ? handlers.map((each) => el("button", { type: "button", "data-handler": each.name, "aria-pressed": String(each.paused), onclick: control({ [each.paused ? "go-on" : "pause"]: each.name }) },
      `${t(each.paused ? "go-on" : "pause_")}${t("colon")}${each.name}`)) : el("p", { class: "quiet" }, t("no-handlers"))),
    el("h3", {}, t("workers")),
    el("div", { class: "list" }, Object.keys(workers).length ? Object.entries(workers).map(worker) : el("p", { class: "quiet" }, t("no-workers"))),
    el("h3", {}, t("detach")),
    el("p", { class: "quiet" }, t("detach-what")),
    el("div", { class: "list" }, el("button", { type: "button", id: "detach", onclick: () => detach().catch(fail) }, t("detach"))),
  ];
}

async function drawPane() {
  for (const tab of $("tabs").children) {
    tab.setAttribute("aria-selected", String(tab.id === `tab-${app.tab}`));
    tab.tabIndex = tab.id === `tab-${app.tab}` ? 0 : -1;
  }
  $("pane").setAttribute("aria-labelledby", `tab-${app.tab}`);
  const fill = (parts) => {
    const focused = document.activeElement;
    if (focused?.matches("select") && $("pane").contains(focused)) return; // somebody is choosing
    const [id, which, top] = [focused?.id, focused?.dataset?.handler, $("pane").scrollTop];
    arrange($("pane"), parts.filter(Boolean));
    $("pane").scrollTop = top;
    const again = (id && $(id)) || (which && $("pane").querySelector(`[data-handler="${CSS.escape(which)}"]`));
    if (again && document.activeElement === document.body) again.focus({ preventScroll: true });
  };
  if (app.tab === "lesson") {
    app.shown = "lesson";
    return fill(overview());
  }
  if (app.tab === "break") return drawOnce(steered(), steering, fill);
  if (app.tab === "past") return drawPast(fill);
  if (app.tab === "object") return drawOnce(`object ${app.ref} ${app.language}`, () => objectPane(t, app.states, app.ref), fill);
  const hop = app.hops.findLast((each) => each.station === app.station) ?? (app.station ? null : app.hops.at(-1));
  if (!hop) { app.shown = "source"; return fill(sourcePane(t, null, null)); }
  const name = `file=${encodeURIComponent(hop.code.file)}&function=${encodeURIComponent(hop.code.function)}`;
  if (!app.sources.has(name) && app.shown !== "source") fill([]);
  if (!app.sources.has(name)) app.sources.set(name, await ask(`/api/source?${name}`).catch(() => null));
  if (app.tab !== "source") return undefined;
  return drawOnce(`source ${name} ${app.language}`, () => sourcePane(t, app.sources.get(name), hop), fill);
}

// Asked for once a second: the answer is made of all hops that the tour has kept.
async function drawPast(fill) {
  const { chosen } = app;
  if (app.shown !== "past") fill([]); // the answer may take a moment, and what is there is another tab's
  const wanted = `${JSON.stringify(chosen)} ${app.informer} ${app.queue} ${app.language}`;
  const isSame = app.past?.wanted === wanted, isRecent = isSame && performance.now() - app.past.asked < 1000;
  if ((isSame && app.past.isAsking) || (isRecent && app.shown === "past")) return;
  const asking = app.past = { wanted, asked: performance.now(), isAsking: true };
  const found = await ask(`/api/past?${new URLSearchParams({ ...chosen, informer: app.informer, queue: app.queue })}`)
    .finally(() => { asking.isAsking = false; });
  if (app.tab !== "past" || app.past.wanted !== wanted) return;
  app.shown = "past";
  fill(pastOfLive(t, (station, kind) => kindOf({ station, kind }), chosen, found, app.late ? detachedWord() : "choose-key"));
}

// Do not redraw content that does not change by itself: the reader may scroll in it.
function drawOnce(what, parts, fill) {
  if ($("pane").dataset.what === what && app.shown === app.tab && $("pane").childElementCount) return;
  fill(parts());
  $("pane").dataset.what = what;
  app.shown = app.tab;
}

function speak(language) {
  app.language = language;
  document.documentElement.lang = language;
  remember("language", language);
  for (const node of document.querySelectorAll("[data-word]")) node.textContent = t(node.dataset.word);
  for (const node of document.querySelectorAll("[data-title]")) { node.title = t(node.dataset.title); node.setAttribute("aria-label", t(node.dataset.title)); }
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", t(node.dataset.label));
  document.title = `${app.tour.title} · ${t("title")}`;
  $("language").textContent = language === "zh" ? "English" : "中文";
  $("language").lang = language === "zh" ? "en" : "zh";
}

const freeze = () => { if (app.detached) return; app.frozen = !app.frozen; $("play").textContent = app.frozen ? "▶▶" : "▮▮"; draw(); };
const help = () => {
  $("help-dialog").replaceChildren(...helpDialog(t, GLOSSARY, app.language, () => $("help-dialog").close()));
  $("help-dialog").showModal();
};
const KEYS = { " ": freeze, "?": help, 1: () => show("lesson"), 2: () => show("source"), 3: () => show("object"), 4: () => show("break"), 5: () => show("past") };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help-dialog").open) return;
  const node = event.target;
  if (node.closest?.("[role=tablist]") && event.key.startsWith("Arrow")) {
    const tabs = [...$("tabs").children];
    const to = tabs[(tabs.indexOf(node) + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length];
    to.focus();
    to.click();
    return;
  }
  if (node.matches?.("select, input") || (node.matches?.("button, summary, [role=button]") && (event.key === "Enter" || event.key === " "))) return;
  if (!KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
}

// After the tour has detached the server still answers until the program ends.
async function waitForTheEnd() {
  while (await ask("/api/connected").catch(() => null)) await new Promise((done) => setTimeout(done, 500));
  app.ended = true;
  draw();
}

// Pauses last as long as the server gets requests of a page, also of a hidden tab, whose timers are slow.
async function stayConnected() {
  while (!app.detached) {
    const answer = await ask("/api/connected").catch(() => null);
    if (answer?.detached) app.detached = true;
    if (!answer) await new Promise((done) => setTimeout(done, 1000));
  }
  if (app.seen) draw();
  await waitForTheEnd();
}

async function detach() {
  await ask("/api/control", { detach: true });
  app.detached = true;
  draw();
}

export async function live(tour) {
  app.tour = tour;
  picture.schema = tour.views;
  document.body.dataset.live = "true";
  $("again").hidden = $("copy").hidden = true;
  document.querySelector("[data-word=scenario]").dataset.word = "informer";
  $("tab-lesson").dataset.word = "overview";
  $("tab-break").dataset.word = "steer";
  $("play").dataset.title = "freeze";
  $("play").textContent = "▮▮";
  $("settings").replaceWith(el("label", { class: "field" }, el("span", { "data-word": "queue" }, "Work queue"), el("select", { id: "queue-choice" })));
  paint(remembered("theme") || undefined);
  speak(fromLiveHash(location.hash, []).language || remembered("language") || (navigator.language.startsWith("zh") ? "zh" : "en"));
  const click = { help, play: freeze, theme: flipTheme, language: () => { speak(app.language === "zh" ? "en" : "zh"); keepAddress(); draw(); } };
  for (const [id, act] of Object.entries(click)) $(id).addEventListener("click", act);
  for (const tab of $("tabs").children) tab.addEventListener("click", () => show(tab.id.slice(4)));
  $("scenario").addEventListener("change", (event) => choose({ informer: Number(event.target.value) }));
  $("queue-choice").addEventListener("change", (event) => choose({ queue: Number(event.target.value) }));
  document.addEventListener("keydown", onKey);
  giveKeysBack();
  keepFocusInView();
  tips($("picture"));
  $("picture").addEventListener("click", (event) => { app.chosen = choiceOf(event.target) ?? app.chosen; keepAddress(); }, true);
  addEventListener("popstate", () => { address.moved(); restore(location.hash).catch(fail); });
  document.addEventListener("pointerdown", () => { app.held = true; }, true);
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => setTimeout(() => { app.held = false; }), true);
  await restore(location.hash);
  document.body.dataset.ready = "true";
  goOn();
  stayConnected();
}
