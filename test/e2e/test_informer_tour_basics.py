"""Every lesson by the keyboard alone at 360 pixels, in both languages: contrast, names, sizes, no motion, every answer.

A lesson is walked in one theme in English and in the other in Chinese; which one changes from lesson to lesson.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from chinesetexts import SHOWN, english
from programs import ImportedProgram
from tourbrowser import MOMENT, Page

pytestmark = [pytest.mark.shared_server, pytest.mark.takes_turns(6)]

PROGRAM = ImportedProgram("informer-tour")
with PROGRAM:
    LESSONS: Any = PROGRAM.module("lessons").all_()
    CHINESE: Any = PROGRAM.module("chinese")

Json = dict[str, Any]

# Texts with less contrast than WCAG 2.1 demands at level AA: 4.5, and 3 for large ones. What is disabled is exempt.
CONTRAST = """
    const drawn = (color) => {
      const context = (window.contrastContext ??=
        new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true}));
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = color;
      context.fillRect(0, 0, 1, 1);
      return [...context.getImageData(0, 0, 1, 1).data].map((each, at) => (at === 3 ? each / 255 : each));
    };
    const known = (window.contrastColors ??= new Map());
    const parsed = (color) => {
      if (!known.has(color)) known.set(color, drawn(color));
      return [...known.get(color)];
    };
    const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
    const light = (color) => color.slice(0, 3).map((each) => each / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
      .reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0);
    const ratio = (one, other) => {
      const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    };
    const filled = (node) => {
      if (!(node instanceof SVGElement)) return getComputedStyle(node).backgroundColor;
      const rect = node.matches("g")
        && [...node.children].find((each) => each.matches("rect.body, rect:not([class])"));
      return rect ? getComputedStyle(rect).fill : "transparent";
    };
    const once = (compute, found = new Map()) => (node) => {
      if (!found.has(node)) found.set(node, compute(node));
      return found.get(node);
    };
    const behind = once((node) => {
      if (!node) return [255, 255, 255, 1];
      const color = parsed(filled(node));
      return color[3] === 1 ? color : over(color, behind(node.parentElement));
    });
    const opacity = once((node) =>
      (node ? Number(getComputedStyle(node).opacity) * opacity(node.parentElement) : 1));
    const found = [];
    let seen = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode.parentElement;
      const box = node.getBoundingClientRect();
      const left = ":disabled, title, script, noscript, option, select, [hidden], #opening, #tip";
      if (!walker.currentNode.data.trim() || !box.width || node.closest(left)) continue;
      if (!node.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
      seen += 1;
      const style = getComputedStyle(node);
      const below = behind(node);
      const color = parsed(node instanceof SVGElement ? style.fill : style.color);
      color[3] *= opacity(node);
      const size = parseFloat(style.fontSize), isBold = Number(style.fontWeight) >= 700;
      const isLarge = size >= 24 || (size >= 18.66 && isBold);
      const value = ratio(over(color, below), below);
      const name = `${walker.currentNode.data.trim().slice(0, 40)} (${node.tagName}.${node.getAttribute("class")})`;
      if (value < (isLarge ? 3 : 4.5)) found.push(`${value.toFixed(2)} ${name}`);
    }
    return [seen, [...new Set(found)]];
"""

NAMELESS = """
    const name = (each) => each.getAttribute("aria-label") || each.textContent
      || [...(each.labels ?? [])].map((label) => label.textContent).join("") || each.getAttribute("title");
    const elements = ["a[href]", "button", "select", "input", "summary",
      ...["button", "tab", "tabpanel", "group"].map((role) => `[role=${role}]`)].join();
    const used = [...document.querySelectorAll(elements)].filter((each) => !each.closest("[hidden]"));
    const labelled = (each) => (each.getAttribute("aria-labelledby") ?? "").split(" ")
      .some((id) => document.getElementById(id)?.textContent.trim());
    const nameless = used.filter((each) => !name(each)?.trim() && !labelled(each));
    return [used.length, nameless.map((each) => each.outerHTML.slice(0, 120))];
