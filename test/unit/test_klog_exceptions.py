"""Exceptions in log lines: a bug with its type, location and traceback, an answer of the API server on one line."""

from __future__ import annotations

import ast
import dataclasses
import errno
import io
import json
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from clientgo import context, klog, kubernetes, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util.errors import new_aggregate
from clientgo.controller_runtime.log import zap
from clientgo.golang import fmt, http
from clientgo.golang.http.server import ListenError

ROOT = Path(__file__).parents[2]
CONFLICT = errors.new_conflict(GroupResource("", "pods"), "web", RuntimeError("it was modified"))


class UserError(Exception):
    """One that a user's program defines."""


class Broken(Exception):
    """One that has no text."""

    def __str__(self) -> str:
        raise RuntimeError


def caught(raises: Callable[[], object]) -> BaseException:
    try:
        raises()
    except BaseException as err:
        return err
    raise AssertionError("nothing was raised")


def raised(err: BaseException, cause: BaseException | None = None) -> BaseException:
    """Return the exception as a reconcile raises it: with a traceback."""

    def reconcile() -> None:
        raise err from cause

    return caught(reconcile)


BUGS = {
    "KeyError: 'nope'": KeyError("nope"),
    "ValueError: bad": ValueError("bad"),
    "RuntimeError: late": RuntimeError("late"),
    "UserError: mine": UserError("mine"),
    "UserError": UserError(),
    "SystemExit: 3": SystemExit(3),
    "FileNotFoundError: [Errno 2] no such file: 'x'": FileNotFoundError(2, "no such file", "x"),
    "ValueError: first line": ValueError("first line\nsecond line"),
    "Broken: <no text: RuntimeError>": Broken(),
}

OPERATIONAL = [
    CONFLICT,
    http.URLError("Get", "https://server/api", ConnectionRefusedError("Connection refused")),
    ConnectionResetError("reset"),
    TimeoutError("timed out"),
    socket.gaierror(-2, "Name or service not known"),
    ssl.SSLError("certificate verify failed"),
    OSError(errno.ENETUNREACH, "Network is unreachable"),
    ListenError(errno.EADDRINUSE, "listen tcp :8081: bind: address already in use"),
    context.Canceled(),
    context.DeadlineExceeded(),
    new_aggregate([CONFLICT, TimeoutError("timed out")]),
]


@pytest.mark.parametrize("text", BUGS)
def test_the_first_line_of_a_bug_has_its_type_text_and_place(text: str) -> None:
    logged = klog.format_message("Error syncing", {"key": "default/web"}, raised(BUGS[text]))
    first, *rest = logged.splitlines()
    assert re.match(
        rf'"Error syncing" err={re.escape(fmt.sprintf("%q", text))} at="test_klog_exceptions.py:\d+ in reconcile" '
        r'key="default/web" stacktrace=<$',
        first,
    )
    assert "raise err from cause" in logged
    assert rest[-1] == " >"


@pytest.mark.parametrize("err", OPERATIONAL, ids=lambda err: type(err).__name__)
def test_an_answer_of_the_server_and_of_the_network_stays_on_one_line(err: BaseException) -> None:
    assert klog.format_message("Error syncing", {}, raised(err)) == f'"Error syncing" err={fmt.sprintf("%q", str(err))}'


def test_a_group_of_answers_of_the_server_stays_on_one_line_and_names_the_first() -> None:
    group = raised(ExceptionGroup("all", [ConnectionResetError("reset"), CONFLICT]))
    assert klog.format_message("Error", {}, group) == '"Error" err="all (2 sub-exceptions)" cause="reset"'


def test_what_is_raised_from_an_answer_of_the_server_stays_on_one_line_and_names_it() -> None:
    wrapping = raised(RuntimeError("cannot scale"), cause=CONFLICT)
    assert klog.format_message("Error", {}, wrapping) == (
        f'"Error" err="cannot scale" cause={fmt.sprintf("%q", str(CONFLICT))}'
    )
    # As Go's wrapping errors: they repeat what they wrap.
    assert klog.format_message("Error", {}, fmt.errorf("cannot scale: %s", CONFLICT)) == (
        f'"Error" err={fmt.sprintf("%q", f"cannot scale: {CONFLICT}")}'
    )


