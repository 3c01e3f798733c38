"""The live tour in a terminal: a program as it runs, with the same picture as on the page.

The program runs in a process of its own with the tour attached (attach.py); the screen sends the page's requests. The
program's output does not disturb the picture: its last lines stand below it, and the kept lines are printed at the
end. The program has no input: the keys are the tour's. A Chinese locale selects Chinese, and `z` changes the language.
"""

from __future__ import annotations

import codecs
import http.client
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

from clientgo.tour.boxes import cut, fill, picture
from clientgo.tour.menus import Item, Menu
from clientgo.tour.past import Link
from clientgo.tour.pastmenu import Place, chain_items, change_items, keys_in
from clientgo.tour.picture import Json
from clientgo.tour.terminal import MENU_FOOT, draw, first_key, full_screen, is_terminal, language_of, resizes
from clientgo.tour.words import Words

__all__ = ["Client", "LiveScreen", "show"]

Ask = Callable[..., Json]
"""Asks the program: a path and, for what changes something, a body. Raises OSError when there is no answer."""

_HELP = {
    "en": "i informer  k queue  ↑↓ pick  p pause  +- slow  w c past  z 中文  ? help  q end",
    "zh": "i Informer  k 队列  ↑↓ 选  p 暂停  +- 减速  w c 过去  z English  ? 帮助  q 结束",
}
_KEYS_HELP = {
    "en": (
        ("i", "next informer"),
        ("k", "next work queue"),
        ("↑ ↓", "choose a handler or a worker"),
        ("p", "pause the handler, or let it continue"),
        ("+ -", "slow the worker down, or less so"),
        ("space", "freeze the picture, or go on"),
        ("w", "why is this key here? (of the hops that were kept)"),
        ("c", "when did this last change?"),
        ("z", "中文"),
        ("?", "this help"),
        ("q", "end the program"),
    ),
    "zh": (
        ("i", "下一个 Informer"),
        ("k", "下一个工作队列"),
        ("↑ ↓", "选择事件处理器或 Worker"),
        ("p", "暂停事件处理器，或者让它继续"),
        ("+ -", "让 Worker 更慢或更快"),
        ("空格", "暂停画面，或者继续"),
        ("w", "这个 key 为什么在这里？（根据导览保留下来的步骤）"),
        ("c", "上一次变化是什么时候？"),
        ("z", "English"),
        ("?", "本帮助"),
        ("q", "结束程序"),
    ),
}
_TEXTS = {
    "en": {
        "begins": "The informer tour, live: the program begins",
        "title": "The informer tour: {}",
        "live": "live",
        "ending": "the program is ending",
        "frozen": "the picture stands still",
        "no-answer": "the program does not answer",
        "counts": "{elapsed:.1f}s, {calls} calls, {shown}",
        "skipped": "{} not shown one by one",
        "all-shown": "all shown one by one",
        "informer": "{kind}: {objects} objects, {pending} to notify",
        "parts": "informers: {informers}  queue: {queue}",
        "none": "none",
        "handler": "chosen: handler {name}: {state}",
        "runs": "runs",
        "paused": "paused",
        "worker": "chosen: worker {name}: slowed by {state:g}s",
        "no-choice": "nothing to choose yet",
    },
    "zh": {
        "begins": "Informer 之旅，实时：程序正在启动",
        "title": "Informer 之旅：{}",
        "live": "实时",
        "ending": "程序正在结束",
        "frozen": "画面已暂停",
        "no-answer": "程序没有响应",
        "counts": "{elapsed:.1f} 秒，{calls} 次调用，{shown}",
        "skipped": "{} 次未逐条显示",
        "all-shown": "全部逐条显示",
        "informer": "{kind}：{objects} 个对象，{pending} 个通知待处理",
        "parts": "Informer：{informers}  工作队列：{queue}",
        "none": "无",
        "handler": "已选择：事件处理器 {name}：{state}",
        "runs": "运行中",
        "paused": "已暂停",
        "worker": "已选择：Worker {name}：每个 key 多等 {state:g} 秒",
        "no-choice": "还没有可以选择的事件处理器或 Worker",
    },
}
_PERIOD = 0.25
# How long an answer may take, in seconds: a program that is stopped gives none.
_PATIENCE = 2.0
_KEPT_LINES = 500
# As on the page: seconds more for each key.
_DELAYS = (0.0, 0.1, 1.0, 5.0)


