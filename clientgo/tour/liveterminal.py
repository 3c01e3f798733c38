"""The live tour in a terminal: a program as it runs, with the same picture as on the page.

The program runs in a process of its own with the tour attached (attach.py), and is asked as the page asks it. So what
it prints does not disturb the picture: the last lines stand below it, and all that is kept is printed at the end. It
has no input: the keys are the tour's.
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

from clientgo.tour.boxes import cut, picture
from clientgo.tour.menus import Item, Menu
from clientgo.tour.past import Link
from clientgo.tour.pastmenu import Place, chain_items, change_items, keys_in
from clientgo.tour.picture import Json
from clientgo.tour.terminal import draw, first_key, full_screen, is_terminal, resizes
from clientgo.tour.words import Words

__all__ = ["Client", "LiveScreen", "show"]

Ask = Callable[..., Json]
"""Asks the program: a path and, for what changes something, a body. Raises OSError when there is no answer."""

_HELP = "i informer  k queue  ↑↓ choose  p pause  + - slow  w why  c changes  ? help  q end"
_KEYS_HELP = (
    ("i", "next informer"),
    ("k", "next work queue"),
    ("↑ ↓", "choose a handler or a worker"),
    ("p", "pause the handler, or let it continue"),
    ("+ -", "slow the worker down, or less so"),
    ("space", "freeze the picture, or go on"),
    ("w", "why is this key here? (of the hops that were kept)"),
    ("c", "when did this last change?"),
    ("?", "this help"),
    ("q", "end the program"),
)
_MENU_FOOT = "↑ ↓ choose  Enter go  Esc close"
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

    def __init__(self) -> None:
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
        self._words = Words()
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
        self._chosen = min(max(0, len(self._steered()) - 1), self._chosen + 1)

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
        self.menu = Menu(title, items, _MENU_FOOT, chosen=chosen)

    def _help(self) -> None:
        self._open_menu(self._words("help-keys"), [(f"{keys:<8}{about}", None) for keys, about in _KEYS_HELP])

    def _why(self) -> None:
        places = list(dict.fromkeys(keys_in(self._see()["views"])))
        items: list[Item] = [(f"{each[0]}  {each[1]}  {each[2]}".rstrip(), self._chain_of(each)) for each in places]
        self._open_menu(self._words("why-here-none"), items or [(self._words("nothing"), None)])

    def _chain_of(self, asked: Place) -> Callable[[], None]:
        place, key, handler, version = asked

        def show() -> None:
            found = self._ask_past(place=place, key=key, handler=handler, version=version)
            links = [Link(each["at"], each["key"]) for each in found["links"]]
            items = chain_items(self._words, found["hops"], links, None)
            self._open_menu(f"{self._words('why-here')}: {key} · {place}", items, len(links) - 1)

        return show

    def _changes(self) -> None:
        found = self._ask_past()
        self._open_menu(self._words("last-changed"), change_items(self._words, found["hops"], found["changes"], None))

    def _ask_past(self, **about: str) -> Json:
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
        "?": _help,
    }

    # ---- what can be steered

    def _see(self) -> Json:
        return self._seen or {"views": {}, "informers": [], "queues": []}

    def _steered(self) -> list[tuple[str, str, Any]]:
        """Return the handlers of the shown informer, and all workers: (kind, name, paused or slowed by)."""
        views = self._see()["views"]
        handlers = [("handler", each["name"], each["paused"]) for each in views.get("handlers", {}).get("handlers", [])]
        workers = views.get("workers", {}).get("workers", {})
        return [*handlers, *(("worker", name, each["delay"]) for name, each in workers.items())]

    def _choice(self) -> tuple[str, str, Any]:
        steered = self._steered()
        return steered[min(self._chosen, len(steered) - 1)] if steered else ("", "", 0)

    # ---- what is shown

    def lines(self, width: int, height: int) -> list[str]:
        """Return what is shown, at most `height` lines of at most `width` columns; without colours."""
        if self.menu is not None:
            return [cut(line, width) for line in self.menu.lines(width, height)]
        head, foot = self._head(), [self._chosen_line(), _HELP]
        room = max(0, height - len(head) - len(foot))
        hops = [_hop(each) for each in [*self._hops][-min(8, room // 6) :]] if room >= 6 else []
        printed = [f"│ {line}" for line in [*self.output][-min(6, room // 6) :]] if room >= 6 else []
        body = room - len(hops) - len(printed)
        middle = picture(self._see()["views"], width, body)
        middle += [""] * (body - len(middle))
        return [cut(line, width) for line in [*head, *middle, *hops, *printed, *foot]][:height]

    def _head(self) -> list[str]:
        seen = self._seen
        if seen is None:
            return ["The informer tour, live: the program begins", "", ""]
        how = "it is ending" if self.is_ending else "the picture stands still" if self.is_frozen else "live"
        if not self._answers:
            how = "the program does not answer"
        told = f"{seen['skipped']} not told one by one" if seen["skipped"] else "all told"
        marks = ("▶" if number == self._informer else "" for number in range(len(seen["informers"])))
        informers = ", ".join(
            f"{mark}{each['kind']}: {each['objects']} objects, {each['pending']} to tell"
            for mark, each in zip(marks, seen["informers"], strict=True)
        )
        queue = seen["queues"][self._queue] if self._queue < len(seen["queues"]) else "none"
        return [
            f"The informer tour: {self._title}  [{how}]",
            f"{seen['elapsed']:.1f}s, {seen['calls']} calls, {told}",
            f"informers: {informers or 'none'}  queue: {queue}",
        ]

    def _chosen_line(self) -> str:
        kind, name, state = self._choice()
        if kind == "handler":
            return f"chosen: handler {name}: {'paused' if state else 'runs'}"
        return f"chosen: worker {name}: slowed by {state:g}s" if kind else "nothing to choose yet"


def _hop(hop: Json) -> str:
    version = f" @{hop['version']}" if hop["version"] else ""
    error = f" {hop['more']['error']}" if hop["more"].get("error") else ""
    return f"+{hop['time']:.2f}s {hop['station']}.{hop['kind']} {hop['key']}{version}{error}"


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
    screen = LiveScreen()
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
    """The loop: what comes from the program and from the keys, and a look a few times a second."""

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
        # What it printed last. A child of its own may hold the other end for longer.
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
