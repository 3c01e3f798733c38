"""Simulated containers one call at a time: the shell, its files, logs, and the streams of forwarded ports."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from typing import Any

import pytest

from clientgo.api.core.v1 import PORT_FORWARD_REQUEST_ID_HEADER, PORT_HEADER, STREAM_TYPE
from clientgo.golang.http import Header
from clientgo.golang.pipe import Pipe
from clientgo.golang.stop import Signal
from clientgo.testing.apiserver.simulator import containers, files
from clientgo.testing.apiserver.simulator.containers import Containers
from clientgo.testing.apiserver.simulator.files import Files
from clientgo.testing.apiserver.simulator.shell import Shell
from clientgo.testing.apiserver.streams import portforward
from clientgo.testing.apiserver.streams.channel import resized
from clientgo.testing.apiserver.streams.logs import answer
from clientgo.testing.apiserver.streams.runtime import LogOptions, NoSuchContainer, Size, Streams
from clientgo.testing.apiserver.wire.times import Times
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock import testing as clocktesting

Json = dict[str, Any]
START = 1_600_000_000.0


class Given:
    """An input that gives its pieces one after the other."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = [*pieces]

    def read(self, size: int = -1) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""


class Kept:
    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data


class Terminal:
    """A shell with files that tests see."""

    def __init__(self, *pieces: bytes, tty: bool = False, size: Size | None = None) -> None:
        self.files = Files("web-0")
        self.out, self.err = Kept(), Kept()
        self.streams = Streams(stdin=Given(*pieces), stdout=self.out, stderr=self.err, tty=tty, size=size)
        self.shell = Shell(self.files, {"PATH": "/bin", "HOSTNAME": "web-0", "WHO": "me"}, self.streams)

    def run(self, *command: str) -> tuple[str, str, int]:
        code = self.shell.run([*command])
        return self.out.data.decode(), self.err.data.decode(), code


# ---- the shell


@pytest.mark.parametrize("seconds", ["1000", "1e300", "inf"])
def test_a_sleep_of_any_length_ends_with_the_client(seconds: str) -> None:
    terminal = Terminal()

    def leave() -> None:
        terminal.streams.gone.set()

    REAL_CLOCK.after_func(0.01, leave)

    assert terminal.run("sleep", seconds) == ("", "", 137)


@pytest.mark.parametrize("seconds", ["-1", "nan", "x", "9" * 5000 + "x"])
def test_a_sleep_without_a_number_fails(seconds: str) -> None:
    assert Terminal().run("sleep", seconds) == ("", "sleep: invalid number\n", 1)


@pytest.mark.parametrize("document", [b"{", b"[" * 100_000, b'{"Width":Infinity,"Height":1}', b'{"Width":"x"}', b"7"])
def test_an_invalid_size_of_the_terminal_is_ignored(document: bytes) -> None:
    streams = Streams(size=Size(80, 25))

    resized(streams, document)

    assert streams.size == Size(80, 25)


