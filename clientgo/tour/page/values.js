// The value of a station's part as text, before and after a change.

import { errorIn } from "/page/errors.js";
import { seconds, shortKey } from "/page/picture.js";

const MOST = 160;  // characters; of what is longer only the difference is shown

const isNothing = (value) => value === null || value === undefined || value === "" || (typeof value === "object" && !Object.keys(value).length);
const isPlain = (value) => typeof value !== "object";
const plain = (t, value) => (typeof value === "boolean" ? t(value ? "yes" : "no") : typeof value === "string" ? shortKey(value) : String(value));
const named = (each) => `${shortKey(each.key)}${each.version ? ` @${each.version}` : ""}`;

// One thing of a list: an object, a key, a change, a notification.
function item(t, each) {
  if (isPlain(each)) return plain(t, each);
  if (each.deltas) return [shortKey(each.key), ...each.deltas.map((delta) => `${delta.type}${delta.version ? ` @${delta.version}` : ""}${delta.keys ? `: ${delta.keys.map(shortKey).join(" ")}` : ""}`)].filter(Boolean).join(" ");
  if (each.message !== undefined) return `×${each.count} ${each.message}`;
  if (each.due !== undefined) return `${shortKey(each.key)} ${seconds(each.due)}`;
  return [each.method ?? each.type, named(each)].filter(Boolean).join(" ");
}

// A value as labelled lists of texts: [{label, items}].
function groups(t, value, label = "") {
  if (isNothing(value)) return [];
  const under = (name) => [label, name].filter(Boolean).join(" ");
  if (isPlain(value)) return [{ label, items: [plain(t, value)] }];
  if (value.doing) return [{ label, items: [t(value.doing), value.key && shortKey(value.key), value.error && errorIn(document.documentElement.lang, value.error)].filter(Boolean) }];
  if (value.leads !== undefined) return [{ label, items: [t(value.leads ? "leads" : "stands-by")] }];
  if (value.pending) {
    const parts = [["pending", value.pending], ["nextCh", value.taken], ["calling", value.delivering ? [value.delivering] : []], ["calls", value.calls], ["raised", value.raised || null]];
    return parts.flatMap(([word, part]) => groups(t, part, `${value.name} ${t(word)}`));
  }
  if (Array.isArray(value)) {
    if (value[0].pending) return value.flatMap((each) => groups(t, each));
    return [{ label, items: value.map((each) => item(t, each)) }];
  }
  const numbers = Object.entries(value).filter(([, each]) => isPlain(each));
  return [
    ...(numbers.length ? [{ label, items: numbers.map(([name, each]) => `${shortKey(name)}${t("colon")}${plain(t, each)}`) }] : []),
    ...Object.entries(value).filter(([, each]) => !isPlain(each)).flatMap(([name, each]) => groups(t, each, under(shortKey(name)))),
  ];
}

// The groups without what the others have too.
function without(given, others) {
  const known = new Map(others.map(({ label, items }) => [label, new Set(items)]));
  return given.map(({ label, items }) => ({ label, items: items.filter((each) => !known.get(label)?.has(each)) }))
    .filter(({ items }) => items.length);
}

const WORDS = /^reflector\b.*\.state$|^apiserver\.wire$/;  // parts whose values are words of the page

// [before, after] of a part, such as "queue.dirty", each "–" for nothing.
export function difference(t, part, before, after) {
  const made = [before, after].map((value) => {
    if (WORDS.test(part)) return groups(t, value && t(value));
    return groups(t, part.endsWith(".error") && value ? errorIn(document.documentElement.lang, value) : value);
  });
  const text = (given) => given.map(({ label, items }) => `${label}${label && t("colon")}${items.join(t("comma"))}`).join(t("semicolon"));
  const whole = made.map(text);
  if (whole.every((each) => each.length <= MOST)) return whole.map((each) => each || "–");
  return [without(made[0], made[1]), without(made[1], made[0])].map((given, number) => {
    const [only, isPart] = [text(given), whole[number] !== text(given)];
    const shown = only.length > MOST ? `${only.slice(0, MOST - 1)}…` : only;
    return [isPart ? "…" : "", shown].filter(Boolean).join(" ") || "–";
  });
}
