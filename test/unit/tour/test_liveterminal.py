"""The live picture in a terminal: as lines of text, and what keys do to the program."""

from __future__ import annotations

import io
import re
import sys
import threading
import unicodedata
from collections.abc import Iterator
from typing import Any

import chinesetexts
import pytest
from threadtools import eventually

from clientgo import context, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.tour import liveterminal, terminal
from clientgo.tour.boxes import cut
from clientgo.tour.liveterminal import Client, LiveScreen
from clientgo.tour.words import LANGUAGES
from clientgo.util import workqueue

# Words of the Chinese screen: the program's, identifiers, and terms that Chinese texts leave in English.
KNOWN = {
    *("API", "Add", "Bookmark", "ConfigMap", "Delta", "English", "Enter", "Esc", "FIFO", "Get", "Go", "HasSynced"),
    *("Indexer", "Informer", "List", "RateLimitingType", "RealFIFO", "Reflector", "Server", "Shown", "True", "Watch"),
    *("Worker", "add", "apple", "default", "dirty", "key", "lastSyncResourceVersion", "on", "pendingNotifications"),
    *("processing", "program", "waitingForQueue", "worker-a"),
}
UP, DOWN = "\x1b[A", "\x1b[B"


class Shown:
    """An informer, a queue and a worker that run, and a screen on which they are."""

    def __init__(self) -> None:
        self.source = new_fake_controller_source()
        self.informer = cache.new_shared_index_informer(self.source, corev1.ConfigMap(), 0.0, {})
        self.queues: list[Any] = []
        self.queue = self.another_queue()
        self.requests: list[str] = []
        self.informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=self.add))
        self.screen = LiveScreen(language="en")

    def another_queue(self) -> Any:
        limiter = workqueue.new_typed_item_exponential_failure_rate_limiter(1.0, 10.0)
        self.queues.append(workqueue.new_typed_rate_limiting_queue(limiter))
        return self.queues[-1]

    def add(self, obj: Any) -> None:
        self.requests.append(obj.get_name())
        self.queue.add(obj.get_name())

    def create(self, name: str) -> None:
        self.source.add(corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="default")))

    def work(self) -> None:
        while True:
            item, shutdown = self.queue.get()
            if shutdown:
                return
            self.queue.done(item)

    def text(self, width: int = 160, height: int = 50) -> str:
        self.screen.look()
        return "\n".join(self.screen.lines(width, height))

    def until(self, text: str) -> str:
        """Return the screen as soon as it contains the text."""
        eventually(lambda: text in self.text(), text)
        return self.text()


@pytest.fixture
def shown() -> Iterator[Shown]:
    shown = Shown()
    ctx, cancel = context.with_cancel(context.background())
    threads = [
        threading.Thread(target=shown.informer.run_with_context, args=(ctx,), name="informer", daemon=True),
        threading.Thread(target=shown.work, name="worker-a", daemon=True),
    ]
    with tour.serve(shown.informer, shown.queue, title="a program") as page:
        client = shown.screen.ask = Client(page.url)
        for thread in threads:
            thread.start()
        yield shown
        client.close()
        cancel()
        for queue in shown.queues:
            queue.shut_down()
        for thread in threads:
            thread.join()
    shown.source.shutdown()


def test_it_shows_what_the_page_shows(shown):
    shown.create("apple")
    text = shown.until("handlers.returned default/apple")
    assert "The informer tour: a program  [live]" in text
    assert "informers: ▶*v1.ConfigMap: 1 objects, 0 to notify" in text
    assert "queue: 1: shown.queue (RateLimitingType)" in text
    assert "objects: apple @" in text and "length 1" in text
    for late in ("last heard", "HasSynced True"):  # the reflector notes both after the handler may have been called
        shown.until(late)
    shown.until("worker-a: waiting")


