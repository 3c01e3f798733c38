// The state of the tour's page: the run, the hop that is shown and the reader's place; and the words of its language.

import { Address } from "/page/address.js";
import { progressOf } from "/page/progress.js";
import { CHINESE, WORDS } from "/page/words.js";

export const app = {
  tour: null, trace: null, states: [], at: -1, scenario: "", settings: {}, decisions: [], lesson: null, place: { step: -1, asked: false }, stops: [],
  tab: "lesson", ref: "", station: "", playing: false, language: "en", sources: new Map(), turn: 0,
  start: 0, recorded: null, recordedAt: -1, reading: false, byPointer: false, offers: null,
  pending: null, // the promise of a scenario that is on its way
  move: null,    // the reader's move through the browser's history that is on its way
};
export const address = new Address();
export const t = (word) => WORDS[app.language][word] ?? WORDS.en[word] ?? word;
export const kindOf = (station, kind) => (app.language === "zh" && CHINESE[`${station}.${kind}`]) || app.tour.kinds[station][kind];
export const faultOf = (name) => (app.language === "zh" && CHINESE[name]) || app.tour.faults[name];
// A lesson's title is that of its scenario.
export const titleOf = (scenario) => {
  const lesson = app.tour.lessons.find((each) => each.scenario === scenario.name);
  return lesson ? `${lesson.number}. ${lesson[app.language]?.title || lesson.title}${progressOf(lesson.name).done ? " ✓" : ""}` : scenario.title;
};

// The hop that is shown; undefined before the first one.
export const hop = () => app.trace?.points[app.at]?.hop;
