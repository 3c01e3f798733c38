// The panel on the right: source, object, help. Faults are in breaks.js, the lesson is in lesson.js.

import { errorIn } from "/page/errors.js";
import { describe } from "/page/functions.js";
import { hue, shortKey } from "/page/picture.js";
import { labelled } from "/page/shell.js";
import { CHINESE } from "/page/words.js";

export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// `code` and **words** of a lesson's text; never HTML.
export function prose(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).filter(Boolean).map((part) => {
    if (part.startsWith("`")) return el("code", {}, part.slice(1, -1));
    if (part.startsWith("**")) return el("strong", {}, part.slice(2, -2));
    return part;
  });
}

// `running`: the line that a worker is at; 0 for none.
export function sourcePane(t, source, hop, running = 0) {
  if (!source) return [el("p", { class: "quiet" }, t("no-source"))];
  const ran = new Set(running ? [running] : hop?.code.lines ?? []);
  const last = running || hop?.code.lines.at(-1);
  const { doc, about } = describe(document.documentElement.lang, source);
  let inDoc = false;
  const rows = source.lines.map((line, number) => {
    const at = source.first + number;
    const marks = (line.match(/"""/g) ?? []).length;
    const isDoc = inDoc || marks > 0;
    if (marks === 1) inDoc = !inDoc;
    return el("div", { class: [ran.has(at) && "ran", at === last && "last"].filter(Boolean).join(" ") || null },
      el("span", {}, String(at)), el("span", { class: isDoc ? "doc" : null }, line || " "));
  });
  return [
    el("dl", { class: "go" },
      el("dt", {}, t("py-function")), el("dd", {}, source.function), el("dt", {}, t("py-file")), el("dd", {}, source.file),
      el("dt", {}, t("go-function")), el("dd", {}, hop?.code.goFunction || "–"), el("dt", {}, t("go-file")), el("dd", {}, hop?.code.goFile || "–"),
      el("dt", {}, t("called")), el("dd", {}, hop?.code.caller || "–")),
    ran.size ? el("p", { class: "quiet" }, t(running ? "is-at" : "ran")) : null,
    el("div", { class: "code", tabindex: "0", role: "region", "aria-label": source.function }, rows),
    doc ? el("h3", {}, t("docstring")) : null, doc ? el("p", {}, prose(doc.split("\n\n").join(" "))) : null,
    about ? el("h3", {}, t("in-class")) : null, ...about.split("\n\n").map((text) => el("p", { class: "quiet" }, prose(text))),
  ];
}

const flat = (value, path = "", into = {}) => {
  if (value !== null && typeof value === "object" && Object.keys(value).length) for (const [key, each] of Object.entries(value)) flat(each, path ? `${path}.${key}` : key, into);
  else into[path] = JSON.stringify(value);
  return into;
};

export function objectPane(t, objects, ref) {
  const object = objects[ref];
  if (!object) return [el("p", { class: "quiet" }, t("no-object"))];
  const [key, version] = [ref.slice(0, ref.lastIndexOf("@")), Number(ref.slice(ref.lastIndexOf("@") + 1))];
  const before = Object.keys(objects).filter((each) => each.startsWith(`${key}@`)).map((each) => Number(each.slice(key.length + 1)))
    .filter((each) => each < version).sort((a, b) => b - a)[0];
  const parts = [el("h3", {}, `${key} @${version}`)];
  if (before === undefined) parts.push(el("p", { class: "quiet" }, t("firstseen")));
  else {
    const [old, now] = [flat(objects[`${key}@${before}`]), flat(object)];
    const paths = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((path) => old[path] !== now[path] && path !== "metadata.resourceVersion");
    parts.push(el("p", { class: "quiet" }, labelled(t("changed"), `@${before}`)));
    parts.push(paths.length ? el("ul", { class: "diff" }, paths.map((path) => el("li", {}, path, path in old ? el("del", {}, old[path]) : null, path in now ? el("ins", {}, now[path]) : null)))
      : el("p", {}, t("unchanged")));
  }
  parts.push(el("h3", {}, t("whole")), el("div", { class: "code", tabindex: "0", role: "region", "aria-label": ref },
    JSON.stringify(object, null, 2).split("\n").map((line, number) => el("div", {}, el("span", {}, String(number + 1)), el("span", {}, line)))));
  return parts;
}

export function helpDialog(t, glossary, language, close) {
  const keys = [["→ n", "key-next"], ["← p", "key-back"], ["o", "key-same"], ["Space", "key-play"], ["Home End", "key-home"], ["b", "key-bp"], ["1 2 3 4 5", "key-tabs"], ["Enter", "key-lesson"], ["u", "key-undo"], ["?", "key-help"]];
  return [
    el("h2", { id: "help-title" }, t("title")),
    el("h3", {}, t("help-keys")),
    el("table", {}, keys.map(([key, word]) => el("tr", {}, el("td", {}, ...key.split(" ").map((each) => el("kbd", {}, each))), el("td", {}, t(word))))),
    el("h3", {}, t("help-words")),
    el("table", {}, glossary.map(([word, english, chinese]) => el("tr", {}, el("td", {}, el("code", {}, word)), el("td", {}, language === "zh" ? chinese : english)))),
    el("div", { class: "row" }, el("button", { type: "button", class: "main", onclick: close }, t("close"))),
  ];
}

// One thing that a hop says beside its kind: the delay, the error ...
function about_(t, language, name, value) {
  const text = value === true && language === "zh" ? t("yes") : name === "error" ? errorIn(language, value) : Array.isArray(value) ? value.join(", ") : value;
  return `${(language === "zh" && CHINESE[`more.${name}`]) || name}${t("colon")}${text}`;
}

export function now(t, kinds, app, point) {
  if (!point && app.trace.complete && !app.trace.points.length) return [[], t("no-hops"), ""];
  if (!point) return [[t("start")], t("start-what"), ""];
  const { hop } = point;
  const what = kinds(hop.station, hop.kind);
  const about = { ...hop.more };
  delete about.resource; delete about.deleting; delete about.notifications; delete about.others; delete about.keys; delete about.queued;
  const more = Object.entries(about).filter(([, value]) => value !== "" && value !== false && value !== 0 && !(Array.isArray(value) && !value.length))
    .map(([name, value]) => about_(t, app.language, name, value));
  if (hop.merged.length) more.push(`${t("merged")} ${hop.merged.join(", ")}`);
  const pill = el("span", { class: "pill", "data-station": hop.station }, t(hop.station));
  const key = hop.key ? el("span", { class: `mono ${hue(hop.key)}` }, `${shortKey(hop.key)}${hop.version ? ` @${hop.version}` : ""}`) : null;
  return [[pill, key, el("span", {}, `+${hop.time.toFixed(3)}s`), el("span", {}, `${t("thread")} ${hop.thread}`)], what, more.join("  ·  ")];
}
