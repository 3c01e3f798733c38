// The opening: one object goes once around the loop in about a minute, with a sentence for each hop. What moves comes
// first: a station's box appears when the object gets there.
//
// One timeline serves two players: the page animates it (`Opening`), and `standalone` writes it as an SVG file with CSS
// animations, for the README. It shows real hops: those of default/cheese in the scenario list-and-watch.

import { make } from "/page/picture.js";

// [station, kind, seconds, token, label, sentence in English, in Chinese], in the order in which they happen. The token
// is the object or only its key. A test compares the hops with the scenario's run.
export const HOPS = [
  ["apiserver", "created", 4.2, "object", "cheese @27", "A user creates an object, cheese, and the API server stores it with a version.", "用户创建了对象 cheese，API Server 保存它，并给它一个版本号。"],
  ["reflector", "line", 4.6, "object", "cheese @27", "The reflector watches the API server, so the change arrives as an event with the whole object.", "Reflector 一直在监听（Watch）API Server，变化以事件的形式到达，里面是完整的对象。"],
  ["fifo", "queued", 4.6, "object", "cheese @27", "The change waits in a FIFO as a delta: what happened, and to which object.", "变化进入 FIFO 队列，成为一个 Delta，记录对象发生了什么变化。"],
  ["indexer", "stored", 4.8, "object", "cheese @27", "One thread takes the deltas in order and updates the cache first, which serves all reads.", "一个线程按顺序取出 Delta，先更新本地缓存 Indexer，以后读取对象都查这份缓存。"],
  ["handlers", "buffered", 4.6, "object", "cheese @27", "Then it notifies each event handler through a buffer, so that a slow handler delays no other.", "然后通知每个事件处理器，中间隔着缓冲区，慢的处理器不会拖累别的。"],
  ["handlers", "called", 4.4, "key", "default/cheese", "The handler does no work on the object: it passes on only the key.", "事件处理器不处理对象本身，只把它的 key 交给下一站。"],
  ["queue", "added", 4.4, "key", "default/cheese", "The key waits in the work queue: once, however often it is added.", "key 进入工作队列，无论加入多少次，在队列里都只有一份。"],
  ["workers", "reconcile", 5.2, "key", "default/cheese", "A worker takes the key, reads the object from the cache, and compares what is with what should be.", "Worker 取走 key，从缓存读出对象，比较实际状态与期望状态，这就是协调（也译作“调谐”）。"],
  ["apiserver", "updated", 4.8, "object", "cheese @28", "They differ, so the worker writes to the API server, and the object gets a new version.", "两者不一致，于是 Worker 写入 API Server，对象有了新的版本。"],
  ["reflector", "line", 4.4, "object", "cheese @28", "That write is a change too, and it comes back by the same watch as every other change.", "这次写入同样是一个变化，和其他变化一样，通过同一个 Watch 回到这里。"],
  ["queue", "added", 6.2, "object", "cheese @28", "It takes the same way again: FIFO, cache, handler, queue.", "它再走一遍同样的路：FIFO、缓存、事件处理器、工作队列。"],
  ["workers", "ok", 6.4, "key", "default/cheese", "The worker compares again and writes nothing, since all is as it should be: the loop rests until the next change.", "Worker 再比较一次，已经一致，就什么也不写，循环安静下来，等待下一个变化。"],
];

const NAMES = {
  apiserver: ["API server", "API Server"], reflector: ["Reflector", "Reflector"], fifo: ["FIFO", "FIFO 队列"], indexer: ["Indexer (cache)", "Indexer（本地缓存）"],
  handlers: ["Event handlers", "事件处理器"], queue: ["Work queue", "工作队列"], workers: ["Workers", "Worker"],
};
const LOOP = ["apiserver", "reflector", "fifo", "indexer", "handlers", "queue", "workers"];
const MOVE = 1.5; // seconds from station to station
const SHAPES = {
  wide: { width: 960, height: 380, box: [200, 88], font: 18, at: { apiserver: [120, 90], reflector: [480, 90], fifo: [840, 90], indexer: [840, 290], handlers: [600, 290], queue: [360, 290], workers: [120, 290] } },
  narrow: { width: 380, height: 480, box: [162, 76], font: 15, at: { apiserver: [95, 56], reflector: [285, 56], fifo: [285, 178], indexer: [285, 300], handlers: [285, 422], queue: [95, 422], workers: [95, 238] } },
};