def test_the_place_of_a_wrapped_bug_is_where_it_happened() -> None:
    wrapping = raised(RuntimeError("cannot scale"), cause=raised(KeyError("replicas")))
    first = klog.format_message("Error", {}, wrapping).splitlines()[0]
    assert 'err="RuntimeError: cannot scale" at="test_klog_exceptions.py:' in first
    assert """cause="KeyError: 'replicas'\"""" in first


def test_a_bug_that_go_would_wrap_without_raising_it_keeps_its_traceback() -> None:
    logged = klog.format_message("Error", {}, fmt.errorf("error syncing 'a/b': %s", raised(KeyError("nope"))))
    assert logged.startswith("""\"Error" err="error syncing 'a/b': 'nope'" at="test_klog_exceptions.py:""")
    assert """cause="KeyError: 'nope'\"""" in logged.splitlines()[0]
    assert "Traceback (most recent call last)" in logged


def test_an_error_that_was_never_raised_is_logged_as_in_go() -> None:
    logged = klog.format_message("Unhandled Error", {}, RuntimeError("Timed out waiting for caches to sync"))
    assert logged == '"Unhandled Error" err="Timed out waiting for caches to sync"'


def test_the_place_is_in_a_file_of_the_user_not_in_a_generated_method() -> None:
    point = dataclasses.make_dataclass("Point", ["x"], frozen=True)(1)

    def reconcile() -> None:
        point.x = 2

    failure = klog.failure_of(caught(reconcile))
    assert failure is not None
    assert re.fullmatch(r"test_klog_exceptions.py:\d+ in reconcile", failure.at)


def test_the_place_is_in_a_program_without_a_file() -> None:
    program = compile("import json\njson.loads('{')", "<string>", "exec")
    err = caught(lambda: exec(program, {}))
    at_program = err.__traceback__
    while at_program is not None and at_program.tb_frame.f_code is not program:
        at_program = at_program.tb_next
    failure = klog.failure_of(err.with_traceback(at_program))
    assert failure is not None
    assert failure.at == "<string>:2 in <module>"


def test_the_place_is_in_the_users_code_not_in_the_library_it_calls() -> None:
    def reconcile() -> None:
        import json

        json.loads("{")

    failure = klog.failure_of(caught(reconcile))
    assert failure is not None
    assert re.fullmatch(r"test_klog_exceptions.py:\d+ in reconcile", failure.at)


def raise_(err: BaseException) -> None:
    raise err


def nope() -> None:
    raise KeyError("nope")


GROUPS: dict[str, BaseException] = {
    "raised": raised(ExceptionGroup("two", [caught(nope), raised(ValueError("later"))])),
    "of errors that answer and bugs": raised(ExceptionGroup("two", [raised(CONFLICT), caught(nope)])),
    "in a group": raised(ExceptionGroup("one", [ExceptionGroup("two", [caught(nope)])])),
    "a cause": raised(RuntimeError("sync failed"), cause=ExceptionGroup("two", [caught(nope)])),
    "never raised": ExceptionGroup("two", [caught(nope)]),
    "an aggregate": new_aggregate([caught(nope), raised(ValueError("later"))]) or ValueError(),
}


@pytest.mark.parametrize("group", GROUPS)
def test_the_first_line_of_a_group_has_the_type_and_place_of_its_first_bug(group: str) -> None:
    first = klog.format_message("Error", {}, GROUPS[group]).splitlines()[0]
    assert re.search(r'at="test_klog_exceptions.py:\d+ in nope" cause="KeyError: \'nope\'"', first), first


@pytest.mark.parametrize("is_raised", [True, False])
@pytest.mark.parametrize("err", [ValueError("a\x1b[2Jb\x07\nc\x9bd\r"), ConnectionError("a\x1b[2Jb\x07\nc\x9bd\r")])
def test_no_error_controls_the_terminal(err: Exception, is_raised: bool, caplog: pytest.LogCaptureFixture) -> None:
    err = type(err)(*err.args)
    if is_raised:
        raised(err)
    out = io.StringIO()
    zap.new(zap.use_dev_mode(True), zap.write_to(out)).error(err, f"Error: {err}", value=err)
    klog.error_s(err, "Error", value=err)
    klog.errorf("Error: %v", err)
    with utilruntime.handle_crash(go_on=True):
        raise err
    for logged in (out.getvalue(), *caplog.messages):
        assert r"a\x1b[2Jb" in logged or r"a\u001b[2Jb" in logged
        assert [char for char in logged if not char.isprintable() and char not in "\n\t"] == []


