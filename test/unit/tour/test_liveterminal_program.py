"""The program beside a live picture in a terminal: its output, its end, keys and signals for it, and requests to it."""

from __future__ import annotations

import http.server
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.tour import liveterminal
from clientgo.tour.liveterminal import Client, LiveScreen

TOUR = "The informer tour is at http://127.0.0.1:7/?token=a-b_c"
SEEN: Any = {
    "views": {},
    "informers": [{"kind": "*v1.Pod", "objects": 7, "pending": 0}, {"kind": "*v1.Node", "objects": 1, "pending": 2}],
    "queues": ["1: one", "2: two"],
    "hops": [],
    "last": 3,
    "calls": 9,
    "skipped": 2,
    "elapsed": 1.0,
}
_IDLE: Any = {"pending": [], "taken": [], "delivering": None, "facts": [], "totals": {"pending": 0, "taken": 0}}
HANDLERS: Any = {
    "handlers": {"handlers": [{**_IDLE, "name": "first", "paused": False}, {**_IDLE, "name": "second", "paused": True}]}
}
WORKERS: Any = {"workers": {"workers": {"w": {"delay": 0.5}}}}


# ---- the loop around the program


class Program:
    """A process with pipes for its output and the keys, and a record of its signals."""

    def __init__(self) -> None:
        self.out, self.keys, self.resized = os.pipe(), os.pipe(), os.pipe()
        self.pid = 1
        self.signals: list[Any] = []
        self.stdout = SimpleNamespace(fileno=lambda: self.out[0])
        self.looks = 0
        self.lives = 1

    def poll(self) -> int | None:
        self.lives -= 1
        return None if self.lives >= 0 else 0

    def send_signal(self, number: int) -> None:
        self.signals.append(number)

    def terminate(self) -> None:
        self.signals.append("terminate")


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    program = Program()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(fileno=lambda: program.keys[0]))
    monkeypatch.setattr(liveterminal, "draw", lambda screen: program.signals.append("draw"))
    yield program
    for end in (*program.out, *program.keys, *program.resized):
        with suppress(OSError):  # a test has closed it
            os.close(end)


def attended(program: Any, screen: LiveScreen | None = None) -> tuple[Any, LiveScreen]:
    screen = screen or LiveScreen()
    return liveterminal._Attended(program, screen, program.resized[0]), screen


def test_the_output_is_shown_line_by_line_up_to_its_end(program: Program) -> None:
    loop, screen = attended(program)
    letter = "é".encode()
    os.write(program.out[1], b"one\ntw" + letter[:1])
    loop._read_output()
    assert [*screen.output] == ["one"]
    os.write(program.out[1], letter[1:] + b"\nlast")
    os.close(program.out[1])
    program.lives = 0
    loop.run()
    assert [*screen.output] == ["one", "twé", "last"]
    assert program.out[0] not in loop._sources


def test_no_empty_line_is_added_at_the_end_and_the_last_500_lines_are_kept(program: Program) -> None:
    loop, screen = attended(program)
    os.write(program.out[1], b"".join(b"%d\n" % number for number in range(501)))
    program.lives = 0
    loop.run()
    assert [*screen.output] == [str(number) for number in range(1, 501)]


def test_the_first_address_is_where_the_screen_asks_and_no_output(program: Program) -> None:
    loop, screen = attended(program)
    loop._take([f"x {TOUR}", f"{TOUR} x", TOUR])
    assert isinstance(screen.ask, Client) and [*screen.output] == [f"x {TOUR}", f"{TOUR} x"]
    first = screen.ask
    loop._take([TOUR])
    assert screen.ask is first and screen.output[-1] == TOUR


@pytest.mark.parametrize(
    ("keys", "signals", "pressed"),
    [
        (b"q", [signal.SIGINT], []),
        (b"\x03", [signal.SIGINT], []),
        (b"zq\x1b[A", [signal.SIGINT], ["z", "\x1b[A"]),
        (b"zi", [], ["z", "i"]),
    ],
)
def test_q_and_control_c_interrupt_the_program_and_other_keys_are_the_screens(
    program: Program, monkeypatch: pytest.MonkeyPatch, keys: bytes, signals: list[Any], pressed: list[str]
) -> None:
    loop, screen = attended(program)
    found: list[str] = []
    monkeypatch.setattr(screen, "press", found.append)
    os.write(program.keys[1], keys)
    loop._read_keys()
    assert program.signals == signals and found == pressed and screen.is_ending == bool(signals)
    assert program.keys[0] in loop._sources