"""


@pytest.fixture
def page(browser: Any, lessons_address: str) -> Iterator[Page]:
    page = Page(browser, lessons_address)
    page.resize(360, 740)
    yield page
    page.reset()
    assert browser.get_log("browser") == []  # no error, no warning


CHECK = f"""(() => {{
    const contrast = () => {{ {CONTRAST} }}, names = () => {{ {NAMELESS} }};
    const running = document.getAnimations().filter((each) => each.playState === "running").length;
    return [document.documentElement.scrollWidth, contrast(), names(), running];
}})()"""

# The parts of a lesson's page that a reader sees after a key, when the page has drawn: one request for all of them.
LOOK = f"""
    const [before, done] = arguments;
    const text = (node) => node?.innerText.trim() ?? null, find = (selector) => document.querySelector(selector);
    const see = () => done({{
      drawn: Number(document.body.dataset.drawn),
      moment: {MOMENT},
      answers: [...document.querySelectorAll(".answer")].map(text),
      why: text(find(".verdict.wrong .why")),
      isWrong: find(".verdict.wrong") !== null,
      isRight: find(".verdict.right") !== null,
      isDone: find("#lesson-done") !== null && find("#next-lesson, .done:not(#lesson-done)") !== null,
      checks: {CHECK},
      shown: document.documentElement.lang === "zh" ? (() => {{ {SHOWN} }})() : [],
    }});
    const look = () => (Number(document.body.dataset.drawn) > before ? see() : setTimeout(look, 5));
    look();
"""
BACK = f"""
    const [times, done] = arguments, found = [];
    const drawn = () => Number(document.body.dataset.drawn);
    for (let time = 0; time < times; time++) {{
      const before = drawn();
      document.querySelector("#lesson-back").click();
      while (drawn() === before) await new Promise((next) => setTimeout(next, 5));
      found.push({MOMENT});
    }}
    done(found);
"""


def check(page: Page) -> None:
    """Check what the page shows now."""
    check_found(page.run(f"return {CHECK}"))


def check_found(found: Any) -> None:
    width, (seen, faint), (used, nameless), running = found
    assert width <= 360
    assert seen > 40 and faint == []
    assert used > 20 and nameless == []
    assert running == 0


class Reader:
    """A reader of a lesson who has only keys."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.sees = self._look(-1)

    def press(self, key: str) -> Json:
        """Press a key, and check what the page then shows."""
        from selenium.webdriver import ActionChains

        ActionChains(self._page.driver).send_keys(key).perform()
        self.sees = self._look(self.sees["drawn"])
        return self.sees

    def _look(self, before: int) -> Json:
        found: Json = self._page.driver.execute_async_script(LOOK, before)
        check_found(found["checks"])
        assert [sentence for text in found["shown"] for sentence in english(text)] == []
        return found

    def tab_to_answer(self, number: int) -> None:
        """Press Tab from the lesson's pane until an answer has the focus; each answer before it has it in turn."""
        from selenium.webdriver import ActionChains, Keys

        # The step before the question has links.
        presses = self._page.run(
            """
            const note = (event) => window.focused.push(event.target.id);
            window.focused = [];
            window.ending?.abort();
            window.ending = new AbortController();
            document.getElementById("pane").focus();
            document.addEventListener("focusin", note, {signal: window.ending.signal});
            const stops = [...document.querySelectorAll("#pane :is(a[href], button, [tabindex='0'])")];
            return stops.findIndex((each) => each.id === `answer-${arguments[0]}`) + 1;
            """,
            number,
        )
        assert 0 < presses <= 30
        ActionChains(self._page.driver).send_keys(Keys.TAB * presses).perform()
        reached = self._page.run("window.ending.abort(); return window.focused")
        assert reached[-1] == f"answer-{number}"
        answers = [each for each in reached if each.startswith("answer-")]
        assert answers == [f"answer-{each}" for each in range(number + 1)], reached

    def back(self, times: int) -> list[Any]:
        """Click Back so many times; return the moments."""
        found: list[Any] = self._page.driver.execute_async_script(
            f"(async (arguments) => {{ {BACK} }})(arguments)", times
        )
        return found


def plain(text: str) -> str:
    return text.replace("`", "").replace("**", "")


