"""The tour's page in a real browser: Chromium, driven by Selenium. `chromium` and `browser` are fixtures."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import processes
import pytest
from chinesetexts import english, shown
from processes import ROOT

__all__ = ["MOMENT", "PATIENCE", "Moment", "Page", "browser", "chromium", "lessons_address", "serving"]

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PATIENCE = 90.0


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Run the program and yield the address that it prints; SIGINT ends it with exit code 0."""
    command = [sys.executable, "cmd/informer-tour", "--no-browser"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+", process.stdout.readline())
        assert address is not None
        processes.shared.add(process.pid)
        yield address[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


class Moment(NamedTuple):
    """The visible state of a lesson."""

    hop: str
    title: str
    picture: str


_TEXTS = "['#count', '#pane h3', '#picture'].map((each) => document.querySelector(each).textContent)"
# Of the count only where one is; how many hops there are is found out on the way.
MOMENT = f"(([count, ...others]) => [count.split(' ')[0], ...others])({_TEXTS})"


_IS_THERE = """
    const plain = (url) => url.split(/[?#]/)[0];
    const {ready, live, replay} = document.body?.dataset ?? {};
    const isOther = live || replay || plain(location.href) !== plain(arguments[0]);
    if (!ready || isOther || window.isSpoiled) return leave();
    dispatchEvent(new Event("pagehide"));  // writes the page's address at once
"""
_REPLACE = f"""
    const leave = () => false;
    {_IS_THERE}
    history.replaceState(null, "", `#${{arguments[1]}}`);
    return true;
"""
_FOLLOW = f"""
    const [hash, done] = [arguments[1], arguments[2]], leave = () => done(false);
    {_IS_THERE}
    const kept = (name) => localStorage.getItem(`informer-tour.${{name}}`), $ = (id) => document.getElementById(id);
    const language = new URLSearchParams(hash.split("?")[1]).get("lang");
    if (!language && document.documentElement.lang !== (kept("language") || "en")) return leave();
    if (location.hash === `#${{hash}}` || !$("opening").hidden) return leave();
    $("help-dialog").close();
    $("break-menu").hidePopover();
    $("settings").open = false;
    $("problem").hidden = $("said").hidden = true;
    for (const select of document.querySelectorAll("#breakpoint select")) select.value = "";
    document.activeElement.blur();
    scrollTo(0, 0);
    $("pane").scrollTop = 0;
    document.documentElement.dataset.theme = kept("theme") ?? "";
    if (!kept("theme")) delete document.documentElement.dataset.theme;
    const before = Number(document.body.dataset.opened);
    const look = () => (Number(document.body.dataset.opened) > before ? done(true) : setTimeout(look, 5));
    location.hash = hash;
    look();
"""

_COUNT_KEYS = """
    if (window.presses === undefined) document.addEventListener("keydown", () => { window.presses += 1; }, true);
    window.presses = 0;
    return Number(document.body.dataset.drawn);
"""
_FOLLOWED = """
    const [before, done] = arguments, began = performance.now();
    const look = () => {
      if (Number(document.body.dataset.drawn) > before) return done(true);
      if (!window.presses && performance.now() > began + 10000) return done(false);
      return setTimeout(look, 10);
    };
    look();
"""
_STATE = """
    const text = (id) => `${id}: ${document.getElementById(id).innerText}`;
    const { drawn, opened, running } = document.body.dataset, focus = document.activeElement?.id;
    return [`presses: ${window.presses}`, `drawn: ${drawn}`, `opened: ${opened}`, `running: ${running}`,
      `focus: ${focus}`, `address: ${location.hash}`, ...["count", "problem", "strayed", "pane"].map(text)].join("; ");
"""


class Page:
    """A visitor's browser."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver = driver
        self.address = address

    def open(self, scenario: str) -> None:
        """Show what a hash says. A page of this address that is there already follows it; otherwise it is loaded.

        To load a page takes five times as much. What the page would show anew, such as its theme, is restored; a test
        that adds a listener to the page sets `window.isSpoiled`, and the next one loads the page.
        """
        if not scenario or not self.driver.execute_async_script(_FOLLOW, self.address, scenario):
            self.load(scenario)

    def load(self, scenario: str) -> None:
        """Load the page with a hash."""
        # Another part behind the # alone would not load the page again, and another site has a new process.
        if not scenario or not self.run(_REPLACE, self.address, scenario):
            if self.driver.current_url != "about:blank":
                self.driver.get("about:blank")
            self.driver.get(f"{self.address}#{scenario}")
        else:
            self.driver.refresh()
        self.until("return document.body.dataset.ready === 'true'")

    def reset(self) -> None:
        """Forget what the page keeps in the browser, and its theme."""
        self.run("document.documentElement.removeAttribute('data-theme'); localStorage.clear()")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def until(self, script: str) -> None:
        """Wait until the script's result is true. The browser polls, which costs less than a request for each check."""
        look = "const look = () => ask() ? done() : setTimeout(look, 10);"
        self.driver.execute_async_script(f"const done = arguments[0], ask = () => {{ {script} }}; {look} look();")

    def _drawn(self) -> int:
        return int(self.run("return document.body.dataset.drawn"))

    def key(self, key: str) -> None:
        """Press a key and wait until the page has followed.

        Press it again if it has not reached the page in ten seconds. On a busy machine a browser may lose a key.
        """
        from selenium.webdriver import ActionChains

        before = self.run(_COUNT_KEYS)
        for _ in range(3):
            ActionChains(self.driver).send_keys(key).perform()
            try:
                if self.driver.execute_async_script(_FOLLOWED, before):
                    return
            except Exception as error:
                raise AssertionError(f"the page did not follow: {self.run(_STATE)}") from error
        raise AssertionError(f"no key reaches the page: {self.run(_STATE)}")

    def step(self, selector: str) -> Moment:
        """Click, but not with the mouse, wait until the page has followed, and see what it shows: all in one go."""
        script = f"""
            const done = arguments[1], before = Number(document.body.dataset.drawn);
            const look = () => Number(document.body.dataset.drawn) > before ? done({MOMENT}) : setTimeout(look, 5);
            document.querySelector(arguments[0]).click();
            look();"""
        return Moment(*self.driver.execute_async_script(script, selector))

    @property
    def moment(self) -> Moment:
        return Moment(*self.run(f"return {MOMENT}"))

    def click(self, selector: str, *, draws: bool = True) -> None:
        before = self._drawn()
        self.driver.find_element("css selector", selector).click()
        if draws:
            self.until(f"return Number(document.body.dataset.drawn) > {before}")

    def choose(self, select: str, value: str) -> None:
        """Choose a value in a list, like a user."""
        before = self._drawn()
        change = "s.value = arguments[1]; s.dispatchEvent(new Event('change'))"
        self.run(f"const s = document.getElementById(arguments[0]); {change}", select, value)
        self.until(f"return Number(document.body.dataset.drawn) > {before}")

    def to(self, hop: int) -> None:
        """Move the timeline to a hop, like a user."""
        script = (
            "const t = document.getElementById('time'); t.value = arguments[0]; t.dispatchEvent(new Event('input'))"
        )
        self.run(script, hop - 1)
        self.until(f"return document.getElementById('count').textContent.startsWith('{hop} ')")

    def has(self, selector: str) -> bool:
        return bool(self.driver.find_elements("css selector", selector))

    def text(self, selector: str) -> str:
        """Return the visible text of the first such element; "" for an element that is not shown.

        Selenium's own way takes two requests and three times as long.
        """
        shown = "e instanceof HTMLElement ? e.checkVisibility({visibilityProperty: true}) && e.innerText : null"
        text = self.run(f"const e = document.querySelector(arguments[0]); return {shown}", selector)
        if text is None:  # a drawing has no innerText; an element that is missing is an error
            text = self.driver.find_element("css selector", selector).text
        return str(text or "").strip()

    def english(self) -> list[str]:
        """Return the English sentences of the page, including its tooltips and labels for screen readers."""
        return [found for text in shown(self.driver) for found in english(text)]

    @property
    def hop(self) -> int:
        return int(self.text("#count").partition(" ")[0])

    @property
    def picture(self) -> str:
        return str(self.run("return document.getElementById('picture').textContent"))

    @property
    def stations(self) -> str:
        """The texts of the stations, without what broke."""
        cards = "[...document.querySelectorAll('#picture .card')]"
        return str(self.run(f"return {cards}.map((each) => each.textContent).join()"))

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def shoot(self, name: str) -> None:
        """Keep a screenshot, for who wants to look at it: TOUR_SCREENSHOTS names the folder."""
        if folder := os.environ.get("TOUR_SCREENSHOTS"):
            self.driver.save_screenshot(str(Path(folder) / f"{name}.png"))


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Run one Chromium for all tests of the process."""
    pytest.importorskip("selenium", reason="no browser driver: pip install 'clientgo[browser]'")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    flags = "headless=new no-sandbox disable-gpu disable-dev-shm-usage force-prefers-reduced-motion lang=en-US"
    # Tests go through lessons faster than people: Chromium would refuse so many entries in its history.
    for flag in (*flags.split(), "disable-ipc-flooding-protection"):
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # A connection for each request: one that stays open would be a socket that a test leaves behind.
    service = Service(DRIVER)
    driver = webdriver.Chrome(options=options, service=service, keep_alive=False)
    processes.shared.add(service.process.pid)
    driver.set_script_timeout(PATIENCE)
    # A page in a window that the system has not focused gets no focus events.
    driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def lessons_address() -> Iterator[str]:
    """Serve the lessons once for all tests of the process that only read them; return the address."""
    with serving() as address:
        yield address


@pytest.fixture
def browser(chromium: Any, request: pytest.FixtureRequest) -> Any:
    """Return the shared browser with an empty console: the last test's page may have logged while it ended.

    Each module begins with an empty page and the browser's own screen and media, each test with a history of one entry:
    Chromium keeps 50 entries, and drops first those to which no mouse or key led. In a long run such entries of a test
    would disappear under it.
    """
    if getattr(chromium, "module", None) != request.module.__name__:
        chromium.module = request.module.__name__
        chromium.get("about:blank")
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    chromium.execute_cdp_cmd("Page.resetNavigationHistory", {})
    chromium.get_log("browser")
    return chromium
