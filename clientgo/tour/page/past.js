// Queries about the past: which hops brought a key to a place, and when a part last changed. As in past.py.

import { el } from "/page/panel.js";
import { hue, shortKey } from "/page/picture.js";
import { labelled } from "/page/shell.js";
import { difference } from "/page/values.js";

// By place, the kinds of its station's hops that bring a key there.
export const PLACES = {
  "apiserver.objects": ["created", "updated", "terminating"],
  "apiserver.history": ["created", "updated", "terminating", "deleted"],
  reflector: ["line", "listed"],
  "fifo.deltas": ["queued", "appended", "merged"],
  "indexer.objects": ["stored", "replaced", "relisted"],
  "handlers.pending": ["buffered"],
  "handlers.taken": ["taken"],
  "handlers.delivering": ["called"],
  "queue.order": ["added", "requeued", "raised"],
  "queue.dirty": ["added", "marked", "requeued"],
  "queue.processing": ["taken"],
  "queue.waiting": ["waits", "sooner"],
  "queue.failures": ["failure"],
  workers: ["reconcile", "ok", "error"],
  "events.stored": ["written"],
  election: ["acquired"],
};
const stationOf = (place) => place.split(".")[0];
const ARRIVALS = {};
for (const [place, kinds] of Object.entries(PLACES)) ARRIVALS[stationOf(place)] = [...(ARRIVALS[stationOf(place)] ?? []), ...kinds];

function lastIndex(hops, before, matches) {
  for (let at = Math.min(before, hops.length) - 1; at >= 0; at--) if (matches(hops[at])) return at;
  return -1;
}

const nameOf = (hop) => `${hop.station}.${hop.kind}`;

// A hop about every object of a list or of the cache.
function isAboutAll(hop) {
  if (["reflector.listed", "indexer.relisted"].includes(nameOf(hop))) return true;
  const types = [hop.more.type, ...(hop.more.types ?? [])];
  return hop.station === "fifo" && !hop.key && types.some((each) => each === "ReplacedAll" || each === "SyncAll");
}

// The version of each of a hop's notifications of an object, and the time at which it was queued: [[version, queued]].
function noticesOf({ more: { notifications = [], others } }, key) {
  const found = notifications.filter((each) => each.key === key).map((each) => [each.version, each.queued]);
  others?.keys.forEach((each, at) => { if (each === key) found.push([others.versions[at], others.queued[at]]); });
  return found;
}

const mentions = (hop, key) => hop.key === key || isAboutAll(hop) || (hop.more.keys ?? []).includes(key) || noticesOf(hop, key).length > 0;

// Whether a handler's hop has a notification of an object: of a version and of a time, if they are given.
function notifies(hop, key, version, queued) {
  const named = noticesOf(hop, key);
  if (!named.length && hop.key === key) named.push([hop.version, hop.more.queued]);
  return named.some(([each, time]) => ["", each].includes(version) && (queued === null || time === undefined || time === queued));
}

const versionIn = (hop, key) => (hop.key === key ? hop.version : noticesOf(hop, key).at(-1)?.[0] ?? "");
const numberOf = (version) => (/^\d+$/.test(version) ? Number(version) : -1);

export function arrival(hops, at, place, key, { handler = "", version = "", queued = null } = {}) {
  const station = stationOf(place);
  const kinds = PLACES[place] ?? ARRIVALS[station] ?? [];
  const arrived = lastIndex(hops, at + 1, (hop) => {
    if (station === "workers" && nameOf(hop) === "queue.taken") return hop.key === key;
    if (hop.station !== station || !kinds.includes(hop.kind)) return false;
    if (handler && (hop.more.handler ?? handler) !== handler) return false;
    if (station === "handlers") return notifies(hop, key, version, queued);
    if (version && !["", version].includes(versionIn(hop, key)) && !isAboutAll(hop)) return false;
    return mentions(hop, key);
  });
  return arrived < 0 && kinds.includes("buffered") ? merged(hops, at + 1, handler, key, version, queued) : arrived;
}

