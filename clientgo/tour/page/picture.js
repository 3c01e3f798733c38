// The picture: stations as cards, what they hold as chips, arrows, and things that travel along them.

import { errorIn } from "/page/errors.js";
import { arrange, isNarrow } from "/page/shell.js";
import { viewError } from "/page/views.js";

const SVG = "http://www.w3.org/2000/svg";
const CHAR = 6.65;      // of the chips' font
const NAME = 8.1;       // of the stations' names
const ROW = 25;

// A loop: the upper row from left to right, the lower one back. Each row's shares of the width.
const ROWS = [
  [["apiserver", 32], ["reflector", 27], ["fifo", 36]],
  [["workers", 21], ["queue", 27], ["handlers", 27], ["indexer", 25]],
];
const NOTHING = {};
const MARGIN = 12, GAP = 54, BETWEEN = 50;

// `extras` are stations that only some machines have: they stand one above the other, left of the API server.
function wideBoxes(width, height, extras) {
  const boxes = {};
  const each = (height - 2 * MARGIN - BETWEEN) / 2;
  for (const [number, upper] of ROWS.entries()) {
    const row = number === 0 && extras.length ? [["extras", 22], ...upper] : upper;
    const shares = row.reduce((sum, [, share]) => sum + share, 0);
    const room = width - 2 * MARGIN - GAP * (row.length - 1);
    let x = MARGIN;
    for (const [name, share] of row) {
      boxes[name] = [x, MARGIN + number * (each + BETWEEN), (room * share) / shares, each];
      x += (room * share) / shares + GAP;
    }
  }
  if (!extras.length) return boxes;
  const { extras: [x, y, wide], ...rest } = boxes;
  const tall = (each - MARGIN * (extras.length - 1)) / extras.length;
  extras.forEach((name, number) => { rest[name] = [x, y + number * (tall + MARGIN), wide, tall]; });
  return rest;
}

const ORDER = ["apiserver", "reflector", "fifo", "indexer", "handlers", "queue", "workers"];
const ARROWS = [
  ["apiserver", "reflector", "a-watch"], ["reflector", "fifo", "a-deltas"], ["fifo", "indexer", "a-pop"], ["indexer", "handlers", "a-notify"],
  ["handlers", "queue", "a-enqueue"], ["queue", "workers", "a-get"], ["workers", "apiserver", "a-write"],
  ["workers", "events", "a-record"], ["events", "apiserver", "a-event"], ["election", "apiserver", "a-lease"],
];
// The stations that only some machines have, from top to bottom.
export const EXTRAS = ["election", "events"];
const GO = {
  apiserver: "list, watch, history", reflector: "Reflector.ListAndWatch", fifo: "cache.Queue", indexer: "threadSafeMap, Indices",
  handlers: "processorListener", queue: "workqueue.Typed", workers: "processNextItem",
  events: "EventCorrelator", election: "LeaderElector",
};

export function make(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

export const shortKey = (key) => key.replace(/^default\//, "");

export function hue(key) {
  if (!key) return "hue-";
  let sum = 7;
  for (const letter of key) sum = (sum * 31 + letter.codePointAt(0)) % 8191;
  return `hue${sum % 8}`;
}

// A Chinese character is nearly as wide as two letters.
const columns = (text) => [...text].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 1.8 : 1), 0);

const LABEL = 5.6;      // of a character in the labels' font, which is narrower
const GO_NAME = 6.35, TEXT = 6.95;
// The attribute of a text that was shortened: tip.js shows all of it.
const full = (text, shown) => (text === shown ? {} : { "data-full": text });
const fullOf = (text, lines, number) => (number === 0 && lines.at(-1).endsWith("…") ? { "data-full": text } : {});
// A label with the sign for nothing behind it, where there is room for both.
const inlineLabel = (label, inner) => (fits(label, inner - 14, LABEL) === label ? [label, make("tspan", { class: "empty", dx: 4 }, "–")] : [fits(label, inner, LABEL)]);
const fits = (text, width, char = CHAR) => {
  const most = Math.max(3, Math.floor(width / char));
  if (columns(text) <= most) return text;
  // By characters: half of one of four bytes cannot be drawn.
  const letters = [...text];
  let end = 0;
  for (let room = most - 1; end < letters.length && (room -= columns(letters[end])) >= 0; ) end += 1;
  return `${letters.slice(0, end).join("")}…`;
};

// A text in at most so many lines, where one has no room for it; the last is shortened if need be.
function lines(text, width, char, most = 2) {
  if (most < 2 || columns(text) * char <= width) return [fits(text, width, char)];
  const parts = text.split(/(?<=[ ,.])|(?<=[a-z])(?=[A-Z])/);
  let line = "";
  while (parts.length && columns((line + parts[0]).trimEnd()) * char <= width) line += parts.shift();
  return line.trim() ? [line.trimEnd(), ...lines(parts.join(""), width, char, most - 1)] : [fits(text, width, char)];
}

