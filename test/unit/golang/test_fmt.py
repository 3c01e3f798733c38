"""Texts are formatted as Go's fmt package does, and nothing raises."""

from __future__ import annotations

import enum
import math
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.golang import utf8
from clientgo.golang.fmt import go_value, printf, println, sprint, sprintf
from clientgo.golang.strconv import quote


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class Key(NamedTuple):
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Color(str, enum.Enum):  # noqa: UP042 - whose str() has its class in it
    RED = "red"


# Each expectation is what Go 1.24 prints for the same values, but where the module's docstring says otherwise.
CASES: list[tuple[str, tuple[Any, ...], str]] = [
    ("plain 100%", (), "plain 100%"),
    ("plain 100%% %d", (), "plain 100% %d"),
    ("Error syncing pod %v: %v", ("ns/a", ValueError("no such pod")), "Error syncing pod ns/a: no such pod"),
    (
        "Dropping pod %q out of the queue: %v",
        ("ns/a", OSError(2, "gone")),
        'Dropping pod "ns/a" out of the queue: [Errno 2] gone',
    ),
    ("%v %s %d %q", ({"b": 1, "a": None}, ["x", True], 3, 'say "hi"'), 'map[a:<nil> b:1] [x true] 3 "say \\"hi\\""'),
    ("%d", ("text",), "%!d(string=text)"),
    ("%t", (1,), "%!t(int=1)"),
    ("%s", (None,), "%!s(<nil>)"),
    ("%v", (None,), "<nil>"),
    ("%s %s", ("one",), "one %!s(MISSING)"),
    ("one", (1, None), "one%!(EXTRA int=1, <nil>)"),
    ("%z", (1,), "%!z(int=1)"),
    ("100%", (1,), "100%!(NOVERB)%!(EXTRA int=1)"),
    ("%5.2f%% %x %t %-4s|", (1.234, 255, True, "ab"), " 1.23% ff true ab  |"),
    ("%5t|%-6t|", (True, False), " true|false |"),
    ("%08.3f|%+.2e|%6.2f|%g|%G", (-3.14159, 12345.678, 3, 100000.0, 1e-10), "-003.142|+1.23e+04|  3.00|100000|1E-10"),
    ("%x|% x|%X|%#x|%#X|%x", (b"hi", "hi", "jk", 255, 255, -255), "6869|68 69|6A6B|0xff|0XFF|-ff"),
    ("%c|%U|%q|%q|%b|%o|%O", (65, 0x1F600, 65, 39, 5, 8, 8), "A|U+1F600|'A'|'\\''|101|10|0o10"),
    ("%03d|%-4d|%+d|% d|%+04d|%.3d", (7, 7, 7, 7, 7, 7), "007|7   |+7| 7|+007|007"),
    ("%*d|%-*d|%.*f", (5, 1, 5, 2, 2, 3.14159), "    1|2    |3.14"),
    ("%[2]v %[1]v", ("a", "b"), "b a"),
    ("%[3]v", ("a",), "%!v(BADINDEX)"),
    ("%d %[3]d %d|%[0]d %d", (1, 2), "1 %!d(BADINDEX) 2|%!d(BADINDEX) %!d(MISSING)"),
    ("%[3]*d|%.[3]*d|%[2]*[1]d", (1, 3), "%!d(BADINDEX)|%!d(BADINDEX)|  1"),
    ("%*d|%.*d", ("x", 1, 1000001, 2), "%!(BADWIDTH)1|%!(BADPREC)2"),
    ("%99999999d", (1,), "%!(BADWIDTH)1"),
    ("%.2s|%4.1s|%-4s|%4s", ("abc", "xyz", "a", "b"), "ab|   x|a   |   b"),
    ("%d %s", ([1, 2], ["a", "b"]), "[1 2] [a b]"),
    ("%q", (["a", 'b"'],), '["a" "b\\""]'),
    ("%T %T %T %T", (1, "a", 1.5, True), "int string float64 bool"),
    ("%v %v", (Key("ns", "a"), Color.RED), "ns/a red"),
    ("%v %+v %#v", ("a", 1, "a"), 'a +1 "a"'),
    ("%v %g %s %+v %+g", (1e6, 1e6, 1e6, 1e6, -123456789.5), "1e+06 1e+06 1e+06 +1e+06 -1.234567895e+08"),
    ("%v", (KeyError(),), "KeyError"),
    ("%v", ({1: "a", "b": 2},), "map[1:a b:2]"),
    ("%v", ({2, 1},), "[1 2]"),
    ("%r %i", ("a", 3), "'a' 3"),
    ("%d", (30.0,), "30"),
    ("%s", (3,), "3"),
    ("%v|%s", (Unprintable(), Unprintable()), "%!v(PANIC=String method: no text)|%!v(PANIC=String method: no text)"),
]


