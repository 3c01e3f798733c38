"""The informer tour as a process, and its page in a real browser: Chromium, driven by Selenium."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from chinesetexts import shown
from livequeues import QUEUES
from processes import ROOT
from tourbrowser import PATIENCE, Page

from clientgo import context, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.tour import liveview, past

pytestmark = [pytest.mark.shared_server, pytest.mark.takes_turns(6)]


def test_the_program_prints_its_address_and_answers_there(lessons_address):
    with urllib.request.urlopen(lessons_address, timeout=PATIENCE) as response:
        assert b"The informer tour" in response.read()


@pytest.fixture
def page(browser: Any, lessons_address: str) -> Iterator[Page]:
    page = Page(browser, lessons_address)
    page.resize(1280, 800)
    yield page
    page.reset()
    assert browser.get_log("browser") == []  # no error, no warning


def test_hops_go_forwards_and_backwards_by_keys_and_clicks(page):
    page.open("queue")
    pictures = [page.picture]
    for number in range(12):
        page.key("\ue014") if number % 2 else page.click("#next")
        pictures.append(page.picture)
    assert page.hop == 12
    for picture in reversed(pictures[:-1]):
        page.key("\ue012")
        assert page.picture == picture
    page.key("\ue010")  # End
    assert not page.driver.find_element("css selector", "#next").is_enabled()
    page.key("\ue011")  # Home
    assert page.hop == 0 and not page.driver.find_element("css selector", "#back").is_enabled()


def test_a_picture_that_followed_hop_by_hop_is_the_one_that_is_drawn_anew(page):
    """Unchanged elements stay in the page, so that their marks must be set and removed in place."""
    drawn = "return document.getElementById('picture').innerHTML + document.getElementById('ticks').innerHTML"
    page.open("queue")
    followed = []
    for _ in range(12):
        page.key("n")
        followed.append(page.run(drawn))
    assert any(" mine" in each for each in followed)
    page.open("queue")
    for hop, picture in reversed([*enumerate(followed, 1)]):
        page.to(hop)
        assert page.run(drawn) == picture


def test_a_breakpoint_is_run_to_and_its_source_shown_with_the_lines_that_ran(page):
    page.open("queue")
    page.run("""
        const station = document.getElementById("bp-station");
        station.value = "queue";
        station.dispatchEvent(new Event("change"));
        document.getElementById("bp-kind").value = "duplicate";
    """)
    page.click("#breakpoint button")
    assert "the key waits already" in page.text("#now-what")
    page.click("#tab-source", draws=False)
    page.until("return document.querySelector('#pane .ran')")
    assert "self._queue.touch(item)" not in "".join(
        each.text for each in page.driver.find_elements("css selector", "#pane .ran")
    )  # it is being processed, too
    assert "(*Typed).Add" in page.text("#pane .go") and "util/workqueue/queue.go" in page.text("#pane .go")
    page.shoot("source")


def test_an_object_is_shown_with_what_changed(page):
    page.open("queue")
    page.to(26)
    chip = "document.querySelector('[data-station=apiserver] .chip')"
    page.run(f"{chip}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    page.until("return document.querySelector('#pane .diff ins')")
    assert '"AN APPLE"' in page.text("#pane .diff")
    page.shoot("object")


def test_something_breaks_and_another_thread_goes_on(page):
    page.open("list-and-watch")
    for _ in range(20):
        page.key("n")
    before = page.stations
    page.click("#tab-break", draws=False)
    page.click("[data-fault=cut]")
    assert (page.hop, page.stations) == (20, before)
    page.until("return document.querySelector('#undo')")
    decisions = "[...document.querySelectorAll('#pane .list p.log')].map((each) => each.textContent)"
    assert page.run(f"return {decisions}") == [f"hop 20: {tour.FAULTS['cut'].title}"]
    page.key("n")
    page.run("document.querySelector('#bp-station').value = 'reflector'")
    page.click("#breakpoint button")
    page.until("return document.querySelector('#pane').textContent.length > 0")
    page.click("#undo")
    thread = page.driver.find_elements("css selector", "[data-thread]")
    if thread:
        page.click("[data-thread]")
        assert page.has("#undo")
    page.shoot("break")


def test_the_sample_controller_is_seen_at_the_line_it_is_at_and_recovers_from_a_fault(page):
    page.open("sample-controller")
    page.run("""
        const set = (id, value) => {
          const field = document.getElementById(id);
          field.value = value;
          field.dispatchEvent(new Event("change"));
        };
        set("bp-station", "apiserver");
        set("bp-key", "default/example-nginx");
    """)
    page.click("#breakpoint button")
    assert "example-nginx" in page.text("[data-station=apiserver]")
    assert "client.create" in page.text("[data-station=workers]").replace("\n", "")
    # The number is that of the line whose text is shown, not of the function's line that called it.
    lines = (ROOT / "cmd" / "sample-controller" / "controller.py").read_text().splitlines()
    (reached,) = page.run("""
        return [...document.querySelectorAll("[data-station=workers] text.soft")].map((each) => each.textContent)
          .filter((each) => /^\\d+: /.test(each));""")
    number, text = reached.split(": ")
    assert lines[int(number) - 1].strip().startswith(text)
    page.run("document.querySelector('[data-station=workers]').dispatchEvent(new MouseEvent('click'))")
    page.until("return document.querySelector('#pane .ran')")
    assert "_get_or_create_deployment" in page.text("#pane .ran")
    assert "cmd/sample-controller/controller.py" in page.text("#pane .go")
    page.shoot("sample-worker")
    stations = page.stations
    page.click("#tab-break", draws=False)
    page.click("[data-fault=writes-fail]")
    assert page.stations == stations
    page.run("""
        document.getElementById("bp-station").value = "workers";
        document.getElementById("bp-station").dispatchEvent(new Event("change"));
        document.getElementById("bp-key").value = "";
        document.getElementById("bp-kind").value = "error";
    """)
    page.click("#breakpoint button")
    assert "the tour refused this request" in page.text("#now-more")
    page.shoot("sample-fault")
    page.key("\ue010")  # End
    page.to(60)
    page.shoot("sample-middle")
    assert not page.has("#s-events") and page.has("#s-limiter")  # it always records events
    page.resize(390, 844)
    page.to(61)
    assert page.run("return document.documentElement.scrollWidth") <= 390
    page.shoot("sample-phone")


def test_the_machine_can_be_another_one(page):
    page.open("list-and-watch")
    page.click("#settings summary", draws=False)
    page.choose("s-fifo", "DeltaFIFO")
    for _ in range(6):
        page.key("n")
    assert "DeltaFIFO" in page.picture


def test_it_speaks_chinese_and_is_dark_when_asked_and_remembers_both(page):
    page.open("queue")
    page.click("#language")
    page.click("#theme", draws=False)
    theme = page.run("return document.documentElement.dataset.theme")
    for _ in range(12):
        page.key("n")
    assert "工作队列" in page.picture and page.run("return document.documentElement.lang") == "zh"
    page.shoot("chinese-dark")
    page.open("queue")
    assert page.run("return [document.documentElement.lang, document.documentElement.dataset.theme]") == ["zh", theme]
    page.click("#theme", draws=False)
    page.click("#language")


def test_switching_the_language_in_the_middle_of_a_lesson_switches_all_of_it(page):
    page.open("queue")
    for _ in range(5):
        page.key("\ue007")
    assert page.text("#pane h3").startswith("3.") and page.has("#pane .ask")
    there, before = page.hop, shown(page.driver)
    assert page.english()
    page.click("#language")
    assert page.english() == []
    assert page.hop == there and page.text("#pane h3") == "3. 处理完毕" and "两秒" in page.text("#pane .ask")
    page.click("#lesson-next")
    assert page.text("#pane h3") == "4. 处理期间，对象又发生变化"
    assert page.english() == []
    page.shoot("chinese-lesson")
    page.click("#lesson-back")
    page.click("#lesson-next")
    page.click("#language")
    assert (page.hop, shown(page.driver)) == (there, before)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1024, 768), (390, 844)])
def test_it_fits_the_screen(page, width, height):
    page.resize(width, height)
    page.open("handlers")
    page.to(81)
    assert page.run("return document.documentElement.scrollWidth") <= width
    smallest = page.run(
        "return Math.min(...[...document.querySelectorAll('#picture text')].filter((each) => each.textContent)"
        ".map((each) => each.getBoundingClientRect().height))"
    )
    assert smallest >= 10
    page.shoot(f"{width}x{height}")


def test_everything_that_can_be_used_has_a_name_and_can_be_reached_by_keys(page):
    page.open("queue")
    for _ in range(12):
        page.key("n")
    nameless = page.run("""
        const name = (each) =>
          each.getAttribute("aria-label") || each.textContent || each.closest("label")?.textContent;
        return [...document.querySelectorAll("button, select, input, summary, [role=button], [role=tab]")]
          .filter((each) => !name(each)?.trim()).map((each) => each.outerHTML);
    """)
    assert nameless == []
    buttons = "[...document.querySelectorAll('#picture [role=button]')]"
    assert page.run(f"return {buttons}.length > 7 && {buttons}.every((each) => each.tabIndex === 0)")
    page.run("document.querySelector('[data-station=queue]').focus()")
    from selenium.webdriver import ActionChains

    ActionChains(page.driver).send_keys("\ue007").perform()
    page.until("return document.getElementById('tab-source').getAttribute('aria-selected') === 'true'")


def test_help_has_the_words_of_the_texts(page):
    page.open("queue")
    from selenium.webdriver import ActionChains

    ActionChains(page.driver).send_keys("?").perform()
    page.until("return document.getElementById('help-dialog').open")
    assert "waitingForAdd" in page.text("#help-dialog") and "DeletedFinalStateUnknown" in page.text("#help-dialog")
    page.shoot("help")
    ActionChains(page.driver).send_keys("\ue00c").perform()
    page.until("return !document.getElementById('help-dialog').open")


def test_a_program_is_shown_live_and_a_handler_paused_by_a_click(browser):
    source = new_fake_controller_source()
    informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 0.0, {})
    texts: list[str] = []
    informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=lambda obj: texts.append(obj.get_name())))
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)

    def add(name: str) -> None:
        source.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="default")))

    with tour.serve(informer, title="a program") as served:
        thread.start()
        page = Page(browser, served.url)
        page.resize(1280, 800)
        page.open("")
        add("apple")
        page.until("return document.getElementById('picture').textContent.includes('apple')")
        page.until("return document.getElementById('pane').textContent.includes('handlers.called')")
        page.until("const n = Number(document.body.dataset.drawn); window.before ??= n; return n > window.before + 5")
        asked = "return performance.getEntriesByType('resource').some((each) => /after=[1-9]/.test(each.name))"
        assert page.run(asked)  # for what has changed
        page.click("#tab-break", draws=False)
        page.until("return document.querySelector('[data-handler]')")
        page.click("[data-handler]")
        page.until("return document.querySelector('[data-handler][aria-pressed=true]')")
        add("bread")
        page.until("return document.querySelector('[data-station=handlers]').textContent.includes('add bread')")
        page.shoot("live")
        assert texts == ["apple"]
        page.click("[data-handler]")
        page.until("return document.querySelector('[data-handler][aria-pressed=false]')")
        page.until("return !document.querySelector('[data-station=handlers]').textContent.includes('add bread')")
        assert texts == ["apple", "bread"]
        page.click("#language")
        for tab in ("lesson", "source", "object", "break"):
            page.click(f"#tab-{tab}", draws=False)
            assert page.english() == []
        assert browser.get_log("browser") == []
        browser.get("about:blank")  # asks no more
        cancel()
        thread.join()
    source.shutdown()


def test_the_suggested_keys_step_while_the_focus_is_in_the_list_of_lessons(page):
    page.open("queue")
    page.run("document.getElementById('scenario').focus()")
    page.key("\ue014")
    page.key("\ue014")
    assert page.hop == 2 and page.run("return document.getElementById('scenario').value") == "queue"
    page.key("\ue007")
    assert page.text("#pane h3").startswith("1.")


def test_a_list_chosen_from_by_pointer_gives_the_focus_back(page):
    page.open("queue")
    page.run("""
        const select = document.getElementById("scenario");
        select.focus();
        select.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true}));
        select.value = "deltas";
        select.dispatchEvent(new Event("change", {bubbles: true}));
    """)
    assert page.run("return document.activeElement.id") == "pane"


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (1024, 700), (390, 844)])
def test_the_step_counter_overlaps_no_part_of_the_timeline(page, width, height):
    page.resize(width, height)
    page.open("queue")
    page.to(12)
    overlaps = page.run("""
        const box = (id) => document.getElementById(id).getBoundingClientRect();
        const count = box("count");
        return ["ticks", "time"].filter((id) => {
          const other = box(id);
          return other.left < count.right && count.left < other.right && other.top < count.bottom
            && count.top < other.bottom;
        });
    """)
    assert overlaps == []


@pytest.mark.parametrize("size", [(390, 844), (844, 390)])
def test_on_a_phone_each_step_of_a_lesson_stays_in_view(page, size):
    page.resize(*size)
    page.open("queue")
    for _ in range(6):
        page.step("#lesson-next")
        page.until("""
            const now = document.getElementById("now").getBoundingClientRect();
            const footer = document.querySelector("footer").getBoundingClientRect();
            const title = document.querySelector("#pane h3").getBoundingClientRect();
            return title.top >= now.bottom && title.bottom <= footer.top;
        """)
    assert page.text("#pane h3")[0].isdigit()


def test_a_break_shows_in_the_headline_and_enter_continues_the_lesson(page):
    page.open("list-and-watch")
    for _ in range(3):
        page.key("\ue007")
    page.until("return document.body.dataset.running === 'false'")
    step, before = page.text("#pane h3"), page.text("#now-what")
    page.click("#tab-break", draws=False)
    page.click("[data-fault=restart]")
    assert "Breaks behind this hop" in page.text("#now-what") and before in page.text("#now-what")
    page.run("document.getElementById('tab-lesson').focus(); document.getElementById('tab-lesson').click()")
    assert page.text("#pane h3") == step
    for _ in range(3):  # the tab has the focus: Enter is the lesson's all the same
        page.key("\ue007")
    assert page.text("#pane h3") != step or page.text("#lesson-next").startswith("Forget all decisions")


@pytest.fixture
def prefer(page):
    """Return a function that sets the reader's preference about motion."""

    def set_preference(value: str) -> None:
        media = {"features": [{"name": "prefers-reduced-motion", "value": value}]}
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)

    yield set_preference
    set_preference("reduce")