class Client:
    """Asks at a LivePage's address, over one connection. Not thread-safe."""

    def __init__(self, url: str) -> None:
        """Set the address: `url` is the page's, with its token."""
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.netloc, timeout=_PATIENCE)
        token = parse_qs(parts.query).get("token", [""])[0]
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}

    def __call__(self, path: str, body: Json | None = None) -> Json:
        """Send a request and return its answer. Raises OSError when there is none."""
        data = None if body is None else json.dumps(body)
        try:
            method = "GET" if body is None else "POST"
            self._connection.request(method, path, data, self._headers)
            answer: Json = json.load(self._connection.getresponse())
        except (http.client.HTTPException, ValueError) as err:
            self.close()
            raise ConnectionError(str(err)) from err
        except OSError:
            self.close()
            raise
        return answer

    def close(self) -> None:
        """Close the connection. The next request opens another one."""
        self._connection.close()


class LiveScreen:
    """The screen and the user's choices. Not thread-safe."""

    def __init__(self, *, language: str = "en") -> None:
        self.ask: Ask | None = None
        """None until the program is there to be asked."""
        self.output: deque[str] = deque(maxlen=_KEPT_LINES)
        """The program's output, line by line."""
        self.is_frozen = False
        self.is_ending = False
        self._title = ""
        self._seen: Json | None = None
        self._answers = True
        self._hops: deque[Json] = deque(maxlen=100)
        self._last = -1
        self._informer = self._queue = self._chosen = 0
        self.words = Words(language)
        self.menu: Menu | None = None

    def look(self) -> None:
        """Ask what there is to see now. Blocks for the answer."""
        if self.ask is None or self.is_frozen:
            return
        try:
            self._title = self._title or self.ask("/api/tour")["title"]
            query = urlencode({"informer": self._informer, "queue": self._queue, "since": self._last})
            self._seen = seen = self.ask(f"/api/live?{query}")
            self._hops.extend(seen["hops"])
            self._last = max(self._last, seen["last"])
            self._answers = True
        except OSError:
            self._answers = False

    # ---- keys

    def press(self, key: str) -> None:
        """Follow a key. Unknown keys do nothing."""
        if self.menu is not None:
            menu, self.menu = self.menu, None
            if menu.press(key):
                self.menu = menu
            return
        act = self._KEYS.get(key)
        if act is None or self._seen is None:
            return
        act(self)
        self.look()

    def _other_language(self) -> None:
        self.words = Words("en" if self.words.language == "zh" else "zh")

    def _freeze(self) -> None:
        self.is_frozen = not self.is_frozen

    def _next_informer(self) -> None:
        self._informer = (self._informer + 1) % max(1, len(self._see()["informers"]))
        self._chosen = 0

    def _next_queue(self) -> None:
        self._queue = (self._queue + 1) % max(1, len(self._see()["queues"]))

    def _up(self) -> None:
        self._chosen = max(0, self._chosen - 1)

    def _down(self) -> None:
        self._chosen = min(max(0, len(self._controllable()) - 1), self._chosen + 1)

    def _pause(self) -> None:
        kind, name, paused = self._choice()
        if kind == "handler":
            self._control({"go-on" if paused else "pause": name})

    def _slower(self) -> None:
        self._slow(lambda now: min((delay for delay in _DELAYS if delay > now), default=now))

    def _faster(self) -> None:
        self._slow(lambda now: max((delay for delay in _DELAYS if delay < now), default=0.0))

    def _slow(self, change: Callable[[float], float]) -> None:
        kind, name, delay = self._choice()
        if kind == "worker":
            self._control({"slow": name, "delay": change(delay)})

    def _control(self, asked: Json) -> None:
        assert self.ask is not None  # else there were nothing to choose
        try:
            self.ask("/api/control", asked)
        except OSError:
            self._answers = False

    # ---- menus

    def _open_menu(self, title: str, items: list[Item], chosen: int = 0) -> None:
        self.menu = Menu(title, items, MENU_FOOT[self.words.language], chosen=chosen)

    def _help(self) -> None:
        items: list[Item] = [(f"{fill(keys, 8)}{about}", None) for keys, about in _KEYS_HELP[self.words.language]]
        self._open_menu(self.words("help-keys"), items)

    def _why(self) -> None:
        locations = list(dict.fromkeys(keys_in(self._see()["views"])))
        items: list[Item] = [(f"{each[0]}  {each[1]}  {each[2]}".rstrip(), self._chain_of(each)) for each in locations]
        self._open_menu(self.words("why-here-none"), items or [(self.words("nothing"), None)])

    def _chain_of(self, asked: Place) -> Callable[[], None]:
        place, key = asked.place, asked.key
        about = {name: str(value) for name, value in asked._asdict().items() if value is not None}

        def show() -> None:
            found = self._request_past(**about)
            links = [Link(each["at"], each["key"]) for each in found["links"]]
            items = chain_items(self.words, found["hops"], links, None)
            self._open_menu(f"{self.words('why-here')}: {key} · {place}", items, len(links) - 1)

        return show

    def _changes(self) -> None:
        found = self._request_past()
        self._open_menu(self.words("last-changed"), change_items(self.words, found["hops"], found["changes"], None))

    def _request_past(self, **about: str) -> Json:
        assert self.ask is not None  # else there were no views to choose from
        try:
            chosen = {"informer": self._informer, "queue": self._queue}
            return self.ask(f"/api/past?{urlencode({**about, **chosen})}")
        except OSError:
            self._answers = False
            return {"hops": [], "links": [], "changes": {}}

    _KEYS: ClassVar[dict[str, Callable[[LiveScreen], None]]] = {
        " ": _freeze,
        "i": _next_informer,
        "k": _next_queue,
        **dict.fromkeys(("\x1b[A", "\x1bOA"), _up),
        **dict.fromkeys(("\x1b[B", "\x1bOB"), _down),
        "p": _pause,
        **dict.fromkeys(("+", "="), _slower),
        "-": _faster,
        "w": _why,
        "c": _changes,
        "z": _other_language,
        "?": _help,
    }

    # ---- controls

    def _see(self) -> Json:
        return self._seen or {"views": {}, "informers": [], "queues": []}

    def _controllable(self) -> list[tuple[str, str, Any]]:
        """Return the handlers of the shown informer, and all workers: (kind, name, paused or slowed by)."""
        views = self._see()["views"]
        handlers = [("handler", each["name"], each["paused"]) for each in views.get("handlers", {}).get("handlers", [])]
        workers = views.get("workers", {}).get("workers", {})
        return [*handlers, *(("worker", name, each["delay"]) for name, each in workers.items())]

    def _choice(self) -> tuple[str, str, Any]:
        controllable = self._controllable()
        return controllable[min(self._chosen, len(controllable) - 1)] if controllable else ("", "", 0)

    # ---- output

    def lines(self, width: int, height: int) -> list[str]:
        """Return the screen: at most `height` lines of at most `width` columns, without colours."""
        if self.menu is not None:
            return [cut(line, width) for line in self.menu.lines(width, height)]
        head, foot = self._head(), [self._chosen_line(), _HELP[self.words.language]]
        room = max(0, height - len(head) - len(foot))
        hops = [_hop(each, self.words) for each in [*self._hops][-min(8, room // 6) :]] if room >= 6 else []
        printed = [f"│ {line}" for line in [*self.output][-min(6, room // 6) :]] if room >= 6 else []
        body = room - len(hops) - len(printed)
        middle = picture(self._see()["views"], width, body, words=self.words)
        middle += [""] * (body - len(middle))
        return [cut(line, width) for line in [*head, *middle, *hops, *printed, *foot]][:height]

    def _head(self) -> list[str]:
        seen, texts = self._seen, _TEXTS[self.words.language]
        if seen is None:
            return [texts["begins"], "", ""]
        how = "ending" if self.is_ending else "frozen" if self.is_frozen else "live"
        if not self._answers:
            how = "no-answer"
        shown = texts["skipped"].format(seen["skipped"]) if seen["skipped"] else texts["all-shown"]
        marks = ("▶" if number == self._informer else "" for number in range(len(seen["informers"])))
        comma = "，" if self.words.language == "zh" else ", "
        informers = comma.join(
            mark + texts["informer"].format_map(each) for mark, each in zip(marks, seen["informers"], strict=True)
        )
        queue = seen["queues"][self._queue] if self._queue < len(seen["queues"]) else texts["none"]
        return [
            f"{texts['title'].format(self._title)}  [{texts[how]}]",
            texts["counts"].format(elapsed=seen["elapsed"], calls=seen["calls"], shown=shown),
            texts["parts"].format(informers=informers or texts["none"], queue=queue),
        ]

    def _chosen_line(self) -> str:
        kind, name, state = self._choice()
        texts = _TEXTS[self.words.language]
        if kind == "handler":
            return texts["handler"].format(name=name, state=texts["paused" if state else "runs"])
        return texts["worker"].format(name=name, state=state) if kind else texts["no-choice"]


def _hop(hop: Json, words: Words) -> str:
    version = f" @{hop['version']}" if hop["version"] else ""
    error = f"  {words.error(hop['more']['error'])}" if hop["more"].get("error") else ""
    about = words.kind(hop["station"], hop["kind"])
    return f"+{hop['time']:.2f}s {hop['station']}.{hop['kind']} {hop['key']}{version}  {about}{error}"


# ---- the terminal, and the program


def show(command: Sequence[str]) -> int:
    """Run the program (a command with attach.py in it) until it ends; the result is its exit code.

    Draws several times a second and follows keys; q and Ctrl-C are the program's SIGINT, SIGTERM is handed on.
    Blocks. In the main thread.
    """
    if not is_terminal():
        return 1
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    except OSError as err:
        sys.stdout.write(f"cannot run {command[0]}: {err}\n")
        return 1
    screen = LiveScreen(language=language_of(os.environ))
    with process, _handed_on(process):
        try:
            with full_screen(), resizes() as resized:
                _Attended(process, screen, resized).run()
        finally:
            if process.poll() is None:
                process.terminate()
            if isinstance(screen.ask, Client):
                screen.ask.close()
    sys.stdout.write("".join(f"{line}\n" for line in screen.output))
    code = process.returncode
    return code if code >= 0 else 128 - code


@contextmanager
def _handed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, lambda number, frame: process.send_signal(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Attended:
    """The loop: it handles the program's output and the keys, and redraws a few times a second."""

    def __init__(self, process: subprocess.Popen[bytes], screen: LiveScreen, resized: int) -> None:
        assert process.stdout is not None
        self._process = process
        self._screen = screen
        self._keys, self._printed, self._resized = sys.stdin.fileno(), process.stdout.fileno(), resized
        self._sources = [self._keys, self._printed, resized]
        self._typed = self._line = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def run(self) -> None:
        """Follow keys and draw until the program has ended and all its output is read."""
        looks = 0.0
        while self._process.poll() is None:
            left = max(0.0, looks - time.monotonic())
            ready, _, _ = select.select(self._sources, [], [], left)
            if self._resized in ready:
                os.read(self._resized, 1024)
            if self._printed in ready:
                self._read_output()
            if self._keys in ready:
                self._read_keys()
            if time.monotonic() >= looks:
                self._screen.look()
                looks = time.monotonic() + _PERIOD
            elif ready == [self._printed]:
                continue  # however much it prints
            draw(self._screen)
        # The last output. A child process of the program may keep the other end open for longer.
        while self._printed in self._sources and select.select([self._printed], [], [], 0.0)[0]:
            self._read_output()
        self._take([self._line] if self._line else [])

    def _read_output(self) -> None:
        data = os.read(self._printed, 65536)
        if not data:
            self._sources.remove(self._printed)
        *lines, self._line = (self._line + self._decoder.decode(data)).split("\n")
        self._take(lines)

    def _take(self, lines: Sequence[str]) -> None:
        for line in lines:
            found = re.match(r"The informer tour is at (http://127\.0\.0\.1:\d+/\?token=[\w-]+)$", line)
            if found and self._screen.ask is None:
                self._screen.ask = Client(found[1])
            else:
                self._screen.output.append(line)

    def _read_keys(self) -> None:
        try:
            data = os.read(self._keys, 1024)
        except OSError:  # the terminal is gone
            data = b""
        if not data:
            self._sources.remove(self._keys)
            self._process.terminate()
        self._typed += data.decode(errors="replace")
        while self._typed:
            key, self._typed = first_key(self._typed)
            if key in ("q", "\x03"):
                self._screen.is_ending = True
                self._process.send_signal(signal.SIGINT)
            else:
                self._screen.press(key)
