// Plays the opening over the page: by itself, from hop to hop by keys, or as still pictures.

import { DURATION, HOPS, hopAt, scene, sentence, stillOf } from "/page/opening.js";
import { $, remember, remembered } from "/page/shell.js";

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const shapeOf = () => (matchMedia("(min-width: 700px)").matches ? "wide" : "narrow");

export const wasSeen = () => remembered("opening") === "seen";

// `language()` and `t(word)` as on the page; `speak(language)` changes it; `done()` is called when it ends.
export function playOpening({ language, t, speak, done }) {
  const section = $("opening");
  const behind = [...document.body.children].filter((each) => !each.contains(section) && each.tagName !== "SCRIPT" && !each.hasAttribute("popover"));
  const focused = document.activeElement;
  const state = { time: 0, began: 0, isPaused: false, isOver: false, shown: -1, animations: [], frame: 0 };

  function build() {
    const { svg, animated } = scene(language(), shapeOf());
    state.animations = animated.map(([node, frames]) => node.animate(frames.map((each) => ({ ...each, easing: "ease-in-out" })), { duration: DURATION * 1000, fill: "both" }));
    for (const each of state.animations) each.pause();
    $("opening-stage").replaceChildren(svg);
    $("opening-skip").textContent = t(state.isOver ? "opening-end" : "opening-skip");
    $("opening-language").textContent = language() === "zh" ? "English" : "中文";
    $("opening-language").lang = language() === "zh" ? "en" : "zh";
    $("opening-title").textContent = t("opening");
    state.shown = -1;
    show();
  }

  function show() {
    const number = hopAt(state.time);
    const at = isStill() ? stillOf(number) : state.time;
    for (const each of state.animations) each.currentTime = Math.min(at, DURATION - 0.6) * 1000;
    $("opening-bar").style.width = `${(100 * (isStill() ? (number + 1) / HOPS.length : state.time / DURATION)).toFixed(2)}%`;
    const pause = t(state.isPaused ? "opening-play" : "opening-pause");
    if ($("opening-pause").title !== pause) { $("opening-pause").title = pause; $("opening-pause").setAttribute("aria-label", pause); $("opening-pause").textContent = state.isPaused ? "▶" : "▮▮"; }
    if (number === state.shown) return;
    state.shown = number;
    $("opening-words").textContent = sentence(number, language());
    section.dataset.hop = number;
    $("opening-back").disabled = number === 0;
    $("opening-next").disabled = number === HOPS.length - 1;
  }

  function frame() {
    state.frame = 0;
    if (section.hidden) return;
    const now = performance.now();
    if (!state.isPaused) state.time = Math.min(DURATION, state.time + Math.min(0.1, (now - state.began) / 1000));
    state.began = now;
    show();
    if (state.time >= DURATION && !state.isOver) over();
    if (!state.isOver && !state.isPaused) schedule();
  }

  // Without motion a look now and then is enough.
  function schedule() {
    if (state.frame) return;
    state.began = performance.now();
    state.frame = isStill() ? setTimeout(frame, 90) : requestAnimationFrame(frame);
  }

  function over() {
    state.isOver = state.isPaused = true;
    remember("opening", "seen");
    $("opening-skip").textContent = t("opening-end");
    show();
  }

  function go(number) {
    state.time = Math.max(0, Math.min(HOPS.length - 1, number)) === number ? timeOf(number) : state.time;
    state.isOver = false;
    $("opening-skip").textContent = t("opening-skip");
    show();
    if (!state.isPaused) schedule();
  }

  function pause() {
    state.isPaused = !state.isPaused;
    if (state.isOver) { state.isOver = false; state.time = 0; $("opening-skip").textContent = t("opening-skip"); }
    show();
    if (!state.isPaused) schedule();
  }

  function close() {
    section.hidden = true;
    $("opening-stage").replaceChildren();
    for (const id of ["opening-words", "opening-title"]) $(id).textContent = "";
    remember("opening", "seen");
    for (const each of behind) each.inert = false;
    document.removeEventListener("keydown", onKey, true);
    removeEventListener("resize", build);
    (focused instanceof HTMLElement && focused !== document.body ? focused : $("pane")).focus({ preventScroll: true });
    done();
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const onButton = event.target.matches?.("button") && (event.key === "Enter" || event.key === " ");
    const act = { Escape: close, Enter: close, " ": pause, ArrowRight: () => go(state.shown + 1), ArrowLeft: () => go(state.shown - 1) }[event.key];
    event.stopPropagation();
    if (!act || onButton) return;
    event.preventDefault();
    act();
  }

  const clicks = { back: () => go(state.shown - 1), next: () => go(state.shown + 1), pause, skip: close, language: () => { speak(language() === "zh" ? "en" : "zh"); build(); } };
  for (const [name, act] of Object.entries(clicks)) $(`opening-${name}`).onclick = act;
  document.addEventListener("keydown", onKey, true);
  addEventListener("resize", build);
  for (const each of behind) each.inert = true;
  section.hidden = false;
  build();
  section.focus({ preventScroll: true });
  schedule();
}

// The time at which a hop begins.
const timeOf = (number) => HOPS.slice(0, number).reduce((sum, hop) => sum + hop[2], 0) + 0.002;