_SLOW = """
    const plain = window.fetch, waiting = [];
    window.fetch = async (path, ...rest) => {
      if (path === "/api/run") await new Promise((done) => waiting.push(done));
      return plain(path, ...rest);
    };
    window.answer = () => { window.fetch = plain; for (const done of waiting) done(); };
"""


@pytest.fixture
def slow(page):
    """Return a function after which the server executes no run until the page calls `answer()`."""
    yield lambda: page.run(_SLOW)
    page.run("window.isSpoiled = true")


def press_enter_twice(page: Page) -> None:
    from selenium.webdriver import ActionChains

    page.run("window.presses = 0; document.addEventListener('keydown', () => { window.presses += 1; }, true)")
    ActionChains(page.driver).send_keys("\ue007\ue007").perform()
    page.until("return window.presses >= 2")


def test_presses_while_a_lesson_is_on_its_way_are_for_that_lesson(page, slow):
    page.open("deltas")
    page.step("#lesson-next")
    wanted = page.step("#lesson-next")
    page.open("queue")
    slow()
    page.run("const s = document.getElementById('scenario'); s.value = 'deltas'; s.dispatchEvent(new Event('change'))")
    before = page.moment
    press_enter_twice(page)
    assert page.moment == before, "the lesson that is still shown does not go on"
    page.run("window.answer()")
    page.until("return document.querySelector('#pane h3').textContent.startsWith('1. ')")
    page.until(f"return document.getElementById('count').textContent.startsWith('{wanted.hop} ')")
    assert page.moment == wanted