// When each hop begins, and when all ends, in seconds.
const STARTS = HOPS.reduce((starts, hop) => [...starts, starts.at(-1) + hop[2]], [0]);
export const DURATION = STARTS.at(-1);
export const hopAt = (time) => Math.max(0, Math.min(HOPS.length - 1, STARTS.findLastIndex((start) => start <= time + 0.001)));
export const sentence = (number, language) => HOPS[number][language === "zh" ? 6 : 5];
// When a hop's motion is over: what a still picture shows.
export const stillOf = (number) => STARTS[number + 1] - 0.35;

// The stations between two, in the order of the loop.
function wayBetween(from, to) {
  const way = [to];
  for (let at = LOOP.indexOf(to); LOOP[at] !== from; ) {
    at = (at + LOOP.length - 1) % LOOP.length;
    way.unshift(LOOP[at]);
  }
  return way;
}

// An element's states by time, for keyframes.
class Track {
  constructor(state) {
    this.frames = [{ time: 0, ...state }];
  }

  // Be so from `time` on, after a change of `seconds`.
  to(time, state, seconds = 0.5) {
    const last = this.frames.at(-1);
    if (time > last.time) this.frames.push({ ...last, time });
    this.frames.push({ ...this.frames.at(-1), ...state, time: Math.max(time, last.time) + Math.max(seconds, 0.001) });
    return this;
  }

  keyframes() {
    const frames = this.frames.filter((each) => each.time <= DURATION);
    return [...frames, { ...frames.at(-1), time: DURATION }].map(({ time, ...state }) => ({ ...state, offset: time / DURATION }));
  }
}

const shift = ([x, y]) => ({ transform: `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)` });

