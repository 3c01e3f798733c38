"""clientgo.hops: the decorator joins a function to the table and changes nothing; the tour names hops alone."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from clientgo import hops, tour
from clientgo.tools.cache.the_real_fifo import RealFIFO

ROOT = Path(__file__).parents[2]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> dict[str, hops.HopFunction]:
    """Replace the library's table with an empty one."""
    empty: dict[str, hops.HopFunction] = {}
    monkeypatch.setattr(hops, "_table", empty)
    return empty


def test_the_decorator_returns_the_function_and_notes_where_it_is(table: dict[str, hops.HopFunction]) -> None:
    def function() -> None: ...

    decorated = hops.hop("station.step", go="(*Type).method")(function)

    place = table["station.step"]
    assert decorated is function is place.function
    assert (place.module, place.qualname) == (__name__, function.__qualname__)
    assert (place.station, place.go_function) == ("station", "(*Type).method")


def test_the_go_file_is_the_modules_unless_it_is_given(table: dict[str, hops.HopFunction]) -> None:
    add = RealFIFO.__dict__["add"]
    hops.hop("a.a")(add)
    hops.hop("a.b", go_file="other.go")(add)

    assert [table[name].go_file for name in ("a.a", "a.b")] == ["tools/cache/the_real_fifo.go", "other.go"]


def test_a_name_of_another_function_is_an_error(table: dict[str, hops.HopFunction]) -> None:
    def first() -> None: ...
    def second() -> None: ...

    hops.hop("a.a")(first)
    hops.hop("a.a")(first)  # as when a module is loaded again
    with pytest.raises(ValueError, match=r"hop 'a.a' is .*first"):
        hops.hop("a.a")(second)
    assert table["a.a"].function is first


def test_only_a_python_function_can_be_a_hop(table: dict[str, hops.HopFunction]) -> None:
    with pytest.raises(TypeError, match="needs a function"):
        hops.hop("a.a")(len)
    assert table == {}


def test_the_table_cannot_be_changed_from_outside() -> None:
    with pytest.raises(TypeError):
        hops.TABLE["a.a"] = hops.TABLE["fifo.append"]  # type: ignore[index]


@pytest.mark.parametrize("name", sorted(hops.TABLE))
def test_each_hop_names_a_go_file_and_is_where_it_says(name: str) -> None:
    place = hops.TABLE[name]

    assert inspect.unwrap(place.function) is place.function
    assert place.go_file.endswith(".go") or name == "apiserver.compact"
    assert place.station in {*tour.STATIONS, "informer"}
    for tap in tour.TAPS:
        if tap.hop == name:
            assert tap.find() is place.function


def test_every_tap_of_the_tour_is_at_a_hop_of_the_table() -> None:
    assert {tap.hop for tap in tour.TAPS} <= set(hops.TABLE)
    assert len({tap.hop for tap in tour.TAPS}) == len(tour.TAPS) > 40


def test_the_tour_quotes_no_function_of_the_machinery() -> None:
    """A rename in the machinery must change nothing there."""
    names = {place.qualname for place in hops.TABLE.values()}
    quoted = set()
    for path in (ROOT / "clientgo" / "tour").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in names:
                quoted.add((path.name, node.value))

    assert quoted == set()
