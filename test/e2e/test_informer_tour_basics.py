"""Every lesson by the keyboard alone at 360 pixels, in both languages: contrast, names, sizes, and no motion unasked.

A lesson is walked in one theme in English and in the other in Chinese; which one changes from lesson to lesson.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from programs import ImportedProgram
from tourbrowser import Page, serving

pytestmark = pytest.mark.shared_server

PROGRAM = ImportedProgram("informer-tour")
with PROGRAM:
    LESSONS: Any = PROGRAM.module("lessons").all_()

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
    const behind = (node) => {
      const layers = [];
      for (let each = node; each; each = each.parentElement) {
        const color = parsed(filled(each));
        if (color[3]) layers.push(color);
        if (color[3] === 1) break;
      }
      return layers.reverse().reduce((below, color) => over(color, below), [255, 255, 255, 1]);
    };
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
      let color = parsed(node instanceof SVGElement ? style.fill : style.color);
      for (let each = node; each; each = each.parentElement) color[3] *= Number(getComputedStyle(each).opacity);
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


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Page]:
    page = Page(browser, address)
    page.resize(360, 740)
    yield page
    page.run("localStorage.clear()")
    assert browser.get_log("browser") == []  # no error, no warning


def check(page: Page) -> None:
    """Check what the page shows now."""
    width, (seen, found), (used, nameless), running = page.run(f"""
        const running = document.getAnimations().filter((each) => each.playState === "running").length;
        const contrast = () => {{ {CONTRAST} }}, names = () => {{ {NAMELESS} }};
        return [document.documentElement.scrollWidth, contrast(), names(), running];""")
    assert width <= 360
    assert seen > 40 and found == []
    assert used > 20 and nameless == []
    assert running == 0


def tab_to_answer(page: Page, number: int) -> None:
    """Press Tab from the lesson's pane until an answer has the focus; each answer before it has it in turn."""
    from selenium.webdriver import ActionChains, Keys

    page.run("document.getElementById('pane').focus()")
    reached: list[str] = []
    for _ in range(30):  # the step before the question has links
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        reached.append(page.run("return document.activeElement.id"))
        if reached[-1] == f"answer-{number}":
            break
    answers = [each for each in reached if each.startswith("answer-")]
    assert answers == [f"answer-{each}" for each in range(number + 1)], reached


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_step_of_a_lesson_can_be_read_and_reached_by_keys(page, lesson, language):
    page.open(f"{lesson.scenario}?lang={language}")
    is_dark = (lesson.number % 2 == 0) == (language == "en")
    page.run("document.documentElement.dataset.theme = arguments[0]", "dark" if is_dark else "light")
    assert page.run("return matchMedia('(prefers-reduced-motion: reduce)').matches")
    check(page)
    given = 0
    for number, step in enumerate(lesson.steps):
        page.key("\ue007")
        if step.ask:
            check(page)
            right = given % 2 == 1
            chosen = next(at for at, each in enumerate(step.answers) if each.is_right == right)
            if (given + lesson.number) % 2:
                page.key("abcd"[chosen])
            else:
                tab_to_answer(page, chosen)
                page.key("\ue007")
            assert page.has(".verdict.wrong") != right
            given += 1
        assert page.text("#pane h3").startswith(f"{number + 1}.")
        check(page)
        assert language == "en" or page.english() == []
    assert given > 1 and page.has("#lesson-done")
    assert page.run("return document.documentElement.lang") == language


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
    page.open("queue?lang=en&hop=12")
    page.run("document.activeElement.blur()")
    seen: list[str] = []
    from selenium.webdriver import ActionChains, Keys

    describe = "const a = document.activeElement; return a.id || a.dataset.id || a.className || a.textContent"
    for _ in range(200):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        if page.run("return document.activeElement === document.body"):
            break
        seen.append(str(page.run(describe)))
    wanted = {"scenario", "again", "copy", "language", "theme", "help", "tab-lesson", "pane", "first", "back", "play"}
    wanted |= {"next", "same", "speed", "time", "bp-station", "bp-kind", "bp-key", "queue", "apiserver", "break/wire"}
    assert wanted <= {*seen} and len(seen) < 200


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
