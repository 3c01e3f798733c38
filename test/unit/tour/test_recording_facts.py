"""The facts of a recording: counts, damages, the objects known at a moment, hops with all of their fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clientgo import tour
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tour import recording as recording_module
from clientgo.tour.recording import Known, Source, is_end_of_initial_objects, key_of, version_of

HEAD = {"what": "recording", "t": 0.0, "format": 1, "began": "today", "program": "p"}
CODE = {"what": "code", "t": 0.5, "code": 3, "file": "a.py", "function": "f", "first": 7, "lines": [7, 8]}
HOP = {
    "what": "hop",
    "t": 1.0,
    "number": 4,
    "station": "queue",
    "kind": "added",
    "key": "d/a",
    "thread": "w",
    "code": 3,
}


def written(path: Path, *lines: Any) -> Path:
    """Write a recording with these lines behind its head: objects or texts."""
    texts = [line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) for line in (HEAD, *lines)]
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


def wire(what: str, t: float, source: int = 0, **about: Any) -> dict[str, Any]:
    return {"what": what, "t": t, "source": source, **about}


def config_map(name: str, version: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "d", "resourceVersion": version}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


LINES = (
    *(wire("source", 0.0, 1, name="n", type="*v1.Pod"), wire("source", 0.0, name="m", type="*v1.ConfigMap")),
    *(CODE, wire("listed", 1.5, version="5", items=[config_map("a", "5")]), HOP),
    *(wire("event", 2.5, type="ADDED", object=config_map("b", "6")), {"what": "skipped", "t": 3.0, "hops": 4}),
    *({"what": "skipped", "t": 3.0, "hops": 2}, wire("ended", 3.5, why="left", error="")),
)


def test_a_recording_counts_its_lines(tmp_path: Path) -> None:
    with tour.Recording(written(tmp_path / "r.jsonl", *LINES, {"what": "end", "t": 9.0})) as recording:
        assert recording.to_dict() == {
            "path": "r.jsonl",
            "program": "p",
            "began": "today",
            "duration": 9.0,
            "sources": [
                {"source": 0, "name": "m", "type": "*v1.ConfigMap", "events": 1, "lists": 1, "last": 3.5},
                {"source": 1, "name": "n", "type": "*v1.Pod", "events": 0, "lists": 0, "last": 0.0},
            ],
            "hops": 1,
            "skipped": 6,
            "damaged": 0,
            "damages": [],
            "whole": True,
        }
        assert repr(recording) == f"<Recording {str(tmp_path / 'r.jsonl')!r}, 2 sources, 1 hops, 9.0 s>"
        recording.check_for_sources()


def test_a_recording_with_a_head_alone_has_nothing(tmp_path: Path) -> None:
    with tour.Recording(written(tmp_path / "r")) as recording:
        counts = {"sources": [], "hops": 0, "skipped": 0, "damaged": 0, "damages": [], "whole": False}
        about = {"path": "r", "program": "p", "began": "today", "duration": 0.0}
        assert recording.to_dict() == {**about, **counts} and recording.hops_until(9.0) == []
        with pytest.raises(tour.RecordingError, match="nothing came to a reflector in"):
            recording.check_for_sources()
    with pytest.raises(ValueError, match="closed"):
        recording._file.read()


def test_a_source_without_requests_is_nothing_to_replay(tmp_path: Path) -> None:
    with (
        tour.Recording(written(tmp_path / "r", wire("source", 0.0, name="n", type="t"))) as recording,
        pytest.raises(tour.RecordingError),
    ):
        recording.check_for_sources()


def test_a_hop_has_every_field_and_the_place_that_its_code_names(tmp_path: Path) -> None:
    bare = {"what": "hop", "t": 2.0}
    other = {**HOP, "t": 2.5, "code": 99, "version": "7", "old": "6", "merged": ["x"], "more": {"a": 1}}
    with tour.Recording(written(tmp_path / "r", CODE, HOP, bare, other)) as recording:
        first, second, third = recording.hops_until(9.0)
        assert [each["time"] for each in recording.hops_until(2.0)] == [1.0, 2.0]
        assert [each["time"] for each in recording.hops_until(2.4, most=1)] == [2.0]
    place = {"goFile": "", "goFunction": "", "caller": "", "file": "", "function": "", "first": 0, "lines": []}
    assert first == {
        "number": 4,
        "station": "queue",
        "kind": "added",
        "key": "d/a",
        "thread": "w",
        "time": 1.0,
        "version": "",
        "old": "",
        "merged": [],
        "more": {},
        "code": {**place, "file": "a.py", "function": "f", "first": 7, "lines": [7, 8]},
    }
    texts = dict.fromkeys(("version", "old", "thread", "station", "kind", "key"), "")
    assert second == {**texts, "merged": [], "more": {}, "number": 0, "time": 2.0, "code": place}
    assert third["code"] == place and (third["version"], third["merged"], third["more"]) == ("7", ["x"], {"a": 1})


def test_the_last_sixty_hops_are_found(tmp_path: Path) -> None:
    hops = [{**HOP, "number": number, "t": float(number)} for number in range(100)]
    with tour.Recording(written(tmp_path / "r", *hops)) as recording:
        assert [hop["number"] for hop in recording.hops_until(80.0)] == [*range(21, 81)]
        assert [hop["number"] for hop in recording.hops_until(3.0)] == [0, 1, 2, 3]


def test_times_of_a_source_never_go_back(tmp_path: Path) -> None:
    lines = [wire("event", t, type="ADDED", object=config_map("a", "1")) for t in (1.0, 3.0, 2.0, 4.0)]
    with tour.Recording(written(tmp_path / "r", *lines)) as recording:
        source = recording.sources[0]
        assert list(source.times) == [1.0, 3.0, 3.0, 4.0]
        assert [entry["t"] for entry in recording.entries(source)] == [1.0, 3.0, 3.0, 4.0]
        assert [entry["t"] for entry in recording.entries(source, 2)] == [3.0, 4.0]
        assert recording.duration == 4.0


@pytest.mark.parametrize("many", [19, 20, 21, 30])
def test_the_first_twenty_damages_are_described_and_all_are_counted(tmp_path: Path, many: int) -> None:
    with tour.Recording(written(tmp_path / "r", *["\x1bdamaged"] * many)) as recording:
        assert recording.damaged == many and len(recording.damages) == min(many, 20)
        assert recording.damages[0] == "line 2 is cut off or no line of a recording"


def test_a_damage_is_counted_once_however_often_its_line_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [wire("event", float(number), type=7, object={}) for number in range(5)]
    path = written(tmp_path / "r", *lines)
    with tour.Recording(path) as recording:
        for _ in range(3):
            assert list(recording.entries(recording.sources[0])) == []
        assert recording.damaged == 5
        assert recording.damages[4] == "line 6: `type` must be a string, not a number"
    # So many are remembered; each later one counts whenever its line is read.
    monkeypatch.setattr(recording_module, "_DESCRIBED", 3)
    with tour.Recording(path) as recording:
        for _ in range(3):
            list(recording.entries(recording.sources[0]))
        assert recording.damaged == 3 + 2 * 3
    monkeypatch.undo()
    assert recording_module._DESCRIBED == 10_000 and recording_module.LONGEST_LINE == 256 * 1024 * 1024


@pytest.mark.parametrize(
    ("line", "damage"),
    [
        ('{"what":"event","t":1.0}', "line 2: `source` is missing at the line's beginning"),
        ('{"what":"event","t":1.0,"source":0,"request":0', "line 2 is cut off or no line of a recording"),
        ('{"t":1.0,"what":"hop"}', "line 2 is cut off or no line of a recording"),
        ('{"what":"code","t":1.0,"code":}', "line 2: `line` cannot be read: "),
        ('{"what":"code","t":1.0,"code":1,"first":NaN}', "line 2: `line` cannot be read: NaN is no JSON"),
        ('{"what":"hop","t":1.0e-07}', None),
        ('{"what":"novelty","t":1}', None),
        ('{"what":"hop","t":-1.0}', "line 2 is cut off or no line of a recording"),
        ('{"what":"recording","t":1.0}', None),
    ],
)
def test_a_line_is_read_by_its_beginning(tmp_path: Path, line: str, damage: str | None) -> None:
    with tour.Recording(written(tmp_path / "r", line, HOP)) as recording:
        assert recording.hops in (1, 2)
        assert len(recording.damages) == (damage is not None)
        if damage is not None:
            assert recording.damages[0].startswith(damage)


def test_a_file_ends_where_its_last_line_does(tmp_path: Path) -> None:
    path = written(tmp_path / "r", HOP)
    path.write_text(path.read_text() + json.dumps(HOP))
    with tour.Recording(path) as recording:
        assert (recording.hops, recording.damaged, recording.is_complete) == (1, 1, False)


# ---- what a reflector knows


def applied(*entries: dict[str, Any]) -> tuple[dict[str, str], str, bool]:
    known = Known()
    for entry in entries:
        known.apply(entry)
    return {key: version_of(obj) for key, obj in known.objects.items()}, known.version, known.is_complete


def event(kind: str, name: str, version: str) -> dict[str, Any]:
    return wire("event", 0.0, type=kind, object=config_map(name, version))


LISTED = wire("listed", 0.0, version="5", items=[config_map("a", "1"), config_map("b", "2"), 7])
STREAM = wire("watch", 0.0, options={"sendInitialEvents": True})
WATCH = wire("watch", 0.0, options={})
ENDS = {"resourceVersion": "9", "annotations": {metav1.INITIAL_EVENTS_ANNOTATION_KEY: "true"}}
END = wire("event", 0.0, type="BOOKMARK", object={"metadata": ENDS})
BOOKMARK = wire("event", 0.0, type="BOOKMARK", object={"metadata": {"resourceVersion": "8"}})


@pytest.mark.parametrize(
    ("entries", "known"),
    [
        ([], ({}, "", False)),
        ([LISTED], ({"d/a": "1", "d/b": "2"}, "5", True)),
        ([LISTED, event("ADDED", "c", "6")], ({"d/a": "1", "d/b": "2", "d/c": "6"}, "6", True)),
        ([LISTED, event("MODIFIED", "a", "6")], ({"d/a": "6", "d/b": "2"}, "6", True)),
        ([LISTED, event("DELETED", "a", "6"), event("DELETED", "x", "7")], ({"d/b": "2"}, "7", True)),
        ([LISTED, BOOKMARK], ({"d/a": "1", "d/b": "2"}, "8", True)),
        ([LISTED, event("ERROR", "c", "6")], ({"d/a": "1", "d/b": "2"}, "5", True)),
        ([LISTED, event("ADDED", "c", "")], ({"d/a": "1", "d/b": "2", "d/c": ""}, "5", True)),
        ([LISTED, wire("event", 0.0, type="ADDED", object=7)], ({"d/a": "1", "d/b": "2"}, "5", True)),
        ([STREAM, event("ADDED", "c", "6")], ({}, "", False)),
        ([STREAM, event("ADDED", "c", "6"), BOOKMARK], ({}, "", False)),
        ([STREAM, event("ADDED", "c", "6"), event("DELETED", "c", "7"), END], ({}, "9", True)),
        ([STREAM, event("ADDED", "c", "6"), END, event("ADDED", "e", "10")], ({"d/c": "6", "d/e": "10"}, "10", True)),
        ([LISTED, STREAM, event("ADDED", "c", "6")], ({"d/a": "1", "d/b": "2"}, "5", True)),
        ([LISTED, STREAM, event("ADDED", "c", "6"), END], ({"d/c": "6"}, "9", True)),
        # A stream that was given up counts no more.
        (
            [LISTED, STREAM, wire("watch", 0.0, options={}), event("ADDED", "c", "6")],
            ({"d/a": "1", "d/b": "2", "d/c": "6"}, "6", True),
        ),
        ([LISTED, STREAM, LISTED, event("DELETED", "a", "6")], ({"d/b": "2"}, "6", True)),
        (
            [LISTED, wire("watch", 0.0, options=7), wire("ended", 0.0), event("DELETED", "a", "6")],
            ({"d/b": "2"}, "6", True),
        ),
    ],
)
def test_a_reflector_knows_what_came_so_far(
    entries: list[dict[str, Any]], known: tuple[dict[str, str], str, bool]
) -> None:
    assert applied(*entries) == known


@pytest.mark.parametrize(
    ("obj", "key", "version"),
    [
        (config_map("a", "1"), "d/a", "1"),
        ({"metadata": {"name": "a"}}, "a", ""),
        ({"metadata": {"name": "", "namespace": "d"}}, "d", ""),
        ({"metadata": {"name": 7}}, "7", ""),
        ({"metadata": []}, "", ""),
        ({}, "", ""),
    ],
)
def test_the_key_and_the_version_of_a_recorded_object(obj: dict[str, Any], key: str, version: str) -> None:
    assert (key_of(obj), version_of(obj), is_end_of_initial_objects(obj)) == (key, version, False)


@pytest.mark.parametrize(("value", "ends"), [("true", True), ("false", False), (True, False), (None, False)])
def test_only_one_annotation_ends_the_initial_objects(value: Any, ends: bool) -> None:
    obj = {"metadata": {"annotations": {metav1.INITIAL_EVENTS_ANNOTATION_KEY: value}}}
    assert is_end_of_initial_objects(obj) is ends
    assert not is_end_of_initial_objects({"metadata": {"annotations": ["true"]}})


def test_a_new_source_has_nothing() -> None:
    assert Source(3).to_dict() == {"source": 3, "name": "", "type": "", "events": 0, "lists": 0, "last": 0.0}


def test_a_hop_without_a_time_that_makes_sense_is_at_the_beginning(tmp_path: Path) -> None:
    line = '{"what":"hop","t":1.0,"key":"a","t":"late"}'
    with tour.Recording(written(tmp_path / "r", line)) as recording:
        (found,) = recording.hops_until(1.0)
        assert (found["time"], found["key"]) == (0.0, "a") and "what" not in found and "t" not in found
        assert recording.damages == ["line 2: `t` must be a number, not a string"]
