"""The served page in Chromium: its address, what can be broken by a click, and the way back to a lesson."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from processes import ROOT
from tourbrowser import MOMENT, Page

pytestmark = [pytest.mark.shared_server, pytest.mark.takes_turns(6)]


@pytest.fixture
def page(browser: Any, lessons_address: str) -> Iterator[Page]:
    page = Page(browser, lessons_address)
    page.resize(1280, 800)
    yield page
    page.reset()
    assert browser.get_log("browser") == []  # no error, no warning


def address_has(page: Page, *parts: str) -> None:
    """Wait until the part of the address behind the # contains these."""
    conditions = " && ".join(f"decodeURIComponent(location.hash).includes({part!r})" for part in parts)
    page.until(f"return {conditions}")


def break_at(page: Page, place: str, *, draws: bool = True) -> None:
    script = "document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    before = page.run("return document.body.dataset.drawn")
    page.run(script, f'[data-id="break/{place}"]')
    if draws:
        page.until(f"return document.body.dataset.drawn !== '{before}'")


def state(page: Page) -> tuple[Any, ...]:
    return (page.moment, page.text("#now-what"), page.run("return document.documentElement.lang"), page.text("#pane"))


# ---- the address


def test_the_address_names_the_hop_the_decisions_the_language_and_the_selection_and_a_reload_keeps_them(page):
    page.open("queue?lang=en")
    page.step("#lesson-next")
    page.step("#lesson-next")
    page.to(30)
    break_at(page, "clock")
    page.key("n")
    page.click("#tab-object", draws=False)
    page.click("#language")
    parts = "#queue?", "hop=31", "do=30:fault:clock-jump", "lang=zh", "tab=object", "object=default/", "step=1"
    address_has(page, *parts)
    before = state(page)
    page.driver.refresh()
    page.until("return document.body.dataset.ready === 'true'")
    assert state(page) == before
    page.click("#language")


def test_a_machine_is_in_the_address_and_an_address_opens_it(page):
    page.open("list-and-watch?set=fifo:DeltaFIFO&set=workers:2&set=watch_list:true&set=nothing:1&hop=7")
    assert "DeltaFIFO" in page.picture and page.hop == 7
    chosen = "['fifo', 'workers', 'watch_list'].map((each) => document.getElementById(`s-${each}`).value)"
    values = page.run(f"return {chosen}")
    assert values == ["DeltaFIFO", "2", "true"]
    address_has(page, "set=fifo:DeltaFIFO", "set=workers:2", "hop=7")


@pytest.mark.parametrize(
    ("hash_", "scenario", "hop"),
    [
        ("queue?hop=99999", "queue", None),
        ("queue?hop=x&do=5&do=0:fault:cut&do=%&tab=nothing&step=999&object=no", "queue", 0),
        ("%E0%A4%A?hop=3", None, 3),
        ("nothing?hop=2", None, 2),
    ],
)
def test_what_makes_no_sense_in_an_address_is_left_out(page, hash_, scenario, hop):
    page.open(hash_)
    shown = page.run("return document.getElementById('scenario').value")
    assert scenario in (None, shown)
    assert page.hop == hop if hop is not None else page.hop > 50
    assert page.run("return document.getElementById('problem').hidden")


def test_an_address_with_a_fault_that_is_not_there_opens_the_scenario_without_it(page):
    page.open("queue?lang=en&hop=9&do=7:fault:fire&set=workers:99")
    assert page.hop == 9 and not page.has("#picture .broke")
    page.until("return !document.getElementById('problem').hidden")
    logged = [each["message"] for each in page.driver.get_log("browser")]
    assert all("400" in each for each in logged)  # the browser's own line of a refused request


@pytest.mark.parametrize("tab", ["lesson", "source", "object", "past", "break"])
def test_a_reload_keeps_the_tab(page, tab):
    page.open(f"queue?lang=en&hop=12&tab={tab}")
    assert page.run("return document.querySelector('[aria-selected=true]').id") == f"tab-{tab}"
    page.driver.refresh()
    page.until("return document.body.dataset.ready === 'true'")
    assert page.run("return document.querySelector('[aria-selected=true]').id") == f"tab-{tab}"


