"""The lessons in Chromium: questions, figures, links, progress; and queries about the past.

The page's figures.js and past.js compute what figures.py and past.py do: both are compared here.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from programs import ImportedProgram
from tourbrowser import PATIENCE, Page

from clientgo import tour
from clientgo.tour import figures, past
from clientgo.util import workqueue

pytestmark = [pytest.mark.shared_server, pytest.mark.takes_turns(6)]

PROGRAM = ImportedProgram("informer-tour")
with PROGRAM:
    EVERY: Any = PROGRAM.module("lessons").all_()
SCENARIOS = ["queue", "fifos", "events", "sample-controller"]


@pytest.fixture
def page(browser: Any, lessons_address: str) -> Iterator[Page]:
    page = Page(browser, lessons_address)
    page.resize(1280, 800)
    yield page
    page.reset()
    assert browser.get_log("browser") == []  # no error, no warning


def ask(page: Page, path: str, body: Any = None) -> Any:
    """Return the server's response, without a browser."""
    address, _, token = page.address.partition("/?token=")
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(address + path, data, headers), timeout=PATIENCE) as response:
        return json.load(response)


def computed(page: Page, module: str, expression: str, *arguments: Any) -> Any:
    """Return the value of an expression with a module's exports as `m` and the arguments as `a`."""
    script = f"""
        const done = arguments[arguments.length - 1], a = [...arguments];
        import("/page/{module}").then((m) => done({expression}), (error) => done(String(error)));"""
    return page.driver.execute_async_script(script, *arguments)


# ---- questions