// The drawing and its tracks: {svg, animated: [[node, keyframes]]}. `captions`: whether the sentences are in the drawing.
export function scene(language, shape, captions = false) {
  const { width, height, box: [w, h], font, at } = SHAPES[shape];
  const zh = language === "zh";
  const animated = [];
  const boxes = {}, arrows = {}, halos = {};
  const svg = make("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height + (captions ? 96 : 0)}`, class: "opening-picture", "aria-hidden": "true" });
  for (const [number, from] of LOOP.entries()) {
    const to = LOOP[(number + 1) % LOOP.length];
    const [[x1, y1], [x2, y2]] = [edge(at[from], at[to], w, h), edge(at[to], at[from], w, h)];
    const length = Math.hypot(x2 - x1, y2 - y1);
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const node = make("g", { class: "way", opacity: 0 }, make("path", { d: `M${x1} ${y1} L${x2 - 9 * ux} ${y2 - 9 * uy}` }),
      make("path", { class: "tip", d: `M${x2} ${y2} l${-9 * ux - 5 * uy} ${-9 * uy + 5 * ux} l${10 * uy} ${-10 * ux} z` }));
    arrows[from] = { node, track: new Track({ opacity: 0 }) };
    svg.append(node);
  }
  for (const station of LOOP) {
    const [x, y] = at[station];
    const name = NAMES[station][zh ? 1 : 0];
    const node = make("g", { class: `box ${station}`, opacity: 0 }, make("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 14 }),
      make("rect", { class: "bar", x: x - w / 2 + 13, y: y - h / 2 + 14, width: 4, height: font + 8, rx: 2 }),
      make("text", { x: x - w / 2 + 26, y: y - h / 2 + 17 + font * 0.8, "font-size": zh && name.length > 11 ? font - 3 : font }, name));
    const halo = make("rect", { class: `halo ${station}`, x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 14, opacity: 0 });
    boxes[station] = { node, track: new Track({ opacity: 0 }) };
    halos[station] = { node: halo, track: new Track({ opacity: 0 }) };
    svg.append(halo, node);
  }
  const rest = (station) => [at[station][0], at[station][1] + h / 2 - 23];
  const tokens = {
    object: token("object", [...new Set(HOPS.filter((hop) => hop[3] === "object").map((hop) => hop[4]))]),
    key: token("key", [...new Set(HOPS.filter((hop) => hop[3] === "key").map((hop) => hop[4]))]),
  };
  svg.append(tokens.key.node, tokens.object.node);
  const seen = new Set();
  let before = null;
  for (const [number, [station, kind, seconds, name, label]] of HOPS.entries()) {
    const start = STARTS[number];
    const { track, labels } = tokens[name];
    const other = tokens[name === "object" ? "key" : "object"].track;
    // The write is an object that comes from the worker; a key that is handed over changes where it is.
    const way = before === null || before === station ? [station] : wayBetween(before, station);
    const each = Math.min(MOVE, (seconds - 1.6) / Math.max(1, way.length - 1));
    for (const [text, one] of labels) if (labels.size > 1) one.to(start, { opacity: text === label ? 1 : 0 }, 0.01);
    track.to(start, shift(rest(way[0])), 0.001).to(start + 0.002, { opacity: 1 }, before === null ? 1.2 : 0.2);
    other.to(start + 0.002, { opacity: 0 }, 0.3);
    for (const [index, to] of way.entries()) {
      if (index) track.to(start + 0.25 + (index - 1) * each, shift(rest(to)), each);
      const arrives = start + 0.25 + Math.max(0, index) * each;
      if (index) arrows[way[index - 1]].track.to(arrives - each * 0.6, { opacity: 1 }, 0.5);
      if (!seen.has(to)) boxes[to].track.to(before === null ? 1.4 : arrives - 0.15, { opacity: 1 }, 0.6);
      seen.add(to);
    }
    const arrival = start + 0.25 + (way.length - 1) * each;
    halos[station].track.to(before === null ? 1.6 : arrival, { opacity: 1 }, 0.3).to(STARTS[number + 1] - 0.2, { opacity: 0 }, 0.3);
    // It reads from the cache.
    if (kind === "reconcile") read(svg, animated, at.indexer, rest("workers"), arrival + 0.3, h);
    before = station;
  }
  for (const { track } of Object.values(tokens)) track.to(DURATION - 0.5, { opacity: 0 }, 0.45);
  for (const [node, track] of [...Object.values(boxes), ...Object.values(arrows), ...Object.values(halos), ...Object.values(tokens)].map((each) => [each.node, each.track])) animated.push([node, track.keyframes()]);
  for (const { labels } of Object.values(tokens)) for (const [, track, node] of labels.list) if (labels.size > 1) animated.push([node, track.keyframes()]);
  if (captions) addCaptions(svg, animated, language, width, height);
  return { svg, animated };
}

// A pill with one of several labels, which stand one above the other.
function token(name, texts) {
  const size = Math.max(...texts.map((text) => text.length)) * 8.2 + 34;
  const node = make("g", { class: `token ${name}`, opacity: 0 }, make("rect", { x: -size / 2, y: -14, width: size, height: 28, rx: 14 }), make("circle", { cx: -size / 2 + 14, cy: 0, r: 4.5 }));
  const list = texts.map((text, number) => [text, new Track({ opacity: number ? 0 : 1 }), make("text", { x: -size / 2 + 25, y: 4.6, opacity: number ? 0 : 1 }, text)]);
  node.append(...list.map(([, , each]) => each));
  const labels = new Map(list.map(([text, track]) => [text, track]));
  labels.list = list;
  return { node, track: new Track({ ...shift([0, 0]), opacity: 0 }), labels };
}

function read(svg, animated, [ix, iy], [x, y], time, h) {
  const node = make("g", { class: "token object small", opacity: 0 }, make("circle", { cx: 0, cy: 0, r: 9 }));
  const low = Math.max(iy, y) + h / 2 + 4;
  const track = new Track({ ...shift([ix, iy + h / 2 - 23]), opacity: 0 });
  track.to(time, { opacity: 1 }, 0.2).to(time + 0.2, shift([ix - 40, low]), 0.4).to(time + 0.6, shift([x + 40, low]), 0.9).to(time + 1.5, shift([x, y]), 0.4).to(time + 1.9, { opacity: 0 }, 0.2);
  svg.append(node);
  animated.push([node, track.keyframes()]);
}

function addCaptions(svg, animated, language, width, height) {
  for (const [number, start] of STARTS.slice(0, -1).entries()) {
    const lines = wrap(sentence(number, language), language === "zh" ? 40 : 82);
    const node = make("g", { class: "caption", opacity: 0 }, ...lines.map((line, row) => make("text", { x: width / 2, y: height + 34 + row * 29, "text-anchor": "middle" }, line)));
    const track = new Track({ opacity: 0 }).to(start + 0.1, { opacity: 1 }, 0.3).to(STARTS[number + 1] - 0.2, { opacity: 0 }, 0.2);
    svg.append(node);
    animated.push([node, track.keyframes()]);
  }
}

// Lines of at most so many letters; no line begins with a closing mark.
function wrap(text, most) {
  const lines = [""];
  for (const part of text.match(/[\u2e80-\uffff]|[^\u2e80-\uffff\s]+\s*|\s+/gu)) {
    if ((lines.at(-1) + part).trimEnd().length > most && !/^[，。：；、）”]/.test(part)) lines.push("");
    lines[lines.length - 1] += part;
  }
  return lines.map((line) => line.trim());
}

// Where the way from one box to another leaves it.
function edge([ax, ay], [bx, by], w, h) {
  if (Math.abs(ax - bx) < w && ay !== by) return [ax + (bx - ax) * 0.5 * (Math.abs(ax - bx) < 60 ? 1 : 0), ay + (Math.sign(by - ay) * h) / 2];
  return [ax + (Math.sign(bx - ax) * w) / 2, ay + (by - ay) * 0.5 * (ay === by ? 0 : 0.3)];
}

// The drawing as the text of a file, which plays by itself, again and again; a still picture for readers who want no motion.
export function standalone(language) {
  const { svg, animated } = scene(language, "wide", true);
  const css = [STYLE];
  for (const [number, [node, frames]] of animated.entries()) {
    node.classList.add(`a${number}`);
    const states = frames.map(({ offset, opacity, transform }) => `${+(offset * 100).toFixed(3)}%{${opacity === undefined ? "" : `opacity:${opacity};`}${transform ? `transform:${transform}` : ""}}`);
    css.push(`.a${number}{animation:k${number} ${DURATION.toFixed(1)}s ease-in-out infinite}@keyframes k${number}{${[...new Set(states)].join("")}}`);
  }
  css.push("@media (prefers-reduced-motion:reduce){*{animation:none!important}.box,.way{opacity:1}}");
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = css.join("\n");
  const title = make("title", {}, language === "zh" ? "一个对象在 informer 的各个组件中走一圈" : "One object goes once around the informer's loop");
  svg.prepend(title, style, make("rect", { class: "ground", x: 0, y: 0, width: "100%", height: "100%", rx: 16 }));
  svg.setAttribute("role", "img");
  svg.removeAttribute("aria-hidden");
  return `${new XMLSerializer().serializeToString(svg)}\n`;
}

const STYLE = `svg{--ground:#f4f6fb;--surface:#fff;--line:#c5cde0;--text:#1a2233;--object:#d9480f;--key:#2f62e0;
--apiserver:#2f62e0;--reflector:#0b7391;--fifo:#7a4fd6;--indexer:#197a45;--handlers:#a3540a;--queue:#c23a7c;--workers:#5b6780;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","PingFang SC","Noto Sans CJK SC",sans-serif}
@media (prefers-color-scheme:dark){svg{--ground:#0d111b;--surface:#151b29;--line:#3b4763;--text:#e7ecf7;--object:#ff9a5c;--key:#7aa2ff;
--apiserver:#7aa2ff;--reflector:#4cc5e6;--fifo:#b294ff;--indexer:#5fd394;--handlers:#f0a654;--queue:#f283b6;--workers:#a3aec4}}
.ground{fill:var(--ground)}.box>rect{fill:var(--surface);stroke:var(--line)}.box text{font-weight:650;fill:var(--text)}
${["apiserver", "reflector", "fifo", "indexer", "handlers", "queue", "workers"].map((each) => `.${each} .bar{fill:var(--${each});stroke:none}.halo.${each}{stroke:var(--${each})}`).join("")}
.halo{fill:none;stroke-width:8;stroke-opacity:.45}.way path{stroke:var(--line);stroke-width:2.5;fill:none}.way .tip{fill:var(--line);stroke:none}
.token rect{fill:var(--surface);stroke-width:2.5}.token text{font:600 13px ui-monospace,"SF Mono","DejaVu Sans Mono",monospace;fill:var(--text)}
.object rect{stroke:var(--object)}.object circle{fill:var(--object)}.key rect{stroke:var(--key);stroke-dasharray:5 3}.key circle{fill:var(--key)}
.caption text{font-size:20px;fill:var(--text)}`;