// The hop before index `before` that brought the state of a notification that was merged; -1 for none. Such a notification
// has the time of the first of those that were merged, and the state of the last one.
function merged(hops, before, handler, key, version, queued) {
  const buffers = (hop, version, queued) => nameOf(hop) === "handlers.buffered" && (!handler || (hop.more.handler ?? handler) === handler) && notifies(hop, key, version, queued);
  if (!version || queued === null) return -1;
  const began = hops.findIndex((hop, at) => at < before && buffers(hop, "", queued));
  return began < 0 ? -1 : hops.findIndex((hop, at) => at > began && at < before && buffers(hop, version, null));
}

const CAUSES = {
  queue(hops, { at, key }) {
    const { kind, thread } = hops[at];
    const same = (...kinds) => lastIndex(hops, at, (hop) => hop.key === key && kinds.includes(nameOf(hop)));
    const here = (...kinds) => lastIndex(hops, at, (hop) => hop.thread === thread && kinds.includes(nameOf(hop)) && (hop.station === "handlers" || hop.key === key));
    if (["added", "duplicate", "marked", "raised"].includes(kind)) return here("handlers.called", "queue.due", "workers.reconcile", "workers.ok", "workers.error");
    if (kind === "taken") return same("queue.added", "queue.requeued", "queue.raised");
    if (kind === "requeued") return same("queue.marked");
    if (kind === "due") return same("queue.waits", "queue.sooner");
    if (kind === "waits" || kind === "sooner") return here("queue.failure", "workers.error", "workers.ok", "handlers.called");
    return here("workers.error", "workers.ok", "workers.reconcile", "queue.taken");
  },
  workers(hops, { at, key }) {
    const wanted = hops[at].kind === "reconcile" ? "queue.taken" : "workers.reconcile";
    return lastIndex(hops, at, (hop) => hop.thread === hops[at].thread && hop.key === key && nameOf(hop) === wanted);
  },
  handlers(hops, { at, key, version, queued }) {
    const { kind, thread, more } = hops[at];
    if (kind === "returned" || kind === "raised") return lastIndex(hops, at, (hop) => hop.thread === thread && hop.key === key && nameOf(hop) === "handlers.called");
    if (kind === "called" || kind === "taken") {
      const its = more.queued ?? queued;
      const found = lastIndex(hops, at, (hop) => nameOf(hop) === "handlers.buffered" && hop.more.handler === more.handler && notifies(hop, key, version, its));
      return found < 0 ? merged(hops, at, more.handler, key, version, its) : found;
    }
    const causes = ["indexer.stored", "indexer.replaced", "indexer.removed", "indexer.relisted", "fifo.popped"];
    return lastIndex(hops, at, (hop) => hop.thread === thread && causes.includes(nameOf(hop)) && mentions(hop, key));
  },
  // A streaming list collects its objects in a store of its own, in the reflector's thread.
  indexer(hops, { at, key }) {
    return lastIndex(hops, at, (hop) => hop.thread === hops[at].thread && ["fifo.popped", "reflector.line"].includes(nameOf(hop)) && mentions(hop, key));
  },
  fifo(hops, { at, key, version }) {
    const { kind, thread, more } = hops[at];
    if (kind === "popped") {
      const all = isAboutAll(hops[at]);
      return lastIndex(hops, at, (hop) => hop.station === "fifo" && ["queued", "appended", "merged"].includes(hop.kind)
        && (all ? (more.types ?? []).includes(hop.more.type) && !hop.key : hop.key === key && (!version || ["", version].includes(hop.version))));
    }
    if (kind === "resync") return lastIndex(hops, at, (hop) => hop.station === "indexer" && PLACES["indexer.objects"].includes(hop.kind) && mentions(hop, key));
    // A list has other types of deltas.
    const causes = ["Added", "Updated"].includes(more.type) ? ["reflector.line"] : ["reflector.line", "reflector.listed", "reflector.bookmark", "fifo.resync"];
    return lastIndex(hops, at, (hop) => hop.thread === thread && causes.includes(nameOf(hop)) && (hop.kind !== "line" || hop.key === key));
  },
  reflector(hops, { at, key }) {
    const { kind, thread, version } = hops[at];
    // The end of a streaming list's first objects.
    if (kind === "bookmark") return lastIndex(hops, at, (hop) => hop.thread === thread && hop.key === key && nameOf(hop) === "reflector.line");
    if (kind === "line") return lastIndex(hops, at, (hop) => hop.station === "apiserver" && hop.key === key && hop.version === version);
    return lastIndex(hops, at, (hop) => hop.station === "apiserver" && hop.key === key && PLACES["apiserver.history"].includes(hop.kind) && numberOf(hop.version) <= numberOf(version));
  },
  events(hops, { at, key }) {
    const { kind, thread } = hops[at];
    if (kind === "recorded") return lastIndex(hops, at, (hop) => hop.thread === thread && hop.key === key && hop.station === "workers");
    const before = ["new", "counted", "combined", "dropped"].includes(kind) ? ["recorded"] : ["new", "counted", "combined"];
    return lastIndex(hops, at, (hop) => hop.station === "events" && before.includes(hop.kind) && hop.key === key);
  },
};

