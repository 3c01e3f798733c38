// The way through a lesson: its steps, their questions and answers, the runs of wrong answers, and the way back from
// decisions.

import { noteStep } from "/page/progress.js";
import { $, complain, fail, isNarrow } from "/page/shell.js";
import { source } from "/page/source.js";
import { address, app, t } from "/page/state.js";

// Report whether a hop is the one at which a step stops.
const matching = ({ station, kind, key, handler }) => (each) => each.station === station && each.kind === kind && (!key || each.key === key) && (each.more.handler ?? "").endsWith(handler);

// `page`: run, reach and find of the run, to(number, moving) and draw, stop of the player, withDecisions and drawSettings;
// `noted` is called when the reader's progress has changed.
export function lessonWalk({ run, find, to, draw, stop, withDecisions, drawSettings, noted }) {
  // The promise of a step that is on its way; null without one.
  let preparing = null;

  // The question that is open, for the places in the picture and the letters; null without one.
  function openQuestion() {
    const { place, lesson } = app;
    const step = lesson?.steps[place.step + 1];
    const isOpen = !app.pending && app.tab === "lesson" && place.asked && place.running === undefined && !place.lost && step?.answers.length;
    return isOpen ? { answers: step.answers, choose: (number) => lessonAnswer(number).catch(fail) } : null;
  }

  // The answer that was given to the question of the hop that is shown, for its marks in the picture; null without one.
  function judged() {
    const { place, lesson, stops, at } = app;
    const isShown = app.tab === "lesson" && place.answered >= 0 && !place.asked && !place.branch && stops[place.step] === at;
    return isShown ? { step: lesson.steps[place.step], answered: place.answered } : null;
  }

  async function lessonAnswer(answered) {
    const { step } = app.place;
    const { answers } = app.lesson.steps[step + 1];
    await lessonNext(answered);
    if (app.place.step === step + 1) noteStep(app.lesson, step + 1, answers[answered].right);
  }

  // Report whether decisions led away from the lesson: its next step does not happen in this run, with the same machine.
  async function isLost() {
    const { lesson, place } = app;
    const step = lesson?.steps[place.step + 1];
    if (!app.decisions.length || place.step < 0 || !step || JSON.stringify(step.machine) !== JSON.stringify(lesson.steps[place.step].machine)) return false;
    return (await find(matching(step.stop), await stopOf(place.step))) < 0;
  }

  // The hop at which a step stops. It is known from going there, or found: each step stops behind the one before.
  async function stopOf(step) {
    const { steps } = app.lesson;
    for (let number = 0; number <= step; number++) {
      if (app.stops[number] !== undefined || JSON.stringify(steps[number].machine) !== JSON.stringify(steps[step].machine)) continue;
      const isFirst = number === 0 || JSON.stringify(steps[number - 1].machine) !== JSON.stringify(steps[number].machine);
      const found = await find(matching(steps[number].stop), isFirst ? -1 : app.stops[number - 1]);
      if (found >= 0) app.stops[number] = found;
    }
    return step < 0 ? -1 : app.stops[step] ?? -1;
  }

  async function toLesson() {
    const { branch, ...place } = app.place;
    Object.assign(app, { tab: "lesson", stops: [], place });
    if (branch) await useSettings(branch.settings);
    await withDecisions([], -1);
    await reading(async () => to(await stopOf(app.place.step)));
  }

  // Go to the run in which a wrong answer to the last question is right; the lesson's own run is one click away.
  async function toBranch(branch) {
    stop();
    const { lesson, place, settings } = app;
    const from = branch.fault ? await stopOf(place.step - 1) : -1;
    address.mark();
    app.place = { ...place, branch: { settings, fault: branch.fault } };
    await useSettings({ ...lesson.steps[place.step].machine, ...branch.machine }, branch.fault ? [{ at: from, kind: "fault", name: branch.fault }] : []);
    let number = from;
    for (let time = 0; time < branch.times; time++) number = await find(matching(branch.stop), number);
    app.at = number - 1;
    await reading(() => to(number, true));
    $("pane").focus({ preventScroll: true }); // the button is gone: keys go on with the lesson
  }

  async function useSettings(settings, decisions = []) {
    Object.assign(app, { settings, decisions, at: -1 });
    await run();
    app.offers = await source.offers(app.scenario, settings);
    await drawSettings();
  }

  // `answered`: the answer to the open question; -1 to see the answer without one.
  async function lessonNext(answered = -1) {
    if (app.place.running !== undefined) { app.hurry = true; return; }
    // The server may take a while: a press meanwhile is for the step behind.
    while (preparing) await preparing.catch(() => undefined);
    preparing = prepare(answered).finally(() => { preparing = null; });
    const number = await preparing;
    if (number < 0) return;
    const { lesson, place } = app;
    app.at = number - 1;
    await reading(() => to(number, true));
    noteStep(lesson, place.step);
    noted();
  }

  // Return the hop of the next step, which is the reader's place now; -1 if something else comes first.
  async function prepare(answered) {
    const { place, lesson } = app;
    if (!lesson?.steps[place.step + 1]) return -1;
    if (place.branch) {
      await toLesson();
      return prepare(answered);
    }
    address.mark();
    const from = app.at;
    if (place.lost) {
      app.decisions = [];
      app.place = { ...place, lost: false };
      return (await run()) ? prepare(answered) : -1;
    }
    if (!place.asked && lesson.steps[place.step + 1].ask) {
      app.place = { ...place, asked: true };
      draw();
      return -1;
    }
    const anew = await useMachine(lesson, place.step + 1);
    const before = anew ? -1 : await stopOf(place.step);
    app.at = before;
    const number = await find(matching(lesson.steps[place.step + 1].stop));
    if (number < 0 && app.decisions.length) {
      // The decisions led away from the lesson: say so, and let the same key lead back.
      app.at = before;
      app.place = { ...place, lost: true };
      draw();
      return -1;
    }
    if (number < 0) {
      complain(t("notfound"));
      return -1;
    }
    app.stops[place.step + 1] = number;
    if (place.asked) {
      app.place = { ...place, running: answered };
      if (!(await runThrough(anew ? -1 : from, number))) return -1;
    }
    app.place = { step: place.step + 1, asked: false, ...(place.asked ? { answered } : {}) };
    return number;
  }

  // Run the hops between a question and its answer, in a few seconds at most; at once for readers who want no motion, or
  // who go on. False when the reader went elsewhere.
  const LONGEST_RUN = 2400;
  async function runThrough(from, number) {
    if (from >= number - 1 || document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches) return true;
    app.hurry = false;
    const { trace, place } = app;
    const began = performance.now();
    const each = Math.min(260, LONGEST_RUN / (number - from));
    while (app.trace === trace && app.place === place) {
      const at = Math.min(number - 1, from + Math.floor((performance.now() - began) / each));
      if (at !== app.at && at > from) { app.at = at; draw(); }
      if (at >= number - 1 || app.hurry) return true;
      await new Promise((done) => requestAnimationFrame(done));
    }
    return false;
  }

  // On a narrow page the lesson is below the picture: its reader is not taken to the picture, and a step begins at its top.
  async function reading(move) {
    app.reading = true;
    try {
      return await move();
    } finally {
      app.reading = false;
      if (isNarrow()) $("pane").scrollIntoView({ block: "start" });
    }
  }

  // The machine that a lesson wants for a step; whether it is another one than before. Most lessons want none.
  async function useMachine(lesson, step) {
    if (lesson.steps.every((each) => !Object.keys(each.machine).length)) return false;
    const wanted = lesson.steps[step]?.machine ?? {};
    if (JSON.stringify(wanted) === JSON.stringify(app.settings)) return false;
    await useSettings(wanted);
    return true;
  }

  async function lessonBack() {
    if (app.place.branch) await toLesson();
    address.mark();
    if (app.place.asked) app.place = { ...app.place, asked: false };
    else app.place = { step: app.place.step - 1, asked: false };
    await useMachine(app.lesson, app.place.step);
    return reading(async () => to(await stopOf(app.place.step)));
  }

  return { openQuestion, judged, lessonAnswer, lessonNext, lessonBack, isLost, stopOf, toLesson, toBranch };
}
