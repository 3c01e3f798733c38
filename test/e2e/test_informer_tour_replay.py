"""The page of a recording in Chromium: its sentences, a run that is longer than the page executes, and its speeds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chinesetexts
import pytest
from processes import ROOT
from tourbrowser import Page

from clientgo import context, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.tour import replaypage, stepping

pytestmark = [pytest.mark.shared_server, pytest.mark.takes_turns(4)]

OUTAGE = ROOT / "test" / "unit" / "tour" / "outage.jsonl"


@pytest.fixture
def page(browser: Any) -> Iterator[Page]:
    """Show a recording; the console is empty at the end."""
    with tour.Recording(OUTAGE) as recording, tour.ReplayPage(recording) as served:
        page = Page(browser, served.url)
        page.resize(1280, 800)
        page.open("")
        yield page
        assert browser.get_log("browser") == []
        browser.get("about:blank")


@pytest.mark.parametrize(("language", "words"), [("en", "nothing else can break in it"), ("zh", "不能再制造故障")])
def test_the_page_does_not_offer_to_break_what_has_happened(page, language, words):
    if page.run("return document.documentElement.lang") != language:
        page.click("#language")
    page.key("\ue014")
    page.run("document.getElementById('tab-break').click()")
    page.until("return document.querySelector('#pane h3')")
    text = page.text("#pane")
    assert words in text
    assert "static edition" not in text and "静态版" not in text and not page.has("[data-fault]")


def test_the_last_hop_of_a_run_that_is_longer_than_the_page_executes_is_stated(browser, monkeypatch):
    monkeypatch.setattr(stepping, "MAX_HOPS", 40)
    monkeypatch.setattr(replaypage, "MAX_HOPS", 40)
    with tour.Recording(OUTAGE) as recording, tour.ReplayPage(recording) as served:
        page = Page(browser, served.url)
        page.open("")
        page.key("\ue010")
        assert page.text("#count") == "40 / 40+" and page.run("return document.getElementById('next').disabled")
        assert "Choose a later moment" in page.text("#now-what") and "The end of this run" not in page.text("#now-what")
        page.run("document.getElementById('bp-station').value = 'events'")
        page.run("document.querySelector('#breakpoint button').click()")
        page.until("return !document.getElementById('problem').hidden")
        assert "Choose a later moment" in page.text("#problem")
        browser.get("about:blank")


@pytest.fixture
def long(browser: Any, tmp_path: Path) -> Iterator[Page]:
    """Show a recording of some hundred changes in a second, whose run is executed in several parts."""
    path = tmp_path / "long.jsonl"
    with synctest.bubble() as bubble, tour.record(path):
        source = new_fake_controller_source()
        informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 0.0, {})
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
        thread.start()
        bubble.sleep(0.5)
        for number in range(150):
            source.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name=f"n-{number}", namespace="default")))
            bubble.sleep(0.005)
        cancel()
        thread.join()
        source.shutdown()
    with tour.Recording(path) as recording, tour.ReplayPage(recording) as served:
        page = Page(browser, served.url)
        page.resize(1280, 800)
        page.open("")
        yield page
        assert browser.get_log("browser") == []
        browser.get("about:blank")


def test_a_fast_replay_draws_the_hops_that_are_there_before_it_executes_more(long):
    """To execute the rest of a long recording takes seconds, in which the picture would stand still."""
    page = long
    page.run("""
        window.isSpoiled = true;
        window.asked = [];
        const real = window.fetch;
        window.fetch = (...given) => {
          if (given[0].includes("/api/run")) window.asked.push(document.getElementById("count").textContent);
          return real(...given);
        };
        document.getElementById("speed").value = "r1000";
    """)
    page.click("#play")
    page.until("return document.getElementById('next').disabled")
    asked = [each.removesuffix("+").split(" / ") for each in page.run("return window.asked")]
    assert page.hop > 500 and len(asked) >= 2
    assert [shown for shown, _ in asked] == [there for _, there in asked], "each time the last hop was drawn before"


HOLD_RUNS = """
    window.isSpoiled = true;
    window.asked = [];
    window.held = [];
    const real = window.fetch;
    window.fetch = async (...given) => {
      if (!given[0].includes("/api/run")) return real(...given);
      window.asked.push(JSON.parse(given[1].body).limit);
      await new Promise((done) => window.held.push(done));
      return real(...given);
    };