// A station's contents as sections of chips and lines of text: {label, chips: [...]} or {text, kind}. `total`: how many
// chips there are, `counts`: how many objects the section stands for, where that is not the number of its chips; {hidden}
// is the number of objects that were not sent. `keep`: the height that the chips of the sections above leave to it.
function sections(station, view, t) {
  const shown = view.informers ? view.informers.flatMap((each) => ofOne(station, each, t)) : station_(station, view, t);
  return view.facts ? [...facts(view.facts, t), ...shown] : shown;
}

// Of a live tour's long lists only the beginning is sent: how many there are is the fact "length".
const factOf = (view, sent) => Math.max(sent, view.facts?.find(([word]) => word === "length")?.[1] ?? 0);

// The facts of a live tour, a line for each.
const facts = (given, t) => given.map(([word, value]) => ({ text: `${t(word)} ${value}`, kind: "soft" }));

// The contents of one of several informers, shorter, under its kind.
function ofOne(station, view, t) {
  const head = { text: view.kind, kind: "text" };
  if (station === "fifo") return [head, ...station_(station, view, t)];
  if (station === "indexer") return view.objects ? [head, ...station_(station, view, t)] : [];
  return [
    head,
    { text: `${t(view.state)}${view.version ? ` @${view.version}` : ""}`, kind: "text" },
    ...[["lists", "watches"], ["lines"], ["bookmarks"]].map((words) => ({ text: words.map((word) => `${t(word)} ${view[word]}`).join(" · "), kind: "soft" })),
    ...(view.error ? errorLines(view.error, 24, 3).map((text) => ({ text, kind: "soft bad" })) : []),
  ];
}