def test_a_reload_keeps_the_open_question(page):
    page.open("queue?lang=en")
    page.step("#lesson-next")
    while not page.has("#pane .ask"):
        page.step("#lesson-next")
    address_has(page, "ask=1")
    before = state(page)
    page.driver.refresh()
    page.until("return document.body.dataset.ready === 'true'")
    assert state(page) == before


def test_the_back_button_returns_to_what_was_shown_before(page):
    page.open("queue?hop=20&lang=en")
    pictures = [page.picture]
    page.key("n")
    address_has(page, "hop=21")
    pictures[0] = page.picture  # a hop is no entry of its own
    break_at(page, "wire")
    address_has(page, "do=21:fault:cut")
    pictures.append(page.picture)
    page.choose("scenario", "deltas")
    address_has(page, "#deltas")
    for count, picture in ((1, pictures[1]), (1, pictures[0])):
        for _ in range(count):
            page.run("window.drawnBefore = document.body.dataset.drawn; history.back()")
            page.until("return document.body.dataset.drawn !== window.drawnBefore")
        assert page.picture == picture
    assert page.run("return document.getElementById('scenario').value") == "queue" and page.hop == 21
    page.run("window.drawnBefore = document.body.dataset.drawn; history.forward()")
    page.until("return document.body.dataset.drawn !== window.drawnBefore")
    assert page.picture == pictures[1] != pictures[0]


def test_the_back_button_leads_through_the_steps_of_a_lesson(page):
    page.open("queue?lang=en")
    entries = []
    for _ in range(4):
        page.step("#lesson-next")
        page.until("return location.hash.includes('step=') || document.querySelector('#pane .ask')")
        page.until("return document.body.dataset.running === 'false'")
        page.run("dispatchEvent(new Event('pagehide'))")  # writes the address at once
        entries.append((page.moment, page.run("return location.hash")))
    steps = [each for number, each in enumerate(entries) if each[0].title != entries[number - 1][0].title]
    for expected, address in reversed(steps[:-1]):
        while page.run("return location.hash") != address:
            page.run("window.wentAt = performance.now(); history.back()")
            # The page reads an entry in several draws, and writes its address meanwhile.
            arrived = f"location.hash === {json.dumps(address)}"
            page.until(f"return {arrived} || performance.now() - window.wentAt > 3000")
        # An entry may be drawn more than once.
        page.until(f"const now = {MOMENT}; return {json.dumps(expected)}.every((text, at) => text === now[at])")
        assert page.moment == expected


