"""The layout of the live tour's page in Chromium, and its message after the program has ended."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import chinesetexts
import pytest
from tourbrowser import PATIENCE, Page

from clientgo import context, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.tour import liveview
from clientgo.util import workqueue

pytestmark = [pytest.mark.shared_server, pytest.mark.takes_turns(6)]

OBJECTS = 50


class First(cache.ResourceEventHandlerFuncs):
    """A handler with a name of its own."""


class Second(cache.ResourceEventHandlerFuncs):
    """Another one."""


@pytest.fixture
def program(browser: Any) -> Iterator[tuple[Page, contextlib.ExitStack]]:
    """Run an informer with 50 objects and a full queue; yield its page, and the stack whose end stops the tour."""
    source = new_fake_controller_source()
    informer = cache.new_shared_index_informer(
        source, corev1.ConfigMap(), 0.0, {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
    )
    informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=lambda obj: None))
    queue: Any = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
    for number in range(OBJECTS):
        source.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name=f"n-{number}", namespace="default")))
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(tour.serve(informer, queue, title="a program"))
        for end in (source.shutdown, queue.shut_down, thread.join, cancel):
            stack.callback(end)
        thread.start()
        for number in range(OBJECTS):
            queue.add(f"default/n-{number}")
        page = Page(browser, served.url)
        page.resize(1280, 800)
        page.open("")
        page.until(
            "return document.querySelector('[data-station=indexer]').getAttribute('aria-label')"
            f".includes('length {OBJECTS}')"
        )
        yield page, stack
        assert browser.get_log("browser") == []
        browser.get("about:blank")  # sends no more requests


def wait_for_pictures(page: Page, count: int = 3) -> None:
    """Wait until the page has drawn this many pictures of the program."""
    page.run("window.before = Number(document.body.dataset.drawn)")
    page.until(f"return Number(document.body.dataset.drawn) >= window.before + {count}")


def test_the_figures_of_an_informer_are_below_their_headings(program):
    page, _ = program
    page.until("return document.querySelector('#informer-0')")
    cells = page.run("""
        const box = (each) => { const {left, right, top, bottom} = each.getBoundingClientRect();
                                return [left, right, top, bottom]; };
        const [head, row] = document.querySelector("#informer-0").closest("table").querySelectorAll("tr");
        return [[...head.children].map(box), [...row.children].map(box)];""")
    headings, figures = cells
    assert len(headings) == len(figures) == 5
    for (left, right, _, above), (first, last, top, _) in zip(headings, figures, strict=True):
        assert first == pytest.approx(left) and last == pytest.approx(right) and top >= above - 1
    assert len({(top, bottom) for _, _, top, bottom in figures}) == 1, "the cells of a row have one height"


@pytest.mark.parametrize("width", [1280, 1024, 360])
def test_no_heading_of_a_table_breaks_inside_of_a_word(program, width):
    page, _ = program
    page.resize(width, 700)
    wait_for_pictures(page)
    broken = page.run("""
        const lines = (node) => {
          const range = document.createRange();
          range.selectNodeContents(node);
          return new Set([...range.getClientRects()].map((each) => Math.round(each.top))).size;
        };
        const headings = [...document.querySelectorAll("#pane .figures th")];
        const broken = headings.filter((each) => lines(each) > each.textContent.split(" ").length);
        return [headings.length, broken.map((each) => each.textContent)];""")
    assert broken == [5, []]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [1280, 360])
def test_every_tab_is_inside_the_panel(program, width, language):
    page, _ = program
    if page.run("return document.documentElement.lang") != language:
        page.click("#language")
    page.resize(width, 800)
    wait_for_pictures(page)
    outside = page.run("""
        const room = document.getElementById("tabs").getBoundingClientRect();
        const tabs = [...document.getElementById("tabs").children];
        return [tabs.length, tabs.filter((each) => { const box = each.getBoundingClientRect();
          return box.left < room.left || box.right > room.right || box.bottom > room.bottom + 1;
        }).map((each) => each.textContent)];""")
    assert outside == [5, []]


@pytest.mark.parametrize("width", [1400, 1024])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_all_tabs_are_in_one_row_on_a_desktop(program, language, width):
    page, _ = program
    if page.run("return document.documentElement.lang") != language:
        page.click("#language")
    page.resize(width, 700)
    wait_for_pictures(page)
    rows = "return [...document.querySelectorAll('#tabs button')].map((each) => each.getBoundingClientRect().top)"
    tops = page.run(rows)
    assert len(tops) == 5 and len(set(tops)) == 1


_SHOWN = """
    const value = (id) => document.getElementById(id).value, chosen = "#tabs [aria-selected=true]";
    return [value("scenario"), value("queue-choice"), document.querySelector(chosen).id, document.documentElement.lang];