function station_(station, view, t) {
  const object = (each) => ({ text: `${shortKey(each.key)} @${each.version}`, key: each.key, ref: each.ref });
  const kinds = (all) => [...new Set(all.map((each) => each.kind))];
  const key = (each) => ({ text: shortKey(each), key: each });
  const pair = (a, b) => ({ text: `${t(a)} ${b}`, kind: "soft" });
  if (station === "apiserver") {
    if (!view.version) return [];
    const signs = { ADDED: "+", MODIFIED: "~", DELETED: "−" };
    return [
      ...(view.remote ? [] : view.objects[0]?.kind
        ? kinds(view.objects).map((kind) => ({ label: `${t("objects")}${t("colon")}${kind}`, chips: view.objects.filter((each) => each.kind === kind).map(object) }))
        : [{ part: "apiserver.objects", label: t("objects"), chips: view.objects.map(object) }]),
      { part: "apiserver.history", label: t(view.remote ? "came" : "history"), chips: view.history.slice(-6).map((each) => ({
        text: `${signs[each.type]} ${shortKey(each.key)} @${each.version}`, key: each.key, ref: each.ref, title: `${each.type}${each.kind ? ` ${each.kind}` : ""} ${each.key} @${each.version}`, gone: each.type === "DELETED" })) },
      ...(view.remote ? [] : [{ text: `${t("wire")}${t("is")}${t(view.wire)}`, kind: view.wire === "up" ? "soft" : "text bad" }]),
    ];
  }
  if (station === "reflector") return !view.state ? [] : [
    { text: t(view.state), kind: "text" },
    { part: "reflector.version", text: `lastSyncResourceVersion ${view.version || "–"}`, kind: "text" },
    pair("lists", view.lists), pair("watches", view.watches), ...(view.lines === undefined ? [] : [pair("lines", view.lines)]), pair("bookmarks", view.bookmarks),
    ...(view.error ? errorLines(view.error, 32, 4).map((text) => ({ text, kind: "soft bad" })) : []),
  ];
  if (station === "fifo") {
    if (!view.name) return [];
    const rows = view.keys.map((each) => ({
      part: "fifo.deltas",
      counts: 1,
      chips: [
        ...(each.key ? [{ text: shortKey(each.key), key: each.key, bold: true }] : []),
        ...each.deltas.map((delta) => ({
          text: delta.keys ? `${delta.type} @${delta.version}: ${delta.keys.map(shortKey).join(", ")}` : `${delta.type}${delta.version ? ` @${delta.version}` : ""}`,
          key: each.key, ref: delta.ref, stone: delta.tombstone, title: delta.tombstone ? `DeletedFinalStateUnknown: ${delta.type} ${each.key}` : `${delta.type} ${each.key} @${delta.version}` })),
      ],
    }));
    return [
      { text: `${t("synced")} ${view.synced ? "✓" : "–"} · ${t("initial-left")} ${view.initialLeft}`, kind: "soft" },
      ...(rows.length ? rows : [{ text: t("empty"), kind: "empty" }]),
      ...(view.length > rows.length ? [{ hidden: view.length - rows.length }] : []),
    ];
  }
  if (station === "indexer") {
    if (!view.objects) return [];
    const tables = Object.entries(view.indices).flatMap(([name, table]) => [
      { part: "indexer.indices", label: `${t("index")} ${name}` },
      ...Object.entries(table).map(([value, keys]) => ({ text: `${value} → ${keys.map(shortKey).join(", ")}`, kind: "soft" })),
    ]);
    return [{ part: "indexer.objects", label: t("objects"), chips: view.objects.map(object), total: factOf(view, view.objects.length) }, ...tables];
  }
  if (station === "handlers") return (view.handlers ?? []).flatMap((each) => {
    const notice = (one) => ({ text: `${one.method.replace("on_", "")} ${shortKey(one.key)}`, key: one.key, ref: one.ref, stone: one.tombstone, queued: one.queued,
      title: `${one.method} ${one.key} @${one.version}${one.tombstone ? " (DeletedFinalStateUnknown)" : ""}` });
    return [
      { text: `${each.informer ? `${each.informer}: ` : ""}${each.name.split("+")[0].split(".").at(-1)}`, kind: "text", keep: 18 },
      // Before the buffer: a full one leaves no room below it, except to the names and states of the other handlers.
      ...(each.paused ? [{ text: t("paused"), kind: "text bad", keep: 18 }] : []),
      { part: "handlers.pending", keep: 19, handler: each.name, label: t("pending"), chips: each.pending.map(notice), total: each.totals?.pending, inline: true },
      { part: "handlers.taken", handler: each.name, label: t("nextCh"), chips: each.taken.map(notice), total: each.totals?.taken, quiet: true },
      { part: "handlers.delivering", handler: each.name, label: t("calling"), chips: each.delivering ? [notice(each.delivering)] : [], quiet: true },
      each.facts ? facts(each.facts, t) : { text: `${t("calls")} ${each.calls}${each.raised ? `  ${t("raised")} ${each.raised}` : ""}`, kind: each.raised ? "soft bad" : "soft" },
    ].flat();
  });
  if (station === "queue") {
    if (!view.order) return [];
    const total = (name) => view.totals?.[name];
    const priority = (each) => (view.priorities[each] === undefined ? "" : ` (${view.priorities[each]})`);
    return [
      { part: "queue.order", label: t("order"), chips: view.order.map((each) => ({ text: `${shortKey(each)}${priority(each)}`, key: each })), total: total("order") },
      { part: "queue.dirty", label: t("dirty"), chips: view.dirty.map(key), total: total("dirty") },
      { part: "queue.processing", label: t("processing"), chips: view.processing.map(key), total: total("processing") },
      { part: "queue.waiting", label: t("heap"), chips: view.waiting.map((each) => ({ text: `${shortKey(each.key)} ${seconds(each.due)}`, key: each.key })), total: total("waiting") },
      { part: "queue.failures", label: t("failures"), chips: Object.entries(view.failures).map(([each, count]) => ({ text: `${shortKey(each)} ×${count}`, key: each })), total: total("failures") },
    ];
  }
  if (station === "events") return view.stored ? [
    { part: "events.stored", label: t("in-api"), chips: view.stored.map((each) => ({ text: `×${each.count} ${each.message}`, key: each.key, title: `${each.key} ${each.reason}: ${each.message} ×${each.count} @${each.version}` })) },
    pair("recorded", view.recorded), pair("written", view.written),
    { text: `${t("dropped")} ${view.dropped}`, kind: view.dropped ? "soft bad" : "soft" },
  ] : [];
  if (station === "election") return view.candidates ? [
    { part: "election.holder", text: `Lease: ${view.holder || "–"}`, kind: "text" }, pair("transitions", view.transitions),
    ...Object.entries(view.candidates).map(([name, each]) => ({ text: `${name}${t("colon")}${each.leads ? t("leads") : t("stands-by")}`, kind: each.leads ? "text" : "soft" })),
  ] : [];
  return Object.entries(view.workers ?? {}).flatMap(([name, each]) => [
    { text: name, kind: "text" },
    { text: each.for === undefined ? t(each.doing) : `${t(each.doing)} ${each.for}`, kind: each.error ? "soft bad" : "soft" },
    ...(each.delay ? [{ text: `${t("slowed")} ${seconds(each.delay)}`, kind: "text bad" }] : []),
    ...(each.key ? [{ chips: [key(each.key)] }] : []),
    ...(each.line ? wrap(`${each.reached}: ${each.text}`, 18, 5).map((text) => ({ text, kind: "soft" })) : []),
    ...(each.error ? errorLines(each.error, 18, 5).map((text) => ({ text, kind: "soft bad" })) : []),
  ]);
}

export const seconds = (value) => `${+value.toFixed(3)}s`;

