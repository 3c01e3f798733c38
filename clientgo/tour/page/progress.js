// The reader's progress, kept by the browser: by lesson, how far, and how many questions were answered rightly.

import { remember, remembered } from "/page/shell.js";

function all() {
  try {
    const known = JSON.parse(remembered("progress") ?? "{}");
    return known !== null && typeof known === "object" && !Array.isArray(known) ? known : {};
  } catch {
    return {}; // not ours, or of an older page
  }
}

const NOTHING = { step: -1, done: false, answers: {} };

// {step, done, answers: {step: whether the first answer to its question was right}}
export function progressOf(name) {
  const known = all()[name];
  return { ...NOTHING, ...(known !== null && typeof known === "object" ? known : {}) };
}

// A step was reached. `isRight`: whether its question was answered rightly; undefined for a reader who did not answer.
export function noteStep(lesson, step, isRight) {
  const before = progressOf(lesson.name);
  const answers = { ...before.answers };
  if (isRight !== undefined && !(step in answers)) answers[step] = isRight;
  const now = { step: Math.max(before.step, step), done: before.done || step === lesson.steps.length - 1, answers };
  remember("progress", JSON.stringify({ ...all(), [lesson.name]: now }));
}

// How many questions of a lesson were answered rightly at the first try.
export const rightAnswers = (name) => Object.values(progressOf(name).answers).filter(Boolean).length;