"""
LET_GO = "for (const each of window.held.splice(0)) each()"
PRESS = "document.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0]}))"
COUNT = "document.getElementById('count').textContent"
BUSY = {"en": "Executing more of the run …", "zh": "正在执行后面的部分……"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_way_to_the_end_is_one_request_and_shows_at_once_that_it_goes_on(long, language):
    page = long
    if page.run("return document.documentElement.lang") != language:
        page.click("#language")
    page.run(HOLD_RUNS)
    page.run(PRESS, "End")
    page.until("return window.held.length")
    said = "document.getElementById('said')"
    assert page.run(f"return [{said}.hidden, {said}.textContent]") == [False, BUSY[language]]
    page.run(PRESS, "End")  # asks for nothing anew
    page.run(LET_GO)
    page.until("return document.getElementById('next').disabled")
    assert page.hop > 500 and page.run("return window.asked") == [stepping.MAX_HOPS]
    assert page.run(f"return [{said}.hidden, {said}.textContent]") == [True, ""]
    page.run("document.getElementById('tab-past').click()")
    page.until("return document.querySelector('#changes')")
    assert "queued" not in page.text("#changes [data-part='handlers.handlers']")


@pytest.mark.parametrize(
    ("language", "labels"), [("en", ["Lists", "Events", "Recorded hops"]), ("zh", ["List 次数", "事件", "录下的步骤"])]
)
def test_the_facts_of_a_recording_are_labelled_alike(page, language, labels):
    if page.run("return document.documentElement.lang") != language:
        page.click("#language")
    page.until("return document.querySelectorAll('#pane .figures tr').length > 7")
    shown = page.run("return [...document.querySelectorAll('#pane .figures:not(.hops) td:first-child')]"
                     ".map((each) => each.textContent)")
    assert shown[-3:] == labels and all(not each[0].islower() for each in shown)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_values_that_changed_are_words_and_keys(long, language):
    """A buffer of many notifications differs in few of them, and those are shown."""
    page = long
    if page.run("return document.documentElement.lang") != language:
        page.click("#language")
    page.key("\ue010")
    page.run("document.getElementById('tab-past').click()")
    page.until("return document.querySelector('#changes')")
    texts = ".map((each) => each.innerText)"
    values = page.run(f"return [...document.querySelectorAll('#changes del, #changes ins')]{texts}")
    assert len(values) > 10 and [each for each in values if any(sign in each for sign in '{}[]"')] == []
    found = [each for text in chinesetexts.shown(page.driver) for each in chinesetexts.problems(text)]
    assert found == [] or language == "en"


MOVES = {
    "Home": "0 / ",
    "ArrowRight": "1 / ",
    "the timeline": "7 / ",
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("first", ["End", "a breakpoint"])
def test_a_later_move_is_not_overridden_by_the_one_before_that_takes_long(long, first, move):
    page = long
    page.run(HOLD_RUNS)
    if first == "End":
        page.run(PRESS, "End")
    else:
        page.run("document.getElementById('bp-station').value = 'events'")
        page.run("document.querySelector('#breakpoint button').click()")
    page.until("return window.held.length")
    if move == "the timeline":
        page.run(
            "const t = document.getElementById('time'); t.value = arguments[0]; t.dispatchEvent(new Event('input'))", 6
        )
    else:
        page.run(PRESS, move)
    page.until(f"return {COUNT}.startsWith('{MOVES[move]}')")
    page.run(LET_GO)
    page.until("return document.getElementById('said').hidden")
    page.until(f"return !{COUNT}.includes('/ 250')")  # what was executed meanwhile is there
    assert page.run(f"return {COUNT}").startswith(MOVES[move])
    assert page.run("return document.getElementById('problem').hidden")
    assert page.run("return window.asked.length") == 1


def test_a_step_behind_the_executed_hops_is_not_made_after_a_later_move(long):
    page = long
    page.to(250)
    page.run(HOLD_RUNS)
    page.run(PRESS, "ArrowRight")
    page.until("return window.held.length")
    page.run(PRESS, "Home")
    page.until(f"return {COUNT}.startsWith('0 / ')")
    page.run(LET_GO)
    page.until("return document.getElementById('said').hidden")
    page.until(f"return !{COUNT}.includes('/ 250')")
    assert page.run(f"return {COUNT}").startswith("0 / ")


@pytest.mark.parametrize("speed", [1, 10])
def test_a_replay_is_never_ahead_of_the_chosen_speed(page, speed):
    found = page.driver.execute_async_script(
        """
        const [speed, done] = arguments, seen = [];
        document.getElementById("speed").value = `r${speed}`;
        const time = () => Number(/\\+([\\d.]+)s/.exec(document.getElementById("now-where").textContent)?.[1] ?? 0);
        const began = performance.now();
        document.getElementById("play").click();
        const look = () => {
          const elapsed = (performance.now() - began) / 1000;
          seen.push([time(), elapsed]);
          if (elapsed < 1.5) return requestAnimationFrame(look);
          document.getElementById("play").click();
          return done(seen);
        };
        look();
        """,
        speed,
    )
    assert len(found) > 3 and [at for at, elapsed in found if at > speed * elapsed + 0.001] == []


HEAD = (
    '{"what":"recording","t":0.0,"format":1,"began":"2026-11-22T18:54:46.749+00:00","program":"a program"}\n'
    '{"what":"source","t":0.0,"source":0,"name":"main.py:7","type":"*v1.ConfigMap"}\n'
    '{"what":"watch","t":0.1,"source":0,"request":0,"options":{"sendInitialEvents":true}}\n'
)


@pytest.mark.parametrize(
    ("language", "damaged", "words", "warning"),
    [
        ("en", 1, "This run has no hop", "1 line cannot be read and is skipped"),
        ("en", 2, "This run has no hop", "2 lines cannot be read and are skipped"),
        ("zh", 1, "这次运行没有步骤", "1 行无法解析，已跳过"),
    ],
)
def test_a_recording_to_which_nothing_came_promises_no_hop(browser, tmp_path, language, damaged, words, warning):
    path = tmp_path / "empty.jsonl"
    path.write_text(HEAD + "{damaged\n" * damaged)
    with tour.Recording(path) as recording, tour.ReplayPage(recording) as served:
        page = Page(browser, served.url)
        page.open("")
        if page.run("return document.documentElement.lang") != language:
            page.click("#language")
        page.until("return document.querySelector('#pane .log')")
        assert page.text("#now-what").startswith(words) and page.text("#now-where") == ""
        assert warning in page.text("#pane").splitlines()
        assert page.run("return ['next', 'back', 'first'].map((each) => document.getElementById(each).disabled)") == [
            True,
            True,
            True,
        ]
        for key in ("\ue010", "\ue014", "\ue011"):
            page.key(key)
            assert page.text("#now-what").startswith(words)
        assert page.english() == [] or language == "en"
        assert browser.get_log("browser") == []
        browser.get("about:blank")