"""


def shows(page: Page, *expected: str) -> None:
    """Wait until the page shows this informer, queue, tab and language."""
    script = f"(() => {{ {_SHOWN} }})()"
    page.until(f"return JSON.stringify({script}) === JSON.stringify({list(expected)!r})")


def test_the_address_keeps_the_informer_the_queue_the_tab_and_the_language(browser):
    sources = [new_fake_controller_source() for _ in range(2)]
    kinds = (corev1.ConfigMap(), corev1.Pod())
    informers = [
        cache.new_shared_index_informer(source, kind, 0.0, {}) for source, kind in zip(sources, kinds, strict=True)
    ]
    queues: Any = [workqueue.new_typed(), workqueue.new_typed()]
    with tour.serve(*informers, *queues, title="a program") as served:
        page = Page(browser, served.url)
        page.resize(1280, 800)
        page.open("")
        page.choose("scenario", "1")
        page.choose("queue-choice", "1")
        queues[1].add("default/apple")
        page.until("return document.querySelector('[data-station=queue] .chip')")
        page.run("document.getElementById('language').click()")
        page.run("document.getElementById('tab-past').click()")
        click = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        page.run(f"document.querySelector('[data-station=queue] .chip').{click}")
        page.until("return document.getElementById('tab-object').getAttribute('aria-selected') === 'true'")
        page.run("document.getElementById('tab-past').click()")
        expected = ("1", "1", "tab-past", str(page.run("return document.documentElement.lang")))
        shows(page, *expected)
        page.until("return document.querySelector('#pane .chain')")
        page.until("return location.hash.includes('of=default/apple')")
        address = page.run("return location.href")
        page.driver.refresh()
        page.until("return document.body.dataset.ready === 'true'")
        shows(page, *expected)
        page.until("return document.querySelector('#pane .chain')")
        assert "apple · " in page.text("#pane h3")
        assert page.run("return location.href") == address
        page.run("document.getElementById('tab-break').click()")
        shows(page, "1", "1", "tab-break", expected[3])
        page.choose("scenario", "0")
        shows(page, "0", "1", "tab-break", expected[3])
        page.until("return !location.hash.includes('informer=')")
        page.driver.back()
        shows(page, "1", "1", "tab-break", expected[3])
        page.driver.back()
        shows(page, *expected)
        page.driver.forward()
        shows(page, "1", "1", "tab-break", expected[3])
        page.load("live?informer=x&queue=99999&lang=fr&tab=nothing&station=none&object=none")
        shows(page, "0", "0", "tab-lesson", expected[3])
        page.load("live?queue=7&tab=object&key=default/none")
        page.until("return document.getElementById('tab-object').getAttribute('aria-selected') === 'true'")
        page.run("localStorage.clear()")
        assert browser.get_log("browser") == []
        browser.get("about:blank")
    for queue in queues:
        queue.shut_down()
    for source in sources:
        source.shutdown()


def test_the_number_of_hidden_keys_is_inside_its_card(program):
    page, _ = program
    seen = 0
    for height in range(640, 1000, 12):  # a card's last row has another height each time
        page.resize(1280, height)
        wait_for_pictures(page, 2)
        numbers = page.run("""
            const box = (each) => { const {x, y, width, height} = each.getBBox();
                                    return [x, y, x + width, y + height]; };
            return [...document.querySelectorAll("#picture .card text.empty")]
              .filter((each) => /^\\+\\d/.test(each.textContent))
              .map((each) => [each.textContent, box(each), box(each.closest(".card").querySelector(".body")),
                [...each.closest(".card").querySelectorAll(".chip rect")].map(box)]);""")
        seen += len(numbers)
        for text, (left, top, right, bottom), card, chips in numbers:
            assert bottom <= card[3] - 2 and right <= card[2], (height, text)
            for chip in chips:
                is_beside = left >= chip[2] or right <= chip[0]
                assert is_beside or top + (bottom - top) / 4 >= chip[3], (height, text, chip)
    assert seen > 30


@pytest.mark.parametrize(
    ("language", "message"), [("en", "The program does not answer any more."), ("zh", "程序没有响应。")]
)
def test_after_its_end_the_program_is_not_said_to_run_on(program, language, message):
    page, stack = program
    if page.run("return document.documentElement.lang") != language:
        page.click("#language")
    page.click("#tab-break", draws=False)
    page.until("return document.getElementById('detach')")
    page.run("document.getElementById('detach').click()")
    page.until("return !document.getElementById('detach')")
    detached = page.text("#now-what")
    assert detached == page.text("#pane") != message
    stack.close()
    page.until(f"return document.getElementById('now-what').textContent === {message!r}")
    page.until(f"return document.getElementById('pane').textContent === {message!r}")
    logged = [each["message"] for each in page.driver.get_log("browser")]
    assert all("ERR_CONNECTION_REFUSED" in each or "ERR_EMPTY_RESPONSE" in each for each in logged)


def test_a_program_that_is_stopped_is_not_said_to_run_on(program, monkeypatch):
    page, _ = program
    look, goes_on = liveview.LiveView.look, threading.Event()

    def wait_and_look(*given: Any) -> Any:
        goes_on.wait(PATIENCE)
        return look(*given)

    assert page.has("#now-where .live")
    monkeypatch.setattr(liveview.LiveView, "look", wait_and_look)
    page.until("return document.getElementById('now-what').textContent.startsWith('The program has not answered')")
    assert not page.has("#now-where .live")
    goes_on.set()
    page.until("return document.getElementById('now-what').textContent.startsWith('What this program does')")
    assert page.has("#now-where .live")


def test_an_error_of_the_tour_is_shown_as_such_and_the_program_is_still_observed(program, monkeypatch):
    page, _ = program
    look, failures = liveview.LiveView.look, iter([1, 2])

    def fail_twice(*given: Any) -> Any:
        if next(failures, None):
            raise RuntimeError("a bug of the tour")
        return look(*given)

    monkeypatch.setattr(liveview.LiveView, "look", fail_twice)
    page.until("return document.getElementById('problem').textContent.includes('the tour failed')")
    shown = page.run("return document.getElementById('problem').textContent")
    assert "a bug of the tour" in shown and "does not answer" not in shown
    assert page.has("#now-where .live")
    wait_for_pictures(page, 4)
    page.until("return document.getElementById('problem').hidden")
    logged = [each["message"] for each in page.driver.get_log("browser")]
    assert len(logged) == 4 and all("500" in each or "a bug of the tour" in each for each in logged), logged


@pytest.mark.parametrize("size", [(1280, 800), (1024, 700)])
def test_a_full_buffer_hides_neither_the_name_nor_the_pause_of_another_handler(browser, size):
    source = new_fake_controller_source()
    informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 0.0, {})
    for handler in (First(), Second()):
        informer.add_event_handler(handler)
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
    with tour.serve(informer, title="a program") as served:
        page = Page(browser, served.url)
        page.resize(*size)
        page.open("")
        thread.start()
        page.click("#tab-break", draws=False)
        for name in ("First", "Second"):
            button = f"[data-handler$={name}]"
            page.until(f"return document.querySelector('{button}')")
            page.run(f"document.querySelector('{button}').click()")
            page.until(f"return document.querySelector('{button}[aria-pressed=true]')")
        for number in range(OBJECTS):
            source.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name=f"n-{number}", namespace="default")))
        card = "document.querySelector('[data-station=handlers]')"
        indexer = "document.querySelector('[data-station=indexer]')"
        page.until(f"return {indexer}.getAttribute('aria-label').includes('length {OBJECTS}')")
        wait_for_pictures(page)
        shown = page.run(f"return [...{card}.querySelectorAll('text.text')].map((each) => each.textContent)")
        assert shown == ["First", "paused", "Second", "paused"]
        counts = f"[...{card}.querySelectorAll('text.empty')].map((each) => parseInt(each.textContent) || 0)"
        chips = f"{card}.querySelectorAll('.chip').length"
        assert page.run(f"return {chips} + {counts}.reduce((sum, each) => sum + each)") == 2 * OBJECTS
        assert page.run(f"return {chips}") >= 2
        assert browser.get_log("browser") == []
        browser.get("about:blank")
        cancel()
        thread.join()
    source.shutdown()


def test_a_program_that_does_not_answer_is_no_error_of_the_tab_that_asks_about_the_past(program):
    page, _ = program
    page.run("document.getElementById('tab-past').click()")
    page.until("return document.querySelector('#changes')")
    page.run("""
        window.isSpoiled = true;
        window.asked = 0;
        window.complaints = new Set();
        const problem = document.getElementById("problem");
        const note = () => window.complaints.add(problem.textContent);
        new MutationObserver(note).observe(problem, {childList: true});
        window.fetch = (path) => {
          window.asked += String(path).includes("/api/past");
          return Promise.reject(new TypeError("Failed to fetch"));
        };""")
    click = "document.getElementById('tab-past').click()"
    page.until(f"{click}; return window.asked > 1 && window.complaints.size")
    assert page.run("return [...window.complaints]") == ["The program does not answer any more."]
    # The fixture looks for errors in the console.


def test_a_look_that_is_answered_behind_the_detaching_leaves_the_picture(program):
    page, _ = program
    page.run("""
        const plain = window.fetch;
        window.looks = [];
        window.fetch = async (path, ...rest) => {
          if (!path.startsWith("/api/live")) return plain(path, ...rest);
          await new Promise((done) => window.looks.push(done));
          return plain(path, ...rest);
        };""")
    page.until("return window.looks.length")
    page.run("document.getElementById('tab-break').click()")
    page.until("return document.getElementById('detach')")
    page.run("document.getElementById('detach').click()")
    page.until("return document.getElementById('now-what').textContent.startsWith('The tour has detached')")
    drawn = page.run("return Number(document.body.dataset.drawn)")
    page.run("for (const done of window.looks) done()")
    page.until(f"return Number(document.body.dataset.drawn) > {drawn}")
    assert page.run("return document.querySelectorAll('#picture .chip').length") > 10


@pytest.mark.parametrize(
    ("language", "text"), [("en", "so it has no picture of the program"), ("zh", "所以没有程序的画面")]
)
def test_a_page_that_is_opened_behind_the_end_of_the_tour_shows_no_state_and_says_so(program, language, text):
    page, _ = program
    if page.run("return document.documentElement.lang") != language:
        page.click("#language")
    page.run("document.getElementById('tab-break').click()")
    page.until("return document.getElementById('detach')")
    page.run("document.getElementById('detach').click()")
    page.until("return !document.querySelector('#now-where .live')")
    assert page.run("return document.querySelectorAll('#picture .chip').length") > 10, "the last picture stays"
    assert text not in page.text("#now-what") and text not in page.text("#pane")
    assert page.run("return [...document.querySelectorAll('header select')].map((each) => each.disabled)") == [True] * 2
    assert page.text("footer") == "" and not page.has("#informer-0"), "the last picture cannot be another one"
    page.driver.refresh()
    page.until("return document.body.dataset.ready === 'true'")
    page.until(f"return document.getElementById('now-what').textContent.includes({text!r})")
    assert page.text("#now-more") == "", "nothing is shown, so not all is"
    assert [page.text(f"#{name}") for name in ("scenario", "queue-choice")] == ["", ""] and page.text("footer") == ""
    assert page.run("return document.querySelectorAll('#picture .chip').length") == 0
    assert not page.has("#now-where .live")
    for tab in ("break", "past", "object", "source", "lesson"):
        page.run(f"document.getElementById('tab-{tab}').click()")
        page.until(f"return document.getElementById('tab-{tab}').getAttribute('aria-selected') === 'true'")
        if tab == "past":
            page.until("return document.querySelector('#pane > .quiet')")
            assert "： " not in page.text("#pane"), "behind a full-width colon stands no space"
            assert text in page.text("#pane"), "there is no key to click"
        if tab == "break":
            assert page.text("#pane") == page.text("#now-what")
    assert page.has("#pane .hops")
    assert page.english() == [] or language == "en"
    page.run("localStorage.clear()")


def test_every_text_has_the_punctuation_of_chinese(program):
    """Also what screen readers say of a card."""
    page, _ = program
    page.run("document.getElementById('language').click()")
    page.until("return document.documentElement.lang === 'zh'")
    for tab in ("break", "past", "object", "source", "lesson"):
        page.run(f"document.getElementById('tab-{tab}').click()")
        wait_for_pictures(page)
        assert [found for text in chinesetexts.shown(page.driver) for found in chinesetexts.problems(text)] == []
    page.run("document.getElementById('language').click()")


@pytest.mark.parametrize(("tab", "path"), [("past", "/api/past"), ("source", "/api/source")])
def test_while_a_tab_waits_for_its_answer_it_does_not_show_another_one(program, tab, path):
    page, _ = program
    page.run(
        """
        const plain = window.fetch;
        window.isSpoiled = true;
        window.waiting = [];
        window.fetch = async (path, ...rest) => {
          if (path.startsWith(arguments[0])) await new Promise((done) => window.waiting.push(done));
          return plain(path, ...rest);
        };""",
        path,
    )
    page.run("document.getElementById('tab-break').click()")
    page.until("return document.getElementById('detach')")
    page.run(f"document.getElementById('tab-{tab}').click()")
    page.until("return window.waiting.length")
    assert page.text("#pane") == ""
    page.run("for (const done of window.waiting.splice(0)) done()")
    page.until("return document.getElementById('pane').innerText")


def test_after_a_click_by_pointer_space_stops_the_picture(program):
    from selenium.webdriver import ActionChains

    page, _ = program
    page.click("#language", draws=False)
    page.until("return document.documentElement.lang === 'zh'")
    ActionChains(page.driver).send_keys(" ").perform()
    page.until("return document.getElementById('now-what').textContent.startsWith('画面已暂停')")
    page.run("document.getElementById('language').click()")


def test_a_tab_that_is_left_and_opened_again_at_once_is_shown(program):
    """Also while the picture stands still, and nothing is drawn again by itself."""
    page, _ = program
    page.key(" ")
    for tab, part in (("past", "#changes"), ("object", ".quiet"), ("past", "#changes"), ("lesson", ".hops")):
        page.run(f"document.getElementById('tab-{tab}').click()")
        page.until(f"return document.querySelector('#pane > {part}, #pane > * > {part}')")
    page.key(" ")


def test_the_past_of_a_pending_notification_stays_its_own_behind_a_resync(browser):
    source = new_fake_controller_source()
    informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 1.0, {})
    informer.add_event_handler(First())
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
    with tour.serve(informer, title="a program") as served:
        page = Page(browser, served.url)
        page.resize(1280, 800)
        page.open("")
        thread.start()
        page.click("#tab-break", draws=False)
        page.until("return document.querySelector('[data-handler]')")
        page.run("document.querySelector('[data-handler]').click()")
        page.until("return document.querySelector('[data-handler][aria-pressed=true]')")
        for name in ("first", "apple"):  # the handler waits in its call about the first one
            source.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="default")))
            page.until(f"""return document.querySelector("[data-station=handlers] [data-key='default/{name}']")""")
        chips = ".chip[data-part='handlers.pending'][data-key='default/apple']"
        page.until(f'return document.querySelectorAll("{chips}").length >= 1')
        click = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        page.run(f'document.querySelector("{chips}").{click}')
        page.run("document.getElementById('tab-past').click()")
        page.until("return document.getElementById('chain')")
        chain = page.text("#chain")
        assert chain.startswith("FIFO") and "everything known is queued once more" not in chain
        before = page.run(f'return document.querySelectorAll("{chips}").length')
        page.until(f'return document.querySelectorAll("{chips}").length > {before}')
        page.run("window.table = document.getElementById('changes')")
        page.until("return document.getElementById('changes') !== window.table")  # asked again
        assert page.text("#chain") == chain
        page.driver.refresh()
        page.until("return document.body.dataset.ready === 'true' && document.getElementById('chain')")
        assert page.text("#chain") == chain, "the address says which notification"
        assert browser.get_log("browser") == []
        browser.get("about:blank")
        cancel()
        thread.join()
    source.shutdown()
