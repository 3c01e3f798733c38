// Click to break: what can break at a place of the picture, a menu of it, and marks where something broke.

import { el } from "/page/panel.js";
import { $ } from "/page/shell.js";

// The fault that a click on a place starts at once; other places offer a choice.
export const AT_ONCE = { wire: "cut", clock: "clock-jump" };

export const faultsAt = (app, place) => faults(app).filter((name) => app.tour.places?.[name] === place);

// The faults that can happen at some hop of this run: in the static edition those that the lesson offers.
export const faults = ({ tour, offers }) => Object.keys(tour.faults).filter((name) => !offers || offers.some((each) => each.faults.includes(name)));

// Why a fault cannot happen at a hop; "" if it can. `offers`: see source.js.
export function obstacle(offers, app, name) {
  if (app.at < 0) return "break-start";
  if (!offers) return "";
  if (app.decisions.length) return "break-once";
  return offers.some((each) => each.at === app.at && each.faults.includes(name)) ? "" : "break-stops";
}

// The hop closest to this one at which a fault is offered; -1 for none.
export function closestOffer(offers, at, names) {
  const there = (offers ?? []).filter((each) => names.some((name) => each.faults.includes(name))).map((each) => each.at);
  return there.sort((a, b) => Math.abs(a - at) - Math.abs(b - at))[0] ?? -1;
}

// The marks of decisions that were made up to a hop: {place, text, isLast}.
export function marks(faultOf, tour, app) {
  return app.decisions.filter((each) => each.at <= app.at).map((each) => ({
    place: each.kind === "fault" ? tour.places?.[each.name] ?? "" : "thread",
    text: `⚡${each.at + 1} ${each.kind === "fault" ? faultOf(each.name) : each.name}`,
    isLast: each === app.decisions.at(-1),
  }));
}

// Whether the connection is broken at a hop: behind a cut, or a silence, until the Reflector asks again.
export function isCut(app) {
  const broke = app.decisions.filter((each) => each.at <= app.at && ["cut", "half-open"].includes(each.name)).at(-1);
  const asked = ({ hop }) => hop.station === "reflector" && ["list", "watch"].includes(hop.kind);
  return Boolean(broke) && !app.trace.points.slice(broke.at + 1, app.at + 1).some(asked);
}

// Opens the menu beside a node of the picture. `act`: fault(name), undo(), to(number).
export function openMenu(t, node, { title, names, faultOf, why, closest, canUndo }, act) {
  const menu = $("break-menu");
  const choose = (then) => () => { menu.hidePopover(); then(); };
  const item = (attributes, text, then) => el("button", { type: "button", role: "menuitem", ...attributes, onclick: choose(then) }, text);
  const blocked = names.filter((name) => why(name));
  const reason = blocked.length ? why(blocked[0]) : "";
  menu.replaceChildren(
    el("h3", {}, title),
    ...names.filter((name) => !why(name)).map((name) => item({ "data-break": name }, faultOf(name), () => act.fault(name))),
    ...(reason ? [el("p", { class: "quiet" }, t(reason))] : []),
    ...(reason === "break-stops" && closest >= 0 ? [item({ id: "break-go" }, `${t("break-go")} ${closest + 1}`, () => act.to(closest))] : []),
    ...(canUndo ? [item({ id: "break-undo" }, t("undo-one"), act.undo)] : []),
  );
  menu.setAttribute("aria-label", title);
  const box = node.getBoundingClientRect();
  menu.showPopover();
  menu.style.left = `${Math.max(8, Math.min(box.left, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${box.bottom + 6 + menu.offsetHeight < innerHeight ? box.bottom + 6 : Math.max(8, box.top - menu.offsetHeight - 6)}px`;
  menu.querySelector("button")?.focus();
}

// Arrow keys move in the menu.
export function onMenuKey(event) {
  if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
  const items = [...$("break-menu").querySelectorAll("button")];
  const at = items.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : items.length - 1);
  items[at % items.length]?.focus();
  event.preventDefault();
}

// The pane of what can be broken, and of the threads that can go on.
export function breakPane(t, fault, app, point, act) {
  const threads = (point?.runnable ?? []).slice(1);
  return [
    el("p", { class: "quiet" }, t(app.tour.replay ? "break-replay" : "break-what")),
    faults(app).length || app.tour.replay ? null : el("p", { class: "quiet" }, t("no-machine")),
    el("div", { class: "list" }, faults(app).map((name) => [name, Object.keys(app.tour.faults).indexOf(name)]).map(([name, number]) => el("button", { type: "button", "data-fault": name, disabled: Boolean(act.obstacle(name)), title: act.obstacle(name) ? t(act.obstacle(name)) : null, onclick: () => act.fault(name) },
      fault(name), number < 9 ? el("kbd", {}, `Shift ${number + 1}`) : null))),
    el("h3", {}, t("thread-what")),
    threads.length ? el("div", { class: "list" }, threads.map((name) => el("button", { type: "button", "data-thread": name, disabled: !act.isThreadFree, title: act.isThreadFree ? null : t("no-machine"), onclick: () => act.thread(name) }, name))) : el("p", { class: "quiet" }, t("one-thread")),
    app.decisions.length ? el("h3", {}, t("decisions")) : null,
    app.decisions.length ? el("div", { class: "list" }, app.decisions.map((each) => el("p", { class: "log" }, `${t("hop")} ${each.at + 1}${t("colon")}${each.kind === "fault" ? fault(each.name) : each.name}`)),
      el("button", { type: "button", id: "undo", onclick: act.undo }, t("undo"))) : null,
    el("h3", {}, t("log")),
    ...(point?.log.length ? point.log.map((line) => el("p", { class: "log" }, line)) : [el("p", { class: "quiet" }, t("nothing"))]),
  ];
}
