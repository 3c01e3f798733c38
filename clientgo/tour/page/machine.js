// The switches of a run's machine.

import { el } from "/page/panel.js";
import { $ } from "/page/shell.js";
import { CHINESE } from "/page/words.js";

// `change(settings)` is called with the settings after a choice.
export async function drawMachine(app, t, source, change) {
  const { settings, scenario } = app;
  const { settings: known, switches = [] } = app.tour.scenarios.find((each) => each.name === scenario);
  const choice = (name, values, read) => {
    const select = el("select", { id: `s-${name}`, onchange: (event) => change({ ...settings, [name]: read(event.target.value) }) },
      values.map(([each, text]) => el("option", { value: String(each) }, text)));
    select.value = String(settings[name] ?? known[name]);
    return el("label", { class: "field" }, el("span", {}, t(`s-${name}`)), select);
  };
  const numbers = (name, values) => choice(name, values.map((each) => (each ? [each, String(each)] : [0, t("none")])), Number);
  const flag = (name) => choice(name, [[false, t("no")], [true, t("yes")]], (text) => text === "true");
  $("settings-sheet").replaceChildren(
    ...Object.entries(app.tour.choices).map(([name, words]) => choice(name, words.map((each) => [each, (app.language === "zh" && CHINESE[`choice.${each}`]) || each]), String)),
    flag("watch_list"), numbers("resync", [0, 1, 5, 10, 30]), numbers("handlers", [1, 2]), numbers("replicas", [1, 2]), flag("events"),
    numbers("workers", [1, 2, 3, 4]), numbers("base_delay", [0.005, 0.1, 1, 5]), flag("words"),
    choice("last", [["", t("none")], ...["reflector", "informer", "handler", "worker", "kubectl"].map((each) => [each, each])], String));
  // A recording, or a program, decides some of them.
  const count = app.tour.switches ?? (switches.length ? switches : null);
  for (const select of $("settings-sheet").querySelectorAll("select")) if (count && !count.includes(select.id.slice(2))) select.closest("label").remove();
  if (source.isExported) await disableOthers($("settings-sheet"), source, scenario, settings, known, t("no-machine"));
}

// The static edition has only the machines that lessons use.
async function disableOthers(sheet, source, scenario, settings, known, why) {
  for (const option of sheet.querySelectorAll("option")) {
    const name = option.parentElement.id.slice(2);
    const other = typeof known[name] === "string" ? option.value : JSON.parse(option.value);
    option.disabled = !(await source.hasMachine(scenario, { ...settings, [name]: other }));
    if (option.disabled) option.title = why;
  }
}