def test_a_second_press_while_the_server_executes_a_step_is_for_the_step_behind(page, slow):
    page.open("fifos")
    while not (page.text("#pane h3").startswith("5. ") and page.has("#pane .ask")):
        page.step("#lesson-next")
    slow()
    press_enter_twice(page)
    page.run("window.answer()")
    page.until("return document.querySelector('#pane h3').textContent.startsWith('7. ')")
    assert page.text("#problem") == ""


def test_a_break_during_the_run_to_an_answer_ends_the_run(page, prefer):
    page.open("list-and-watch")
    for _ in range(9):
        page.step("#lesson-next")
    assert page.run("return Boolean(document.querySelector('#pane .ask'))")
    prefer("no-preference")
    page.run("document.getElementById('lesson-next').click()")
    page.until("return document.body.dataset.running === 'true'")
    page.run("document.getElementById('tab-break').click()")
    page.run("document.querySelector('#pane [data-fault=restart]').click()")
    page.until("return document.body.dataset.running === 'false'")

    prefer("reduce")
    page.until("return location.hash.includes('fault:restart')")
    page.run("document.getElementById('tab-lesson').click()")
    page.key("\ue007")


def test_a_recording_played_faster_draws_hops_of_one_frame_together(browser):
    with (
        tour.Recording(ROOT / "test" / "unit" / "tour" / "outage.jsonl") as recording,
        tour.ReplayPage(recording) as served,
    ):
        page = Page(browser, served.url)
        page.resize(1280, 800)
        page.open("")
        page.run("document.getElementById('speed').value = 'r1000'")
        before = page.run("return Number(document.body.dataset.drawn)")
        page.click("#play")
        page.until("return document.getElementById('next').disabled")
        drawn = page.run("return Number(document.body.dataset.drawn)") - before
        assert drawn < page.hop / 2
        browser.get("about:blank")


