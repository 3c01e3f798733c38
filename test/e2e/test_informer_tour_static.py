"""The static edition in Chromium: opened from files, with the network off."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import ROOT
from tourbrowser import Page

# One with a DeltaFIFO, one with two machines.
LESSONS = {"02-deltas": "deltas", "03-queue": "queue", "10-resync": "resync"}


def export(folder: Path, *names: str, seed: str = "0") -> str:
    command = [sys.executable, "cmd/informer-tour", "--export", str(folder)]
    for name in names:
        command += ["--lesson", name]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("static")
    said = export(folder, *LESSONS)
    assert (folder / "index.html").as_uri() in said
    return folder


@pytest.fixture
def page(browser: Any, folder: Path) -> Iterator[Page]:
    browser.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    page = Page(browser, (folder / "index.html").as_uri())
    page.resize(1280, 800)
    try:
        yield page
        assert browser.get_log("browser") == []  # no error, no warning
    finally:
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", {**offline, "offline": False})
        browser.execute_cdp_cmd("Network.disable", {})


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_is_walked_to_its_end_and_back_without_a_server(page, lesson, language):
    page.open(LESSONS[lesson])
    if page.run("return document.documentElement.lang") != language:
        page.click("#language")
    seen = [page.moment]
    while not page.has("#lesson-done"):
        page.step("#lesson-next")
        here = page.moment
        if here != seen[-1]:
            seen.append(here)
        if language == "zh":
            assert page.english() == []
        assert len(seen) < 60
    assert len({each.title for each in seen}) >= 5
    page.shoot(f"static-{lesson}-{language}")
    for before in reversed(seen[:-1]):
        while page.moment != before:
            page.step("#lesson-back")
    page.click("#tab-source", draws=False)
    page.key("n")
    page.until("return document.querySelector('#pane .ran')")


def test_two_exports_are_equal_to_the_byte(tmp_path):
    contents = []
    for seed in ("1", "2"):
        export(tmp_path / seed, "02-deltas", seed=seed)
        files = sorted(path for path in (tmp_path / seed).rglob("*") if path.is_file())
        contents.append({str(path.relative_to(tmp_path / seed)): path.read_bytes() for path in files})
    assert contents[0] == contents[1]
    assert {"index.html", "app.js", "data/tour.js", "data/02-deltas.js", "data/02-deltas-breaks.js"} <= set(contents[0])


def test_a_lesson_that_is_not_there_is_named(tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as raised:
        export(tmp_path / "x", "99-nothing")
    assert "there is no lesson 99-nothing" in raised.value.stdout
