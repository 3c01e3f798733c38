"""Errors and operators of expressions that few rules meet: optional syntax, times, texts, structs and bindings."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.cel.checker import Environment
from clientgo.testing.apiserver.cel.common.types import DYN
from clientgo.testing.apiserver.cel.program import Program
from clientgo.testing.apiserver.cel.source import CompileError

ENVIRONMENT = Environment({"o": DYN})
TIMES = ("2001-13-01T00:00:00Z", "2001-01-01T00:00:00+24:00", "2001-01-01T00:00:00+00:60")
OBJECT = {"a": 1, "text": "max", "times": list(TIMES)}


def evaluated(source: str) -> Any:
    """Return the value, or the text of the error."""
    result = Program(source, ENVIRONMENT).evaluate({"o": OBJECT})
    return result.value if result.error is None else str(result.error)


@pytest.mark.parametrize(
    "source",
    [
        "!true == false",
        "!!true",
        "!!!false",
        "-o.a == -1",
        "--o.a == 1",
        "---o.a == -1",
        "timestamp(0) == timestamp('1970-01-01T00:00:00Z')",
        "timestamp(o.a) == timestamp('1970-01-01T00:00:01Z') && duration(o.a) == duration('1ns')",
        "timestamp(2) == timestamp('1970-01-01T00:00:02Z')",
        "timestamp('1970-01-01T00:00:00-23:59') == timestamp('1970-01-01T23:59:00Z')",
        "timestamp('1970-01-01T00:00:00z') == timestamp(0)",
        "timestamp('1970-01-02T00:00:00Z').getHours('-01:30') == 22",
        "timestamp('1970-01-02T00:00:00Z').getMinutes('-01:30') == 30",
        "duration('-90s').getMinutes() == -1 && duration('-1500ms').getMilliseconds() == -1500",
        r"br'\x' == b'\\x' && b'a\x62c' == b'abc'",
        "'abc'.startsWith('ab') && 'abc'.endsWith('bc') && !'abc'.startsWith('bc') && !'abc'.endsWith('ab')",
        "[].size() == 0 && [1, 2,].size() == 2 && {}.size() == 0 && {'a': 1,}.size() == 1",
        "type({}) == map && type([]) == list && type(b'') == bytes && type(1u) == uint && type(1.0) == double",
        "[[1, 2].sum(), 0].max() == 3",
        "['ab', 'c'].join(', ') == 'ab, c' && ['a'].join('-') == 'a' && [].join('-') == ''",
        "optional.of(1) == optional.of(1) && optional.of(1) != optional.of(2) && optional.none() != optional.of(1)",
        "optional.none() == optional.none() && {'a': [1]} != {'a': [2]} && {'a': 1} != {'b': 1}",
    ],
)
def test_it_holds(source: str) -> None:
    assert evaluated(source) is True


@pytest.mark.parametrize(
    ("source", "text"),
    [
        *[(f"timestamp(o.times[{i}]) == timestamp(0)", f'parsing time "{text}": out of range')
          for i, text in enumerate(TIMES)],
        ("timestamp(o.text) == timestamp(0)",
         'parsing time "max" as "2006-01-02T15:04:05Z07:00": cannot parse "max" as "2006"'),
        ("timestamp('9999-12-31T23:59:59Z').getHours('+10:00') == 1", "timestamp overflow"),
        ("timestamp(0).getHours('Nowhere/Here') == 1", "unknown time zone Nowhere/Here"),
        ("timestamp(0).getHours('+24:00') == 1", "unknown time zone +24:00"),
        ("timestamp(0).getHours('1:00') == 1", "unknown time zone 1:00"),
        ("'abc'.startsWith(o.a)", "no such overload: startsWith(string, int)"),
        ("o.a.endsWith('c')", "no such overload: endsWith(int, string)"),
        ("o.zz.startsWith('c')", "no such key: zz"),
    ],
)  # fmt: skip
def test_what_cannot_be_evaluated_is_an_error(source: str, text: str) -> None:
    assert evaluated(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("true ? 1 2", "1:10: Syntax error: missing ':' at '2'"),
        ("true ? 1", "1:9: Syntax error: mismatched input '<EOF>' expecting {"),
        ("{'a' 1}", "1:6: Syntax error: "),
        ("{'a': 1 'b': 2}", "1:9: Syntax error: "),
        ("{'a'}", "1:5: Syntax error: mismatched input '}' expecting {"),
        ("{)", "1:2: Syntax error: mismatched input ')' expecting {"),
        ("{'a': 1,)", "1:9: Syntax error: mismatched input ')' expecting {"),
        ("x.Y{1: 2}", "1:5: Syntax error: mismatched input '1' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"),
        ("x.Y{a 1}", "1:7: Syntax error: mismatched input '1' expecting ':'"),
        ("x.Y{a: 1 b: 2}", "1:10: Syntax error: "),
        ("[1 2]", "1:4: Syntax error: "),
        ("1 = 2", "1:3: Syntax error: token recognition error at: '= '"),
        ("true & false", "1:6: Syntax error: token recognition error at: '& '"),
        ("'a", "1:1: Syntax error: token recognition error at: ''a'"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(source: str, text: str) -> None:
    with pytest.raises(CompileError) as raised:
        Program(source, ENVIRONMENT)
    assert str(raised.value).startswith(f"ERROR: <input>:{text}")
