"""The lines that the recorder writes: of each end of a request and of a watch, of hops, and of what is no JSON."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from clientgo import context, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.golang import callers
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tour import recorder, taps
from clientgo.tour.hop import Code, Hop

CODE = Code("file.py", "f", "file.go", "F", 3, (1, 2), "caller.py:1")


def config_map(name: str, version: str) -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="d", resource_version=version))


class Server:
    """A ListerWatcher whose watches each do something else; the last one is silent."""

    def __init__(self, *watches: Callable[[watch.FakeWatcher], object], failures: tuple[Exception, ...] = ()) -> None:
        self._watches = [*watches]
        self._failures = [*failures]

    def is_watch_list_semantics_un_supported(self) -> bool:
        return True

    def list_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Any:
        if self._failures:
            raise self._failures.pop(0)
        return corev1.ConfigMapList(metadata=metav1.ListMeta(resource_version="5"), items=[config_map("a", "5")])

    def watch_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Any:
        watcher = watch.new_fake_with_options(watch.FakeOptions(channel_size=5))
        if self._watches:
            self._watches.pop(0)(watcher)
        return watcher


def recorded(path: Path, server: Server, **options: Any) -> list[dict[str, Any]]:
    """Return the lines of a recording of a minute of an informer."""
    with synctest.bubble() as bubble, tour.record(path, program="p", **options):
        informer = cache.new_shared_index_informer(server, corev1.ConfigMap(), 0.0, {})
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
        thread.start()
        bubble.sleep(60.0)
        cancel()
        thread.join()
    return [json.loads(line) for line in path.read_text().splitlines()]


def brief(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line.get(name) for name in ("what", "request", "type", "why", "error") if line.get(name) is not None)


def test_each_end_of_a_watch_is_written_once_with_its_reason(tmp_path: Path) -> None:
    def bring_one(watcher: watch.FakeWatcher) -> None:
        watcher.add(config_map("b", "6"))
        threading.Timer(2.0, watcher.stop).start()

    def fail(watcher: watch.FakeWatcher) -> None:
        watcher.error(apierrors.new_resource_expired("too old").status())

    def refuse(watcher: watch.FakeWatcher) -> None:
        raise RuntimeError("no watch")

    lines = recorded(tmp_path / "r", Server(watch.FakeWatcher.stop, bring_one, refuse, fail), hops=False)
    assert [line for line in map(brief, lines[2:]) if line[0] not in ("list", "listed")] == [
        *(("watch", 1), ("opened", 1), ("ended", 1, "closed", "")),  # at once: a VeryShortWatchError
        *(("watch", 3), ("opened", 3), ("event", 3, "ADDED"), ("ended", 3, "closed", "")),
        *(("watch", 4), ("failed", 4, "RuntimeError", "no watch")),
        *(("watch", 6), ("opened", 6), ("event", 6, "ERROR"), ("ended", 6, "left", "too old")),
        *(("watch", 8), ("opened", 8), ("ended", 8, "left", "stop requested"), ("end",)),
    ]


def test_the_first_lines_name_the_program_and_the_reflector(tmp_path: Path) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    head, source, asked, answer, *_, last = recorded(tmp_path / "r", Server(), hops=False)
    assert head | {"began": ""} == {"what": "recording", "t": 0.0, "format": 1, "began": "", "program": "p"}
    assert before <= datetime.fromisoformat(head["began"]) <= datetime.now(UTC) and "." in head["began"]
    assert (source["what"], source["source"], source["type"]) == ("source", 0, "*v1.ConfigMap")
    assert source["name"].rpartition(":")[0].endswith("test_recorder.py")
    assert asked == {
        "what": "list",
        "t": 0.0,
        "source": 0,
        "request": 0,
        "options": {"resourceVersion": "0", "limit": 500},
    }
    items = [{"apiVersion": "v1", "kind": "ConfigMap", **config_map("a", "5").to_dict()}]
    assert answer == {"what": "listed", "t": 0.0, "source": 0, "version": "5", "items": items}
    assert last == {"what": "end", "t": 60.0}


def test_a_failure_has_the_class_the_text_and_the_status_of_its_error(tmp_path: Path) -> None:
    failures = (ConnectionRefusedError(111, "refused"), apierrors.new_bad_request("no"))
    lines = recorded(tmp_path / "r", Server(failures=failures), hops=False)
    refused, bad = (line for line in lines if line["what"] == "failed")
    about = {"what": "failed", "source": 0}
    assert refused == {
        **about,
        "t": 0.0,
        "request": 0,
        "error": "[Errno 111] refused",
        "type": "ConnectionRefusedError",
        "refused": True,
    }
    assert bad["object"]["reason"] == "BadRequest" and bad["object"]["code"] == 400
    del bad["object"], bad["t"]
    assert bad == {**about, "request": 1, "error": "no", "type": "StatusError", "refused": False}


def written(path: Path, *entries: Any, **options: Any) -> list[dict[str, Any]]:
    """Return the lines of these entries, hops or noted lines, between the first and the last line."""
    with tour.record(path, **options) as recording:
        for entry in entries:
            if isinstance(entry, Hop):
                recording._receive(entry)
            else:
                kind, about = entry
                recording.note(kind, **about)
    return [json.loads(line) for line in path.read_text().splitlines()][1:-1]


def hop(**about: Any) -> Hop:
    return Hop(**{"number": 1, "time": 9.0, "station": "queue", "kind": "added", "thread": "t", "code": CODE, **about})


def test_a_hop_has_the_fields_in_which_there_is_something(tmp_path: Path) -> None:
    full = hop(number=2, key="d/a", version="7", old="6", merged=("ADDED",), more={"error": "https://a:b@c", "x": 1})
    code, first, second = written(tmp_path / "r", hop(key=""), full)
    place = {"file": "file.py", "function": "f", "goFile": "file.go", "goFunction": "F", "first": 3}
    assert code == {"what": "code", "t": code["t"], "code": 0, **place, "caller": "caller.py:1"}
    about = {"what": "hop", "station": "queue", "kind": "added", "thread": "t", "code": 0}
    assert first == {**about, "t": first["t"], "number": 1, "key": ""}
    assert second == {
        **about,
        "t": second["t"],
        "number": 2,
        "key": "d/a",
        "version": "7",
        "old": "6",
        "merged": ["ADDED"],
        "more": {"error": "https://(hidden)@c", "x": 1},
    }


def test_of_a_hops_lists_only_the_first_entries_are_written(tmp_path: Path) -> None:
    many = hop(key="a", more={"keys": [*range(taps.FEW + 5)], "others": ["a"], "text": "x" * (taps.FEW + 5)})
    assert written(tmp_path / "r", many)[1]["more"] == {"keys": [*range(taps.FEW)], "text": "x" * (taps.FEW + 5)}


def test_what_is_no_json_is_named_in_its_place(tmp_path: Path) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    bad, after = object(), hop(key="after")
    lines = written(tmp_path / "r", hop(key="a", more={"x": bad}), ("list", {"options": deep}), ("novelty", {}), after)
    assert [line["what"] for line in lines] == ["code", "unwritten", "unwritten", "novelty", "hop"]
    assert (lines[1]["of"], lines[2]["of"], lines[4]["key"]) == ("hop", "list", "after")
    assert lines[1]["error"] == "TypeError: Object of type object is not JSON serializable"
    assert lines[2]["error"].startswith("RecursionError: ")


def test_hops_that_wait_are_at_most_so_many_and_the_others_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "_MOST_HOPS", 3)
    made = recorder.Recorder(tmp_path / "r")  # not attached, so that no thread writes
    for number in range(5):
        made._receive(hop(key=str(number)))
    made.detach()
    lines = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    # The first line waits too.
    assert [line["key"] for line in lines if line["what"] == "hop"] == ["0", "1"]
    assert [line["hops"] for line in lines if line["what"] == "skipped"] == [3]
    assert lines[-1]["what"] == "end"
    made.note("late")
    made.detach()
    assert len((tmp_path / "r").read_text().splitlines()) == len(lines)


def test_without_hops_only_requests_are_recorded(tmp_path: Path) -> None:
    lines = recorded(tmp_path / "r", Server(), hops=False)
    assert {*("recording", "source", "list", "listed", "watch", "opened", "ended", "end")} == {
        line["what"] for line in lines
    }
    assert any(line["what"] == "hop" for line in recorded(tmp_path / "s", Server()))


def test_its_thread_does_not_keep_the_program_from_ending(tmp_path: Path) -> None:
    with tour.record(tmp_path / "r"):
        (thread,) = (each for each in threading.enumerate() if each.name == "tour recorder")
        assert thread.daemon
    assert not thread.is_alive()


def test_a_recorded_watch_has_the_channel_of_the_watch_and_ends_it(tmp_path: Path) -> None:
    watcher = watch.new_fake_with_options(watch.FakeOptions(channel_size=5))
    with tour.record(tmp_path / "r") as made:
        source = recorder._RecordedSource(made, Server(), 3)
        recorded_watch = recorder._RecordedWatch(made, watcher, 3, 4)
        assert recorded_watch.result_chan() is watcher.result_chan() and not recorded_watch.is_stopped
        recorded_watch.stop()
        assert watcher.result_chan().closed and recorded_watch.is_stopped
        for _ in range(2):
            source.list_with_context(context.background(), metav1.ListOptions())
    lines = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert [brief(line) for line in lines] == [("recording",), ("list", 0), ("list", 1), ("end",)]


def test_its_frames_are_no_part_of_the_programs_output() -> None:
    assert callers.is_inserted(recorder.__file__)


def test_what_is_noted_is_in_the_file_within_a_tenth_of_a_second(tmp_path: Path) -> None:
    with synctest.bubble() as bubble, tour.record(tmp_path / "r") as made:
        for number in range(3):
            made.note("novelty", number=number)
            bubble.sleep(0.1001)
            assert f'"number":{number}' in (tmp_path / "r").read_text()