// The hops that brought a key to a place by hop `at`, from the API write on: [{at, key}]; [] if none is known. Of an API
// server outside of the program only the lines of its watch are known: the last such line is the chain.
export function chain(hops, at, place, key, options = {}) {
  let arrived = arrival(hops, at, place, key, options);
  if (arrived < 0 && stationOf(place) === "apiserver") {
    const { version = "" } = options;
    arrived = lastIndex(hops, at + 1, (hop) => nameOf(hop) === "reflector.line" && hop.key === key && ["", hop.version].includes(version));
  }
  const links = [];
  let link = arrived < 0 ? null : { at: arrived, key, version: options.version || versionIn(hops[arrived], key), queued: options.queued ?? null };
  while (link) {
    links.unshift({ at: link.at, key: link.key });
    const found = CAUSES[hops[link.at].station]?.(hops, link) ?? -1;
    if (found < 0) return links;
    // A handler may queue another key than its object's: its owner's.
    const next = nameOf(hops[found]) === "handlers.called" ? hops[found].key : link.key;
    const queued = hops[link.at].station === "handlers" && hops[found].station === "handlers" ? link.queued : null;
    link = { at: found, key: next, version: versionIn(hops[found], next) || (next === link.key ? link.version : ""), queued };
  }
  return links;
}

// The parts of every station's view by name: "queue.dirty", and with several informers "fifo.Foo.keys".
export function fields(state) {
  const found = {};
  for (const [station, view] of Object.entries(state)) {
    for (const each of view.informers ?? [view]) {
      const prefix = view.informers ? `${station}.${each.kind}` : station;
      for (const [name, value] of Object.entries(each)) if (name !== "kind" && name !== "facts") found[`${prefix}.${name}`] = value;
    }
  }
  return found;
}

// What nothing is equal to nothing: a list that is not there yet and an empty one differ for no reader.
const text = (value) => JSON.stringify(value ?? null);

// The last change of a part up to hop `at`: {at, before, after}; null if it never changed.
export function lastChange(states, at, part) {
  const valueAt = (number) => (number < 0 ? undefined : fields(states[number])[part]);
  const after = text(valueAt(at));
  const station = stationOf(part);
  for (let number = at; number >= 0; number--) {
    // Most hops leave a station's view as it is.
    if (number > 0 && states[number][station] === states[number - 1][station]) continue;
    const before = text(valueAt(number - 1));
    if (before !== after && !(number === 0 && isNothing(valueAt(at)))) return { at: number, before: valueAt(number - 1), after: valueAt(at) };
  }
  return null;
}

const isNothing = (value) => !value || (typeof value === "object" && !Object.keys(value).length);

// ---- the pane

