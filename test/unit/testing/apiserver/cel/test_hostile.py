"""No expression and no value ends the server, holds it, or fills its memory."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from clientgo.testing.apiserver.cel.checker import Environment
from clientgo.testing.apiserver.cel.common.types import DYN, INT, STRING, list_of
from clientgo.testing.apiserver.cel.common.values import CostExceeded, EvalError
from clientgo.testing.apiserver.cel.library import regex, strings
from clientgo.testing.apiserver.cel.program import Program
from clientgo.testing.apiserver.cel.source import CompileError
from clientgo.testing.apiserver.cel.syntax import MAX_DEPTH

ENVIRONMENT = Environment({"l": list_of(INT), "s": STRING, "d": DYN})
VALUES: dict[str, Any] = {"l": list(range(100)), "s": "x" * 1_000_000, "d": {}}
DEEP = [
    "(" * 20_000 + "1" + ")" * 20_000,
    "[" * 5_000 + "]" * 5_000,
    "!" * 50_000 + "true",
    "-" * 50_000 + "l[0]",
    "+".join(["1"] * 20_000),
    "d" + ".a" * 20_000,
    "d" + "[0]" * 20_000,
    " ? 1 : ".join(["true"] * 5_000),
    "d" + ".map(x, x" * 300 + ")" * 300,
    "d" + ".?a" * 5_000,
    "{1:" * 5_000,
    "(" * 5_000,
    "d" + ".optMap(x, x)" * 2_000,
    "f(" * 5_000,
    "'" + "\\",
    "a" * 200_000,
    "9" * 5_000,
    "`" * 100,
    "\0\ud800 ==",
]


@pytest.mark.parametrize("source", DEEP, ids=range(len(DEEP)))
def test_deep_and_long_expressions_are_refused_or_work(source: str) -> None:
    started = time.monotonic()
    try:
        Program(source, ENVIRONMENT).evaluate(VALUES)
    except CompileError as err:
        assert str(err).startswith("ERROR: <input>:")
    assert time.monotonic() - started < 60


def test_the_stack_of_a_thread_that_is_deep_already_is_enough() -> None:
    """A request is served some sixty frames deep."""
    outcome: list[Any] = []

    def dive(left: int) -> None:
        if left:
            dive(left - 1)
            return
        source = "+".join(["1"] * 140) + " > 0 && " + "(" * 70 + "true" + ")" * 70
        outcome.append(Program(source, ENVIRONMENT).evaluate(VALUES).value)

    thread = threading.Thread(target=dive, args=(150,))
    thread.start()
    thread.join()
    assert outcome == [True]


@pytest.mark.parametrize(
    "source",
    [
        "l.all(a, l.all(b, l.all(c, l.all(e, a + b + c + e >= 0))))",
        "l.map(a, l.map(b, l.map(c, l.map(e, s + s)))).size() > 0",
        "l.all(x, s.contains(s))",
        "l.all(x, s == s + 'a' || true)",
        "[s, s, s, s, s, s, s, s, s, s, s, s].map(x, x + x + x + x + x + x).map(x, x + x + x).size() > 0",
        "lists.range(100000000).size() > 0",
    ],
)
def test_what_costs_too_much_is_given_up(source: str) -> None:
    result = Program(source, ENVIRONMENT).evaluate(VALUES)
    assert result.exceeded
    assert isinstance(result.error, CostExceeded)
    assert str(result.error) == "operation cancelled: actual cost limit exceeded"


@pytest.mark.parametrize(
    "source",
    [
        "s.replace('', s).size() > 0",
        "[s, s, s].join(s + s + s + s + s + s + s + s + s).size() > 0",
        "'%.999999999f'.format([1.0]) == ''",
        "optional.of([1])" + ".optMap(x, x + x)" * 30 + ".hasValue()",
        "lists.range(900000).map(x, x).size() > 0",
    ],
)
def test_little_cannot_become_more_than_memory_holds(source: str) -> None:
    result = Program(source, ENVIRONMENT).evaluate(VALUES)
    assert isinstance(result.error, EvalError | CostExceeded)


@pytest.mark.parametrize(
    "args", [(["x" * 9_000_000] * 2,), (["", ""] * 9, "x" * 1_000_000), ("y" * 20, "y", "x" * 10**6)]
)
def test_a_text_is_not_made_when_it_would_be_too_long(args: tuple[Any, ...]) -> None:
    name = "replace" if len(args) == 3 else "join"
    (function,) = [each for each in strings.FUNCTIONS if each.name == name]
    with pytest.raises(EvalError, match="result exceeds limit of 16777216"):
        function.body(*args)


def test_the_limit_of_the_depth_is_exact() -> None:
    Program("d" + ".a" * (MAX_DEPTH - 1), ENVIRONMENT)
    with pytest.raises(CompileError, match=f"expression recursion limit exceeded: {MAX_DEPTH}"):
        Program("d" + ".a" * MAX_DEPTH, ENVIRONMENT)


@pytest.mark.skipif(not regex.AVAILABLE, reason="needs the extra `cel`")
def test_patterns_take_no_longer_than_their_text() -> None:
    started = time.monotonic()
    for pattern in ("(a+)+$", "(a|aa)+$", "(.*)*x", "(a?){50}a{50}$"):
        program = Program("d.matches(e) || true", Environment({"d": DYN, "e": STRING}))
        program.evaluate({"d": "a" * 5000 + "!", "e": pattern})
    assert time.monotonic() - started < 60


@pytest.mark.skipif(not regex.AVAILABLE, reason="needs the extra `cel`")
@pytest.mark.parametrize("pattern", ["(", "a**", "(?=a)", "\\", "x{1001}", "(((a{100}){100}){100})", "[z-a]", ")"])
def test_a_pattern_that_is_none_is_an_error(pattern: str) -> None:
    result = Program("'a'.matches(s)", ENVIRONMENT).evaluate({"s": pattern})
    assert str(result.error).startswith("error parsing regexp: ")


def test_without_re2_patterns_are_errors_and_all_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "AVAILABLE", False)
    program = Program("s.matches('a')", ENVIRONMENT)
    assert program.needs_regex
    assert str(program.evaluate({"s": "a"}).error) == regex.MISSING
    other = Program("s.startsWith('a')", ENVIRONMENT)
    assert not other.needs_regex
    assert other.evaluate({"s": "a"}).value is True


SOURCES = """
d.a.b | d[0] | d['a'] | d.size() > 0 | d.all(x, x > 0) | d + d == d | -d == d | d < d | d in d | d ? 1 > 0 : 2 > 1
d.startsWith('a') | duration(d) > duration('1s') | d.sum() > 0 | d.join() == '' | has(d.a) | d.?a.hasValue()
d.min() == d | d.sort() == d | '%d%s%f%x%b%o%e'.format([d, d, d, d, d, d, d]) == '' | ip(d) == ip(d) | !d | d * d > d
url(d).getHost() == '' | quantity(d).sign() > 0 | d.isSorted() | sets.contains(d, d) | {d: d}.size() > 0 | int(d) > 0
string(d) == '' | timestamp(d) > timestamp(0) | d == d | d.distinct() == d | d.exists(k, v, k == v) | d.flatten() == d
"""


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "text", [], {}, [{}], {"a": None}, b"x", float("nan"), 1 << 80])
def test_values_of_any_type_make_errors_and_no_exceptions(value: Any) -> None:
    for source in SOURCES.replace("\n", " | ").strip(" |").split(" | "):
        Program(source, ENVIRONMENT).evaluate({"d": value})