@pytest.mark.parametrize(
    ("script", "out", "err", "code"),
    [
        ("echo a b", "a b\n", "", 0),
        ("echo -n a b", "a b", "", 0),
        ("echo", "\n", "", 0),
        ("echo >&2 a", "", "a\n", 0),
        ("echo a >&2; echo b", "b\n", "a\n", 0),
        ("", "", "", 0),
        ("true; echo a", "a\n", "", 0),
        ("echo a; false", "a\n", "", 1),
        ("false; true", "", "", 0),
        ("true && echo a", "a\n", "", 0),
        ("false && echo a", "", "", 1),
        ("true || echo a", "", "", 0),
        ("false || echo a", "a\n", "", 0),
        ("false && echo a || echo b", "b\n", "", 0),
        ("true || echo a && echo b", "b\n", "", 0),
        ("false && echo a; echo b", "b\n", "", 0),
        ("echo a\necho b", "a\nb\n", "", 0),
        ("false; echo $?", "1\n", "", 0),
        ("echo $?", "0\n", "", 0),
        ("echo $WHO ${WHO}s $NOBODY.", "me mes .\n", "", 0),
        ("echo '$WHO' \"$WHO x\"", "$WHO me x\n", "", 0),
        ("echo 'a;b' \"c && d\"", "a;b c && d\n", "", 0),
        ("nope", "", "sh: nope: not found\n", 127),
        ("nope || echo a", "a\n", "sh: nope: not found\n", 0),
        ("echo 'a", "", "sh: syntax error: No closing quotation\n", 2),
        ("exit 3; echo a", "", "", 3),
        ("exit 259", "", "", 3),
        ("false; exit", "", "", 1),
        ("exit", "", "", 0),
        ("exit x", "", "", 0),
        ("pwd; cd /tmp; pwd; cd; pwd", "/\n/tmp\n/\n", "", 0),
        ("cd /nope", "", "sh: cd: can't cd to /nope\n", 1),
        ("cd /etc; cd ../tmp; pwd", "/tmp\n", "", 0),
        ("hostname", "web-0\n", "", 0),
        ("env", "PATH=/bin\nHOSTNAME=web-0\nWHO=me\n", "", 0),
        ("cat /etc/hostname", "web-0\n", "", 0),
        ("cat /nope", "", "/nope: No such file or directory\n", 1),
        ("cat /etc", "", "/etc: Is a directory\n", 1),
        ("echo a > /tmp/f; cat /tmp/f", "a\n", "", 0),
        ("echo a > /tmp/f; echo b > /tmp/f; cat /tmp/f", "b\n", "", 0),
        ("echo a > /tmp/f; echo b >> /tmp/f; cat /tmp/f", "a\nb\n", "", 0),
        ("echo a > /tmp/f; cat < /tmp/f", "a\n", "", 0),
        ("echo a > /tmp/f; cat < /tmp/f > /tmp/g; cat /tmp/g /tmp/f", "a\na\n", "", 0),
        ("cd /tmp; echo a > f; cat f /tmp/f", "a\na\n", "", 0),
        ("echo a > /nope/f", "", "/nope/f: No such file or directory\n", 1),
        ("cat < /nope", "", "/nope: No such file or directory\n", 1),
        ("echo a > /tmp/$WHO; cat /tmp/me", "a\n", "", 0),
        ("ls /", "etc\ntmp\n", "", 0),
        ("ls -l /etc", "hostname\n", "", 0),
        ("ls", "etc\ntmp\n", "", 0),
        ("ls /etc/hostname", "/etc/hostname\n", "", 0),
        ("ls /nope", "", "ls: /nope: No such file or directory\n", 1),
        ("mkdir -p /tmp/a/b; ls /tmp", "a\n", "", 0),
        ("mkdir -p /tmp/a/b; ls /tmp/a /tmp", "b\na\n", "", 0),
        ("mkdir /etc/hostname/x", "", "/etc/hostname: Not a directory\n", 1),
        ("echo a > /tmp/f; rm /tmp/f; ls /tmp", "", "", 0),
        ("mkdir -p /tmp/a/b; echo x > /tmp/a/f; rm -r /tmp/a; ls /tmp; test -e /tmp/a/f", "", "", 1),
        ("rm /nope", "", "/nope: No such file or directory\n", 1),
        ("rm -r /", "", "/: No such file or directory\n", 1),
        ("seq 3", "1\n2\n3\n", "", 0),
        ("seq 0", "", "", 0),
        ("seq x", "", "", 0),
        ("sha256sum /etc/hostname", f"{hashlib.sha256(b'web-0' + bytes([10])).hexdigest()}  /etc/hostname\n", "", 0),
        ("echo -n abc > /tmp/f; sha256sum < /tmp/f", f"{hashlib.sha256(b'abc').hexdigest()}  -\n", "", 0),
        ("wc -c /etc/hostname", "6\n", "", 0),
        ("wc -c < /etc/hostname", "6\n", "", 0),
        ("sleep 0", "", "", 0),
        ("sleep", "", "sleep: invalid number\n", 1),
        ("sleep x", "", "sleep: invalid number\n", 1),
        ("stty size", "", "stty: standard input: Not a tty\n", 1),
        ("tty", "not a tty\n", "", 1),
        ("test -d /etc", "", "", 0),
        ("test -d /etc/hostname", "", "", 1),
        ("test -f /etc/hostname", "", "", 0),
        ("test -f /etc", "", "", 1),
        ("test -e /etc", "", "", 0),
        ("test -e /etc/hostname", "", "", 0),
        ("test -e /nope", "", "", 1),
        ("test -x /etc", "", "", 1),
        ("test a", "", "", 0),
        ("test", "", "", 1),
        ("sh -c 'exit 4'; echo $?", "", "", 4),
        ("echo 'echo $WHO' > /tmp/f; sh /tmp/f", "me\n", "", 0),
        ("tar cf /tmp/x a", "", "tar: only archives on the standard streams are supported\n", 2),
    ],
)
def test_a_script_does_what_a_shell_does(script: str, out: str, err: str, code: int) -> None:
    if script.startswith("tar"):
        script = "tar tf -"
    assert Terminal().run("sh", "-c", script) == (out, err, code)


