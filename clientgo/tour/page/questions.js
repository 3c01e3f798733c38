// Questions of a lesson: answers as buttons or as places in the picture, and after the hops which one was right and why.

import { el, prose } from "/page/panel.js";

const LETTERS = "ABCD";

// The question before a step. `choose(number)` is called with the answer's number; `running` is the one that was chosen
// while the hops run.
export function question(t, step, choose, running) {
  return [
    el("p", { class: "ask", id: "question" }, prose(step.ask)),
    step.answers.some((each) => each.place) ? el("p", { class: "quiet" }, t("click-place")) : null,
    el("div", { class: "answers", role: "group", "aria-labelledby": "question" }, step.answers.map((each, number) => el("button",
      { type: "button", class: "answer", id: `answer-${number}`, "data-answer": number, "data-place": each.place || null, disabled: running !== undefined, "aria-pressed": running === number ? "true" : null, onclick: () => choose(number) },
      el("kbd", {}, LETTERS[number]), " ", ...prose(each.text)))),
  ].filter(Boolean);
}

// After the hops: which answer was right. `answered` is the chosen one; -1 for a reader who asked for the answer.
// `toBranch(branch)` goes to the run in which a wrong answer is right, for an answer that has one; null
// in that run.
export function verdict(t, step, answered, toBranch) {
  if (!step.answers?.length || answered === undefined) return [];
  const right = step.answers.find((each) => each.right);
  const chosen = step.answers[answered];
  const line = (kind, word, text, ...more) => el("p", { class: `verdict ${kind}`, "data-verdict": kind }, el("strong", {}, `${t(word)}${t("colon")}`), ...prose(text), ...more);
  if (chosen?.right) return [line("right", "was-right", right.text)];
  return [chosen ? line("wrong", "your-answer", chosen.text, el("span", { class: "why" }, ...prose(chosen.why))) : null,
    chosen?.branch && toBranch ? el("p", {}, el("button", { type: "button", id: "to-branch", onclick: () => toBranch(chosen.branch) }, t("to-branch"))) : null, line("right", "right-answer", right.text)].filter(Boolean);
}

// Let letters and clicks in the picture answer. `current()` is the open question's {answers, choose}, or null.
export function listen(svg, current) {
  const answerAt = (target) => {
    const asked = current();
    if (!asked) return null;
    const places = [target.closest?.("[data-part]")?.dataset.part, target.closest?.("[data-station]")?.dataset.station];
    const number = places.map((place) => (place ? asked.answers.findIndex((each) => each.place === place) : -1)).find((each) => each >= 0);
    return number === undefined ? null : () => asked.choose(number);
  };
  const take = (event) => {
    const act = answerAt(event.target);
    if (!act) return;
    event.stopPropagation();
    event.preventDefault();
    act();
  };
  svg.addEventListener("click", take, true);
  svg.addEventListener("keydown", (event) => { if (event.key === "Enter") take(event); }, true);
  document.addEventListener("keydown", (event) => {
    const asked = current();
    const number = LETTERS.toLowerCase().indexOf(event.key.toLowerCase());
    if (!asked || event.key.length !== 1 || number < 0 || number >= asked.answers.length) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("select, input:not([type=range])") || document.querySelector("dialog[open]")) return;
    event.stopPropagation();
    event.preventDefault();
    asked.choose(number);
  }, true);
}

// Mark the places that an open question names; none without one. `judged`: the step and the answer that was given at the
// hop that is shown, or null: its place, and the right one, are marked.
export function markPlaces(svg, asked, judged) {
  for (const node of svg.querySelectorAll(".candidate, .was-right, .was-wrong")) node.classList.remove("candidate", "was-right", "was-wrong");
  const mark = (place, name) => place && svg.querySelector(place.includes(".") ? `rect[data-part="${place}"]` : `.card[data-station="${place}"]`)?.classList.add(name);
  for (const { place } of asked?.answers ?? []) mark(place, "candidate");
  for (const [number, { place, right }] of (judged?.step.answers ?? []).entries()) {
    if (right) mark(place, "was-right");
    else if (number === judged.answered) mark(place, "was-wrong");
  }
}

// The branch of an answer whose run this is: one with the answer's machine, or fault; more may be broken in it. Undefined
// for none.
export const branchOf = (step, { settings, decisions }) => step.answers.map(({ branch }) => branch).find((branch) => branch
  && (!branch.fault || decisions[0]?.name === branch.fault)
  && JSON.stringify({ ...step.machine, ...branch.machine }) === JSON.stringify(settings));