@pytest.mark.parametrize("how", ["end", "error"])
def test_a_terminal_that_is_gone_terminates_the_program(program: Program, how: str) -> None:
    loop, _ = attended(program)
    os.close(program.keys[1] if how == "end" else program.keys[0])
    loop._read_keys()
    assert program.signals == ["terminate"] and program.keys[0] not in loop._sources


def test_each_round_reads_what_is_ready_and_draws_and_looks_four_times_a_second(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = [0.0]
    monkeypatch.setattr("clientgo.tour.liveterminal.time.monotonic", lambda: time[0])
    loop, screen = attended(program)
    monkeypatch.setattr(screen, "look", lambda: program.signals.append("look"))
    monkeypatch.setattr(screen, "press", program.signals.append)
    waits: list[float] = []
    ready: list[list[int]] = []

    def select(sources: list[int], *rest: Any) -> tuple[list[int], list[int], list[int]]:
        if rest[-1] == 0.0 and not ready:
            return [], [], []
        waits.append(rest[-1])
        time[0] += 0.1
        return ready.pop(0), [], []

    monkeypatch.setattr("clientgo.tour.liveterminal.select.select", select)
    os.write(program.keys[1], b"x")
    os.write(program.resized[1], b".")
    for text in (b"a\n", b"b\n"):
        os.write(program.out[1], text)
    ready += [[], [program.keys[0]], [program.resized[0]], [program.out[0]], []]
    program.lives = 5
    loop.run()
    assert program.signals == ["look", "draw", "x", "draw", "draw", "look", "draw", "draw"]
    assert waits == pytest.approx([0.0, 0.25, 0.15, 0.05, 0.25])
    os.set_blocking(program.resized[0], False)
    with pytest.raises(BlockingIOError):
        os.read(program.resized[0], 1)
    assert [*screen.output] == ["a", "b"]


def test_output_alone_is_not_drawn_before_the_next_look(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, screen = attended(program)
    monkeypatch.setattr("clientgo.tour.liveterminal.time.monotonic", lambda: 5.0)
    monkeypatch.setattr(screen, "look", lambda: os.write(program.out[1], b"a\n"))
    program.lives = 2
    loop.run()  # the first round looks, the second one reads
    assert program.signals == ["draw"] and [*screen.output] == ["a"]


# ---- the program from its start to its end


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Replace the terminal by pipes on which no key is pressed."""
    keys, resized = os.pipe(), os.pipe()
    monkeypatch.setattr(liveterminal, "is_terminal", lambda: True)
    monkeypatch.setattr(liveterminal, "full_screen", nullcontext)
    monkeypatch.setattr(liveterminal, "resizes", lambda: nullcontext(resized[0]))
    monkeypatch.setattr(liveterminal, "draw", lambda screen: None)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(fileno=lambda: keys[0]))
    yield
    for end in (*keys, *resized):
        os.close(end)


@pytest.mark.parametrize(
    ("script", "code", "printed"),
    [
        ("echo out; echo err >&2; exit 7", 7, "out\nerr\n"),
        ("echo $PYTHONUNBUFFERED; read line || echo none", 0, "1\nnone\n"),
        ("kill -TERM $$", 128 + signal.SIGTERM, ""),
    ],
)
def test_the_result_is_the_programs_and_its_output_is_printed_at_the_end(
    terminal: None, capsys: pytest.CaptureFixture[str], script: str, code: int, printed: str
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert liveterminal.show(["/bin/sh", "-c", script]) == code
    assert capsys.readouterr().out == printed
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_program_that_is_not_there_is_named(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert liveterminal.show(["/no/such/program"]) == 1
    assert capsys.readouterr().out.startswith("cannot run /no/such/program: ")


def test_an_error_of_the_screen_terminates_the_program_and_closes_the_connection(
    terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes: list[subprocess.Popen[bytes]] = []
    closed: list[Client] = []

    def run(self: Any) -> None:
        processes.append(self._process)
        self._screen.ask = Client("http://127.0.0.1:7/?token=a")
        raise KeyboardInterrupt

    monkeypatch.setattr(liveterminal._Attended, "run", run)
    monkeypatch.setattr(Client, "close", lambda self: closed.append(self))
    with pytest.raises(KeyboardInterrupt):
        liveterminal.show(["/bin/sh", "-c", "read line; exec sleep 60"])
    assert len(closed) == 1 and processes[0].returncode is not None


def test_a_request_to_end_is_handed_on_to_the_program() -> None:
    sent: list[int] = []
    process: Any = SimpleNamespace(send_signal=sent.append)
    before = signal.getsignal(signal.SIGTERM)
    with liveterminal._handed_on(process):
        os.kill(os.getpid(), signal.SIGTERM)
    assert sent == [signal.SIGTERM] and signal.getsignal(signal.SIGTERM) is before


# ---- requests


class Server(http.server.BaseHTTPRequestHandler):
    """Answers with the request, and with no JSON below /text."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        about = f"{self.command} {self.path} {self.headers['Authorization']} {self.headers['Content-Type']}"
        text = ("nothing" if self.path == "/text" else f'{{"asked": "{about}", "body": {body or "null"}}}').encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = answer

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


def test_a_client_asks_with_the_token_and_every_trouble_is_an_os_error() -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        client = Client(f"http://127.0.0.1:{server.server_port}/?token=a-b")
        about = "Bearer a-b application/json"
        assert client("/x?y=1") == {"asked": f"GET /x?y=1 {about}", "body": None}
        assert client("/x", {"pause": "h"}) == {"asked": f"POST /x {about}", "body": {"pause": "h"}}
        assert client("/x", {}) == {"asked": f"POST /x {about}", "body": {}}
        with pytest.raises(ConnectionError, match="Expecting value"):
            client("/text")
        assert client._connection.sock is None
        assert client("/x")["body"] is None and client._connection.sock is not None
        client.close()
        assert client._connection.sock is None
        server.shutdown()
        thread.join()
    with pytest.raises(OSError, match="refused"):
        client("/x")
    assert Client("http://127.0.0.1:7/")._headers["Authorization"] == "Bearer "


def test_a_client_waits_two_seconds_for_an_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = Client(f"http://127.0.0.1:{server.getsockname()[1]}/?token=a")
        assert client._connection.timeout == 2.0
        client._connection.timeout = 0.05
        with pytest.raises(TimeoutError):
            client("/x")
        assert client._connection.sock is None


# ---- the screen


class Asked:
    """A program that answers from a table and keeps the requests."""

    def __init__(self, **seen: Any) -> None:
        self.seen = {**SEEN, **seen}
        self.requests: list[Any] = []
        self.is_gone = False
        self.past: dict[str, Any] = {"hops": [], "links": [], "changes": {}}

    def __call__(self, path: str, body: Any = None) -> Any:
        self.requests.append(path if body is None else body)
        if self.is_gone:
            raise OSError("gone")
        if path == "/api/tour":
            return {"title": "the program"}
        return self.seen if path.startswith("/api/live") else self.past


def screen_of(**seen: Any) -> tuple[LiveScreen, Asked]:
    screen, asked = LiveScreen(), Asked(**seen)
    screen.ask = asked
    screen.look()
    return screen, asked


def test_each_look_asks_for_the_choice_and_the_hops_behind_the_last_one() -> None:
    screen, asked = screen_of()
    assert asked.requests == ["/api/tour", "/api/live?informer=0&queue=0&since=-1"]
    asked.seen["last"] = 2
    for key in "ikkik":
        screen.press(key)
    assert [path.partition("?")[2] for path in asked.requests[2:]] == [
        "informer=1&queue=0&since=3",
        "informer=1&queue=1&since=3",
        "informer=1&queue=0&since=3",
        "informer=0&queue=0&since=3",
        "informer=0&queue=1&since=3",
    ]
    count = len(asked.requests)
    screen.press("unknown")
    screen.press(" ")
    screen.look()
    assert len(asked.requests) == count and screen.is_frozen
    screen.press(" ")
    assert len(asked.requests) == count + 1


@pytest.mark.parametrize(("queue", "shown"), [(0, "1: one"), (1, "2: two")])
def test_the_head_names_the_choice_and_what_was_not_shown(queue: int, shown: str) -> None:
    screen, asked = screen_of()
    for _ in range(queue):
        screen.press("k")
    head = screen.lines(200, 24)[:3]
    assert head[0] == "The informer tour: the program  [live]"
    assert "9 calls" in head[1] and "2 " in head[1]
    assert "▶*v1.Pod: 7 objects, 0 to notify, *v1.Node: 1 objects, 2 to notify" in head[2]
    assert head[2].endswith(f"queue: {shown}")
    asked.seen.update(skipped=0, informers=[], queues=[])
    screen.look()
    assert screen.lines(200, 24)[1] != head[1] and "none" in screen.lines(200, 24)[2]
    screen.press("z")
    assert "，" in screen.lines(200, 24)[1]
    screen.is_ending = True
    assert "结束" in screen.lines(200, 24)[0]


def test_the_chosen_handler_or_worker_stays_within_the_list() -> None:
    screen, asked = screen_of(views={**HANDLERS, **WORKERS})
    down, up = "\x1b[B", "\x1b[A"
    chosen = []
    for key in (up, down, down, down, down, up, up, up, up):
        screen.press(key)
        chosen.append(screen._choice()[1])
    assert chosen == ["first", "second", "w", "w", "w", "second", "first", "first", "first"]
    screen.press(down)
    screen.press("i")
    assert screen._choice()[1] == "first"
    for _ in range(2):
        screen.press(down)
    asked.seen["views"] = HANDLERS
    screen.look()
    assert screen._choice()[1] == "second"
    asked.seen["views"] = {}
    screen.look()
    assert screen._choice() == ("", "", 0) and screen.lines(80, 24)[-2] == liveterminal._TEXTS["en"]["no-choice"]


def test_keys_pause_handlers_and_slow_workers_down() -> None:
    screen, asked = screen_of(views={**HANDLERS, **WORKERS})

    def sent(*keys: str) -> list[Any]:
        before = len(asked.requests)
        for key in keys:
            screen.press(key)
        return [each for each in asked.requests[before:] if isinstance(each, dict)]

    down = "\x1b[B"
    assert sent("p", "+", "=", "-") == [{"pause": "first"}]
    assert sent(down, "p") == [{"go-on": "second"}]
    assert sent(down, "p", "+", "-") == [{"slow": "w", "delay": 1.0}, {"slow": "w", "delay": 0.1}]
    for now, more, less in ((0.0, 0.1, 0.0), (0.1, 1.0, 0.0), (1.0, 5.0, 0.1), (5.0, 5.0, 1.0), (9.0, 9.0, 5.0)):
        asked.seen["views"] = {"workers": {"workers": {"w": {"delay": now}}}}
        screen.look()
        assert sent("+", "-") == [{"slow": "w", "delay": more}, {"slow": "w", "delay": less}]


def test_a_program_that_is_gone_is_said_to_be_by_every_request() -> None:
    for keys in ("p", "c", "w\r"):
        key_view = {"queue": {"order": ["a"], "dirty": [], "processing": [], "waiting": [], "failures": {}}}
        screen, asked = screen_of(views={**HANDLERS, **key_view})
        screen.is_frozen = True
        asked.is_gone = True
        for key in keys:
            screen.press(key)
        assert not screen._answers, keys
        screen.menu = None
        assert "does not answer" in screen.lines(80, 24)[0]
        asked.is_gone = screen.is_frozen = False
        screen.look()
        assert screen._answers


def test_a_menu_takes_the_keys_until_it_is_closed() -> None:
    screen, asked = screen_of()
    count = len(asked.requests)
    screen.press("?")
    menu = screen.menu
    assert menu is not None and menu.chosen == 0
    screen.press("\x1b[B")
    assert screen.menu is menu and menu.chosen == 1
    screen.press("i")
    assert len(asked.requests) == count + 1, "only the key that opened it made the screen look"
    screen.press("\x1b")
    assert screen.menu is None


def test_the_way_of_a_key_is_asked_for_by_its_place_and_shown_from_its_end() -> None:
    notice = {"key": "default/a", "version": "7", "queued": 1.5}
    view = {"name": "h", "paused": False, "pending": [notice], "taken": [], "delivering": None}
    screen, asked = screen_of(views={"handlers": {"handlers": [view]}})
    hop = {"station": "queue", "kind": "added", "key": "default/a", "version": "", "time": 0.5, "thread": "t"}
    asked.past = {
        "hops": [hop, {**hop, "time": 0.75}, {**hop, "time": 1.0}], "changes": {"queue.order": 2},
        "links": [{"at": at, "key": "default/a"} for at in (0, 1, 2)],
    }
    screen.press("w")
    assert screen.menu is not None and [text for text, _ in screen.menu.items] == ["handlers.pending  default/a  h"]
    screen.press("\r")
    assert asked.requests[-1] == (
        "/api/past?place=handlers.pending&key=default%2Fa&handler=h&version=7&queued=1.5&informer=0&queue=0"
    )
    menu: Any = screen.menu
    assert menu.title == f"{screen.words('why-here')}: default/a · handlers.pending"
    assert len(menu.items) == 3 and menu.chosen == 2 and menu.items[2][0].startswith("+1.00s")
    screen.press("\x1b")
    screen.press("c")
    menu = screen.menu
    assert menu.title == screen.words("last-changed") and menu.items[0][0].startswith("queue.order  +1.00s")
    # Before anything was seen, no key is anywhere.
    asked.seen["views"] = {}
    screen.press("\x1b")
    screen.press("z")
    screen.press("z")
    screen.press("w")
    menu = screen.menu
    assert menu.items == [(screen.words("nothing"), None)] and menu.title == screen.words("why-here-none")


def test_a_hop_is_a_line_with_its_version_and_its_error() -> None:
    words = LiveScreen().words
    hop = {"station": "queue", "kind": "added", "key": "a", "time": 1.234, "version": "", "more": {}}
    about = words.kind("queue", "added")
    assert liveterminal._hop(hop, words) == f"+1.23s queue.added a  {about}"
    failed = {**hop, "version": "7", "more": {"error": "OSError: gone"}}
    assert liveterminal._hop(failed, words) == f"+1.23s queue.added a @7  {about}  OSError: gone"


@pytest.mark.parametrize(("height", "hops", "printed"), [(10, 0, 0), (11, 1, 1), (23, 3, 3), (41, 6, 6), (65, 8, 6)])
def test_hops_and_output_have_a_sixth_of_the_room_each(height: int, hops: int, printed: int) -> None:
    hop = {"station": "queue", "kind": "added", "time": 0.0, "version": "", "more": {}}
    screen, _ = screen_of(hops=[{**hop, "key": f"k{number}"} for number in range(120)])
    screen.output.extend(f"line {number}" for number in range(30))
    lines = screen.lines(100, height)
    shown = [line for line in lines if line.startswith("+0.00s")]
    assert len(lines) == height and len(shown) == hops
    assert [line for line in lines if line.startswith("│ line")] == [
        f"│ line {number}" for number in range(30 - printed, 30)
    ]
    if shown:
        assert f" k{120 - hops} " in shown[0] and " k119 " in shown[-1]
    assert len(screen._hops) == 100


def test_a_new_screen_has_seen_nothing() -> None:
    screen = LiveScreen()
    screen.look()
    screen.press("i")
    assert screen.ask is None and not screen.is_frozen and not screen.is_ending
    assert screen.lines(80, 24)[:3] == [liveterminal._TEXTS["en"]["begins"], "", ""]


def test_without_informers_and_queues_the_first_ones_stay_chosen() -> None:
    screen, asked = screen_of(informers=[], queues=[])
    for key in "kiki":
        screen.press(key)
    assert asked.requests[-1] == "/api/live?informer=0&queue=0&since=3"


@pytest.mark.parametrize("height", [5, 6, 7])
def test_a_low_terminal_has_the_head_and_the_line_of_keys(height: int) -> None:
    screen, _ = screen_of(views={**HANDLERS})
    lines = screen.lines(200, height)
    assert len(lines) == height and lines[0].startswith("The informer tour: the program")
    assert lines[-2:] == [screen._chosen_line(), liveterminal._HELP["en"]]