def test_a_paused_handler_with_a_full_buffer_shows_that_it_is_paused_and_counts_what_is_hidden(browser):
    source = new_fake_controller_source()
    informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 0.0, {})
    informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=lambda obj: None))
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
    with tour.serve(informer, title="a program") as served:
        page = Page(browser, served.url)
        page.resize(1024, 700)
        thread.start()
        page.open("")
        page.click("#tab-break", draws=False)
        page.until("return document.querySelector('[data-handler]')")
        page.run("document.querySelector('[data-handler]').click()")
        page.until("return document.querySelector('[data-handler][aria-pressed=true]')")
        for number in range(50):
            source.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name=f"n-{number}", namespace="default")))
        card = "document.querySelector('[data-station=indexer]')"
        page.until(f"return {card}.getAttribute('aria-label').includes('length 50')")
        page.run("window.before = Number(document.body.dataset.drawn)")
        page.until("return Number(document.body.dataset.drawn) > window.before + 2")
        # Its function's name has that word too.
        warned = "[...document.querySelectorAll('[data-station=handlers] text.bad')].map((each) => each.textContent)"
        assert page.run(f"return {warned}") == ["paused"]
        chips, texts = page.run(f"""
            return [{card}.querySelectorAll(".chip").length,
              [...{card}.querySelectorAll("text.empty")].map((each) => each.textContent)];
        """)
        hidden = [int(text.removesuffix(" …")) for text in texts if text.startswith("+")]
        assert chips + sum(hidden) == 50
        browser.get("about:blank")
        cancel()
        thread.join()
    source.shutdown()