@pytest.mark.parametrize(("format", "args", "expected"), CASES)
def test_a_text_is_formatted_as_by_go(format: str, args: tuple[Any, ...], expected: str) -> None:
    assert sprintf(format, *args) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (0.1, "0.1"),
        # From here Go's own table, which is that of strconv (TestFtoa), with precision -1.
        (20.0, "20"),
        (200000.0, "200000"),
        (2000000.0, "2e+06"),
        (1234567.8, "1.2345678e+06"),
        (1e10, "1e+10"),
        (123456700.0, "1.234567e+08"),
        (-1.0, "-1"),
        (1e23, "1e+23"),
        (99999999999999974834176.0, "9.999999999999997e+22"),
        (100000000000000008388608.0, "1.0000000000000001e+23"),
        (383260575764816448.0, "3.8326057576481645e+17"),
        (498484681984085570.0, "4.9848468198408557e+17"),
        (-5.8339553793802237e23, "-5.8339553793802237e+23"),
        (2.2250738585072012e-308, "2.2250738585072014e-308"),
        (999999.0, "999999"),
        (999999.5, "999999.5"),
        (1e6, "1e+06"),
        (123456789.125, "1.23456789125e+08"),
        (0.0001, "0.0001"),
        (0.00001234, "1.234e-05"),
        (-1.5e300, "-1.5e+300"),
        (5e-324, "5e-324"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
        (math.nan, "NaN"),
    ],
)
def test_a_float_has_as_few_digits_as_say_which(value, text):
    assert go_value(value) == text


@given(st.floats(allow_nan=False))
def test_a_float_is_read_back(value):
    assert float(go_value(value)) == value


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.builds(Unprintable),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=8,
)
FORMATS = st.text(alphabet="%+-# 0123456789.*[]vTtdqsxXeEfFgGcbUpwkey", max_size=20) | st.text(max_size=8)


@given(FORMATS, st.lists(ANYTHING, max_size=4))
def test_no_format_and_no_value_raises(format, args):
    assert isinstance(sprintf(format, *args), str)
    assert isinstance(sprint(args), str)


@given(st.text(), st.integers(), st.booleans())
def test_verbs_that_say_it_all(text, number, flag):
    assert sprintf("%s%d%t", text, number, flag) == f"{text}{number}{str(flag).lower()}"
    assert sprintf("%q", text) == quote(text)
    assert bytes.fromhex(sprintf("%x", text.encode("utf-8", "surrogatepass"))) == text.encode("utf-8", "surrogatepass")


def test_what_holds_itself_ends():
    inside: list[Any] = []
    inside.append(inside)
    assert "..." in go_value(inside)
    assert "..." in sprintf("%d", inside)


def test_values_are_joined_with_spaces_between_two_that_are_no_texts():
    assert sprint(("a", 1, 2, "b", "c", None, True)) == "a1 2bc<nil> true"
    assert sprint((ValueError("bad"), 5)) == "bad 5"


def test_bytes_that_are_not_valid_utf_8_are_kept():
    cut = utf8.decode(b"cut \xe2\x82")

    assert [sprintf(verb, cut) for verb in ("%s", "%v", "%8s", "%.5s")] == [cut, cut, f"  {cut}", cut[:5]]
    assert [sprintf(verb, cut) for verb in ("%q", "%x")] == [r'"cut \xe2\x82"', "63757420e282"]
    assert sprintf("%s", ValueError(cut)) == cut
    assert utf8.encode(sprintf("%s", b"\xff")) == b"\xff"


def test_such_bytes_are_printed_as_replacement_characters(capsys):
    cut = utf8.decode(b"cut \xe2")

    printf("%s %v\n", cut, cut)
    println(cut)

    assert capsys.readouterr().out == "cut \ufffd cut \ufffd\ncut \ufffd\n"
