// Shared by every kind of tour: requests, messages, the browser's memory, light and dark.

import { errorIn } from "/page/errors.js";

export const $ = (id) => document.getElementById(id);
export const remember = (name, value) => { try { localStorage.setItem(`informer-tour.${name}`, value); } catch { /* a browser that keeps nothing */ } };
export const remembered = (name) => { try { return localStorage.getItem(`informer-tour.${name}`); } catch { return null; } };

export const count = (number) => number.toLocaleString("en-US");

// A number with the word for what is counted, of which `t` has one for a single one too.
export const numbered = (t, number, word) => `${count(number)} ${t(number === 1 ? `${word}-one` : word)}`;

// A label and what it labels: behind a full-width colon stands no space.
export const labelled = (label, text) => `${label}${label.endsWith("：") ? "" : " "}${text}`;

// Let these be a node's children, in that order; what is there already stays where it is, untouched.
export function arrange(parent, wanted) {
  const keep = new Set(wanted);
  for (const node of [...parent.childNodes]) if (!keep.has(node)) node.remove();
  let at = parent.firstChild;
  for (const node of wanted) {
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
}

// Whether the page is one column: no room for the lesson beside the picture, or below the header.
export const isNarrow = () => matchMedia("(max-width: 820px), (max-height: 480px)").matches;

export async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let response, answer;
  try {
    response = await fetch(path, options);
    answer = await response.json();
  } catch (error) {
    // Nothing else says that the program is gone: an error of the page itself is none of the program's.
    throw Object.assign(new Error("The program does not answer any more."), { unreachable: true });
  }
  if (!response.ok) throw new Error(answer.error ?? response.statusText);
  return answer;
}

export function complain(text) {
  $("problem").textContent = text;
  $("problem").hidden = false;
  clearTimeout(complain.timer);
  complain.timer = setTimeout(() => { $("problem").hidden = true; }, 4000);
}

// After a click by pointer the keys are the page's again: Enter is the lesson's, not that of the button that has the focus.
// Before what the click does, which may open a dialog or a menu: these give the focus back when they close.
export function giveKeysBack() {
  document.addEventListener("click", (event) => {
    const control = event.detail && event.target.closest?.("button, [role=button]");
    if (control && !control.closest("#opening, dialog, [role=menu]")) $("pane").focus({ preventScroll: true });
  }, true);
}

// In one column the header of the moment and the footer stay in view: let the browser scroll what gets the focus between.
export function keepFocusInView() {
  const bars = { "--now-height": $("now"), "--footer-height": document.querySelector("footer") };
  const observer = new ResizeObserver(() => {
    for (const [name, bar] of Object.entries(bars)) document.documentElement.style.setProperty(name, `${bar.offsetHeight}px`);
  });
  for (const bar of Object.values(bars)) observer.observe(bar);
}

// Say that something was done; also to screen readers.
export function say(text) {
  $("said").textContent = text;
  $("said").hidden = false;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { $("said").hidden = true; }, 3000);
}

// Do work that may take seconds, and say so at once.
export async function whileBusy(text, work) {
  const mine = whileBusy.last = {};
  clearTimeout(say.timer);
  $("said").textContent = text;
  $("said").hidden = false;
  document.body.dataset.busy = "true";
  try {
    return await work();
  } finally {
    if (whileBusy.last === mine) {
      document.body.dataset.busy = "false";
      // A hidden text would stay in the language in which it was said.
      if ($("said").textContent === text) { $("said").hidden = true; $("said").textContent = ""; }
    }
  }
}

export function fail(error) {
  if (!error.isUnavailable && !error.unreachable) console.error(error);
  complain(errorIn(document.documentElement.lang, error.message));
}

export function paint(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  remember("theme", theme ?? "");
}

export function flipTheme() {
  const chosen = document.documentElement.dataset.theme;
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  paint(dark ? "light" : "dark");
}