def words_of(lesson: Any, language: str) -> list[Json]:
    """Return each step's title and answers in a language."""
    steps: list[Json] = [step.to_dict() for step in lesson.steps]
    if language == "zh":
        for step, words in zip(steps, CHINESE.words_of(lesson)["steps"], strict=True):
            step["title"] = words["title"]
            for answer, other in zip(step["answers"], words.get("answers", []), strict=True):
                answer.update(other)
    return steps


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_is_walked_by_keys_with_right_and_wrong_answers_and_back_again(page, lesson, language):
    """Each step and each open question is legible, and each answer leads to its verdict."""
    page.open(f"{lesson.scenario}?lang={language}")
    is_dark = (lesson.number % 2 == 0) == (language == "en")
    page.run("document.documentElement.dataset.theme = arguments[0]", "dark" if is_dark else "light")
    assert page.run("return matchMedia('(prefers-reduced-motion: reduce)').matches")
    reader = Reader(page)
    given: list[bool] = []
    moments = []
    for number, step in enumerate(words_of(lesson, language)):
        sees = reader.press("\ue007")
        if step["answers"]:
            assert [text.split(" ", 1)[1] for text in sees["answers"]] == [
                plain(each["text"]) for each in step["answers"]
            ]
            right = len(given) % 2 == 1
            chosen = next(at for at, each in enumerate(step["answers"]) if each["right"] == right)
            if (len(given) + lesson.number) % 2:
                sees = reader.press("abcd"[chosen])
            else:
                reader.tab_to_answer(chosen)
                sees = reader.press("\ue007")
            given.append(right)
            assert sees["isRight"] and sees["isWrong"] != right
            assert sees["why"] == (None if right else plain(step["answers"][chosen]["why"]))
        assert sees["answers"] == []
        assert sees["moment"][1] == f"{number + 1}. {plain(step['title'])}"
        moments.append(sees["moment"])
    assert sees["isDone"]
    assert True in given and False in given
    assert page.run("return document.documentElement.lang") == language
    progress = json.loads(page.run("return localStorage.getItem('informer-tour.progress')"))[lesson.name]
    assert (progress["done"], [*progress["answers"].values()]) == (True, given)
    page.shoot(f"{lesson.name}-{language}")
    for tab, part in (("source", ".go"), ("break", "[data-fault]"), ("object", ":is(h3, .quiet)")):
        page.run("document.getElementById(arguments[0]).click()", f"tab-{tab}")
        page.until(f"return document.querySelector('#pane {part}')")
        assert language == "en" or page.english() == []
    page.run("document.getElementById('tab-lesson').click()")
    assert reader.back(len(moments) - 1) == moments[-2::-1]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tab", ["source", "object", "break", "past"])
def test_every_tab_can_be_read(page, tab, theme, language):
    page.open(f"sample-controller?lang={language}&hop=60&tab={tab}")
    page.run("document.documentElement.dataset.theme = arguments[0]", theme)
    part = ".code" if tab == "source" else "*"
    page.until(
        f"return document.getElementById('pane').getAttribute('aria-labelledby') === 'tab-{tab}'"
        f" && document.querySelector('#pane :is({part})')"
    )
    check(page)


def test_each_control_of_the_page_has_the_focus_once_by_the_tab_key(page):
    page.resize(1280, 800)
    page.load("queue?lang=en&hop=12")
    page.run("""
        const describe = (a) => a.id || a.dataset.id || a.className.baseVal || a.className || a.textContent;
        window.isSpoiled = true;
        window.reached = [];
        document.addEventListener("focusin", (event) => window.reached.push([event.target, describe(event.target)]));
    """)
    from selenium.webdriver import ActionChains, Keys

    # Until the focus begins again, behind the page's end.
    again = "return window.reached.slice(1).findIndex(([node]) => node === window.reached[0][0])"
    for _ in range(10):
        ActionChains(page.driver).send_keys(Keys.TAB * 20).perform()
        if (end := page.run(again)) >= 0:
            break
    assert end > 20
    seen, count = page.run(
        "const first = window.reached.slice(0, arguments[0] + 1);"
        "return [first.map(([, name]) => name), new Set(first.map(([node]) => node)).size]",
        end,
    )
    wanted = {"scenario", "again", "copy", "language", "theme", "help", "tab-lesson", "pane", "first", "back", "play"}
    wanted |= {"next", "same", "speed", "time", "bp-station", "bp-kind", "bp-key", "queue", "apiserver", "break/wire"}
    assert wanted <= {*seen} and count == len(seen) < 200