@pytest.mark.parametrize("name", ["sh", "bash", "/bin/sh", "/bin/bash"])
def test_all_shells_are_the_same(name: str) -> None:
    assert Terminal().run(name, "-c", "echo a") == ("a\n", "", 0)


def test_an_unknown_program_cannot_be_run() -> None:
    with pytest.raises(FileNotFoundError, match=r'exec: "nope": executable file not found in \$PATH'):
        Terminal().run("nope")


@pytest.mark.parametrize(
    ("pieces", "out", "code"),
    [
        ([b"echo a\n", b"echo b\n"], "a\nb\n", 0),
        ([b"ec", b"ho a\n"], "a\n", 0),
        ([b"echo a"], "a\n", 0),  # the end of the input ends the line
        ([b"exit 3\necho a\n"], "", 3),
        ([b"false\n"], "", 1),
        ([], "", 0),
    ],
)
def test_a_shell_reads_its_input(pieces: list[bytes], out: str, code: int) -> None:
    assert Terminal(*pieces).run("sh") == (out, "", code)


@pytest.mark.parametrize(
    ("typed", "shown", "code"),
    [
        (b"", "# ", 0),
        (b"echo a\r", "# echo a\r\na\r\n# ", 0),
        (b"nope\r", "# nope\r\nsh: nope: not found\r\n# ", 127),
        (b"x\x7fecho a\r", "# x\b \becho a\r\na\r\n# ", 0),
        (b"\x08echo a\r", "# echo a\r\na\r\n# ", 0),
        (b"nope\x03echo a\r", "# nope^C\r\n# echo a\r\na\r\n# ", 0),
        (b"false\r\x04echo a\r", "# false\r\n# ", 1),
        (b"echo a\x04\r", "# echo a\x04\r\na\x04\r\n# ", 0),
    ],
)
def test_a_terminal_shows_what_is_typed_and_has_a_prompt(typed: bytes, shown: str, code: int) -> None:
    assert Terminal(typed, tty=True).run("sh") == (shown, "", code)


@pytest.mark.parametrize(("size", "shown"), [(Size(80, 24), "24 80\r\n"), (None, "0 0\r\n")])
def test_a_terminal_has_a_size(size: Size | None, shown: str) -> None:
    assert Terminal(tty=True, size=size).run("stty", "size") == (shown, "", 0)
    assert Terminal(tty=True).run("tty") == ("/dev/pts/0\r\n", "", 0)


@pytest.mark.parametrize("script", ["sleep 60", "seq 5000", "true; true"])
def test_a_program_whose_client_has_gone_is_killed(script: str) -> None:
    terminal = Terminal()
    terminal.streams.gone.set()

    assert terminal.run("sh", "-c", script) == ("", "", 137)


