// Small figures in a lesson's text: parts of stations, as they are at the hop that is shown. As in figures.py.

import { el } from "/page/panel.js";
import { hue, shortKey } from "/page/picture.js";

const keys = (name) => (view) => view[name].map((key) => [shortKey(key), key]);
const objects = (view) => view.objects.map((each) => [`${shortKey(each.key)} @${each.version}`, each.key]);
const value = (name) => (view) => (view[name] === "" ? [] : [[String(view[name]), ""]]);
const SIGNS = { ADDED: "+", MODIFIED: "~", DELETED: "−" };
const number = (each) => String(+each.toPrecision(6));

function deltas(view) {
  return view.keys.map((each) => {
    const types = each.deltas.map((delta) => `${delta.type} @${delta.version}`).join(", ");
    return [each.key ? `${shortKey(each.key)}: ${types}` : types, each.key];
  });
}

const notices = (name) => (view) => view.handlers.flatMap((handler) => {
  const own = handler.name.split("+")[0].split(".").at(-1);
  const found = handler[name];
  return (Array.isArray(found) ? found : found ? [found] : []).map((each) => [`${own}: ${each.method.replace(/^on_/, "")} ${shortKey(each.key)}`, each.key]);
});

// By part: its word, and its texts, each with the key that gives the colour.
export const PARTS = {
  "apiserver.version": ["version", value("version")],
  "apiserver.objects": ["objects", objects],
  "apiserver.history": ["history", (view) => view.history.slice(-6).map((each) => [`${SIGNS[each.type] ?? "?"} ${shortKey(each.key)} @${each.version}`, each.key])],
  "reflector.version": ["version", value("version")],
  "reflector.lists": ["lists", value("lists")],
  "reflector.watches": ["watches", value("watches")],
  "reflector.bookmarks": ["bookmarks", value("bookmarks")],
  "fifo.deltas": ["a-deltas", deltas],
  "indexer.objects": ["objects", objects],
  "indexer.indices": ["index", (view) => Object.entries(view.indices).flatMap(([name, table]) => Object.entries(table).map(([word, found]) => [`${name} ${word} → ${found.map(shortKey).join(", ")}`, ""]))],
  "handlers.pending": ["pending", notices("pending")],
  "handlers.taken": ["nextCh", notices("taken")],
  "handlers.delivering": ["calling", notices("delivering")],
  "queue.order": ["order", (view) => view.order.map((key) => [key in view.priorities ? `${shortKey(key)} (${view.priorities[key]})` : shortKey(key), key])],
  "queue.dirty": ["dirty", keys("dirty")],
  "queue.processing": ["processing", keys("processing")],
  "queue.waiting": ["heap", (view) => view.waiting.map((each) => [`${shortKey(each.key)} ${number(each.due)}s`, each.key])],
  "queue.failures": ["failures", (view) => Object.entries(view.failures).map(([key, count]) => [`${shortKey(key)} ×${count}`, key])],
  "events.stored": ["in-api", (view) => view.stored.map((each) => [`×${each.count} ${each.message}`, each.key])],
  "election.holder": ["holder", value("holder")],
  "election.transitions": ["transitions", value("transitions")],
};

// The texts of a part after a hop, each with its key; with several informers, of all of them.
export function contents(state, part) {
  const view = state[part.split(".")[0]] ?? {};
  return (view.informers ?? [view]).flatMap((each) => {
    const { kind, ...rest } = each;
    if (!Object.keys(rest).length) return [];
    return PARTS[part][1](each).map(([text, key]) => [view.informers ? `${kind} ${text}` : text, key]);
  });
}

export function figure(t, parts, state) {
  if (!parts?.length) return null;
  return el("dl", { class: "figure", "data-figure": parts.join(" ") }, parts.flatMap((part) => {
    const found = contents(state, part);
    return [
      el("dt", { "data-station": part.split(".")[0] }, `${t(part.split(".")[0])}${t("colon")}${t(PARTS[part][0])}`),
      el("dd", { "data-part": part }, found.length ? found.map(([text, key]) => el("span", { class: `bead ${hue(key)}` }, text)) : el("span", { class: "quiet" }, "–")),
    ];
  }));
}