def test_a_handler_is_paused_and_goes_on_by_a_key(shown):
    shown.until("chosen: handler")
    shown.screen.press("p")
    assert "PAUSED" in shown.text()
    shown.create("bread")
    assert "oldest" in shown.until("add bread")
    assert shown.requests == []
    shown.screen.press("p")
    assert "PAUSED" not in shown.text()
    eventually(lambda: shown.requests == ["bread"], "the handler to go on")
    assert "PAUSED" not in shown.text()


def test_a_worker_is_slowed_down_step_by_step_by_keys(shown):
    shown.until("worker-a: waiting")
    shown.screen.press("+")  # a handler is chosen: it can be paused alone
    assert "slowed by" not in shown.text()
    shown.screen.press(DOWN)
    for delay in ("0.1", "1", "5", "5"):
        shown.screen.press("+")
        assert f"chosen: worker worker-a: slowed by {delay}s" in shown.text()
        assert "(slowed" in shown.text()
    for delay in ("1", "0.1", "0", "0"):
        shown.screen.press("-")
        assert f"chosen: worker worker-a: slowed by {delay}s" in shown.text()
    shown.screen.press("p")  # nothing: a worker is chosen
    shown.screen.press(UP)
    assert "chosen: handler" in shown.text() and "PAUSED" not in shown.text()


def test_the_picture_stands_still_when_asked(shown):
    before = shown.until("worker-a: waiting")
    shown.screen.press(" ")
    assert "[the picture stands still]" in shown.text()
    shown.create("apple")
    eventually(lambda: shown.requests == ["apple"], "the program to go on")
    assert "apple" not in shown.text()
    shown.screen.press(" ")
    assert "apple" in shown.until("handlers.returned default/apple") and "apple" not in before


def test_a_keys_past_the_last_changes_and_help_are_menus(shown):
    shown.create("apple")
    shown.until("apple")
    shown.until("objects: apple")
    shown.screen.press("w")
    menu = shown.screen.menu
    assert menu is not None and "Why is this key here?" in shown.text(80, 24)
    at = next(number for number, (text, _) in enumerate(menu.items) if text.startswith("indexer.objects"))
    for _ in range(at):
        shown.screen.press(DOWN)
    shown.screen.press("\r")
    assert "Indexer: " in shown.text(80, 24) and "informer" in shown.text(80, 24)
    shown.screen.press("\x1b")
    shown.screen.press("c")
    assert "indexer.objects" in shown.text(80, 24) and "When did this last change?" in shown.text(80, 24)
    shown.screen.press("\x1b")
    shown.screen.press("?")
    assert "end the program" in shown.text(80, 24)
    shown.screen.press("\x1b")
    assert shown.screen.menu is None


def test_other_informers_and_queues_are_chosen_by_keys(shown):
    other = shown.another_queue()
    other.add("elsewhere")
    assert "order: elsewhere" not in shown.until("worker-a: waiting")
    shown.screen.press("k")
    assert "queue: 2: test_liveterminal.py:52 (RateLimitingType)" in shown.text() and "order: elsewhere" in shown.text()
    shown.screen.press("k")
    assert "queue: 1: shown.queue (RateLimitingType)" in shown.text()
    shown.screen.press("i")  # there is one alone
    assert "▶*v1.ConfigMap" in shown.text()


def fields_of(template: str) -> list[str]:
    return sorted(re.findall(r"\{[^}]*\}", template))