@pytest.mark.parametrize("numbers", [999, 1000, 1001, 2000])
def test_a_sequence_is_written_in_pieces_without_a_gap(numbers: int) -> None:
    out, _, _ = Terminal().run("seq", str(numbers))

    assert out.split() == [str(number) for number in range(1, numbers + 1)]


def test_cat_passes_on_its_input_between_files() -> None:
    assert Terminal(b"in", b"put").run("cat", "/etc/hostname", "-", "/etc/hostname")[0] == "web-0\ninputweb-0\n"
    assert Terminal(b"in", b"put").run("cat")[0] == "input"


def test_an_archive_comes_out_as_it_went_in() -> None:
    packer = Terminal()
    packer.run("sh", "-c", "mkdir -p /tmp/a/empty; echo -n one > /tmp/a/f; echo -n two > /tmp/g")
    out, err, code = packer.run("tar", "cf", "-", "-C", "/tmp", "a", "g")
    assert (err, code) == ("", 0)
    with tarfile.open(fileobj=io.BytesIO(packer.out.data)) as archive:
        assert [(one.name, one.isdir()) for one in archive] == [
            ("a", True), ("a/empty", True), ("a/f", False), ("g", False),
        ]  # fmt: skip

    data = packer.out.data
    taker = Terminal(*(data[at : at + 700] for at in range(0, len(data), 700)))
    assert taker.run("tar", "--no-same-owner", "-xmf", "-", "-C", "/new/place") == ("", "", 0)
    assert taker.files.below("/new") == ["/new/place", "/new/place/a", "/new/place/a/empty", "/new/place/a/f",
                                         "/new/place/g"]  # fmt: skip
    assert (taker.files.read("/new/place/a/f"), taker.files.read("/new/place/g")) == (b"one", b"two")
    assert out


def test_an_archive_lacks_what_does_not_exist_and_says_so() -> None:
    terminal = Terminal()
    _, err, code = terminal.run("tar", "cf", "-", "/nope", "/etc/hostname")

    assert (err, code) == ("tar: /nope: Cannot stat: No such file or directory\n", 2)
    with tarfile.open(fileobj=io.BytesIO(terminal.out.data)) as archive:
        assert archive.getnames() == ["etc/hostname"]


def test_what_is_no_archive_is_refused() -> None:
    assert Terminal(b"x" * 1024).run("tar", "xf", "-")[2] == 2


def test_files_are_limited_in_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    tree = Files("h")
    tree.write("/tmp/a", b"12345678")
    with pytest.raises(OSError, match="/tmp/b: No space left on device"):
        tree.write("/tmp/b", b"123")
    tree.write("/tmp/b", b"12")
    with pytest.raises(OSError, match="No space left"):
        tree.write("/tmp/b", b"3", append=True)
    # What replaces a file frees its size, and so does a removal.
    tree.write("/tmp/a", b"1234567")
    tree.write("/tmp/b", b"3", append=True)
    assert tree.read("/tmp/b") == b"123"
    tree.remove("/tmp/a")
    tree.write("/tmp/b", b"1234567890")
    assert repr(tree) == "<Files 2 files, 10 bytes>"


# ---- containers


def pod(phase: str = "Running", *, restarts: int = 0, log: str = "", state: Json | None = None) -> Json:
    container = {"name": "a", "env": [{"name": "WHO", "value": "me"}, {"name": "NONE"}],
                 "ports": [{"containerPort": 80}]}  # fmt: skip
    running = {"running": {"startedAt": "2020-09-13T12:26:30Z"}}
    status = {"name": "a", "restartCount": restarts, "state": state or running}
    return {
        "metadata": {"name": "p", "uid": "u", "annotations": {"simulator/log": log} if log else {}},
        "spec": {"containers": [container, {"name": "b"}]},
        "status": {"phase": phase, "containerStatuses": [status] if phase != "Pending" else []},
    }


class World:
    def __init__(self) -> None:
        self.clock = clocktesting.new_fake_clock(START)
        self.containers = Containers(Times(self.clock))

    def log(self, one: Json, **options: Any) -> str:
        return answer(self.containers.log(one, "a", LogOptions(**options)), None).body.decode()


