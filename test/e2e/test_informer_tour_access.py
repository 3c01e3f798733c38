"""Accessibility of the tour's page: small screens, contrast, names, keys, and reduced motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from accessibility import faint_texts, nameless
from tourbrowser import Page

pytestmark = [pytest.mark.shared_server, pytest.mark.takes_turns(6)]

TABS = ("lesson", "source", "object", "past", "break")


@pytest.fixture
def page(browser: Any, lessons_address: str) -> Iterator[Page]:
    page = Page(browser, lessons_address)
    page.resize(1280, 800)
    yield page
    page.reset()
    assert browser.get_log("browser") == []  # no error, no warning


def visits(page: Page, language: str) -> Iterator[str]:
    """Show each part of the page in turn, with a break and an open question."""
    page.load(f"queue?hop=40&do=38:fault:cut&lang={language}&step=3")
    for tab in TABS:
        page.click(f"#tab-{tab}", draws=False)
        page.until(f"return document.getElementById('tab-{tab}').getAttribute('aria-selected') === 'true'")
        if tab == "source":
            page.until("return document.querySelector('#pane .code')")
        yield tab
    page.run("document.querySelector('[data-id=\"break/workers\"]').dispatchEvent(new MouseEvent('click'))")
    page.until("return document.querySelector('#break-menu').matches(':popover-open')")
    yield "menu"
    page.run("document.getElementById('break-menu').hidePopover()")
    page.run("document.getElementById('help').click()")
    page.until("return document.getElementById('help-dialog').open")
    yield "help"
    page.run("document.getElementById('help-dialog').close()")
    page.run("document.getElementById('again').click()")
    page.until("return !document.getElementById('opening').hidden")
    yield "opening"
    page.run("document.getElementById('opening-skip').click()")
    page.load(f"queue?lang={language}")
    for _ in range(5):
        page.step("#lesson-next")
    yield "question"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_stands_out_from_its_background(page, theme, language):
    page.open("queue")
    page.run("document.documentElement.dataset.theme = arguments[0]", theme)
    page.run("localStorage.setItem('informer-tour.theme', arguments[0])", theme)
    faint = {part: found for part in visits(page, language) if (found := faint_texts(page.driver))}
    assert faint == {}
    assert page.run("return document.documentElement.dataset.theme") == theme


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_control_has_a_name_in_both_languages(page, language):
    for part in visits(page, language):
        assert nameless(page.driver) == [], part
        if language == "zh":
            assert page.english() == [], part


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [360, 390])
def test_a_narrow_screen_never_scrolls_sideways(page, width, language):
    page.resize(width, 740)
    for part in visits(page, language):
        assert page.run("return document.documentElement.scrollWidth") <= width, part
        outside = page.run(f"""
            return [...document.querySelectorAll("button, select, summary, input, #picture .card, #picture .broke")]
              .filter((each) => each.checkVisibility() && !each.closest("[inert], .code, dialog"))
              .filter((each) => each.getBoundingClientRect().right > {width} + 1)
              .map((each) => each.outerHTML.slice(0, 120));
        """)
        assert outside == [], part


def test_the_whole_page_is_used_by_keys_alone(page):
    """By Tab to every control in turn, and none keeps the focus."""
    from selenium.webdriver import ActionChains, Keys

    page.load("queue?hop=30&lang=en")
    wanted = page.run("""
        return [...document.querySelectorAll("button, select, summary, input, [role=button], a[href]")]
          .filter((each) => each.checkVisibility() && !each.disabled && each.tabIndex === 0)
          .map((each) => each.id || each.dataset.id || each.dataset.word || each.outerHTML.slice(0, 80));
    """)
    assert len(wanted) > 30
    page.run("""
        window.isSpoiled = true;
        window.reached = [];
        const name = (each) => each.id || each.dataset.id || each.dataset.word || each.outerHTML.slice(0, 80);
        document.addEventListener("focusin", (event) => window.reached.push(name(event.target)));
        document.body.tabIndex = -1;
        document.body.focus();
    """)
    for _ in range(2 * len(wanted) // 20 + 1):
        ActionChains(page.driver).send_keys(Keys.TAB * 20).perform()
        reached = page.run("return window.reached")
        if set(wanted) <= set(reached):
            break
    assert set(wanted) - set(reached) == set()


def test_nothing_moves_for_readers_who_want_no_motion(page):
    """The browser of these tests asks for reduced motion."""
    page.open("queue?lang=en")
    page.run("""
        window.isSpoiled = true;
        window.moved = [];
        const note = ({ target }) => window.moved.push(target.outerHTML.slice(0, 99));
        new MutationObserver((changes) => changes.forEach(note)).observe(document.getElementById("picture"),
          { subtree: true, attributeFilter: ["transform", "opacity"] });
    """)
    for _ in range(15):
        page.key("n")
    assert page.run("return window.moved") == []
    assert page.run("return document.getAnimations().filter((each) => each.playState === 'running').length") == 0