// `chosen`: {place, key, handler, version, queued} of a click, or null. `hops`: all that are known; `at`: the index that is shown.
// `changes`: [part, index, before, after]. `act.go(index)`: go to a hop; without it the hops are only listed.
// `hint`: the word for what to do where nothing was clicked.
export function pastPane(t, kindOf, { chosen, hops, at, links, changes, note, hint = "choose-key" }, act) {
  const when = (index) => (act.go ? `${t("hop")} ${index + 1}` : `+${hops[index].time.toFixed(2)}s`);
  const jump = (index, ...content) => (act.go
    ? el("button", { type: "button", "data-hop": index, "aria-current": index === at ? "step" : null, onclick: () => act.go(index) }, ...content)
    : el("span", { "data-hop": index }, ...content));
  const row = (link) => {
    const hop = hops[link.at];
    return el("li", {}, jump(link.at, el("span", { class: "pill", "data-station": hop.station }, t(hop.station)), " ",
      link.key ? el("span", { class: `mono ${hue(link.key)}` }, `${shortKey(link.key)}${hop.version && hop.key === link.key ? ` @${hop.version}` : ""}`) : null,
      el("span", { class: "what" }, kindOf(hop.station, hop.kind)), el("span", { class: "quiet" }, `${when(link.at)} · ${hop.thread}`)));
  };
  const change = ([part, index, before, after]) => {
    const [old, now] = difference(t, part, before, after);
    return el("tr", { "data-part": part },
    el("td", {}, part.split(".").flatMap((word, number) => (number ? [".", el("wbr"), word] : [word]))), el("td", {}, jump(index, when(index))),
    el("td", { class: "mono" }, before === undefined && after === undefined ? kindOf(hops[index].station, hops[index].kind) : [el("del", {}, old), " → ", el("ins", {}, now)]));
  };
  return [
    note ? el("p", { class: "quiet" }, note) : null,
    el("h3", {}, chosen ? `${t("why-here")}${t("colon")}${shortKey(chosen.key)} · ${t(stationOf(chosen.place))}` : t("why-here-none")),
    chosen ? null : el("p", { class: "quiet" }, t(hint)),
    chosen && links.length ? el("ol", { class: "chain", id: "chain" }, links.map(row)) : null,
    chosen && !links.length ? el("p", { class: "quiet" }, t("not-recorded")) : null,
    el("h3", {}, t("last-changed")),
    changes.length ? el("table", { class: "figures", id: "changes" }, changes.map(change)) : el("p", { class: "quiet" }, t("never-changed")),
  ];
}

// What a click in the picture chose: a key with its place, or null.
export function choiceOf(target) {
  const chip = target.closest?.(".chip");
  if (!chip) return null;
  const station = chip.closest("[data-station]")?.dataset.station;
  const { part, key, listener: handler = "", ref = "", queued } = chip.dataset;
  // Only a notification has a time: resyncs add others of the same version.
  const when = queued === undefined ? {} : { queued: Number(queued) };
  return station && key ? { place: PLACES[part] ? part : station, key, handler, version: ref.slice(ref.lastIndexOf("@") + 1), ...when } : null;
}

// The pane of a run: `chosen` by a click, or the key of the hop that is shown.
export function pastOfRun(t, kindOf, { trace, states, at, chosen }, go) {
  const hops = trace.points.map((point) => point.hop);
  const here = hops[at];
  const wanted = chosen ?? (here?.key ? { place: here.station, key: here.key } : null);
  const links = wanted && at >= 0 ? chain(hops, at, wanted.place, wanted.key, wanted) : [];
  const changes = Object.keys(at < 0 ? {} : fields(states[at])).map((part) => [part, lastChange(states, at, part)]).filter(([, found]) => found)
    .map(([part, found]) => [part, found.at, found.before, found.after]).sort((a, b) => b[1] - a[1]);
  return pastPane(t, kindOf, { chosen: wanted, hops, at, links, changes }, { go });
}

// The pane of a program that runs: of the hops that its tour has kept, as `/api/past` sends them.
export function pastOfLive(t, kindOf, chosen, { hops, links, changes, kept, skipped }, hint) {
  const note = `${labelled(t("kept-hops"), kept)}${skipped ? ` · ${skipped} ${t("skipped")}` : ""}`;
  return pastPane(t, kindOf, { chosen, hops, at: -1, links, changes: Object.entries(changes).sort((a, b) => b[1] - a[1]), note, hint }, {});
}