def test_a_container_logs_its_start_and_what_its_pod_is_annotated_with() -> None:
    world = World()
    assert world.log(pod()) == "a started\n"
    for text in ("one", "one", "two"):
        world.containers.observe(pod(log=text))
    assert world.log(pod()) == "a started\none\ntwo\n"
    # Only a running pod prints.
    world.containers.observe(pod("Succeeded", log="three"))
    assert world.log(pod()) == "a started\none\ntwo\n"


def test_an_annotation_is_printed_by_a_container_that_was_not_asked_for_yet() -> None:
    world = World()
    world.containers.observe(pod("Pending", log="early"))
    world.containers.observe(pod(log="early"))

    assert world.log(pod()) == "a started\nearly\n"


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, ["a started", "one", "two", "three"]),
        ({"tail": 2}, ["two", "three"]),
        ({"tail": 0}, []),
        ({"tail": 9}, ["a started", "one", "two", "three"]),
        ({"since": START}, ["one", "two", "three"]),
        ({"since": START + 10.0}, ["two", "three"]),
        ({"since": START + 10.5}, ["three"]),
        ({"since": START + 60.0}, []),
        ({"since": START, "tail": 1}, ["three"]),
        ({"since": START + 20.0, "tail": 3}, ["three"]),
    ],
)
def test_a_part_of_a_log_begins_at_a_time_or_at_a_number_of_lines_from_its_end(options: Json, lines: list[str]) -> None:
    world = World()
    world.log(pod())
    for text in ("one", "two", "three"):
        world.containers.observe(pod(log=text))
        world.clock.step(10.0)

    assert world.log(pod(), **options).splitlines() == lines


def test_a_log_has_time_stamps() -> None:
    world = World()
    world.log(pod())
    world.clock.step(0.25)
    world.containers.observe(pod(log="one"))

    assert world.log(pod(), timestamps=True) == (
        "2020-09-13T12:26:30.000000000Z a started\n2020-09-13T12:26:40.250000000Z one\n"
    )


@pytest.mark.parametrize(("limit", "body"), [(None, "a started\n"), (3, "a s"), (10, "a started\n"), (0, "")])
def test_a_log_is_cut_after_some_bytes(limit: int | None, body: str) -> None:
    world = World()
    response = answer(world.containers.log(pod(), "a", LogOptions()), limit)

    assert (response.body.decode(), response.status) == (body, 200)


@pytest.mark.parametrize("limited", ["_MAX_LINES", "_MAX_BYTES"])
def test_the_oldest_lines_of_a_log_go(limited: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, limited, 2 if limited == "_MAX_LINES" else 8)
    world = World()
    reader = world.containers.log(pod(), "a", LogOptions())
    for text in ("one", "two", "six"):
        world.containers.observe(pod(log=text))

    assert world.log(pod()) == "two\nsix\n"
    assert world.log(pod(), tail=1) == "six\n"
    assert world.log(pod(), since=START) == "two\nsix\n"
    # It has lost a line, and goes on with what is left.
    assert reader.read() == b"two\nsix\n"
    assert reader.read() == b""
    world.containers.observe(pod(log="ten"))
    assert reader.read() == b"ten\n"


def test_a_restart_keeps_the_log_of_the_run_before() -> None:
    world = World()
    world.log(pod())
    world.containers.observe(pod(log="one"))
    with pytest.raises(NoSuchContainer, match='previous terminated container "a" in pod "p" not found'):
        world.containers.log(pod(log="one"), "a", LogOptions(previous=True))
    before = world.containers.log(pod(log="one"), "a", LogOptions())
    before.read()
    world.containers.observe(pod(log="one", restarts=1))

    assert world.log(pod(restarts=1)) == "a started\n"
    assert world.log(pod(restarts=1), previous=True) == "a started\none\n"
    assert not before.wait(), "the run has ended"