def test_an_error_without_a_text_is_logged_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    for development in (True, False):
        out = io.StringIO()
        log = zap.new(zap.use_dev_mode(development), zap.write_to(out))
        log.error(Broken(), "Reconciler error", value=Broken())
        log.error(raised(Broken()), "Reconciler error")
        assert out.getvalue().count("Reconciler error") == 2
        assert "<panic: RuntimeError>" in out.getvalue()
    klog.error_s(Broken(), "Error")
    with utilruntime.handle_crash(go_on=True):
        raise Broken
    assert caplog.messages[0] == '"Error" err="<panic: RuntimeError>"'
    assert caplog.messages[1].startswith('"Observed a panic" panic="<panic: RuntimeError>"')


@pytest.mark.parametrize("err", [TimeoutError(), ConnectionResetError(), ExceptionGroup("two", [TimeoutError()])])
def test_an_operational_error_that_says_nothing_has_its_type_and_place(err: Exception) -> None:
    first = klog.format_message("Error", {}, caught(lambda: raise_(err))).splitlines()[0]
    assert re.search(r'err="[A-Z][A-Za-z]*(: two.*)?" at="test_klog_exceptions.py:\d+ in raise_"', first), first


@pytest.mark.parametrize("text", ["first\nsecond", "\nfirst\n", ""])
def test_the_first_line_of_a_panic_says_what_and_where(text: str, caplog: pytest.LogCaptureFixture) -> None:
    with utilruntime.handle_crash(go_on=True):
        raise_(ValueError(text) if text else ValueError())
    first = caplog.messages[0].splitlines()[0]
    wanted = "first" if text else "ValueError"
    assert re.search(rf'panic="{wanted}" panicGoValue="ValueError.*" at="test_klog_exceptions.py:\d+ in raise_"', first)
    assert not text or "first" in caplog.messages[0].partition("stacktrace=")[2]


def test_causes_that_go_round_in_a_circle_are_logged() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    logged = klog.format_message("Error", {}, raised(first, cause=second))
    assert 'err="ValueError: first"' in logged


def test_a_free_text_has_the_type_and_place_of_a_bug(caplog: pytest.LogCaptureFixture) -> None:
    klog.infof("Error syncing pod %s: %s", "a/b", raised(KeyError("nope")))
    klog.infof("Error syncing pod %s: %s", "a/b", raised(CONFLICT))
    bug, conflict = caplog.messages
    assert re.fullmatch(
        r"Error syncing pod a/b: 'nope' \(KeyError at test_klog_exceptions.py:\d+ in reconcile\)", bug
    )
    assert conflict == f"Error syncing pod a/b: {CONFLICT}"


def test_a_free_text_names_the_cause_that_the_error_does_not_contain(caplog: pytest.LogCaptureFixture) -> None:
    klog.infof("Error syncing pod %s: %v", "a/b", raised(RuntimeError("cannot scale"), cause=CONFLICT))
    klog.infof("Error syncing pod %s: %v", "a/b", raised(RuntimeError("cannot scale"), cause=raised(KeyError("n"))))
    klog.infof("Error syncing pod %s: %v", "a/b", fmt.errorf("cannot scale: %w", CONFLICT))
    answer, bug, containing = caplog.messages
    assert answer == f"Error syncing pod a/b: cannot scale (cause: {CONFLICT})"
    assert re.fullmatch(
        r"Error syncing pod a/b: cannot scale \(RuntimeError at test_klog_exceptions.py:\d+ in reconcile, "
        r"cause KeyError: 'n'\)",
        bug,
    )
    assert containing == f"Error syncing pod a/b: cannot scale: {CONFLICT}"


class OwnArgs(Exception):
    """One whose class has an attribute `args` of its own, as that of a command's error may."""

    args = None  # type: ignore[assignment]