def test_closing_the_page_ends_its_pauses_and_detach_ends_the_tour(browser):
    source = new_fake_controller_source()
    informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 0.0, {})
    called = threading.Event()
    informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=lambda obj: called.set()))
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
    with tour.serve(informer, title="a program") as served:
        thread.start()
        page = Page(browser, served.url)
        page.resize(1280, 800)
        page.open("")
        page.click("#tab-break", draws=False)
        page.until("return document.querySelector('[data-handler]')")
        page.click("[data-handler]")
        page.until("return document.querySelector('[data-handler][aria-pressed=true]')")
        source.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name="apple", namespace="default")))
        browser.get("about:blank")
        assert called.wait(PATIENCE)
        page.open("")
        page.click("#tab-break", draws=False)
        page.until("return document.getElementById('detach')")
        page.run("document.getElementById('detach').click()")
        page.until("return document.getElementById('now-what').textContent.startsWith('The tour has detached')")
        assert served.live.is_detached()
        assert browser.get_log("browser") == []
        browser.get("about:blank")
        cancel()
        thread.join()
    source.shutdown()


def test_a_view_that_cannot_be_drawn_is_shown_as_such_and_the_program_is_still_observed(browser, monkeypatch):
    monkeypatch.setattr(liveview, "check_views", lambda views: None)
    paint = liveview.LiveView._queue
    monkeypatch.setattr(liveview.LiveView, "_queue", lambda *of: {**paint(*of), "priorities": None})
    queue = QUEUES["plain"]()
    with tour.serve(queue, title="a program") as served:
        page = Page(browser, served.url)
        page.resize(1280, 800)
        queue.add("a")
        page.open("")
        text = page.run("return document.querySelector('[data-station=queue]').textContent")
        assert "cannot be drawn" in text and "queue.priorities is no" in text
        page.run("window.before = Number(document.body.dataset.drawn)")
        page.until("return Number(document.body.dataset.drawn) > window.before + 3")
        assert "does not answer" not in page.text("#problem")
        logged = [each["message"] for each in browser.get_log("browser")]
        assert logged and all("the tour cannot draw queue" in message for message in logged)
        browser.get("about:blank")
    queue.shut_down()