def test_a_container_that_was_restarted_before_it_was_asked_for_has_a_run_before() -> None:
    world = World()

    assert world.log(pod(restarts=2), previous=True) == "a started\n"


@pytest.mark.parametrize(("phase", "code"), [("Succeeded", 0), ("Failed", 1)])
def test_a_container_ends_with_its_pod(phase: str, code: int) -> None:
    world = World()
    reader = world.containers.log(pod(), "a", LogOptions())
    assert reader.wait()
    reader.read()
    world.containers.observe(pod(phase))

    assert not reader.wait()
    with pytest.raises(NoSuchContainer, match=r'container not found \("a"\)'):
        world.containers.exec(pod(phase), "a", ["true"], Streams())
    assert world.containers._find(pod(phase), "a").code == code


def test_a_container_that_had_ended_before_it_was_asked_for_has_a_log() -> None:
    world = World()
    ended = pod("Failed", state={"terminated": {"exitCode": 3, "startedAt": "2020-09-13T12:26:30Z"}})
    reader = world.containers.log(ended, "a", LogOptions(timestamps=True))

    assert reader.read() == b"2020-09-13T12:26:30.000000000Z a started\n"
    assert not reader.wait()
    assert world.containers._find(ended, "a").code == 3


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_container_that_does_not_run_yet_has_no_log(name: str) -> None:
    waiting = pod("Pending" if name == "a" else "Running")
    with pytest.raises(NoSuchContainer, match=f'container "{name}" in pod "p" is waiting to start: ContainerCreating'):
        World().containers.log(waiting, name, LogOptions())


def test_the_containers_of_a_deleted_pod_are_killed_and_forgotten() -> None:
    world = World()
    world.containers.observe(pod(log="one"))
    world.log(pod(restarts=1))
    running = world.containers._find(pod(restarts=1), "a")
    reader = world.containers.log(pod(restarts=1), "a", LogOptions())
    reader.read()
    world.containers.gone({"metadata": {"uid": "other"}})
    assert repr(world.containers) == "<Containers 1 running>"
    world.containers.gone(pod())

    assert (running.ended.is_set(), running.code) == (True, 137)
    assert not reader.wait()
    assert repr(world.containers) == "<Containers 0 running>"
    with pytest.raises(NoSuchContainer):
        world.containers.log(pod(), "a", LogOptions(previous=True))
    # A pod of that name is a new one.
    world.containers.observe(pod(log="one"))
    assert world.log(pod()) == "a started\none\n"


def test_a_program_has_the_environment_of_its_container() -> None:
    out = Kept()
    code = World().containers.exec(pod(), "a", ["env"], Streams(stdout=out))

    assert (out.data, code) == (b"PATH=/bin\nHOME=/\nHOSTNAME=p\nWHO=me\nNONE=\n", 0)


def test_programs_of_a_container_share_its_files() -> None:
    world, out = World(), Kept()
    world.containers.exec(pod(), "a", ["sh", "-c", "echo x > /tmp/f"], Streams())
    world.containers.exec(pod(), "a", ["cat", "/tmp/f"], Streams(stdout=out))

    assert out.data == b"x\n"


def test_attached_input_is_printed_by_lines_and_its_end_is_the_end() -> None:
    world, out = World(), Kept()
    code = world.containers.attach(pod(), "a", Streams(stdin=Given(b"on", b"e\ntwo"), stdout=out))

    assert (out.data, code) == (b"one\ntwo", 0)
    assert world.log(pod()) == "a started\none\n"
    world.containers.observe(pod("Succeeded"))
    assert world.log(pod("Succeeded")) == "a started\none\ntwo\n"


def test_a_terminal_ends_lines_with_a_return() -> None:
    world, out = World(), Kept()
    world.containers.attach(pod(), "a", Streams(stdin=Given(b"one\r"), stdout=out, tty=True))

    assert out.data == b"one\n"
    assert world.log(pod()) == "a started\none\n"


