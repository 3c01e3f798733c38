// The state in the page's address, behind the #: scenario, hop, decisions, machine, language, selection.
//
//   #queue?hop=12&do=12:fault:cut&set=fifo:DeltaFIFO&lang=zh&tab=object&object=default/apple@12&step=3&ask=1
//
// `hop` counts from 1, 0 is the start. `do` and `set` may occur several times. `ask`: the question before the next step
// of the lesson is open. All but the scenario may be missing.

// The tabs that an address names; without one it means the first tab.
export const TABS = ["source", "object", "break", "past"];

const PAUSE = 150; // milliseconds between two changes: browsers refuse many at once

export function toHash({ scenario, hop, decisions, settings, language, tab, object, station, step, asked }) {
  const query = new URLSearchParams();
  if (hop > 0) query.set("hop", hop);
  for (const each of decisions) query.append("do", `${each.at + 1}:${each.kind}:${each.name}`);
  for (const [name, value] of Object.entries(settings)) query.append("set", `${name}:${value}`);
  if (language) query.set("lang", language);
  if (tab && tab !== "lesson") query.set("tab", tab);
  if (tab === "object" && object) query.set("object", object);
  if (tab === "source" && station) query.set("station", station);
  if (step >= 0) query.set("step", step + 1);
  if (asked) query.set("ask", 1);
  const text = readable(query);
  return `#${encodeURIComponent(scenario)}${text && `?${text}`}`;
}

// A query as text, readable where an address allows it.
export const readable = (query) => query.toString().replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%40", "@");

// The state that a hash stands for; what makes no sense is left out. `known`: the scenario's own settings, by its name.
export function fromHash(hash, known) {
  const [name, text = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const query = new URLSearchParams(text);
  const scenario = decoded(name);
  const own = known(scenario);
  const number = (word) => (/^\d{1,5}$/.test(query.get(word) ?? "") ? Number(query.get(word)) : 0);
  const decisions = query.getAll("do").map((each) => /^(\d{1,5}):(fault|thread):(.+)$/s.exec(each)).filter((found) => found && Number(found[1]) > 0)
    .map(([, hop, kind, which]) => ({ at: Number(hop) - 1, kind, name: which })).slice(0, 100);
  return {
    scenario: own ? scenario : "",
    hop: number("hop"),
    decisions: decisions.sort((a, b) => a.at - b.at),
    settings: Object.fromEntries(query.getAll("set").map((each) => /^(\w+):(.*)$/s.exec(each)).filter((found) => found && own && found[1] in own)
      .map(([, setting, value]) => [setting, ofType(value, own[setting])]).filter(([, value]) => value !== undefined)),
    language: ["en", "zh"].includes(query.get("lang")) ? query.get("lang") : "",
    tab: TABS.includes(query.get("tab")) ? query.get("tab") : "lesson",
    object: query.get("object") ?? "",
    station: query.get("station") ?? "",
    step: number("step") - 1,
    asked: query.get("ask") === "1",
  };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function ofType(text, example) {
  if (typeof example === "boolean") return { true: true, false: false }[text];
  if (typeof example === "number") return text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
  return text;
}

// Keeps the address at the state that is shown. A step from hop to hop changes the entry in the browser's history; what
// `mark` precedes becomes an entry of its own, so that the back button returns to what was shown before.
export class Address {
  constructor() {
    Object.assign(this, { hash: location.hash, written: location.hash, isMarked: false, timer: 0 });
    addEventListener("pagehide", () => this.flush());
  }

  mark() {
    this.flush();
    this.isMarked = true;
  }

  show(hash) {
    this.hash = hash;
    if (hash !== this.written && !this.timer) this.timer = setTimeout(() => this.flush(), PAUSE);
  }

  flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.hash === this.written) return;
    history[this.isMarked ? "pushState" : "replaceState"](null, "", this.hash);
    this.isMarked = false;
    this.written = this.hash;
  }

  // The browser has gone to another entry.
  moved() {
    clearTimeout(this.timer);
    Object.assign(this, { hash: location.hash, written: location.hash, isMarked: false, timer: 0 });
  }
}

// The address without a server's token, which is a password. This browser has it in a cookie.
export function link() {
  const url = new URL(location.href);
  url.searchParams.delete("token");
  return url.href;
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no permission: the caller shows it
  }
}
