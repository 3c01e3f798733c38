"""Values are printed as go-spew prints them with the settings of Go's dump (golden/apimachinery/dump.jsonl).

go/dump/main.go has the same values under the same names, and makes the file. Its package is main. Go prints a map in a
random order with Pretty and OneLine; the file has the sorted one.

Go: TestPretty
Go: TestForHash
Go: TestOneLine
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from goldenfile import cases, read

from clientgo.apimachinery.util import dump


class CustomString(str):
    """A text with another form for users."""

    def __str__(self) -> str:
        return "custom string"


class CustomError(int):
    """A number with another form for users."""

    def __str__(self) -> str:
        return "custom error"


class Ratio(float):
    """A number with a type of its own."""


class Color(enum.StrEnum):
    """An enumeration."""

    RED = "red"


@dataclass
class Embed:
    """A class with a field."""

    s: str


@dataclass
class Wrap:
    """A class with fields of all kinds."""

    embed: Embed
    e: Any
    list: list[str]
    m: dict[str, int]
    no: Any


@dataclass
class Empty:
    """A class without fields."""


class Point(NamedTuple):
    """A class that can be a key."""

    x: int
    y: int


INFINITY = float("inf")
NAN = float("nan")

VALUES: dict[str, Any] = {
    "nil": None,
    "int": 93,
    "negative int": -93,
    "zero": 0,
    "float": 93.76,
    "whole float": 2.0,
    "large float": 1e6,
    "six digits": 123456.0,
    "seven digits": 1234567.0,
    "huge float": 1.5e300,
    "1e21": 1e21,
    "small float": 0.0001,
    "smaller float": 0.00001234,
    "hundred thousand": 100000.0,
    "negative zero": -0.0,
    "infinity": INFINITY,
    "negative infinity": -INFINITY,
    "nan": NAN,
    "third": 1 / 3,
    "complex": 93j,
    "complex of both": complex(1.5, -2),
    "complex infinity": complex(0, INFINITY),
    "complex nan": complex(NAN, NAN),
    "true": True,
    "false": False,
    "string": "test",
    "empty string": "",
    "newline and quote": 'te\n"st"\t\\',
    "two bytes": "é",
    "unprintable": "a\x00b\u200b\U0001f600",
    "empty bytes": b"",
    "bytes": b"\x01\xff",
    "long bytes": bytes(6 * at for at in range(40)),
    "bytes in a list": [b"\x01", b"hello, world! 0123456789"],
    "bytes in a map": {"a": b"a b", "b": None},
    "strings": ["slice"],
    "two strings": ["a b", "c"],
    "ints": [1, 2],
    "empty list": [],
    "mixed list": [1, "1", None, True, 1.5],
    "list of nil": [None, None],
    "lists": [["a"], ["b", "c"]],
    "lists of different types": [["a"], [1]],
    "deep lists": [[["a"]], [["b"]]],
    "deep lists of different types": [["a", 1], [2, "b"]],
    "list with an empty list": [[], [1]],
    "list of empty lists": [[], []],
    "list of maps": [{"a": 1}, {"b": 2}],
    "empty map": {},
    "map": {"one": 1},
    "map of two": {"two": 2, "one": 1},
    "map of any": {"one": 1, "a": "b", "none": None},
    "map of maps": {"a": {"b": 1}, "c": {"d": 2}},
    "map of lists": {"a": [1], "b": [2, 3]},
    "map of ints": {10: "a", 9: "b", -1: "c"},
    "map of floats": {10.5: 1, 9.25: 2},
    "map of bools": {True: 1, False: 0},
    "map of mixed keys": {"a": 1, 10: 2, 9: 3, True: 4, 1.5: 5},
    "map of text keys by bytes": {"é": 1, "z": 2, "Z": 3, "": 4},
    "map with structs as keys": {Point(2, 1): 1, Point(10, 0): 2},
    "map without values": {"a": None},
    "set": {"b", "a"},
    "named string": CustomString("test"),
    "named int": CustomError(0),
    "named float": Ratio(0.5),
    "enumeration": Color.RED,
    "list of named strings": [CustomString("a"), CustomString("b")],
    "map of named strings": {"key": CustomString("test")},
    "map with named keys": {CustomString("b"): CustomError(2), CustomString("a"): CustomError(1)},
    "struct": Embed("test"),
    "empty struct": Empty(),
    "list of structs": [Embed("a"), Embed("b")],
    "struct in a list of any": [Embed("a"), Empty()],
    "wrap": Wrap(Embed("test"), {"key": Embed("x")}, ["a"], {"one": 1}, None),
    "map of structs": {"key": Embed("test")},
    "unstructured": {
        "apiVersion": "v1",
        "metadata": {"name": "a", "labels": {"x": "y"}},
        "spec": {"replicas": 3, "paused": False, "containers": [{"name": "c", "ports": [80]}]},
    },
}


@pytest.mark.parametrize("case", cases("apimachinery/dump.jsonl"))
def test_a_value_has_the_text_of_go(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (CustomString, CustomError, Ratio, Color, Embed, Wrap, Empty, Point):
        monkeypatch.setattr(kind, "__module__", "main")
    value = VALUES[case["name"]]

    assert dump.for_hash(value) == case["for_hash"]
    assert dump.one_line(value) == case["one_line"]
    assert dump.pretty(value) == case["pretty"]


def test_every_value_has_an_answer() -> None:
    assert [case["name"] for case in read("apimachinery/dump.jsonl")] == list(VALUES)
