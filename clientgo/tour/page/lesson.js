// The pane of a lesson: its number and length, a step with its figures and links, a question, what comes next.

import { figure } from "/page/figures.js";
import { el, prose } from "/page/panel.js";
import { progressOf, rightAnswers } from "/page/progress.js";
import { question, verdict } from "/page/questions.js";
import { labelled } from "/page/shell.js";

// The lesson with the words of a language, where it has them: stops, answers and links are the same in each.
export function lessonIn(language, lesson) {
  const words = lesson?.[language];
  if (!words?.steps) return lesson;
  const steps = lesson.steps.map((step, number) => {
    const { answers = [], ...rest } = words.steps[number];
    return { ...step, ...rest, answers: step.answers.map((each, which) => ({ ...each, ...answers[which] })) };
  });
  return { ...lesson, ...words, steps };
}

// Where Go's source, and ours, does what a paragraph says.
function links(t, sources) {
  if (!sources?.length) return null;
  return el("p", { class: "claims" }, sources.flatMap((each, number) => [
    number ? el("br") : null,
    el("a", { href: each.url, target: "_blank", rel: "noopener noreferrer", title: `${each.goFile} (${each.repository})` }, `Go${t("colon")}${each.goFunction}`),
    each.function ? el("span", { title: each.file }, ` · ${t("ours")}${t("colon")}`, el("code", {}, each.function)) : null,
  ]));
}

const paragraphs = (t, step, state) => step.text.flatMap((text, number) => [
  el("p", {}, prose(text)), figure(t, step.figures?.[number], state), links(t, step.sources?.[number]),
]);

function intro(t, lesson, lessons) {
  const { step, done } = progressOf(lesson.name);
  const facts = [`${t("lesson")} ${lesson.number} / ${lessons.length}`, `${t("about-minutes")} ${lesson.minutes} ${t("minutes")}`, `${lesson.questions} ${t("questions")}`];
  const before = done ? t("lesson-done") : step >= 0 ? labelled(t("reached-step"), `${step + 1} / ${lesson.steps.length}`) : "";
  return [
    el("h3", {}, `${lesson.number}. ${lesson.title}`),
    el("p", { class: "quiet", id: "lesson-facts" }, facts.join(" · "), before ? el("span", { class: "before" }, ` · ${before}`) : null),
    ...lesson.intro.flatMap((text, number) => [el("p", {}, prose(text)), links(t, lesson.introSources?.[number])]),
  ];
}

function ending(t, language, lesson, lessons, act) {
  // This lesson is noted as done only after it is drawn; an export may have only some of the lessons.
  const following = lessons.find((each) => each.number > lesson.number) ?? lessons.find((each) => each.number < lesson.number && !progressOf(each.name).done);
  const title = following && (following[language]?.title || following.title);
  return [
    el("p", { class: "done", id: "lesson-done" }, t("finished")),
    lesson.questions ? el("p", { class: "quiet" }, labelled(t("answered-right"), `${rightAnswers(lesson.name)} / ${lesson.questions}`)) : null,
    following ? el("p", {}, el("a", { id: "next-lesson", class: "button main", href: `#${following.scenario}`, onclick: (event) => { event.preventDefault(); act.openLesson(following.scenario); } },
      `${t("next-lesson")}${t("colon")}${following.number}. ${title}`)) : el("p", { class: "done" }, t("all-done")),
  ];
}

// `place`: {step, asked, answered, lost}. `state`: every station's view at the hop. `lessons`: all, for the next one.
export function lessonPane(t, language, lesson, lessons, place, state, act) {
  if (!lesson) return [el("p", { class: "quiet" }, t("no-lesson"))];
  const { steps } = lesson;
  const { step, asked, answered, lost } = place;
  const parts = [el("div", { class: "progress", "aria-hidden": "true" }, steps.map((_, number) => el("i", { class: number <= step ? "past" : null })))];
  if (step < 0) parts.push(...intro(t, lesson, lessons));
  else parts.push(el("h3", {}, `${step + 1}. ${steps[step].title}`), ...verdict(t, steps[step], answered, place.branch ? null : act.toBranch), ...paragraphs(t, steps[step], state));
  const next = steps[step + 1];
  const main = (word) => el("button", { type: "button", class: next?.answers.length && asked ? null : "main", id: "lesson-next", onclick: act.lessonNext }, t(word), " ", el("kbd", {}, "Enter"));
  const buttons = [];
  if (step >= 0) buttons.push(el("button", { type: "button", id: "lesson-back", onclick: act.lessonBack }, t("back-step")));
  if (next && lost) {
    parts.push(el("p", { class: "ask" }, t("lost")));
    buttons.push(main("undo"));
  } else if (next && asked) {
    parts.push(...question(t, next, act.lessonAnswer, place.running));
    buttons.push(main("show"));
  } else if (next) buttons.push(main(step < 0 ? "begin" : "next-step"));
  else parts.push(...ending(t, language, lesson, lessons, act));
  return [...parts, el("div", { class: "row" }, buttons)];
}