class RaisingArgs(Exception):
    """One whose attribute `args` raises."""

    @property
    def args(self) -> tuple[object, ...]:  # type: ignore[override]
        raise RuntimeError("no args")


@pytest.mark.parametrize("err", [OwnArgs("x"), RaisingArgs("x")], ids=lambda err: type(err).__name__)
def test_an_exception_with_its_own_args_is_logged(err: Exception, caplog: pytest.LogCaptureFixture) -> None:
    klog.error_s(raised(err), "Error")
    klog.errorf("Error: %v", raised(err))
    with utilruntime.handle_crash(go_on=True):
        raise err
    assert len(caplog.messages) == 3
    assert re.match(rf'"Error" err="{type(err).__name__}.*" at="test_klog_exceptions.py:\d+ in', caplog.messages[0])


HANDLERS: dict[str, Callable[[BaseException], None]] = {
    "handle_error": utilruntime.handle_error,
    "handle_error_with_context": lambda err: utilruntime.handle_error_with_context(
        context.background(), err, "Error syncing"
    ),
    "handle_error_with_logger": lambda err: utilruntime.handle_error_with_logger(
        klog.background(), err, "Error syncing"
    ),
    "error_s": lambda err: klog.error_s(err, "Error syncing"),
}


@pytest.mark.parametrize("handler", HANDLERS)
def test_every_way_to_log_an_error_shows_a_bug_whole(handler: str, caplog: pytest.LogCaptureFixture) -> None:
    HANDLERS[handler](raised(UserError("mine")))
    HANDLERS[handler](raised(CONFLICT))
    bug, conflict = caplog.messages
    assert 'err="UserError: mine" at="test_klog_exceptions.py:' in bug.splitlines()[0]
    assert "Traceback" in bug
    assert "\n" not in conflict


@pytest.mark.parametrize("development", [True, False])
def test_zap_shows_a_bug_whole_and_an_answer_of_the_server_on_one_line(development: bool) -> None:
    out = io.StringIO()
    log = zap.new(zap.use_dev_mode(development), zap.write_to(out))
    log.error(raised(UserError("mine")), "Reconciler error")
    bug = out.getvalue()
    assert '"error": "UserError: mine", "at": "test_klog_exceptions.py:' in bug.replace('":"', '": "').replace(
        '","', '", "'
    )
    assert "Traceback" in bug

    log.error(raised(CONFLICT), "Reconciler error")
    (line,) = out.getvalue()[len(bug) :].splitlines()
    assert str(CONFLICT).replace('"', '\\"') in line
    assert "stacktrace" not in line


# ---- what we publish


def published() -> Iterator[tuple[str, str]]:
    """Yield the name and text of every Python program that users are meant to read or copy."""
    for page in ROOT.rglob("*.md"):
        if not any(part.startswith(".") for part in page.relative_to(ROOT).parts):
            for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)):
                yield f"{page.relative_to(ROOT)}[{number}]", block
    for path in (ROOT / "cmd").rglob("*.py"):
        yield str(path.relative_to(ROOT)), path.read_text()
    for path in (ROOT / "clientgo/scaffold/templates").rglob("*.py.tmpl"):
        yield str(path.relative_to(ROOT)), re.sub(r"\{\{[^}]*\}\}", "placeholder", path.read_text())


def swallows(handler: ast.ExceptHandler) -> bool:
    """Report whether a handler of any exception neither raises nor does anything with what it caught."""
    kinds = {None, "Exception", "BaseException"}
    if (ast.unparse(handler.type) if handler.type else None) not in kinds:
        return False
    inside = [node for statement in handler.body for node in ast.walk(statement)]
    is_used = any(isinstance(node, ast.Name) and node.id == handler.name for node in inside)
    return not is_used and not any(isinstance(node, ast.Raise) for node in inside)


def test_no_published_program_swallows_exceptions() -> None:
    programs = dict(published())
    assert len(programs) > 100
    found = []
    for name, text in programs.items():
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue  # a template of parts of a file, or an excerpt
        handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
        found += [f"{name}:{each.lineno}" for each in handlers if swallows(each)]
        suppressed = re.findall(r"suppress\((?:Base)?Exception\)", text)
        found += [f"{name}: {each}" for each in suppressed]
    assert found == []