function wrap(text, width, most) {
  const lines = [];
  for (let rest = text; rest && lines.length < most; ) {
    let cut = rest.length <= width ? rest.length : rest.lastIndexOf(" ", width);
    if (cut < width / 2) cut = Math.min(width, rest.length);
    lines.push(rest.slice(0, cut));
    rest = rest.slice(cut).trimStart();
    if (rest && lines.length === most) lines[most - 1] = `${lines[most - 1].slice(0, width - 1)}…`;
  }
  return lines;
}

// A Chinese character takes two columns.
function errorLines(error, width, most) {
  const text = errorIn(document.documentElement.lang, error);
  return wrap(text, text === error ? width : width / 2 + 2, most);
}

const scissors = (x, y) => make("path", { class: "scissors", d: `M${x - 5.5} ${y - 5} L${x + 3} ${y + 4} M${x + 5.5} ${y - 5} L${x - 3} ${y + 4} M${x - 5.5} ${y + 5} a1.9 1.9 0 1 0 .1 0 M${x + 5.5} ${y + 5} a1.9 1.9 0 1 0 .1 0` });

export class Picture {
  // `t` gives words. Clicks call `onStation(name)` and `onObject(ref, key)`; `onBreak(place, node)` and `onUndo()` where
  // something can be broken.
  constructor(svg, t, onStation, onObject, { onBreak = null, onUndo = null } = {}) {
    Object.assign(this, { svg, t, onStation, onObject, onBreak, onUndo, boxes: {}, travelling: 0, cards: {}, arrows: {}, breakers: {}, tokens: make("g", { class: "tokens", "aria-hidden": "true" }) });
  }

  // Return what `build` made of equal inputs before, or call it: building and layout are most of the work.
  kept(where, name, of, build) {
    const known = where[name];
    if (known && known.of.length === of.length && known.of.every((each, number) => each === of[number])) return known.made;
    const made = build();
    where[name] = { of, made };
    return made;
  }

