"""Texts of values that Go does not have: API objects, cycles, and objects of Python. test/golden has the others."""

from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass, field
from typing import Any

import pytest

from clientgo.api.core import v1
from clientgo.apimachinery.util import dump, sets


@dataclass
class Node:
    """A class whose objects can refer to each other."""

    name: str
    next: Any = None


class Color(enum.Enum):
    """An enumeration that is no text."""

    RED = "red"


class Slotted:
    """A class with slots."""

    __slots__ = ("kind", "never_set", "size")

    def __init__(self, kind: str, size: int) -> None:
        self.kind = kind
        self.size = size


def pod(image: str) -> v1.Pod:
    return v1.Pod.from_dict(
        {"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {"containers": [{"name": "c", "image": image}]}}
    )


def test_an_api_object_has_the_fields_that_are_set() -> None:
    port = v1.ContainerPort(name="http", container_port=80)

    assert dump.pretty(port) == '(v1.ContainerPort) {\n  name: (string) (len=4) "http",\n  containerPort: (int) 80\n}\n'
    assert dump.for_hash(port) == "(v1.ContainerPort){name:(string)http containerPort:(int)80}"


def test_a_part_of_an_api_object_has_the_text_of_a_plain_value() -> None:
    assert dump.for_hash(pod("i").metadata.labels) == "(map[string]string)map[x:y]"
    assert dump.for_hash(pod("i").spec.containers) == "([]v1.Container)[{name:(string)c image:(string)i}]"


def test_the_text_for_a_hash_changes_with_the_object_only() -> None:
    assert dump.for_hash(pod("i")) == dump.for_hash(pod("i"))
    assert dump.for_hash(pod("i")) != dump.for_hash(pod("j"))
    one, other = {"a": 1, "b": {"x", "y", "z"}}, {"b": {"z", "y", "x"}, "a": 1}
    assert dump.for_hash(one) == dump.for_hash(other)
    assert dump.for_hash({1: "a"}) != dump.for_hash({"1": "a"})
    assert dump.for_hash([1, "1"]) != dump.for_hash(["1", 1])


def test_a_set_of_the_package_sets_has_its_name() -> None:
    text = '(sets.Set[string]) (len=1) {\n  (string) (len=1) "a": (sets.Empty) {\n  }\n}\n'
    assert dump.pretty(sets.new("a")) == text


def test_a_cycle_ends_and_a_repeated_object_is_shown_again() -> None:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    assert dump.one_line(cycle) == "([]interface {})[(int)1 ([]interface {})<shown>]"

    node = Node("a")
    node.next = node
    assert dump.for_hash(node) == "(dump.Node){name:(string)a next:(dump.Node)<shown>}".replace("dump.", _PACKAGE)
    assert f"next: ({_PACKAGE}Node) <already shown>" in dump.pretty(node)

    inner = ["x"]
    assert dump.one_line([inner, inner]) == "([][]string)[[x] [x]]"


_PACKAGE = f"{(__package__ or __name__).rpartition('.')[2]}."


def test_an_enumeration_is_its_value_and_slots_are_fields() -> None:
    assert dump.for_hash(Color.RED) == f"({_PACKAGE}Color)red"
    assert dump.for_hash(Slotted("a", 2)) == f"({_PACKAGE}Slotted){{kind:(string)a size:(int)2}}"


@pytest.mark.parametrize(
    ("value", "changed"),
    [
        (datetime.datetime(2026, 11, 27), datetime.datetime(2026, 11, 28)),
        (datetime.timedelta(1), datetime.timedelta(2)),
        (bytearray(b"a"), bytearray(b"b")),
        (range(2), range(3)),
    ],
)
def test_a_value_of_a_type_that_is_built_in_is_part_of_the_hash(value: object, changed: object) -> None:
    assert dump.for_hash(Node("a", value)) == dump.for_hash(Node("a", value))
    assert dump.for_hash(Node("a", value)) != dump.for_hash(Node("a", changed))


def test_objects_and_functions_have_no_address() -> None:
    @dataclass
    class Holder:
        call: Any = field(default=test_objects_and_functions_have_no_address)
        other: Any = field(default_factory=object)

    assert dump.for_hash(Holder()) == dump.for_hash(Holder())
    assert "0x" not in dump.pretty(Holder())


def test_text_that_is_not_utf_8_has_its_length_in_bytes() -> None:
    assert dump.pretty("a\udcff") == '(string) (len=2) "a\\xff"\n'
    assert dump.for_hash({"a\udcff": 1, "b": 2}).startswith("(map[string]int)map[a")
