"""klog's line format, verbosity and contextual loggers."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import logging
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from patience import PATIENCE

from clientgo import context, klog
from clientgo.klog import output


@pytest.fixture(autouse=True)
def quiet():
    """Run every test at verbosity 0, and restore the logger."""
    logger = logging.getLogger("clientgo")
    level, handlers, propagate = logger.level, list(logger.handlers), logger.propagate
    settings = dataclasses.asdict(output.SETTINGS)
    klog.set_verbosity(0)
    yield
    output.configure(**settings)
    output._handler.is_configured = False
    logger.setLevel(level)
    logger.handlers[:] = handlers
    logger.propagate = propagate


@dataclass
class Thing:
    name: str

    def get_name(self) -> str:
        return self.name

    def get_namespace(self) -> str:
        return "ns"


class Name(NamedTuple):
    name: str

    def __str__(self) -> str:
        return f"name {self.name}"


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", '"text"'),
        ('say "hi" \\ there', '"say \\"hi\\" \\\\ there"'),
        ("bell\x07 tab\t ünïcode \u200b", '"bell\\a tab\\t ünïcode \\u200b"'),
        ("two\nlines", "<\n\ttwo\n\tlines\n >"),
        ("ends with a break\n", "<\n\tends with a break\n >"),
        (5, "5"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        ([1, "a"], '[1,"a"]'),
        ({"a": None}, '{"a":null}'),
        (b"raw", '"raw"'),
        (ValueError("bad"), '"bad"'),
        (klog.kref("ns", "name"), '"ns/name"'),
        (klog.kref("", "name"), '"name"'),
        (klog.kobj(Thing("a")), '"ns/a"'),
        (klog.kobj(None), '""'),
        (klog.kobj_slice([Thing("a"), None, Thing("b")]), '"[ns/a <nil> ns/b]"'),
        (klog.kobj_slice(None), '"[]"'),
        (Name("a"), '"name a"'),
        (Unprintable(), '"<panic: no text>"'),
    ],
)
def test_values_are_quoted_as_klog_does(value, text):
    assert klog.format_message("m", {"k": value}) == f'"m" k={text}'


def test_the_error_comes_first_and_the_message_stays_on_one_line():
    assert klog.format_message("a\nb", {"k": 1}, ValueError("bad")) == '"a\\nb" err="bad" k=1'


def test_header():
    record = logging.LogRecord("x", logging.WARNING, "/src/controller.py", 84, "hello", (), None)
    record.process = 106657
    record.msecs, record.created = 44.0, record.created
    line = klog.KlogFormatter().format(record)
    assert re.fullmatch(r"W\d{4} \d\d:\d\d:\d\d\.\d{6}  106657 controller\.py:84\] hello", line)
    assert klog.KlogFormatter(skip_headers=True).format(record) == "hello"


@pytest.mark.parametrize(
    ("level", "letter"),
    [(1, "I"), (logging.INFO, "I"), (logging.WARNING, "W"), (logging.ERROR, "E"), (logging.CRITICAL, "F")],
)
def test_severity_letters(level, letter):
    record = logging.LogRecord("x", level, "f.py", 1, "m", (), None)
    assert klog.KlogFormatter().format(record)[0] == letter


def test_a_foreign_record_with_an_exception_shows_its_traceback(caplog):
    try:
        raise ValueError("bad")
    except ValueError:
        logging.getLogger("other").exception("failed: %s", "x")
    text = klog.KlogFormatter().format(caplog.records[0])
    assert "] failed: x\nTraceback" in text
    assert text.endswith("ValueError: bad")


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_lines_name_their_caller(caplog):
    klog.set_verbosity(1)
    logger = klog.background()
    klog.info("x"), klog.infof("x"), klog.info_s("x"), klog.warning("x"), klog.warningf("x"), klog.error("x")
    klog.errorf("x"), klog.error_s(None, "x"), klog.v(1).info("x"), klog.v(1).infof("x"), logger.info("x")
    logger.error(None, "x"), logger.v(1).info("x")
    last = here() - 1
    assert [record.lineno for record in caplog.records] == [last - 2] * 6 + [last - 1] * 5 + [last] * 2
    assert {record.filename for record in caplog.records} == {"test_klog.py"}


def test_call_depth_names_the_helpers_caller(caplog):
    def helper() -> None:
        klog.background().with_call_depth(1).info("x")

    helper()
    assert caplog.records[0].lineno == here() - 1


def test_verbosity(caplog):
    klog.set_verbosity(4)
    assert klog.verbosity() == 4
    klog.v(4).info("shown", key="k")
    klog.v(5).info("hidden")
    assert klog.v(4).enabled()
    assert not klog.v(5)
    assert caplog.messages == ['"shown" key="k"']
    klog.set_verbosity(100)
    assert klog.v(18)
    assert klog.v(50)


def test_verbosity_is_the_level_of_the_standard_logger():
    logging.getLogger("clientgo").setLevel(logging.DEBUG)
    assert klog.verbosity() == 10
    assert klog.v(10)
    assert not klog.v(11)
    logging.getLogger("clientgo").setLevel(logging.ERROR)
    assert klog.verbosity() == -1


def test_free_text_joins_as_go_does(caplog):
    klog.info("a", 1, 2, "b")
    klog.infof("%s and %d", "x", 3)
    klog.infof("100%")
    assert caplog.messages == ["a1 2b", "x and 3", "100%"]


def test_loggers_are_immutable_and_add_up(caplog):
    root = klog.background()
    named = klog.logger_with_name(root, "a").with_values(k=1, other=2)
    deeper = klog.logger_with_values(named.with_name("b"), k=3)
    root.info("m")
    named.info("m")
    deeper.info("m", other=4)
    deeper.error(ValueError("bad"), "m", err="kept")
    assert caplog.messages == [
        '"m"',
        '"m" logger="a" k=1 other=2',
        '"m" logger="a.b" k=3 other=4',
        '"m" err="bad" logger="a.b" other=2 k=3 err="kept"',
    ]


def test_verbosities_of_loggers_add_up(caplog):
    klog.set_verbosity(3)
    logger = klog.background().v(2)
    assert logger.enabled()
    assert not logger.v(2).enabled()
    assert logger.v(1).get_v() == 3
    logger.v(2).info("hidden")
    logger.v(9).error(None, "errors always show")
    assert caplog.messages == ['"errors always show"']


def test_the_logger_travels_in_the_context(caplog):
    ctx = klog.new_context(context.background(), klog.background().with_name("c"))
    child, _ = context.with_cancel(ctx)
    klog.from_context(child).info("m")
    assert klog.from_context(context.background()) is klog.background() is klog.todo()
    assert caplog.messages == ['"m" logger="c"']


@pytest.mark.parametrize("flags", [["-v=4"], ["-v", "4"], ["--v=4"], ["--v", "4", "-logtostderr=false"]])
def test_flags(flags):
    parser = argparse.ArgumentParser()
    klog.add_flags(parser)
    namespace = parser.parse_args(flags)
    assert klog.verbosity() == 4
    assert namespace.v == 4


def parse(*flags: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    klog.add_flags(parser)
    return parser.parse_args(flags)


def log_each_severity() -> None:
    klog.info("i")
    klog.warning("w")
    klog.error("e")
    klog.flush()


PLAIN = ("-skip_headers", "-skip_log_headers")


def test_log_file_flag(tmp_path, capsys):
    parse(*PLAIN, f"-log_file={tmp_path / 'log'}")
    klog.info_s("to the file", n=1)
    klog.error("bad")
    assert (tmp_path / "log").read_text() == '"to the file" n=1\nbad\n'
    assert capsys.readouterr().err == "bad\n", "errors go to stderr as well"
    assert (tmp_path / "log").stat().st_mode & 0o077 == 0


def test_an_explicit_logtostderr_has_the_last_word(tmp_path, capsys):
    """In klog too, -logtostderr overrides -log_file."""
    parse(*PLAIN, "-logtostderr=true", f"-log_file={tmp_path / 'log'}")
    klog.info("hi")
    parse(*PLAIN, f"-log_file={tmp_path / 'log'}", "-logtostderr=true")
    klog.info("ho")
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((), ""),
        (("-stderrthreshold=WARNING",), "w\ne\n"),
        (("-stderrthreshold", "3"), ""),
        (("-alsologtostderr",), "i\nw\ne\n"),
    ],
)
def test_what_goes_to_stderr_beside_files(flags, expected, tmp_path, capsys):
    parse(*PLAIN, "-stderrthreshold=FATAL", f"-log_dir={tmp_path}", *flags)
    log_each_severity()
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((), {"INFO": "i\nw\ne\n", "WARNING": "w\ne\n", "ERROR": "e\n"}),
        (("-one_output",), {"INFO": "i\n", "WARNING": "w\n", "ERROR": "e\n"}),
    ],
)
def test_log_dir_has_a_file_for_each_severity(flags, expected, tmp_path):
    parse(*PLAIN, f"-log_dir={tmp_path}", *flags)
    log_each_severity()
    links = {path.name.rpartition(".")[2]: path.read_text() for path in tmp_path.iterdir() if path.is_symlink()}
    assert links == expected
    names = [path.name for path in tmp_path.iterdir() if not path.is_symlink()]
    assert len(names) == 3
    assert all(re.fullmatch(rf".+\.log\.(INFO|WARNING|ERROR)\.\d{{8}}-\d{{6}}\.{os.getpid()}", name) for name in names)


def test_a_log_file_has_a_header(tmp_path):
    parse("-skip_headers", f"-log_file={tmp_path / 'log'}")
    klog.info("hi")
    assert re.match(r"Log file created at: .*\nRunning on machine: .*\n", (tmp_path / "log").read_text())


@pytest.mark.parametrize("where", ["log_file", "log_dir"])
def test_a_log_file_that_grows_too_large_is_begun_anew(where, tmp_path):
    parse(*PLAIN, f"-{where}={tmp_path if where == 'log_dir' else tmp_path / 'log'}", "-log_file_max_size=1")
    for number in range(4):
        klog.infof("%d%s", number, "x" * 400_000)
    sizes = sorted(path.stat().st_size for path in tmp_path.iterdir() if not path.is_symlink())
    assert sizes == ([800_004] if where == "log_file" else [800_004, 800_004])


def test_a_file_that_cannot_be_written_costs_only_its_lines(tmp_path, capsys):
    parse(*PLAIN, f"-log_dir={tmp_path / 'missing'}")
    klog.info("lost")
    assert "FileNotFoundError" in capsys.readouterr().err


def test_the_header_may_have_the_folder(capsys):
    record = logging.LogRecord("x", logging.INFO, "/src/pkg/controller.py", 84, "hello", (), None)
    assert klog.KlogFormatter(add_dir_header=True).format(record).endswith(" pkg/controller.py:84] hello")
    parse("-add_dir_header", "-logtostderr=false", "-alsologtostderr", "-log_dir=/nonexistent")
    klog.info("hi")
    assert re.search(r" unit/test_klog\.py:\d+\] hi\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("vmodule", "shows"),
    [
        ("test_klog=4", True),
        ("test_*=4", True),
        ("reflector=4,test_klog=5", True),
        ("test_klog=3", False),
        ("test_klog=0", False),
        ("reflector=9", False),
        ("unit/test_klog=4", True),
        ("*/unit/*=4", True),
        ("other/test_klog=4", False),
        ("test_klog.py=4", True),
    ],
)
def test_vmodule_sets_the_verbosity_of_source_files(vmodule, shows, caplog):
    parse("-v=1", f"-vmodule={vmodule}")
    klog.v(4).infof("%s", "free")
    klog.v(4).info("plain")
    klog.background().v(4).info("contextual")
    klog.background().v(5 if vmodule.endswith("=4") else 9).info("hidden")
    assert caplog.messages == (["free", '"plain"', '"contextual"'] if shows else [])
    assert bool(klog.v(4)) == klog.background().v(4).enabled() == shows


def test_a_line_may_get_its_stack_trace(caplog):
    parse(f"-log_backtrace_at=test_klog.py:{here() + 1}")
    klog.info("traced")
    klog.info("not traced")
    assert "test_a_line_may_get_its_stack_trace" in caplog.messages[0]
    assert caplog.messages[1] == "not traced"


def test_init_flags_without_a_parser_takes_its_flags_out_of_the_command_line(monkeypatch):
    """Go: klog.InitFlags(nil); flag.Parse()."""
    monkeypatch.setattr(sys, "argv", ["program", "-kubeconfig=/tmp/kc", "-v=4", "--vmodule", "a=2", "-master", "x"])
    klog.init_flags(None)
    assert sys.argv == ["program", "-kubeconfig=/tmp/kc", "-master", "x"]
    assert klog.verbosity() == 4
    parser = argparse.ArgumentParser()
    klog.init_flags(parser)
    assert parser.parse_args(["-v=2"]).v == 2


BAD_FLAGS = {
    "-logtostderr=maybe": "invalid boolean value",
    "-stderrthreshold=LOUD": "unknown severity",
    "-vmodule=reflector": "expect comma-separated list of filename=N",
    "-vmodule=reflector=x": "expect comma-separated list of filename=N",
    "-vmodule=reflector=-1": "negative value for vmodule level",
    "-log_backtrace_at=here": "expect file.py:234",
    "-log_file_max_size=-1": "negative size",
    "-v=much": "invalid int value",
}


@pytest.mark.parametrize("flag", BAD_FLAGS)
def test_a_bad_flag_is_refused(flag, capsys):
    with pytest.raises(SystemExit):
        parse(flag)
    assert BAD_FLAGS[flag] in capsys.readouterr().err


class Silent:
    """Has no text and no names."""

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


EVERY_CALL = {
    "info": lambda x: klog.info(x, 1, x),
    "infof": lambda x: klog.infof(x, x),
    "infof with a wrong verb": lambda x: klog.infof("%d %s", x),
    "infof without arguments": lambda x: klog.infof("%d 100%"),
    "infoln": lambda x: klog.infoln(x, x),
    "info_s": lambda x: klog.info_s(x, "key", x, "odd"),
    "warningf": lambda x: klog.warningf("%v %q %5d", x, x, x),
    "warningln": lambda x: klog.warningln(x),
    "errorf": lambda x: klog.errorf("%v: %v", x),
    "errorln": lambda x: klog.errorln(x),
    "error_s": lambda x: klog.error_s(x, x, "key", [x], other={"a": x}),
    "v.info": lambda x: klog.v(0).info(x, key=x),
    "v.info with more": lambda x: klog.v(0).info("a", x),
    "v.infof": lambda x: klog.v(0).infof("%s %x", x),
    "v.info_s": lambda x: klog.v(0).info_s("m", x, x),
    "v.error_s": lambda x: klog.v(0).error_s(x, "m"),
    "logger.info": lambda x: klog.background().info(x, x, x, x),
    "logger.error": lambda x: klog.background().with_values(x, x).error(x, "m", "object", x),
    "kobj": lambda x: klog.info_s("m", obj=klog.kobj(x), objs=klog.kobj_slice([x])),
    "too deep": lambda x: klog.background().with_call_depth(999).info("m"),
    "slice": lambda x: klog.info_s("m", objs=klog.kobj_slice(x)),
}


@pytest.mark.parametrize("value", [Silent(), None, ValueError("bad"), "%", b"\xff", 2**70, float("nan")], ids=type)
@pytest.mark.parametrize("call", EVERY_CALL)
def test_no_call_raises_and_each_says_something(call, value, caplog):
    EVERY_CALL[call](value)
    assert len(caplog.messages) == 1


def test_a_raising_log_handler_is_reported_on_stderr(capsys):
    class Broken(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise OSError("disk full")

    logging.getLogger("clientgo").addHandler(Broken())
    klog.info("hi")
    assert "disk full" in capsys.readouterr().err


def test_pairs_may_be_given_as_in_go(caplog):
    foo = klog.background().with_values("controller", "foo")
    foo.info("Synced", "name", "a", "odd", ready=True)
    foo.error(ValueError("bad"), "unable to update instance", "instance", "ns/a")
    klog.info_s("Pod", "pod", klog.kref("ns", "a"))
    klog.v(0).info("Recovered ", "x", 1, 2)
    assert caplog.messages == [
        '"Synced" controller="foo" name="a" odd="(MISSING)" ready=true',
        '"unable to update instance" err="bad" controller="foo" instance="ns/a"',
        '"Pod" pod="ns/a"',
        "Recovered x1 2",
    ]


def run_program(program: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, env=env)


def test_a_program_without_logging_gets_klog_lines_on_stderr():
    done = run_program("from clientgo import klog; klog.info_s('hi', k=1); klog.v(1).info('no')")
    assert re.fullmatch(r'I\d{4} [\d:.]{15} +\d+ <string>:1\] "hi" k=1\n', done.stderr)
    assert done.stdout == ""


def test_a_program_with_logging_gets_records():
    done = run_program(
        "import logging; logging.basicConfig(format='%(levelname)s %(name)s %(message)s')\n"
        "from clientgo import klog; klog.warning('hi')"
    )
    assert done.stderr == "WARNING clientgo hi\n"


def test_a_line_can_always_be_written(caplog):
    cut = "cut \udce2"

    klog.infof("%s %v", cut, cut)
    klog.info(cut)
    klog.info_s(cut, "key", cut)

    assert caplog.messages == ["cut \ufffd cut \ufffd", "cut \ufffd", r'"cut \xe2" key="cut \xe2"']


def test_fatal_ends_the_process():
    done = run_program("from clientgo import klog; klog.fatalf('no %s', 'way'); print('not reached')")
    assert done.returncode == 255
    assert done.stderr.startswith("F")
    assert done.stderr.endswith("no way\n")
    assert done.stdout == ""


def test_exit_ends_the_process_with_code_1():
    done = run_program("from clientgo import klog; klog.exit('no ', 'way'); print('not reached')")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("no way\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_full_disk_is_reported_once_and_drops_the_lines(capsys):
    parse("-log_file=/dev/full")
    for _ in range(3):
        klog.info("wombat")
    parse("-log_file=")

    (line,) = capsys.readouterr().err.splitlines()
    assert line == "log: cannot write to the log file, and drops its lines: OSError: [Errno 28] No space left on device"