class LooksUp(Exception):
    """Its attributes are the keys of a dict, and a missing one is a KeyError."""

    def __getattr__(self, name: str) -> object:
        return {"code": 3}[name]


class Secretive(Exception):
    """Every attribute raises."""

    def __getattribute__(self, name: str) -> object:
        raise LookupError(name)

    def __str__(self) -> str:
        return "secretive"


class Frozen(Exception):
    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError("frozen")


class WithoutModule(Exception):
    pass


WithoutModule.__module__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("cls", [LooksUp, Secretive, Frozen, WithoutModule])
def test_an_exception_whose_attributes_raise_is_logged_and_ends_no_worker(cls: type[Exception]) -> None:
    err = raised(cls("strange"))
    logged = klog.format_message("Error syncing", {"key": "a/b"}, err)
    text = "secretive" if cls is Secretive else "strange"
    assert logged.startswith(f'"Error syncing" err="{cls.__name__}: {text}" at="')
    assert not klog.exceptions.is_operational(err)
    klog.exceptions.mark_operational(err)
    assert klog.exceptions.lost_cause(raised(RuntimeError("wraps"), cause=err)) in (text, "")
    assert klog.exceptions.describe(err) == f"{cls.__name__}: {text}"


# ---- a bug below an operational error


class TransportBug(Exception):
    """One that a user's transport or rate limiter raises."""


def test_a_request_whose_transport_has_a_bug_is_no_answer_of_the_network() -> None:
    def round_trip(request: object) -> object:
        raise TransportBug("no header")

    config = rest.Config(host="http://127.0.0.1:1")
    config.wrap(lambda _: SimpleNamespace(round_trip=round_trip))
    client = kubernetes.new_for_config(config)
    err = caught(lambda: client.core_v1().pods("a").list(context.background(), metav1.ListOptions()))
    assert isinstance(err, http.URLError)
    for each in (err, raised(RuntimeError("failed to list *v1.Pod"), cause=err)):
        first = klog.format_message("Failed to watch", {}, each).splitlines()[0]
        assert re.search(r'at="test_klog_exceptions.py:\d+ in round_trip" cause="TransportBug: no header"', first)


@pytest.mark.parametrize(
    "cause",
    [ConnectionRefusedError("Connection refused"), EOFError("EOF"), ValueError("unsupported protocol scheme"), None],
)
def test_a_request_without_an_answer_stays_on_one_line(cause: Exception | None) -> None:
    """Its cause was made by the library, or describes the network."""
    err = http.URLError("Get", "https://server/api", cause or raised(TimeoutError("timed out")))
    assert "\n" not in klog.format_message("Error", {}, raised(err))


def test_an_answer_that_the_users_code_makes_of_an_error_stays_on_one_line() -> None:
    assert "\n" not in klog.format_message("Error", {}, raised(CONFLICT, cause=raised(KeyError("replicas"))))


def test_a_callback_of_a_context_that_fails_is_logged_with_type_and_place(caplog: pytest.LogCaptureFixture) -> None:
    def callback() -> None:
        json.loads("{")

    ctx, cancel = context.with_cancel(context.background())
    ctx.add_done_callback(callback)
    cancel()
    assert re.fullmatch(
        r"A done callback failed: JSONDecodeError: Expecting .* at test_klog_exceptions.py:\d+ in callback",
        caplog.messages[0],
    )
    (record,) = caplog.records
    assert record.exc_info is not None


def test_the_place_is_the_users_if_the_library_caught_the_cause_before_it_left_the_library() -> None:
    failure = klog.failure_of(caught(lambda: corev1.ConfigMap(data={"replicas": 3})))  # type: ignore[dict-item]

    assert failure is not None
    assert failure.cause == "TypeError: expected str, got int"
    assert failure.at.startswith("test_klog_exceptions.py:")


def test_errors_of_the_given_classes_that_leave_a_block_are_operational() -> None:
    def read(err: BaseException) -> None:
        with klog.exceptions.operational(OSError):
            raise err

    assert klog.is_operational(caught(lambda: read(PermissionError(13, "denied", "x"))))
    assert not klog.is_operational(caught(lambda: read(ValueError("bad"))))
