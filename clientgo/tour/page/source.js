// The source of states: what the page reads, from the program that serves it or from the files of the static edition.
//
// Both have the same methods, which return promises:
//   tour()                    scenarios, faults, kinds of hops, lessons
//   lesson(name)              one lesson
//   run({scenario, settings, decisions, limit, start})   a run: see Trace.to_dict
//   code({file, function})    a function's source, null if there is none
//   recorded(time)            the recorded hops up to a moment
//   offers(scenario, settings)   [{at, faults}]: the hops at which a run can break, and how; null for everywhere
// `isExported` says which one it is.

import { exported } from "/page/exported.js";
import { ask } from "/page/shell.js";

const served = {
  isExported: false,
  tour: () => ask("/api/tour"),
  lesson: (name) => ask(`/api/lesson?name=${encodeURIComponent(name)}`),
  run: (asked) => ask("/api/run", asked),
  code: ({ file, function: name }) => ask(`/api/source?file=${encodeURIComponent(file)}&function=${encodeURIComponent(name)}`).catch(() => null),
  recorded: (time) => ask(`/api/recorded?time=${time}`),
  offers: async () => null,
};

export const source = document.documentElement.dataset.edition === "static" ? exported() : served;
