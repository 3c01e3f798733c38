// Playing: hop after hop at a chosen pace, or by a recording's own times.

import { $ } from "/page/shell.js";
import { app, t } from "/page/state.js";

// Milliseconds from hop to hop. A recording may go by its own times instead: "r10" is ten times as fast.
export const pace = () => ($("speed").value.startsWith("r") ? 0 : Number($("speed").value));

// `to(number, moving)` shows a hop, `reach(number)` runs that far; both report whether there is such a hop.
export function player({ to, reach }) {
  function stop() {
    app.playing = false;
    $("play").textContent = "▶▶";
    $("play").title = t("play");
  }

  // A recording by its own times: hops that are closer than a frame are drawn together, so that the speed is kept.
  async function playByTimes(playing) {
    const time = (at) => app.trace.points[at]?.hop.time ?? 0;
    let [moment, before] = [time(app.at), performance.now()];
    while (app.playing === playing) {
      await new Promise((done) => requestAnimationFrame(done));
      const now_ = performance.now();
      const { value } = $("speed");
      if (!value.startsWith("r")) { app.playing = false; return play(); }
      moment += ((now_ - before) / 1000) * Number(value.slice(1));
      before = now_;
      let number = app.at;
      // Of the hops that are there: to execute more of a long recording takes seconds.
      while (number + 1 < app.trace.points.length && time(number + 1) <= moment) number += 1;
      if (number > app.at) await to(number);
      if (app.playing !== playing) return undefined;
      if (!(await reach(number + 1))) return app.playing === playing ? stop() : undefined;
    }
    return undefined;
  }

  async function play() {
    if (app.playing) return stop();
    const playing = app.playing = {};
    $("play").textContent = "▮▮";
    $("play").title = t("pause");
    if ($("speed").value.startsWith("r")) return playByTimes(playing);
    while (app.playing === playing) {
      const began = performance.now();
      if (!(await to(app.at + 1, true))) return app.playing === playing ? stop() : undefined;
      await reach(app.at + 1);
      if ($("speed").value.startsWith("r")) return playByTimes(playing);
      const pause = Math.max(30, pace());
      while (app.playing === playing && performance.now() - began < pause) await new Promise((done) => setTimeout(done, Math.min(100, pause - (performance.now() - began))));
    }
    return undefined;
  }

  return { play, stop };
}