  // `extras`: which of EXTRAS there are. `follow`: whether a narrow page scrolls to the station of the hop. `broken`: the
  // places that can break, the marks of what broke, and the time on the clock; null where nothing can be broken.
  draw(state, hop, extras = [], follow = true, broken = null) {
    const focused = document.activeElement?.dataset?.id;
    const wide = !isNarrow();
    const width = wide ? Math.max(760, this.svg.clientWidth) : 380;
    const tall = Math.max(600, this.svg.clientHeight);
    const wideCards = wide ? wideBoxes(width, tall, extras) : {};
    const parts = [];
    let y = broken && !wide ? 46 : 10;
    const order = [...ORDER, ...extras];
    for (const station of wide ? Object.keys(wideCards) : order) {
      const box = wide ? wideCards[station] : [8, y, 364, 0];
      const view = state[station] ?? NOTHING;
      const isBreakable = Boolean(broken?.places.includes(station));
      const { group, height, chips } = this.kept(this.cards, station, [view, document.documentElement.lang, isBreakable, ...box], () => this.cardOrError(station, view, box, isBreakable));
      group.classList.toggle("here", hop?.station === station);
      for (const [node, key] of chips) node.classList.toggle("mine", Boolean(key) && hop?.key === key);
      this.boxes[station] = [box[0], box[1], box[2], height];
      parts.push(group);
      y += height + 34;
    }
    const height = wide ? tall : y;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    // In one column the mark of what broke the wire stands where the wire has its label.
    const isCovered = !wide && broken?.marks.some((each) => each.place === "wire");
    const there = ARROWS.filter(([from, to]) => order.includes(from) && order.includes(to));
    const arrows = there.filter(([from, to]) => wide || order.indexOf(to) === order.indexOf(from) + 1)
      .map(([from, to, label]) => this.arrow(from, to, isCovered && from === "apiserver" ? "" : label, hop, wide));
    this.tokens.replaceChildren();
    arrange(this.svg, [...arrows, ...parts, ...(broken ? this.controls(broken, state, width, wide) : []), this.tokens]);
    if (!wide && follow && hop && hop.station !== this.shown) {
      const smooth = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
      this.svg.querySelector(".here")?.scrollIntoView({ block: "center", behavior: smooth });
    }
    this.shown = hop?.station;
    if (focused && document.activeElement?.dataset?.id !== focused) this.svg.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  // An error in one view is shown on its card, and is in the console; the other stations are drawn.
  cardOrError(station, view, box, isBreakable) {
    try {
      const error = viewError(this.schema, station, view);
      if (error) throw new Error(error);
      return this.card(station, view, box, sections(station, view, this.t), isBreakable);
    } catch (error) {
      console.error(`the tour cannot draw ${station}:`, error);
      const shown = [this.t("cannot-draw"), error.message].flatMap((text) => wrap(text, 22, 6)).map((text) => ({ text, kind: "text bad" }));
      return this.card(station, NOTHING, box, shown);
    }
  }

  // ---- what can be broken, and what broke

  controls({ places, marks, isCut: isBroken, clock }, state, width, wide) {
    const parts = [];
    const at = { clock: wide ? [width / 2, this.boxes.apiserver[1] + this.boxes.apiserver[3] + BETWEEN / 2] : [width / 2, 22] };
    if (places.includes("wire")) {
      const [[x1, y1], [x2, y2]] = this.ends("apiserver", "reflector", wide);
      at.wire = wide ? [(x1 + x2) / 2, y1 + 22] : [x1 - 34, (y1 + y2) / 2];
      const isCut = isBroken || ["down", "refusing"].includes(state.apiserver?.wire);
      parts.push(this.control("wire", ["break-wire", isCut], () => make("g", { class: `breaker wire${isCut ? " cut" : ""}`, "data-id": "break/wire", role: "button", tabindex: 0, "aria-label": this.t("break-wire") },
        make("title", {}, this.t("break-wire")), make("path", { class: "hit", d: `M${x1} ${y1} L${x2} ${y2} L${at.wire[0]} ${at.wire[1]}` }),
        make("circle", { cx: at.wire[0], cy: at.wire[1], r: 12 }), scissors(...at.wire),
        isCut ? make("path", { class: "crossed", d: wide ? `M${(x1 + x2) / 2 - 7} ${y1 - 7} l14 14 m0 -14 l-14 14` : `M${x1 - 7} ${(y1 + y2) / 2 - 7} l14 14 m0 -14 l-14 14` }) : null), at.wire));
    }
    for (const station of places.filter((each) => each in this.boxes)) {
      const [x, y, wide_] = this.boxes[station];
      at[station] = [x + wide_ - 20, y + 42];
      parts.push(this.control(station, [this.t(station)], () => make("g", { class: "breaker", "data-id": `break/${station}`, role: "button", tabindex: 0, "aria-label": `${this.t("break")}${this.t("colon")}${this.t(station)}` },
        make("title", {}, `${this.t("break")}${this.t("colon")}${this.t(station)}`),
        make("circle", { cx: at[station][0], cy: at[station][1], r: 10 }), make("path", { class: "bolt", d: `M${at[station][0] + 1.5} ${at[station][1] - 6.5} l-6 8 h4 l-1.5 5.5 l6 -8 h-4 z` })), at[station]));
    }
    if (places.includes("clock")) {
      const jumps = marks.filter((each) => each.place === "clock").length;
      const text = `+${clock.toFixed(3)}s${jumps ? ` · ${this.t("wall-clock")} +${jumps}h` : ""}`;
      const size = columns(text) * CHAR + 40;
      if (!wide) at.clock[0] = 8 + size / 2;
      at.behindClock = at.clock[0] + size / 2 + 8;
      parts.push(this.control("clock", [text], () => make("g", { class: `breaker clock${jumps ? " cut" : ""}`, "data-id": "break/clock", role: "button", tabindex: 0, "aria-label": `${this.t("break-clock")}${this.t("colon")}${text}` },
        make("title", {}, this.t("break-clock")), make("rect", { x: at.clock[0] - size / 2, y: at.clock[1] - 13, width: size, height: 26, rx: 13 }),
        make("circle", { class: "face", cx: at.clock[0] - size / 2 + 15, cy: at.clock[1], r: 6.5 }), make("path", { class: "hands", d: `M${at.clock[0] - size / 2 + 15} ${at.clock[1] - 4} v4 l3 2` }),
        make("text", { x: at.clock[0] - size / 2 + 27, y: at.clock[1] + 4 }, text)), at.clock));
    }
    // The last mark of each place, above what broke; the last decision can be undone there.
    const shown = new Map(marks.map((each) => [each.place, each]));
    for (const [place, mark] of shown) parts.push(this.mark(mark, this.anchor(place, at, width, wide)));
    return parts;
  }

  // Where the marks of a place stand: the middle or the start of their upper edge, and how wide they may be.
  anchor(place, at, width, wide) {
    if (place === "wire" && wide) return [at.wire[0], this.boxes.apiserver[1] - 11, 260];
    if (place === "wire") return [at.wire[0] + 52, at.wire[1] - 11, width - at.wire[0] - 60, true];
    if (place in this.boxes) return [this.boxes[place][0] + this.boxes[place][2] / 2, this.boxes[place][1] - 11, Math.max(180, this.boxes[place][2] - 20)];
    return at.behindClock ? [at.behindClock, at.clock[1] - 11, Math.min(340, width - at.behindClock - 8), true] : [width / 2, at.clock[1] - 11, 340];
  }

  control(name, of, build, [x, y]) {
    return this.kept(this.breakers, name, [...of, x, y, document.documentElement.lang], () => {
      const node = build();
      this.clickable(node, () => this.onBreak(name, node));
      return node;
    });
  }

  mark({ text, isLast }, [x, y, most, isStart]) {
    const undo = isLast ? this.t("undo-one") : "";
    const wide = undo ? columns(undo) * CHAR + 16 : 0;
    const words = fits(text, most - 24 - wide);
    const size = columns(words) * CHAR + 18 + (undo ? wide + 4 : 0);
    const left = isStart ? x : Math.max(4, Math.min(x - size / 2, (this.svg.viewBox.baseVal.width || Infinity) - size - 4));
    const button = undo ? make("g", { class: "undo", "data-id": "break/undo", role: "button", tabindex: 0, "aria-label": `${undo}${this.t("colon")}${text}` }, make("title", {}, undo),
      make("rect", { x: left + size - wide - 2, y: y + 2, width: wide, height: 18, rx: 9 }), make("text", { x: left + size - wide / 2 - 2, y: y + 15, "text-anchor": "middle" }, undo)) : null;
    if (button) this.clickable(button, () => this.onUndo());
    return make("g", { class: "broke" }, make("title", {}, text), make("rect", { x: left, y, width: size, height: 22, rx: 11 }), make("text", { x: left + 9, y: y + 15 }, words), button);
  }

  // `isBreakable`: whether a button at the card's upper right edge breaks the station.
  card(station, view, [x, y, width, fixed], shown, isBreakable = false) {
    const chips = [];
    const inner = width - 26;
    const fifo = view.informers?.[0].name ?? view.name;
    const name = station === "fifo" && fifo ? fifo : this.t(station);
    const figure = { apiserver: view.version, indexer: view.version, reflector: view.version, fifo: view.keys && String(view.length ?? view.keys.length) }[station];
    // A version that has no room beside the name is left out: it is in the card, too.
    const sign = figure ? (station === "fifo" ? figure : `@${figure}`) : "";
    const hasRoom = sign && columns(name) * NAME + columns(sign) * CHAR < inner - 16;
    const names = lines(name, inner - 8, NAME);
    const goNames = lines(GO[station], inner - (isBreakable ? 31 : 5), GO_NAME);
    const content = [
      ...names.map((text, line) => make("text", { class: "name", x: x + 25, y: y + 27 + 16 * line, ...fullOf(name, names, line) }, text)),
      ...goNames.map((text, line) => make("text", { class: "go-name", x: x + 25, y: y + 26 + 16 * names.length + 12 * line, ...fullOf(GO[station], goNames, line) }, text))];
    let at = y + 26 + 16 * names.length + 12 * goNames.length; // the top of what comes next
    const end = fixed ? y + fixed - 10 : Infinity;
    let kept = shown.reduce((sum, section) => sum + (section.keep ?? 0), 0);
    // Objects in sections that have no room, and whether any section has none.
    let left = 0, isCut = false;
    for (const section of shown) {
      kept -= section.keep ?? 0;
      const bottom = end - kept;
      if (section.quiet && !section.chips.length) continue;
      if (section.hidden) {
        if (fixed) { isCut = true; left += section.hidden; }
        else { content.push(make("text", { class: "empty", x: x + 13, y: at + 10 }, `+${section.hidden} …`)); at += 18; }
        continue;
      }
      const total = Math.max(section.total ?? 0, section.chips?.length ?? 0);
      // A part is a place that a lesson's question may name: all of it can be clicked.
      const top = at - 2, first = content.length;
      const asPart = () => section.part && content.splice(first, 0, make("rect", { class: "part", "data-part": section.part, x: x + 6, y: top, width: width - 12, height: Math.min(at, end) - top, rx: 6 }));
      if (at + 16 > (section.keep ? end : bottom)) { isCut = true; left += section.counts ?? total; continue; }
      // The sign for nothing has its own line where that has room.
      if (section.label && section.chips && !section.chips.length && (section.inline || at + 37 > bottom)) {
        const parts = inlineLabel(section.label, inner);
        content.push(make("text", { class: "label", "data-part": section.part, x: x + 13, y: at + 13, ...full(section.label, parts[0]) }, ...parts));
        at += 19;
        asPart();
        continue;
      }
      if (section.label && section.chips?.length && at + 52 > bottom) {
        // No chip has room: the number of them is behind the label.
        const count = `+${total}`;
        const label = fits(section.label, inner - 6 - columns(count) * CHAR, LABEL);
        content.push(make("text", { class: "label", "data-part": section.part, x: x + 13, y: at + 13, ...full(section.label, label) }, label),
          make("text", { class: "empty", x: x + 13 + inner, y: at + 13, "text-anchor": "end" }, count));
        at += 19;
        asPart();
        continue;
      }
      if (section.label) {
        const label = fits(section.label, inner, LABEL);
        content.push(make("text", { class: "label", "data-part": section.part, x: x + 13, y: at + 13, ...full(section.label, label) }, label));
        at += 19;
      }
      if (section.text !== undefined) {
        const char = section.kind.startsWith("text") ? TEXT : CHAR;
        const written = lines(section.text, inner, char, Math.max(1, Math.min(3, Math.floor((bottom - at - 2) / 14))));
        for (const [line, text] of written.entries()) content.push(make("text", { class: section.kind, x: x + 13, y: at + 12 + 14 * line, ...fullOf(section.text, written, line) }, text));
        at += 4 + 14 * written.length;
      }
      if (!section.chips) { asPart(); continue; }
      let cursor = x + 13;
      if (!section.chips.length) content.push(make("text", { class: "empty", x: cursor, y: at + 14 }, "–"));
      let drawn = true;
      for (const [number, chip] of section.chips.entries()) {
        const text = fits(chip.text, inner - 26);
        const size = columns(text) * CHAR + 26;
        if (cursor + size > x + 13 + inner && cursor > x + 13) { cursor = x + 13; at += ROW; }
        // Below a row the number of what has no room needs some.
        if (at + 33 > bottom) { content.push(make("text", { class: "empty", x: cursor, y: at + 10 }, `+${total - number}`)); drawn = false; break; }
        const node = this.chip({ ...chip, part: section.part, handler: section.handler }, text, cursor, at, size, `${station}/${chip.ref ?? chip.key}/${number}`);
        content.push(node);
        chips.push([node, chip.key]);
        cursor += size + 6;
      }
      if (drawn && total > section.chips.length) {
        if (cursor + 40 > x + 13 + inner) { cursor = x + 13; at += ROW; }
        content.push(make("text", { class: "empty", x: cursor, y: Math.min(at + 14, bottom) }, `+${total - section.chips.length}`));
      }
      at += ROW + 3;
      asPart();
    }
    if (isCut) content.push(make("text", { class: "empty", x: x + width - 13, y: y + fixed - 8, "text-anchor": "end" }, left ? `+${left} …` : "…"));
    const height = fixed || Math.max(84, at - y + 8);
    const keys = (each) => (each.chips ?? []).map((chip) => chip.text).join(this.t("comma"));
    const contents = shown.map((each) => [each.label, each.text, keys(each)].filter(Boolean).join(" ")).filter(Boolean);
    const spoken = [name, contents.join(this.t("semicolon"))].filter(Boolean).join(this.t("stop"));
    const group = make("g", { class: "card", "data-station": station, "data-id": station, role: "button", tabindex: 0, "aria-label": spoken },
      make("rect", { class: "halo", x, y, width, height, rx: 14 }),
      make("rect", { class: "body", x, y, width, height, rx: 14 }),
      make("rect", { class: "bar", x: x + 13, y: y + 14, width: 4, height: 28, rx: 2 }),
      hasRoom ? make("text", { class: "figure", x: x + width - 13, y: y + 27, "text-anchor": "end" }, sign) : null,
      ...content);
    this.clickable(group, () => this.onStation(station));
    return { group, height, chips };
  }

  chip(chip, text, x, y, width, id) {
    const classes = ["chip", hue(chip.key), chip.gone && "gone", chip.stone && "stone"].filter(Boolean).join(" ");
    const group = make("g", { class: classes, "data-id": id, "data-part": chip.part, "data-key": chip.key, "data-ref": chip.ref, "data-listener": chip.handler, "data-queued": chip.queued, role: "button", tabindex: 0, "aria-label": chip.title ?? chip.text },
      make("title", {}, chip.title ?? (chip.key || chip.text)),
      make("rect", { x, y, width, height: 21, rx: 10.5 }),
      make("circle", { cx: x + 10, cy: y + 10.5, r: 3.6 }),
      make("text", { x: x + 18, y: y + 14.5, ...full(chip.text, text) }, text));
    this.clickable(group, () => this.onObject(chip.ref ?? "", chip.key ?? ""));
    return group;
  }

  clickable(node, act) {
    node.addEventListener("click", (event) => { event.stopPropagation(); act(); });
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target !== node) return;
      event.stopPropagation();
      event.preventDefault(); // the act may move the focus: the key is not for what gets it
      act();
    });
  }

  // The points where an arrow leaves and arrives, on the edges that face each other.
  ends(from, to, wide) {
    const [ax, ay, aw, ah] = this.boxes[from], [bx, by, bw, bh] = this.boxes[to];
    if (!wide) return [[ax + aw / 2, ay + ah], [bx + bw / 2, by]];
    if (from === "fifo") return [[bx + bw / 2, ay + ah], [bx + bw / 2, by]];
    if (from === "workers" && ax + aw > bx) return [[ax + 70, ay], [ax + 70, by + bh]];
    if (from === "workers") return [[ax + aw - 20, ay], [bx + 30, by + bh]];
    if (EXTRAS.includes(from)) return [[ax + aw, ay + Math.min(90, ah / 2)], [bx, ay + Math.min(90, ah / 2)]];
    if (ax < bx) return [[ax + aw, ay + 90], [bx, by + 90]];
    return [[ax, ay + 90], [bx + bw, by + 90]];
  }

  arrow(from, to, label, hop, wide) {
    const [[x1, y1], [x2, y2]] = this.ends(from, to, wide);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [tipX, tipY] = [x2 - ux * 4, y2 - uy * 4];
    const head = `M${tipX} ${tipY} l${-8 * ux - 5 * uy} ${-8 * uy + 5 * ux} l${10 * uy} ${-10 * ux} z`;
    const vertical = Math.abs(y2 - y1) > Math.abs(x2 - x1);
    const text = vertical
      ? make("text", { class: "arrow-label", x: x1 + 10, y: (y1 + y2) / 2 + 4 }, this.t(label))
      : make("text", { class: "arrow-label", x: (x1 + x2) / 2, y: y1 - 10, "text-anchor": "middle" }, length > 30 ? this.t(label) : "");
    const way = hop && route(hop);
    const live = way && ((way[0] === from && way[1] === to) || (way[0] === to && way[1] === from)) ? " live" : "";
    const of = [x1, y1, x2, y2, text.textContent, live];
    return this.kept(this.arrows, `${from} ${to}`, of, () => make("g", { "aria-hidden": "true", class: `way${live}` }, make("path", { class: "arrow", d: `M${x1 + ux * 4} ${y1 + uy * 4} L${x2 - ux * 10} ${y2 - uy * 10}` }), make("path", { class: "arrow-head", d: head }), text));
  }

  // Move the hop's object from the station before to this one; return at once for readers who want no motion.
  async travel(hop, duration) {
    const way = route(hop);
    if (!way || document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const wide = !isNarrow();
    const [from, to] = way;
    const tokens = this.svg.querySelector(".tokens");
    if (!tokens || !this.boxes[from] || !this.boxes[to]) return;
    const middle = ([x, y, width, height]) => [x + width / 2, y + Math.min(height / 2, wide ? 150 : 60)];
    const [[x1, y1], [x2, y2]] = [middle(this.boxes[from]), middle(this.boxes[to])];
    const text = fits(`${shortKey(hop.key) || hop.more.type || hop.kind}${hop.version ? ` @${hop.version}` : ""}`, 190);
    const size = columns(text) * CHAR + 26;
    const token = make("g", { class: `token ${hue(hop.key)}` }, make("rect", { x: -size / 2, y: -13, width: size, height: 26, rx: 13 }),
      make("circle", { cx: -size / 2 + 12, cy: 0, r: 4.2 }), make("text", { x: -size / 2 + 21, y: 4 }, text));
    const turn = ++this.travelling;
    tokens.replaceChildren(token);
    const began = performance.now();
    const merged = ["duplicate", "marked", "merged", "sooner", "raised", "counted", "combined", "dropped"].includes(hop.kind);
    await new Promise((done) => {
      const frame = (now) => {
        const part = Math.min(1, (now - began) / duration);
        const eased = part < 0.5 ? 2 * part * part : 1 - (2 - 2 * part) ** 2 / 2;
        token.setAttribute("transform", `translate(${x1 + (x2 - x1) * eased} ${y1 + (y2 - y1) * eased}) scale(${merged && part > 0.8 ? 1 - (part - 0.8) * 4 : 1})`);
        token.setAttribute("opacity", part > 0.85 ? (1 - part) / 0.15 : 1);
        if (part < 1 && turn === this.travelling) requestAnimationFrame(frame);
        else { token.remove(); done(); }
      };
      requestAnimationFrame(frame);
    });
  }
}

function route(hop) {
  const { station, kind } = hop;
  if (station === "apiserver") return hop.thread.startsWith("worker") ? ["workers", "apiserver"] : null;
  if (station === "reflector") return ["listed", "line", "bookmark"].includes(kind) ? ["apiserver", "reflector"] : kind === "list" || kind === "watch" ? ["reflector", "apiserver"] : null;
  if (station === "fifo") return kind === "popped" ? ["fifo", "indexer"] : ["reflector", "fifo"];
  if (station === "indexer") return ["fifo", "indexer"];
  if (station === "handlers") return kind === "buffered" ? ["indexer", "handlers"] : null;
  if (station === "workers") return kind === "reconcile" ? ["indexer", "workers"] : null;
  if (station === "events") return kind === "recorded" ? ["workers", "events"] : kind === "written" ? ["events", "apiserver"] : null;
  if (station === "election") return ["acquired", "renewed"].includes(kind) ? ["election", "apiserver"] : null;
  if (["added", "duplicate", "marked"].includes(kind)) return hop.thread.startsWith("handler") ? ["handlers", "queue"] : null;
  if (kind === "taken") return ["queue", "workers"];
  return ["done", "requeued", "waits", "failure"].includes(kind) ? ["workers", "queue"] : null;
}