def test_a_question_is_answered_by_a_click_on_the_place_in_the_picture(page):
    page.open("queue?lang=en")
    for _ in range(2):
        page.step("#lesson-next")
    assert page.has(".part.candidate[data-part='queue.processing']") and not page.has(".verdict")
    page.run(
        "document.querySelector(\".part[data-part='queue.processing']\")"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    page.until("return document.querySelector('.verdict.right')")
    assert page.text("#pane h3") == "2. A worker takes it" and not page.has(".verdict.wrong")
    assert not page.has(".candidate")
    # Without a question the same click shows the station's source.
    page.run(
        "document.querySelector(\".part[data-part='queue.processing']\")"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    page.until("return document.getElementById('tab-source').getAttribute('aria-selected') === 'true'")


def test_a_station_answers_by_the_keyboard_too(page):
    page.open("indexer?lang=en")
    page.step("#lesson-next")
    page.step("#answer-1")
    page.step("#lesson-next")
    page.run("document.querySelector('.card[data-station=apiserver]').focus()")
    page.key("\ue007")
    assert "thousands of requests" in page.text(".verdict.wrong .why")


def test_the_hops_run_between_the_question_and_its_answer(page):
    motion = {"features": [{"name": "prefers-reduced-motion", "value": "no-preference"}]}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", motion)
    try:
        page.open("queue?lang=en")
        for _ in range(2):
            page.step("#lesson-next")
        before = page.hop
        page.run("""
            window.isSpoiled = true;
            window.seen = [];
            new MutationObserver(() => window.seen.push(parseInt(document.getElementById("count").textContent)))
              .observe(document.getElementById("count"), {childList: true, characterData: true, subtree: true});
            document.getElementById("answer-2").click();""")
        page.until("return document.querySelector('.verdict')")
        seen = page.run("return window.seen")
        assert seen == sorted(seen) and len({*seen}) > 2 and before < seen[0]
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


# ---- progress and the next lesson


def test_progress_is_kept_and_the_end_leads_to_the_next_lesson(page):
    page.open("queue?lang=en")
    assert "Lesson 3 / 17" in page.text("#lesson-facts") and "minutes" in page.text("#lesson-facts")
    while not page.has("#lesson-done"):
        page.step("#lesson-next")
    option = "return document.querySelector('#scenario option[value=queue]').textContent"
    page.until(f"return (() => {{ {option} }})().endsWith('✓')")
    assert page.text("#next-lesson") == "Next lesson: 4. Rate limiting and backoff"
    page.step("#next-lesson")
    assert page.text("#pane h3") == "4. Rate limiting and backoff"
    page.load("queue?lang=en")
    assert page.run(option) == "3. The work queue's three sets ✓"
    assert page.text("#lesson-facts .before").endswith("done")


@pytest.mark.parametrize("kept", ["not JSON", "[]", '{"03-queue": 7}', '{"03-queue": {"step": 2}}'])
def test_a_progress_that_another_page_kept_does_no_harm(page, kept):
    page.open("queue?lang=en")
    page.run("localStorage.setItem('informer-tour.progress', arguments[0])", kept)
    page.load("queue?lang=en")
    page.step("#lesson-next")
    assert page.text("#pane h3").startswith("1.")


# ---- figures and links


def test_a_paragraph_about_the_three_sets_shows_them_at_the_hop(page):
    page.open("queue?lang=en")
    page.step("#lesson-next")

    def sets() -> list[str]:
        return [each.text for each in page.driver.find_elements("css selector", "#pane .figure dd")]

    assert sets() == ["apple", "apple", "–"]
    while page.text("#pane h3") != "4. The object changes while a worker processes it":
        page.step("#lesson-next")
    assert sets() == ["–", "apple", "apple"]
    page.key("\ue012")  # one hop back: the figure is that hop's
    assert sets() == ["–", "–", "apple"]


def test_a_claim_about_go_links_to_its_public_source_next_to_ours(page):
    page.open("queue?lang=en")
    page.step("#lesson-next")
    link = page.driver.find_element("css selector", "#pane .claims a")
    address = link.get_attribute("href")
    assert address.startswith("https://github.com/kubernetes/client-go/blob/v0.36.0/util/workqueue/queue.go#L")
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert page.text("#pane .claims") == "Go: (*Typed).Add · here: Typed.add"


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_page_draws_the_same_figures_as_the_terminal(page, scenario):
    page.open("queue")
    run = ask(page, "/api/run", {"scenario": scenario, "limit": 400})
    state: dict[str, Any] = {}
    for number, point in enumerate(run["points"]):
        state = {**state, **point["changed"]}
        if number % 10:
            continue
        expression = "Object.fromEntries(a[1].map((part) => [part, m.contents(a[0], part).map(([text]) => text)]))"
        drawn = computed(page, "figures.js", expression, state, [*figures.PARTS])
        assert drawn == {part: figures.figure(state, part) for part in figures.PARTS}


# ---- the past

_NOTICE = ("key", "version", "queued")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_page_knows_the_same_past_as_the_terminal(page, scenario):
    page.open("queue")
    run = ask(page, "/api/run", {"scenario": scenario, "limit": 400})
    hops = [point["hop"] for point in run["points"]]
    states: list[dict[str, Any]] = []
    for point in run["points"]:
        states.append({**(states[-1] if states else {}), **point["changed"]})
    at = len(hops) - 1
    keys = sorted({hop["key"] for hop in hops})
    asked = [(place, key) for place in past.PLACES for key in keys]
    expression = "a[1].map(([place, key]) => m.chain(a[0], a[2], place, key).map((link) => [link.at, link.key]))"
    found = computed(page, "past.js", expression, hops, asked, at)
    assert found == [[list(link) for link in past.chain(hops, at, place, key)] for place, key in asked]
    notified = [
        (number, f"handlers.{part}", {"handler": view["name"], **{name: each[name] for name in _NOTICE}})
        for number, state in enumerate(states)
        for view in state.get("handlers", {}).get("handlers", [])
        for part in ("pending", "taken")
        for each in view[part]
    ]
    expression = (
        "a[1].map(([at, place, options]) => m.chain(a[0], at, place, options.key, options)"
        ".map((link) => [link.at, link.key]))"
    )
    found = computed(page, "past.js", expression, hops, notified)
    assert notified and found == [
        [list(link) for link in past.chain(hops, number, place, **about)] for number, place, about in notified
    ]
    parts = dict(past.fields(states[at]))
    expression = "a[1].map((part) => m.lastChange(a[0], a[2], part)?.at ?? null)"
    changes = [past.last_change(states, at, part) for part in parts]
    assert computed(page, "past.js", expression, states, [*parts], at) == [
        None if change is None else change.at for change in changes
    ]


def test_the_page_knows_the_past_of_a_merged_notification_as_the_terminal(page):
    """It has the time of the first one, and the version of the last."""

    def hop(kind: str, version: str, queued: float, handler: str = "first") -> dict[str, Any]:
        about = {"key": "default/apple", "version": version, "thread": "informer", "merged": []}
        return {"station": "handlers", "kind": kind, **about, "more": {"handler": handler, "queued": queued}}

    def asked(place: str, version: str, queued: float) -> tuple[str, dict[str, Any]]:
        return place, {"handler": "first", "key": "default/apple", "version": version, "queued": queued}

    buffered = [("1", 1.0, "second"), ("1", 1.0), ("2", 2.0), ("3", 3.0, "second"), ("3", 3.0), ("3", 4.0)]
    hops = [*(hop("buffered", *each) for each in buffered), hop("called", "3", 1.0)]
    about = [("handlers.pending", "3", 1.0), ("handlers.pending", "3", 4.0), ("handlers.pending", "3", 0.5)]
    questions = [asked(*each) for each in (*about, ("handlers.delivering", "3", 1.0))]
    expected = [past.chain(hops, len(hops) - 1, place, **options) for place, options in questions]
    assert [[link.at for link in links] for links in expected] == [[4], [5], [], [4, 6]]
    page.open("queue")
    expression = (
        "a[1].map(([place, options]) => m.chain(a[0], a[0].length - 1, place, options.key, options)"
        ".map((link) => [link.at, link.key]))"
    )
    found = computed(page, "past.js", expression, hops, questions)
    assert found == [[list(link) for link in links] for links in expected]


def test_the_chain_of_a_key_is_shown_and_leads_to_its_hops(page):
    page.open("queue?lang=en")
    page.to(60)
    page.click("#tab-past", draws=False)
    page.run(
        "document.querySelector(\".chip[data-part='queue.processing']\")"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    page.click("#tab-past", draws=False)
    page.until("return document.getElementById('chain')")
    rows = [each.text for each in page.driver.find_elements("css selector", "#chain li")]
    assert rows[0].startswith("API server") and rows[-1].startswith("Work queue") and len(rows) == 9
    first = page.driver.find_element("css selector", "#chain [data-hop]").get_attribute("data-hop")
    page.step("#chain [data-hop]")
    assert page.hop == int(first) + 1
    page.to(60)
    changed = page.driver.find_element("css selector", "#changes [data-part='queue.processing'] [data-hop]")
    assert changed.text == "hop 60"
    page.shoot("past")


def test_the_past_of_a_live_program_is_told_within_what_was_kept(browser):
    queue: Any = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
    with tour.serve(queue, title="a program") as served:
        queue.add("default/apple")
        queue.get()
        queue.add("default/apple")
        page = Page(browser, served.url)
        page.resize(1280, 800)
        page.open("")
        page.until("return document.querySelector(\".chip[data-part='queue.dirty']\")")
        page.run(
            "document.querySelector(\".chip[data-part='queue.dirty']\")"
            ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        )
        page.until("return document.getElementById('tab-object').getAttribute('aria-selected') === 'true'")
        page.run("document.getElementById('tab-past').click()")
        page.until("return document.getElementById('chain')")
        assert "it will be queued again" in page.text("#chain") and page.has("#changes")
        page.run("document.getElementById('tab-object').click()")  # the pane that was shown before
        page.until("return !document.getElementById('chain') && document.querySelector('#pane .quiet')")
        browser.get("about:blank")
        queue.shut_down()
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("at", ["queue?hop=60", "sample-controller?hop=60", "election?hop=80", "events?hop=60"])
def test_at_1024_by_700_no_label_of_a_station_is_cut_off(page, at, language):
    """Labels, names of stations and of Go's types, and the lines of the reflector and the FIFO."""
    page.resize(1024, 700)
    page.open(f"{at}&lang={language}")
    script = """
        const lines = ["reflector", "fifo"].map((each) => `#picture [data-station=${each}] :is(.text, .soft)`).join();
        const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        const bolts = [...document.querySelectorAll("#picture .breaker:not(.wire, .clock) circle")];
        const found = [...document.querySelectorAll(`#picture :is(.label, .name, .go-name), ${lines}`)];
        return [found.length, found.filter((each) => {
          const box = each.getBBox(), card = each.closest(".card").querySelector(".body").getBBox();
          const place = each.getBoundingClientRect();
          return each.textContent.includes("…") || box.x + box.width > card.x + card.width
            || bolts.some((bolt) => overlaps(place, bolt.getBoundingClientRect()));
        }).map((each) => each.textContent)];"""
    count, cut = page.run(script)
    assert count > 20 and cut == []
    page.shoot(f"labels-{language}")


# ---- the branches of answers


BRANCHES = [
    pytest.param(lesson, number, which, id=f"{lesson.name}-{number + 1}-{which}")
    for lesson in EVERY
    for number, step in enumerate(lesson.steps)
    for which, answer in enumerate(step.answers)
    if answer.branch is not None
]


def answer(page: Page, lesson: Any, number: int, which: int, language: str = "en") -> None:
    """Give an answer to the question before a step."""
    page.open(f"{lesson.scenario}?lang={language}")
    for step in lesson.steps[:number]:
        page.step("#lesson-next")
        if step.ask:
            page.step(f"#answer-{next(at for at, each in enumerate(step.answers) if each.is_right)}")
    page.step("#lesson-next")
    page.step(f"#answer-{which}")


@pytest.mark.parametrize(("lesson", "number", "which"), BRANCHES)
def test_a_wrong_answer_leads_to_a_run_in_which_it_is_right_and_back(page, lesson, number, which):
    answer(page, lesson, number, which)
    before, about = page.moment, page.text("#now-more")
    page.click("#to-branch")
    branch = lesson.steps[number].answers[which].branch
    hop = page.driver.find_element("css selector", "#now-where .pill").get_attribute("data-station")
    assert hop == branch.station and (page.picture, page.text("#now-more")) != (before.picture, about)
    assert page.text("#strayed").startswith("In this run your answer is right.")
    for field, value in branch.machine.items():
        chosen = page.run("return document.getElementById(arguments[0]).value", f"s-{field}")
        assert chosen == (str(value).lower() if isinstance(value, bool) else str(value))
    assert page.has("#picture .broke") == bool(branch.fault)
    page.run("dispatchEvent(new Event('pagehide'))")  # writes the address at once
    there = page.picture
    page.driver.refresh()
    page.until("return document.body.dataset.ready === 'true'")
    assert page.picture == there and page.text("#strayed").startswith("In this run")
    page.click("#to-lesson")
    page.until("return document.getElementById('strayed').hidden")
    assert page.moment == before


@pytest.mark.parametrize("has_fault", [False, True])
def test_what_breaks_in_the_run_of_an_answer_can_be_undone_and_the_lesson_is_a_click_away(page, has_fault):
    (lesson, number, which) = next(
        param.values
        for param in BRANCHES
        if bool(param.values[0].steps[param.values[1]].answers[param.values[2]].branch.fault) == has_fault
    )
    answer(page, lesson, number, which)
    before = page.moment
    page.click("#to-branch")
    there, own = page.picture, page.run("return document.querySelectorAll('#picture .broke').length")
    break_ = "document.querySelector('[data-id=\"break/clock\"]').dispatchEvent(new MouseEvent('click'))"
    for is_again in (False, True):
        drawn = page.run("return document.body.dataset.drawn")
        page.run(break_)
        page.until(f"return document.body.dataset.drawn !== '{drawn}'")
        assert page.run("return document.querySelectorAll('#picture .broke').length") == own + 1
        assert "your answer is right" not in page.text("#strayed") and page.has("#to-lesson")
        if is_again:
            break
        page.key("u")
        assert page.picture == there and page.text("#strayed").startswith("In this run your answer is right.")
    page.run("dispatchEvent(new Event('pagehide'))")  # writes the address at once
    page.driver.refresh()
    page.until("return document.body.dataset.ready === 'true'")
    assert "your answer is right" not in page.text("#strayed")
    page.click("#to-lesson")
    page.until("return document.getElementById('strayed').hidden")
    # The reload has forgotten which answer was given.
    assert page.moment == before and not page.has("#picture .broke")


def test_without_its_fault_the_run_of_an_answer_is_the_lessons_own(page):
    (lesson, number, which) = next(
        param.values
        for param in BRANCHES
        if param.values[0].steps[param.values[1]].answers[param.values[2]].branch.fault
    )
    answer(page, lesson, number, which)
    page.click("#to-branch")
    assert page.has("#picture .broke")
    page.key("u")
    assert page.run("return document.getElementById('strayed').hidden") and not page.has("#picture .broke")


def test_enter_leads_from_a_branch_to_the_next_step_of_the_lesson(page):
    lesson, number, which = next(param.values for param in BRANCHES if param.id.startswith("01-"))
    answer(page, lesson, number, which, "zh")
    page.click("#to-branch")
    assert page.english() == []
    page.key("\ue007")
    page.until(f"return document.querySelector('#pane h3').textContent.startsWith('{number + 2}.')")
    assert page.driver.find_element("css selector", "#strayed").get_attribute("hidden") and page.english() == []


def test_the_picture_marks_the_place_of_the_answer_and_the_right_one(page):
    page.open("queue?lang=en")
    for _ in range(2):
        page.step("#lesson-next")
    page.step("#answer-0")
    marked = {
        kind: page.driver.find_element("css selector", f"#picture .{kind}").get_attribute("data-part")
        for kind in ("was-right", "was-wrong")
    }
    assert marked == {"was-right": "queue.processing", "was-wrong": "queue.order"}
    page.key("n")
    assert not page.has("#picture .was-right, #picture .was-wrong")