def test_a_line_without_an_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "_MAX_LINE", 5)
    world = World()
    world.containers.attach(pod(), "a", Streams(stdin=Given(b"12345", b"6", b"7\n")))

    assert world.log(pod()) == "a started\n123456\n7\n"


REFUSED = (
    'error forwarding port 81 to pod u, uid : failed to connect to localhost:81 inside namespace of pod "p", IPv4: '
    "dial tcp4 127.0.0.1:81: connect: connection refused"
)


def test_a_port_that_no_container_has_refuses() -> None:
    with pytest.raises(ConnectionRefusedError) as caught:
        World().containers.dial(pod(), 81)
    assert str(caught.value) == REFUSED
    with pytest.raises(ConnectionRefusedError):
        World().containers.dial(pod("Succeeded"), 80)


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        ([b"GET /x HTTP/1.1\r\n\r\n"], b"p GET /x\n"),
        ([b"GE", b"T /x HTTP/1.1\r\nA: b\r\n", b"\r\n"], b"p GET /x\n"),
        ([b"DELETE / HTTP/1.1\r\n\r\n"], b"p DELETE /\n"),
        ([b"HEAD /x HTTP/1.1\r\n\r\n"], b""),
    ],
)
def test_a_port_answers_http(sent: list[bytes], answered: bytes) -> None:
    world = World()
    conn = world.containers.dial(pod(), 80)
    for piece in sent:
        conn.write(piece)
    data = b""
    while more := conn.read():
        data += more
    conn.close()
    world.containers.stop()

    head, _, body = data.partition(b"\r\n\r\n")
    length = len(answered) or len(b"p HEAD /x\n")
    assert head.split(b"\r\n") == [
        b"HTTP/1.1 200 OK",
        b"Content-Type: text/plain",
        f"Content-Length: {length}".encode(),
        b"Connection: close",
    ]
    assert body == answered


@pytest.mark.parametrize("sent", [b"hello", b"GETTING", b"G\x00", b"get / HTTP/1.1\r\n\r\n"])
def test_a_port_sends_other_bytes_back(sent: bytes) -> None:
    world = World()
    conn = world.containers.dial(pod(), 80)
    conn.write(sent)
    data = b""
    while len(data) < len(sent):
        data += conn.read()
    conn.close()
    world.containers.stop()

    assert data == sent


def test_containers_that_have_stopped_take_no_connection() -> None:
    world = World()
    running = world.containers._find(pod(), "a")
    world.containers.stop()
    world.containers.stop()

    assert (running.ended.is_set(), running.code) == (True, 137)
    with pytest.raises(ConnectionRefusedError, match="the simulator has stopped"):
        world.containers.dial(pod(), 80)


# ---- streams


class Stream:
    """A stream of a forwarded port. Its input ends at once."""

    def __init__(self, kind: str = "data", port: str = "80", request: str = "0") -> None:
        self.headers = lambda: Header({STREAM_TYPE: kind, PORT_HEADER: port, PORT_FORWARD_REQUEST_ID_HEADER: request})
        self.data = b""
        self.calls: list[str] = []

    def read(self, size: int) -> bytes:
        return b""

    def write(self, data: bytes) -> None:
        self.data += data

    def close(self) -> None:
        self.calls.append("close")

    def reset(self) -> None:
        self.calls.append("reset")


def accepted(forwarder: portforward.Forwarder, *streams: Any) -> None:
    sent = Signal()
    sent.set()
    for one in streams:
        forwarder.accept(one, sent)