def test_a_link_to_a_hop_is_copied_without_the_token(page):
    origin = page.address.partition("/?")[0]
    page.driver.execute_cdp_cmd(
        "Browser.grantPermissions", {"origin": origin, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    )
    page.open("queue?hop=12&lang=en")
    page.click("#copy", draws=False)
    page.until("return !document.getElementById('said').hidden")
    copied = page.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert unquote(copied).startswith(f"{origin}/#queue?hop=12") and "token" not in copied
    picture = page.picture
    page.driver.get("about:blank")
    page.driver.get(copied)
    page.until("return document.body.dataset.ready === 'true'")
    assert page.picture == picture


# ---- click to break


def test_a_click_on_the_wire_cuts_it_there_and_one_undo_mends_it(page):
    page.open("list-and-watch?hop=30&lang=en")
    whole = page.picture
    break_at(page, "wire")
    assert page.has("#picture .wire.cut") and "⚡30 cut" in page.text("#picture .broke")
    page.run("document.getElementById('bp-station').value = 'reflector'")
    page.click("#breakpoint button")
    assert page.text("#now-what").startswith("a watch ended") and "⚡30 cut" in page.text("#picture .broke")
    break_at(page, "undo")
    assert page.picture == whole and page.hop == 30
    assert not page.has("#picture .broke") and not page.has("#picture .wire.cut")


@pytest.mark.parametrize(
    ("place", "fault", "hop"),
    [
        ("workers", "kill", None),
        ("workers", "worker-hangs", None),
        ("apiserver", "compact", "the history was forgotten"),
        ("apiserver", "gone", None),
        ("handlers", "handler-blocks", None),
    ],
)
def test_a_place_offers_what_can_break_there_and_shows_it(page, place, fault, hop):
    page.open("list-and-watch?hop=30&lang=en")
    before = page.picture
    break_at(page, place, draws=False)
    page.until("return document.querySelector('#break-menu').matches(':popover-open')")
    assert page.run("return document.activeElement.closest('#break-menu') !== null")
    page.click(f"[data-break={fault}]")
    assert not page.run("return document.querySelector('#break-menu').matches(':popover-open')")
    mark = page.driver.find_element("css selector", "#picture .broke rect").rect
    card = page.driver.find_element("css selector", f"#picture [data-station={place}] rect.body").rect
    assert card["x"] - 40 <= mark["x"] <= card["x"] + card["width"] and abs(mark["y"] - card["y"]) < 30
    if hop:
        page.key("n")
        assert hop in page.text("#now-what")
    page.key("u")
    assert page.picture == before


def test_the_clock_jumps_by_a_click_and_the_undo_key_puts_it_back(page):
    page.open("list-and-watch?hop=30&lang=en")
    before = page.picture
    break_at(page, "clock")
    assert "wall clock +1h" in page.text("#picture .clock")
    from selenium.webdriver import ActionChains, Keys

    drawn = page.run("return document.body.dataset.drawn")
    ActionChains(page.driver).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()
    page.until(f"return document.body.dataset.drawn !== '{drawn}'")
    assert page.picture == before


def test_everything_that_breaks_can_be_reached_by_keys(page):
    page.open("list-and-watch?hop=30&lang=en")
    from selenium.webdriver import ActionChains, Keys

    def press(*keys: str) -> None:
        ActionChains(page.driver).send_keys(*keys).perform()

    breakers = page.run("""
        return [...document.querySelectorAll('#picture .breaker')]
          .map((each) => [each.dataset.id, each.tabIndex, each.getAttribute('role'), each.getAttribute('aria-label')]);
    """)
    places = "wire", "apiserver", "handlers", "workers", "clock"
    assert {each[0] for each in breakers} == {f"break/{place}" for place in places}
    assert all(index == 0 and role == "button" and name for _, index, role, name in breakers)
    page.run("document.querySelector('[data-id=\"break/workers\"]').focus()")
    press(Keys.ENTER)
    page.until("return document.querySelector('#break-menu').matches(':popover-open')")
    press(Keys.ARROW_DOWN)
    assert page.run("return document.activeElement.dataset.break") == "worker-hangs"
    press(Keys.ESCAPE)
    page.until("return !document.querySelector('#break-menu').matches(':popover-open')")
    drawn = page.run("return document.body.dataset.drawn")
    page.run("document.querySelector('[data-id=\"break/wire\"]').focus()")
    press(Keys.ENTER)
    page.until(f"return document.body.dataset.drawn !== '{drawn}'")
    assert page.has("#picture .broke")
    page.run("document.querySelector('[data-id=\"break/undo\"]').focus()")
    press(Keys.ENTER)
    page.until("return !document.querySelector('#picture .broke')")


def test_a_decision_that_leaves_a_lesson_is_shown_with_the_way_back(page):
    page.open("queue?lang=en")
    while not page.text("#pane h3").startswith("3. It is done"):
        page.step("#lesson-next")
    before = page.moment
    assert not page.driver.find_element("css selector", "#strayed").is_displayed()
    break_at(page, "wire")
    assert "next step does not happen" in page.text("#strayed")
    page.key("\ue010")  # End
    page.click("#to-lesson")
    page.until("return document.getElementById('strayed').hidden")
    assert page.moment[:2] == before[:2] and page.picture == before.picture
    page.step("#lesson-next")


def test_a_decision_that_does_not_prevent_the_next_step_is_shown_and_the_lesson_can_continue(page):
    page.open("list-and-watch?lang=en")
    for _ in range(2):
        page.step("#lesson-next")
    break_at(page, "clock")
    assert "describes the unchanged one" in page.text("#strayed")
    title = page.text("#pane h3")
    page.step("#lesson-next")
    while page.has("#pane .ask"):
        page.step("#lesson-next")
    assert page.text("#pane h3") != title and page.has("#to-lesson")


def test_before_the_first_hop_nothing_breaks_and_the_page_says_why(page):
    page.open("list-and-watch?lang=en")
    break_at(page, "wire", draws=False)
    page.until("return document.querySelector('#break-menu').matches(':popover-open')")
    assert "Make a first hop" in page.text("#break-menu")
    from selenium.webdriver import ActionChains, Keys

    ActionChains(page.driver).send_keys(Keys.ESCAPE).perform()
    assert page.hop == 0


# ---- the opening


def first_visit(page: Page) -> None:
    """Open the page as a browser that was never here."""
    page.driver.get("about:blank")
    page.driver.get(page.address)
    page.run("localStorage.clear()")
    page.driver.get("about:blank")
    page.driver.get(page.address)
    page.until("return document.body.dataset.ready === 'true' && !document.getElementById('opening').hidden")


def drawn_words(page: Page) -> str:
    return page.text("#opening-words")


def press(page: Page, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(page.driver).send_keys(*keys).perform()


def test_the_opening_plays_by_itself_once_and_every_hop_has_its_sentence_in_both_languages(page):
    first_visit(page)
    assert page.run("return document.querySelector('main').inert")
    sentences = []
    while True:
        sentences.append(drawn_words(page))
        page.click("#opening-language", draws=False)
        assert drawn_words(page) != sentences[-1] and page.english() == []
        page.click("#opening-language", draws=False)
        if not page.driver.find_element("css selector", "#opening-next").is_enabled():
            break
        press(page, "\ue014")
        page.until(f"return document.getElementById('opening').dataset.hop === '{len(sentences)}'")
    assert len(set(sentences)) == len(sentences) == 12
    press(page, "\ue00c")  # Escape
    page.until("return document.getElementById('opening').hidden")
    assert not page.run("return document.querySelector('main').inert")
    page.driver.get("about:blank")
    page.driver.get(page.address)
    page.until("return document.body.dataset.ready === 'true'")
    assert page.run("return document.getElementById('opening').hidden")
    page.click("#again", draws=False)
    assert drawn_words(page) == sentences[0]
    page.click("#opening-skip", draws=False)


def test_the_opening_takes_about_a_minute_and_goes_from_hop_to_hop_without_a_click(page):
    first_visit(page)
    seconds = page.driver.execute_async_script(
        "const done = arguments[0]; import('/page/opening.js').then((opening) => done(opening.DURATION));"
    )
    assert 50 <= seconds <= 70
    first = drawn_words(page)
    page.until("return document.getElementById('opening').dataset.hop === '1'")
    assert drawn_words(page) != first
    press(page, " ")
    page.until("return document.getElementById('opening-pause').title.startsWith('Play')")
    page.click("#opening-skip", draws=False)


def opacities(page: Page) -> dict[str, float]:
    script = """
        return Object.fromEntries([...document.querySelectorAll("#opening .box")]
          .map((each) => [each.classList[1], Number(getComputedStyle(each).opacity)]));
    """
    return dict(page.run(script))


def test_readers_who_want_no_motion_see_still_pictures(page):
    """The browser of these tests asks for reduced motion."""
    first_visit(page)
    press(page, " ")
    seen = []
    for number in range(12):
        page.until(f"return document.getElementById('opening').dataset.hop === '{number}'")
        shown = opacities(page)
        assert set(shown.values()) <= {0.0, 1.0}, "a box is fading"
        seen.append(sum(shown.values()))
        if number < 11:
            press(page, "\ue014")
    assert seen == sorted(seen) and seen[0] == 1 and seen[-1] == 7
    press(page, "\ue00c")


def test_a_link_to_a_hop_shows_no_opening(page):
    first_visit(page)
    page.run("localStorage.clear()")
    page.open("queue?hop=3")
    assert page.run("return document.getElementById('opening').hidden") and page.hop == 3


def test_the_readmes_picture_is_the_one_that_the_page_makes(page):
    page.open("queue")
    made = page.driver.execute_async_script(
        "const done = arguments[0]; import('/page/opening.js').then((opening) => done(opening.standalone('en')));"
    )
    kept = (ROOT / "cmd" / "informer-tour" / "opening.svg").read_text()
    assert kept == made, "run hack/tour-picture"
    assert len(kept) < 40_000
    assert "cmd/informer-tour/opening.svg" in (ROOT / "README.md").read_text()


# ---- what a pointer and the browser leave behind


def test_the_controls_are_as_they_were_after_the_user_went_elsewhere_and_back(page):
    page.load("queue?lang=en")
    values = "return [...document.querySelectorAll('select, input')].map((each) => [each.id, each.value])"
    before = page.run(values)
    assert ["speed", "800"] in before
    page.driver.get("about:blank")
    page.driver.back()
    page.until("return document.body.dataset.ready === 'true'")
    assert page.run(values) == before


@pytest.mark.parametrize("control", ["#language", "#theme", "#next", "[data-id='break/wire'] circle", "#help"])
def test_after_a_click_by_pointer_the_keys_are_the_pages(page, control):
    from selenium.webdriver import ActionChains, Keys

    page.open("list-and-watch?lang=en&hop=30")
    ActionChains(page.driver).click(page.driver.find_element("css selector", control)).perform()
    if "break" in control:
        page.until("return document.querySelector('#picture .broke')")
    if control == "#help":
        page.until("return document.getElementById('help-dialog').open")
        ActionChains(page.driver).send_keys(Keys.ESCAPE).perform()
        page.until("return !document.getElementById('help-dialog').open")
    shown = """
        const {lang, dataset} = document.documentElement, marks = document.querySelectorAll("#picture .broke");
        const isHelp = document.getElementById("help-dialog").open, [hop] = location.hash.match(/hop=\\d+/);
        return [lang, dataset.theme, marks.length, isHelp, hop];"""
    page.run("dispatchEvent(new Event('pagehide'))")
    before = page.run(shown)
    page.key("\ue007")
    page.run("dispatchEvent(new Event('pagehide'))")
    assert page.run(shown) == before and page.run("return location.hash").endswith("ask=1")


@pytest.mark.parametrize("width", [1400, 390])
def test_the_mark_of_what_broke_covers_no_label(page, width):
    page.resize(width, 844)
    page.open("list-and-watch?hop=30&lang=en")
    break_at(page, "wire")
    covered = page.run("""
        const box = (each) => each.getBoundingClientRect(), mark = box(document.querySelector("#picture .broke rect"));
        const isBehind = ({left, right, top, bottom}) =>
          left < mark.right && right > mark.left && top < mark.bottom && bottom > mark.top;
        return [...document.querySelectorAll("#picture .arrow-label, #picture .label, #picture .name")]
          .filter((each) => each.textContent && isBehind(box(each))).map((each) => each.textContent);""")
    assert covered == []
    page.run("document.querySelector('#picture .undo').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    page.until("return !document.querySelector('#picture .broke')")
    labels = page.run("return [...document.querySelectorAll('#picture .arrow-label')].map((each) => each.textContent)")
    assert "watch" in labels


def test_the_wire_is_drawn_as_cut_until_the_reflector_asks_again(page):
    page.open("list-and-watch?hop=30&lang=en")
    break_at(page, "wire")
    assert page.has("#picture .wire.cut")
    while "a watch is opened" not in page.text("#now-what"):
        assert page.has("#picture .wire.cut") and page.hop < 60
        page.key("n")
    assert not page.has("#picture .wire.cut") and "⚡30 cut" in page.text("#picture .broke")
    page.open("list-and-watch?hop=30&lang=en&do=30:fault:watch-lags")
    assert not page.has("#picture .wire.cut") and "⚡30 each watch event" in page.text("#picture .broke")


@pytest.mark.parametrize("size", [(360, 740), (390, 844), (1024, 700)])
def test_nothing_covers_the_machines_switches(page, size):
    page.resize(*size)
    page.open("queue?lang=en&hop=5")
    page.run("scrollTo(0, 0); document.getElementById('settings').open = true")
    covered = page.run("""
        return [...document.querySelectorAll("#settings-sheet select")].filter((each) => {
          each.scrollIntoView({block: "nearest"});
          const {left, right, top, bottom} = each.getBoundingClientRect();
          if (bottom > document.querySelector("footer").getBoundingClientRect().top) return false;
          return document.elementFromPoint((left + right) / 2, (top + bottom) / 2) !== each;
        }).map((each) => each.id);""")
    page.run("document.getElementById('settings').open = false")
    assert covered == []