# The centre of what has the focus is visible, or a quarter of it where it is higher than the room between the bars.
VISIBLE = """
    const reached = window.reached, [now, footer] = [document.getElementById("now"), document.querySelector("footer")];
    document.addEventListener("focusin", ({target}) => requestAnimationFrame(() => {
      const {top, bottom, left, width} = target.getBoundingClientRect();
      const low = Math.max(top, now.getBoundingClientRect().bottom);
      const high = Math.min(bottom, footer.getBoundingClientRect().top);
      const there = document.elementFromPoint(left + width / 2, (top + bottom) / 2);
      const isSeen = target.closest("#now, footer") || there?.contains(target) || target.contains(there);
      const isTall = bottom - top > innerHeight / 2 && high - low > 60;
      reached.push([target.id || target.dataset.id || target.textContent.slice(0, 20), Boolean(isSeen || isTall)]);
    }));
"""


@pytest.mark.parametrize("size", [(390, 844), (360, 640), (1000, 440)])
@pytest.mark.parametrize("is_back", [False, True])
def test_no_control_has_the_focus_behind_a_bar_that_stays_in_view(page, size, is_back):
    from selenium.webdriver import ActionChains, Keys

    page.resize(*size)
    page.load("queue?lang=en&hop=30")
    page.run(f"window.isSpoiled = true; window.reached = []; {VISIBLE}")
    for count in range(1, 70):
        tab = ActionChains(page.driver)
        (
            tab.key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT) if is_back else tab.send_keys(Keys.TAB)
        ).perform()
        page.until(f"return window.reached.length >= {count} || document.activeElement === document.body")
        if page.run("return document.activeElement === document.body"):
            break
    reached = page.run("return window.reached")
    assert len({name for name, _ in reached}) > 30
    assert [name for name, is_seen in reached if not is_seen] == []


@pytest.mark.parametrize("size", [(1000, 440), (800, 1100), (390, 844)])
def test_the_picture_of_a_page_of_one_column_is_not_blown_up(page, size):
    page.resize(*size)
    page.load("queue?lang=en&hop=30")
    heights = page.run(
        "return [...document.querySelectorAll('#picture .chip rect')].map((e) => e.getBoundingClientRect().height)"
    )
    assert len(heights) > 5 and min(heights) > 18 and max(heights) < 32


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("how", ["hover", "focus"])
def test_a_shortened_text_is_shown_whole_at_the_pointer_and_the_focus(page, how, language):
    page.resize(1024, 700)
    page.open(f"sample-controller?lang={language}&hop=60")
    page.to(61)
    number = page.run("return document.querySelectorAll('#picture .card [data-full]').length")
    assert number > 2
    shortened = page.run(
        "return [...document.querySelectorAll('#picture text')].filter((each) => each.textContent.includes('…')"
        " && !each.dataset.full && !each.closest('.broke') && !/^(\\+\\d+ )?…$/.test(each.textContent))"
        ".map((each) => each.textContent)"
    )
    assert shortened == []
    for station in page.run(
        "return [...new Set([...document.querySelectorAll('#picture .card > [data-full]')]"
        ".map((each) => each.closest('.card').dataset.station))]"
    ):
        card = f"#picture .card[data-station={station}]"
        if how == "hover":
            event = "new PointerEvent('pointerover', {bubbles: true})"
            page.run(f"document.querySelector('{card} .body').dispatchEvent({event})")
        else:
            page.run(f"document.querySelector('{card}').focus()")
        wanted = page.run(f"return document.querySelector('{card} > [data-full]').dataset.full")
        page.until("return !document.getElementById('tip').hidden")
        assert wanted in page.text("#tip")
        box = page.run("return document.getElementById('tip').getBoundingClientRect()")
        assert box["left"] >= 0 and box["right"] <= 1024 and box["top"] >= 0 and box["bottom"] <= 700
    page.run("document.activeElement.blur()")
    page.key("n")