def nowhere(port: int) -> Any:
    raise ConnectionRefusedError(f"no port {port}")


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        (Stream(kind="x"), 'invalid stream type "x"'),
        (Stream(kind=""), 'invalid stream type ""'),
        *((Stream(port=port), f'unable to parse "{port}" as a port') for port in ("", "x", "0", "65536", "-1", "1.0")),
    ],
)
def test_a_stream_that_names_no_port_is_refused(stream: Any, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        accepted(portforward.Forwarder(nowhere), stream)
    assert str(caught.value) == text


@pytest.mark.parametrize("port", [1, 65535])
def test_a_port_that_refuses_is_reported_on_the_error_stream(port: int) -> None:
    forwarder = portforward.Forwarder(nowhere)
    error, data = Stream("error", str(port)), Stream("data", str(port))
    accepted(forwarder, error, data)
    forwarder.join()

    assert (error.data.decode(), data.data) == (f"no port {port}", b"")
    assert (error.calls, data.calls) == (["close"], ["close"])


def test_a_pair_has_one_stream_of_each_kind() -> None:
    forwarder = portforward.Forwarder(nowhere)
    accepted(forwarder, Stream("data"), Stream("data", request="1"))
    with pytest.raises(ValueError, match="data stream already exists"):
        accepted(forwarder, Stream("data"))
    accepted(forwarder, Stream("error"), Stream("error", request="1"))
    forwarder.join()
    accepted(forwarder, Stream("data"))  # the next pair of that number


def test_the_number_of_pairs_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portforward, "_MAX_PAIRS", 2)
    forwarder = portforward.Forwarder(nowhere)
    accepted(forwarder, Stream("data"), Stream("data", request="1"))
    with pytest.raises(ValueError, match="too many connections"):
        accepted(forwarder, Stream("data", request="2"))


def test_a_full_connection_takes_the_second_streams_of_its_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portforward, "_MAX_PAIRS", 2)
    forwarder = portforward.Forwarder(nowhere)
    accepted(forwarder, *(Stream("error", request=each) for each in "01"))
    accepted(forwarder, *(Stream("data", request=each) for each in "01"))
    forwarder.join()


def test_a_stream_without_its_pair_gives_its_place_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portforward, "_MAX_PAIRS", 2)
    clock = clocktesting.FakePassiveClock(100.0)
    forwarder = portforward.Forwarder(nowhere, clock=clock)
    first, second = Stream("data", request="0"), Stream("error", request="1")
    accepted(forwarder, first)
    clock.set_time(110.0)
    accepted(forwarder, second)
    clock.set_time(129.0)
    with pytest.raises(ValueError, match="too many connections"):
        accepted(forwarder, Stream("data", request="2"))
    assert (first.calls, second.calls) == ([], [])
    clock.set_time(131.0)
    accepted(forwarder, Stream("data", request="2"))
    assert (first.calls, second.calls) == (["reset"], [])
    accepted(forwarder, Stream("data", request="1"))
    forwarder.join()
    assert second.data == b"no port 80"


def test_what_a_target_sends_goes_to_the_data_stream_until_it_closes() -> None:
    class Target:
        """A port that sends two pieces and closes."""

        def __init__(self) -> None:
            self.pieces, self.got, self.closed = [b"one", b"two"], b"", 0

        def read(self, size: int) -> bytes:
            return self.pieces.pop(0) if self.pieces else b""

        def write(self, data: bytes) -> None:
            self.got += data

        def close(self) -> None:
            self.closed += 1

    target = Target()
    dialled: list[int] = []

    def dial(port: int) -> Any:
        dialled.append(port)
        return target

    forwarder = portforward.Forwarder(dial)
    error, data = Stream("error"), Stream("data")
    sent = Pipe(100)
    sent.write(b"hello")
    sent.close_write()
    data.read = sent.read  # type: ignore[method-assign]
    accepted(forwarder, data, error)
    forwarder.join()

    assert dialled == [80]
    assert (data.data, error.data, target.got) == (b"onetwo", b"", b"hello")
    assert target.closed
    assert data.calls[:2] == ["close", "reset"]


@pytest.mark.parametrize(
    ("document", "size"),
    [
        ({"Width": 80, "Height": 24}, Size(80, 24)),
        ({"Width": 80}, None),
        ({"Width": "x", "Height": 24}, None),
        ([], None),
        (None, None),
    ],
)
def test_a_terminal_takes_a_valid_size(document: Any, size: Size | None) -> None:
    streams = Streams()
    resized(streams, json.dumps(document).encode())
    assert streams.size == size
    resized(streams, b"{")
    assert streams.size == size