def test_both_languages_have_the_same_entries():
    english, chinese = (liveterminal._TEXTS[language] for language in LANGUAGES)
    assert list(english) == list(chinese) and len(english) > 10
    for name, text in english.items():
        assert fields_of(text) == fields_of(chinese[name]), name
        assert text != chinese[name] and chinesetexts.problems(chinese[name]) == []
    for table in (liveterminal._KEYS_HELP, terminal._KEYS_HELP):
        assert len(table["en"]) == len(table["zh"]) and len(table["en"]) > 10
        assert all(ours != theirs for (_, ours), (_, theirs) in zip(table["en"], table["zh"], strict=True))
    shared = [keys for keys, _ in liveterminal._KEYS_HELP["en"] if keys.isascii() and keys != "space"]
    assert set(shared) <= {keys for keys, _ in liveterminal._KEYS_HELP["zh"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_line_of_keys_fits_eighty_columns_in_both_languages(language):
    for keys in (liveterminal._HELP, terminal._HELP, terminal.MENU_FOOT):
        assert cut(keys[language], 80) == keys[language]


@pytest.mark.parametrize("is_paused", [False, True])
def test_the_chinese_screen_has_no_english_sentence_and_no_english_word_of_its_own(shown, is_paused):
    shown.create("apple")
    shown.until("handlers.returned default/apple")
    shown.until("worker-a: waiting")
    assert shown.screen.words.language == "en"
    shown.screen.press("z")
    if is_paused:
        shown.screen.press("p")
        shown.screen.press(DOWN)
        shown.screen.press("+")
    texts = [shown.text(400, 60)]
    assert "[实时]" in texts[0] and "个对象" in texts[0] and "事件处理器返回" in texts[0]
    assert ("已暂停" in texts[0]) == is_paused and ("每个 key 多等 0.1 秒" in texts[0]) == is_paused
    for key in ("w", "c", "?"):
        shown.screen.press(key)
        texts.append(shown.text(400, 60))
        shown.screen.press("\x1b")
    shown.screen.press(" ")
    assert "[画面已暂停]" in shown.text()
    assert "空格" in texts[3] and "结束程序" in texts[3]
    for text in texts:
        assert chinesetexts.english(text.replace("a program", "").replace("\n", " | ")) == []
    # Also single words: what is left is the program's, identifiers, and terms that the texts leave in English.
    words = {word for text in texts for word in re.findall(r"[A-Za-z][A-Za-z'.-]+", text)}
    assert sorted(each for each in words - KNOWN if not set(each) & set("._")) == []
    shown.screen.press("z")
    assert "[the picture stands still]" in shown.text()


@pytest.mark.parametrize("height", [24, 50])
def test_a_chinese_screen_fits_eighty_columns(shown, height):
    shown.until("worker-a: waiting")
    shown.screen.press("z")
    lines = shown.screen.lines(80, height)
    assert len(lines) <= height and any("工作队列" in line for line in lines)
    for line in lines:
        assert len(line) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in line) <= 80


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60), (40, 10), (1, 1), (10, 3), (20, 100)])
def test_it_fits_terminals_of_all_sizes(shown, width, height):
    shown.until("worker-a: waiting")
    shown.screen.output.extend(["what it printed\x1b[2J", "列" * 300])
    lines = shown.screen.lines(width, height)
    assert len(lines) <= height
    for line in lines:
        wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in line)
        assert len(line) + wide <= width
        assert line.isprintable()
    if height >= 24:
        assert any("what it prin" in line for line in lines)


def test_a_program_that_does_not_answer_is_said_to_and_its_last_picture_stays():
    answers = iter([{"title": "x"}, SEEN])

    def ask(path: str, body: Any = None) -> Any:
        answer = next(answers, None)
        if answer is None:
            raise TimeoutError(path)
        return answer

    screen = LiveScreen()
    assert "begins" in screen.lines(80, 24)[0]
    screen.press("p")
    screen.ask = ask
    screen.look()
    assert "[live]" in screen.lines(80, 24)[0]
    screen.look()
    assert "[the program does not answer]" in screen.lines(80, 24)[0]
    assert "*v1.Pod: 7 objects" in screen.lines(80, 24)[2]


SEEN: Any = {
    "views": {},
    "informers": [{"kind": "*v1.Pod", "objects": 7, "pending": 0}],
    "queues": [],
    "hops": [],
    "last": 3,
    "calls": 9,
    "skipped": 2,
    "elapsed": 1.0,
}


def test_without_a_terminal_no_program_is_run(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert liveterminal.show([sys.executable, "-c", "raise SystemExit(7)"]) == 1
    assert "--terminal needs a terminal" in capsys.readouterr().err