def test_the_past_of_a_replayed_key_leads_back_to_its_line_of_the_watch(browser):
    with (
        tour.Recording(ROOT / "test" / "unit" / "tour" / "outage.jsonl") as recording,
        tour.ReplayPage(recording) as served,
    ):
        trace = tour.replay(recording, recording.sources[0])
        hops = [point.hop.to_dict() for point in trace.points]
        links = past.chain(hops, len(hops) - 1, "indexer.objects", "default/bread")
        assert hops[links[0].at]["station"] == "reflector" and len(links) > 2
        page = Page(browser, served.url)
        page.resize(1280, 800)
        page.open("")
        page.key("\ue010")  # End
        chip = "document.querySelector('[data-station=indexer] .chip[data-key=\"default/bread\"]')"
        page.run(f"{chip}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        page.click("#tab-past", draws=False)
        page.until("return document.getElementById('chain')")
        numbers = "[...document.querySelectorAll('#chain [data-hop]')].map((each) => Number(each.dataset.hop))"
        assert page.run(f"return {numbers}") == [link.at for link in links]
        states = [trace.state(hop["number"]) for hop in hops]
        change = past.last_change(states, len(states) - 1, "indexer.objects")
        row = "#changes [data-part='indexer.objects'] [data-hop]"
        assert change is not None and page.text(row) == f"hop {change.at + 1}"
        page.click(row)
        assert page.hop == change.at + 1
        page.click("#language")
        assert page.english() == []
        page.click("#language")
        # The recorded server is known by the lines of its watch alone.
        page.key("\ue010")
        chip = "[...document.querySelectorAll('[data-station=apiserver] .chip')].at(-1)"
        page.run(f"{chip}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        page.click("#tab-past", draws=False)
        page.until("return document.getElementById('chain')")
        reference = page.run(f"return {chip}.dataset.ref")
        (line,) = past.chain(
            hops,
            len(hops) - 1,
            "apiserver.history",
            reference.partition("@")[0],
            version=reference.partition("@")[2],
        )
        assert hops[line.at]["kind"] == "line" and page.run(f"return {numbers}") == [line.at]
        assert browser.get_log("browser") == []
        browser.get("about:blank")


def test_a_recording_is_replayed_from_any_moment(browser):
    with (
        tour.Recording(ROOT / "test" / "unit" / "tour" / "outage.jsonl") as recording,
        tour.ReplayPage(recording) as served,
    ):
        page = Page(browser, served.url)
        page.resize(1280, 800)
        page.open("")
        pictures = [page.picture]
        for number in range(16):
            page.key("\ue014") if number % 2 else page.click("#next")
            pictures.append(page.picture)
        for picture in reversed(pictures[:-1]):
            page.key("\ue012")
            assert page.picture == picture
        page.run("document.querySelector('#bp-station').value = 'reflector'")
        page.run("document.querySelector('#bp-station').dispatchEvent(new Event('change'))")
        page.run("document.querySelector('#bp-kind').value = 'backoff'")
        page.click("#breakpoint button")
        assert "it waits before it tries again" in page.text("#now-what")
        page.until("return document.querySelector('#recorded').textContent.includes('reflector.ended')")
        page.shoot("replay")
        moment = "const m = document.getElementById('moment'); m.value = 15; m.dispatchEvent(new Event('change'))"
        page.run(moment)
        page.until("return document.getElementById('count').textContent.startsWith('0 ')")
        page.until("return document.getElementById('moment').value === '15'")
        page.key("\ue010")  # End
        assert "bread" in page.text("[data-station=indexer]") and "apple" not in page.text("[data-station=indexer]")
        page.run("document.getElementById('speed').value = 'r1000'")
        page.key("\ue011")  # Home
        page.click("#play")
        page.until("return document.getElementById('next').disabled")
        page.click("#language")
        assert page.english() == []
        assert browser.get_log("browser") == []
        browser.get("about:blank")
