"""Recordings: what came over the wire and every hop in a file, and an informer that is fed from it.

Times are virtual: threads as in a program, and each run the same.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import PATIENCE

from clientgo import context, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.tour import recorder as recorder_module
from clientgo.tour.machine import Machine
from clientgo.tour.script import play as play_script
from clientgo.utils.clock import REAL_CLOCK

# Made once, with format 1, which stays readable: the server restarts, forgets its history, and an object goes unseen.
OUTAGE = Path(__file__).parent / "outage.jsonl"


def config_map(name: str, text: str = "") -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="default"), data={"text": text})


class Handler:
    """A handler that records its notifications with their times."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.calls: list[tuple[float, str, str, str]] = []
        self._now = now

    def _note(self, method: str, obj: Any) -> None:
        version = "" if isinstance(obj, cache.DeletedFinalStateUnknown) else obj.get_resource_version()
        key = cache.deletion_handling_meta_namespace_key_func(obj)
        self.calls.append((round(self._now(), 3), method, key, version))

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self._note("add", obj)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self._note("update", new_obj)

    def on_delete(self, obj: Any) -> None:
        self._note("delete", obj)


class Seen:
    """An informer of ConfigMaps in a bubble, from its beginning to its end."""

    def __init__(self, lw: Any, bubble: Any, lasts: float, at: float = 0.0) -> None:
        began = REAL_CLOCK.now()
        self.informer = cache.new_shared_index_informer(lw, corev1.ConfigMap(), 0.0, {})
        self.handler = Handler(lambda: REAL_CLOCK.now() - began)
        self.informer.add_event_handler(self.handler)
        self._ctx, self._cancel = context.with_cancel(context.background())
        run = self.informer.run_with_context
        thread = threading.Thread(target=run, args=(self._ctx,), name="informer", daemon=True)
        thread.start()
        bubble.sleep(at)
        self.at = self.keys()
        bubble.sleep(lasts - at)
        self._cancel()
        thread.join()

    def keys(self) -> set[str]:
        return set(self.informer.get_indexer().list_keys())

    def versions(self) -> dict[str, str]:
        items = self.informer.get_indexer().contents().items
        return {key: obj.get_resource_version() for key, obj in items.items()}


def record_scenario(path: Path, name: str, **settings: Any) -> tuple[dict[str, str], list[tour.Hop]]:
    """Play a scenario of the lessons with a recorder attached: what was cached in the end, and all hops."""
    scenario = tour.SCENARIOS[name]
    chosen = tour.Settings.of({**scenario.settings.to_dict(), **settings})
    hops: list[tour.Hop] = []
    with synctest.bubble() as bubble, tour.record(path, program=name), tour.Seam(tour.TAPS, hops.append):
        machine = Machine(chosen, scenario.program)
        machine.spawn("kubectl", play_script, machine, scenario.before).join()
        machine.start()
        machine.spawn("kubectl", play_script, machine, scenario.steps)
        bubble.sleep(max(step.at for step in scenario.steps) + scenario.after)
        items = machine.replica.informers[0].get_indexer().contents().items
        machine.stop()
        bubble.sleep(120.0)
    return {key: obj.get_resource_version() for key, obj in items.items()}, hops


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Return a function that records each scenario once."""
    folder = tmp_path_factory.mktemp("recordings")
    made: dict[str, Any] = {}

    def make(name: str, **settings: Any) -> Any:
        path = folder / f"{name}-{len(made)}.jsonl"
        asked = f"{name} {settings}"
        if asked not in made:
            made[asked] = (path, *record_scenario(path, name, **settings))
        return made[asked]

    return make


@pytest.mark.parametrize(
    ("scenario", "settings"),
    [("list-and-watch", {}), ("tombstone", {}), ("versions", {}), ("level", {"watch_list": True}), ("deltas", {})],
)
def test_an_informer_is_told_the_same_and_nothing_before_its_time(recorded, scenario, settings):
    path, cached, hops = recorded(scenario, **settings)
    with tour.Recording(path) as recording, synctest.bubble() as bubble:
        source = tour.play(recording, corev1.ConfigMap)
        seen = Seen(source, bubble, recording.duration)
        source.close()
        assert recording.is_complete and not recording.damaged and recording.program == scenario
    assert seen.versions() == cached
    called = [
        (round(hop.time, 3), hop.more["method"].removeprefix("on_"), hop.key, hop.version)
        for hop in hops
        if hop.kind == "called" and hop.more["handler"].endswith("Enqueuer")
    ]
    assert len(called) > 3
    calls = [(method, key, version) for _, method, key, version in seen.handler.calls]
    assert [(method, key, version) for method, key, version in calls if method != "delete"] == [
        each[1:] for each in called if each[1] != "delete"
    ]
    assert sum(method == "delete" for method, *_ in calls) == sum(method == "delete" for _, method, *_ in called)
    first = called[0][0] - seen.handler.calls[0][0]
    late = [time + first - each[0] for (time, *_), each in zip(seen.handler.calls, called, strict=True)]
    # How long it waits before it asks again is up to the reflector, and to chance.
    assert min(late) > -0.001 and (max(late) < 0.001 or recording.sources[0].lists > 1) and max(late) < 10.0


def test_every_hop_is_in_the_file(recorded):
    path, _, hops = recorded("queue")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    with tour.Recording(path) as recording:
        read = recording.hops_until(math.inf, most=100_000)
        assert recording.hops == len(hops) == len(read)
        assert recording.hops_until(-1.0) == []
    assert [(hop["station"], hop["kind"], hop["key"], hop["version"], hop["more"]) for hop in read] == [
        (hop.station, hop.kind, hop.key, hop.version, json.loads(json.dumps(hop.more))) for hop in hops
    ]
    assert [hop["code"]["goFunction"] for hop in read] == [hop.code.go_function for hop in hops]
    assert set(read[0]) == set(hops[0].to_dict())
    assert [lines[0]["what"], lines[-1]["what"]] == ["recording", "end"]


def test_what_was_known_at_any_moment_is_what_an_informer_that_begins_there_caches(recorded):
    path, cached, _ = recorded("level", watch_list=True)
    with tour.Recording(path) as recording:
        source = next(iter(recording.sources.values()))
        for moment in (0.0, 2.0, 5.0, 9.0, 12.0, recording.duration):
            known = recording.known(source, moment)
            with synctest.bubble() as bubble:
                played = tour.play(recording, corev1.ConfigMap, start=moment)
                seen = Seen(played, bubble, recording.duration, at=0.0001)
                played.close()
            assert seen.at == set(known.objects) or moment == 0.0
            assert seen.versions() == cached


@pytest.mark.parametrize("streams", [False, True])
def test_a_reflector_that_asks_otherwise_is_answered_as_well(recorded, streams):
    path, cached, _ = recorded("level", watch_list=streams)
    with tour.Recording(path) as recording, synctest.bubble() as bubble:
        source = tour.play(recording, corev1.ConfigMap)
        assert source.is_watch_list_semantics_un_supported() is not streams
        source.is_watch_list_semantics_un_supported = lambda: streams  # type: ignore[method-assign]
        seen = Seen(source, bubble, recording.duration)
        source.close()
    assert seen.versions() == cached


def test_a_speed_is_that_of_the_clock(recorded):
    path, _, _ = recorded("list-and-watch")
    with tour.Recording(path) as recording:
        for speed in (1.0, 10.0, math.inf):
            with synctest.bubble() as bubble:
                source = tour.play(recording, corev1.ConfigMap, speed=speed)
                seen = Seen(source, bubble, 7.0)
                source.close()
            assert seen.handler.calls[-1][:3] == (round(6.0 / speed, 3), "delete", "default/bread")
        with pytest.raises(ValueError, match="above 0, not 0"):
            tour.play(recording, corev1.ConfigMap, speed=0)


def test_behind_the_end_the_watch_is_silent_and_a_list_has_what_was_known(recorded):
    path, cached, _ = recorded("list-and-watch")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    with tour.Recording(path) as recording, synctest.bubble() as bubble:
        source = tour.play(recording, corev1.ConfigMap)
        asked: list[Any] = []
        watch = source.watch_with_context
        source.watch_with_context = lambda *args: (asked.append(args), watch(*args))[1]  # type: ignore[method-assign]
        Seen(source, bubble, recording.duration + 100.0)
        assert len(asked) == sum(line["what"] == "watch" for line in lines)
        listed = source.list_with_context(context.background(), metav1.ListOptions()).extract_items()
        assert {f"default/{obj.get_name()}" for obj in listed} == set(cached)
        source.close()


def test_a_new_request_ends_the_watch_before_it(recorded):
    path, _, _ = recorded("list-and-watch")
    with (
        tour.Recording(path) as recording,
        synctest.bubble() as bubble,
        tour.play(recording, corev1.ConfigMap) as source,
    ):
        source.list(metav1.ListOptions())
        first = source.watch(metav1.ListOptions())
        second = source.watch(metav1.ListOptions())
        bubble.sleep(0.01)
        assert first.result_chan().closed and not second.result_chan().closed
        event, _ = second.result_chan().receive()
        assert event is not None and event.object.get_name() == "apple"


def test_an_error_of_the_server_is_the_same_again(tmp_path):
    class Forbidding:
        def list_with_context(self, ctx: Any, options: Any) -> Any:
            raise apierrors.new_forbidden(GroupResource("", "configmaps"), "", RuntimeError("not yours"))

        watch_with_context = list_with_context

    with synctest.bubble() as bubble, tour.record(tmp_path / "r"):
        Seen(Forbidding(), bubble, 1.0)
    with tour.Recording(tmp_path / "r") as recording, synctest.bubble():
        source = tour.play(recording, "*v1.ConfigMap")
        with pytest.raises(apierrors.StatusError, match="not yours") as caught:
            source.watch(metav1.ListOptions(send_initial_events=True))
    assert apierrors.is_forbidden(caught.value)


apiserver = tour.fixture(OUTAGE)


def test_a_recording_is_a_fixture(apiserver):
    with synctest.bubble() as bubble:
        seen = Seen(apiserver(corev1.ConfigMap), bubble, 60.0)
    assert seen.keys() == {"default/bread"}
    assert [method for _, method, *_ in seen.handler.calls].count("delete") == 1
    with pytest.raises(LookupError, match=r"has 0 sources of Pod; it has \*v1.ConfigMap"):
        apiserver(corev1.Pod)


def test_without_virtual_time_all_comes_at_once(recorded):
    path, cached, _ = recorded("list-and-watch")
    with tour.Recording(path) as recording:
        source = tour.play(recording, "*v1.ConfigMap", speed=math.inf)
        informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 0.0, {})
        deleted = threading.Event()
        informer.add_event_handler(cache.ResourceEventHandlerFuncs(delete_func=lambda obj: deleted.set()))
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
        thread.start()
        assert deleted.wait(PATIENCE)
        cancel()
        thread.join()
        source.close()
    assert set(informer.get_indexer().list_keys()) == set(cached)


# ---- what is not in it


def record_objects(path: Path, *objects: Any, **options: Any) -> list[Any]:
    """Return the lines of a recording of a list of these objects."""
    with synctest.bubble() as bubble, tour.record(path, **options):
        source = new_fake_controller_source()
        for obj in objects:
            source.add(obj)
        informer = cache.new_shared_index_informer(source, type(objects[0])(), 0.0, {})
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
        thread.start()
        bubble.sleep(1.0)
        kept = dict(informer.get_indexer().contents().items)
        cancel()
        thread.join()
        source.shutdown()
    assert [obj.to_dict() for obj in objects] == [kept[f"default/{obj.metadata.name}"].to_dict() for obj in objects]
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_object_is_kept_as_it_came_whatever_becomes_of_it(tmp_path):
    def forget(obj: Any) -> Any:
        obj.data = {"text": "forgotten"}
        return obj

    with synctest.bubble() as bubble, tour.record(tmp_path / "r"):
        source = new_fake_controller_source()
        source.add(config_map("a", "first"))
        informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 0.0, {})
        informer.set_transform(forget)
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
        thread.start()
        bubble.sleep(1.0)
        source.modify(config_map("a", "second"))
        bubble.sleep(1.0)
        cancel()
        thread.join()
        source.shutdown()
    lines = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    came = [obj for line in lines for obj in [*line.get("items", ()), *([line["object"]] if "object" in line else [])]]
    assert [obj["data"]["text"] for obj in came] == ["first", "second"]


def secret(name: str, value: bytes) -> corev1.Secret:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "the secret", "kept": "this"}
    metadata = metav1.ObjectMeta(name=name, namespace="default", annotations=annotations)
    return corev1.Secret(metadata=metadata, data={"password": value})


def test_secrets_are_hidden_and_only_equal_ones_look_equal(tmp_path):
    values = {"a": b"hunter2hunter2", "b": b"hunter2hunter2", "c": b"something else"}
    lines = record_objects(tmp_path / "r", *(secret(name, value) for name, value in values.items()))
    text = (tmp_path / "r").read_text()
    assert "the secret" not in text and "aHVudGVyMmh1bnRlcjI" not in text and "hunter2" not in text
    (listed,) = [line for line in lines if line["what"] == "listed"]
    shown = {item["metadata"]["name"]: item["data"]["password"] for item in listed["items"]}
    assert shown["a"] == shown["b"] != shown["c"]
    # Any annotation may hold a value.
    assert "this" not in text
    assert len({item["metadata"]["annotations"]["kept"] for item in listed["items"]}) == 1
    again = record_objects(tmp_path / "s", secret("a", values["a"]))
    assert shown["a"] not in json.dumps(again)


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("Authorization: Bearer abcdefgh12345678", "Authorization: (hidden)"),
        ("https://me:word@host/x", "https://(hidden)@host/x"),
        ("token eyJhbGciOi.eyJzdWIi.c2ln is bad", "token (hidden) is bad"),
        ("connection refused", "connection refused"),
    ],
)
def test_what_looks_like_a_credential_in_an_error_is_taken_out(tmp_path, text, scrubbed):
    class Broken:
        def list_with_context(self, ctx: Any, options: Any) -> Any:
            raise RuntimeError(text)

        watch_with_context = list_with_context

    with synctest.bubble() as bubble, tour.record(tmp_path / "r"):
        Seen(Broken(), bubble, 1.0)
    lines = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert {line["error"] for line in lines if line["what"] == "failed"} == {scrubbed}
    assert scrubbed == text or text not in (tmp_path / "r").read_text()


def test_the_owner_may_hide_more(tmp_path):
    def redact(obj: Any) -> Any:
        return {**obj, "data": {}}

    lines = record_objects(tmp_path / "r", config_map("a", "private"), redact=redact, hops=False)
    assert "private" not in json.dumps(lines)
    assert not any(line["what"] == "hop" for line in lines)


def test_a_recording_is_its_owners_alone_and_overwrites_nothing(tmp_path):
    with tour.record(tmp_path / "r"):
        assert os.stat(tmp_path / "r").st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError), tour.record(tmp_path / "r"):
        pytest.fail("it began")


# ---- what may go wrong


def test_a_full_disk_ends_the_recording_and_not_the_program(tmp_path, monkeypatch, caplog):
    file = open("/dev/full", "w")  # noqa: SIM115
    monkeypatch.setattr(recorder_module, "_open_new", lambda path: file)
    with synctest.bubble() as bubble, tour.record(tmp_path / "r"):
        source = new_fake_controller_source()
        source.add(config_map("a"))
        seen = Seen(source, bubble, 1.0)
        source.shutdown()
    assert seen.keys() == {"default/a"}
    assert caplog.text.count("the tour records no more") == 1
    assert file.closed


def test_a_hop_is_written_with_its_thread(tmp_path):
    hops = [line for line in record_objects(tmp_path / "r", config_map("a")) if line["what"] == "hop"]

    threads = {hop["station"]: hop["thread"] for hop in hops}
    assert threads["indexer"] == "informer"
    assert threads["reflector"].startswith("reflector ")


def test_hops_that_could_not_be_written_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "_MOST_HOPS", 3)
    lines = record_objects(tmp_path / "r", config_map("a"))
    with tour.Recording(tmp_path / "r") as recording:
        assert recording.skipped > 3 >= recording.hops
    assert [len(line["items"]) for line in lines if line["what"] == "listed"] == [1]


def test_behind_the_recorder_the_machinery_is_as_before(tmp_path):
    before = [(tap.find(), tap.find().__code__) for tap in tour.TAPS]
    with synctest.bubble() as bubble:
        source = new_fake_controller_source()
        with tour.record(tmp_path / "r"):
            informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 0.0, {})
            ctx, cancel = context.with_cancel(context.background())
            thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
            thread.start()
            bubble.sleep(1.0)
        size = (tmp_path / "r").stat().st_size
        source.add(config_map("late"))
        source.reset_watch()
        bubble.sleep(10.0)
        assert informer.get_indexer().list_keys() == ["default/late"]
        cancel()
        thread.join()
        source.shutdown()
    assert (tmp_path / "r").stat().st_size == size
    assert [(tap.find(), tap.find().__code__) for tap in tour.TAPS] == before


def test_what_is_no_recording_is_refused(tmp_path):
    path = tmp_path / "r"
    for text in ("", "hello\n", "[" * 100_000, '{"what":"hop"}\n', '{"what":"recording","format":"1"}\n'):
        path.write_text(text)
        with pytest.raises(tour.RecordingError, match="is no recording"):
            tour.Recording(path)
    path.write_text('{"what":"recording","t":0,"format":2}\n')
    with pytest.raises(tour.RecordingError, match="has format 2, which is later than 1"):
        tour.Recording(path)


def test_hops_that_came_out_of_order_are_found(tmp_path):
    hops = "".join(f'{{"what":"hop","t":{time},"number":{number}}}\n' for number, time in enumerate((2.0, 1.0, 3.0)))
    (tmp_path / "r").write_text(f'{{"what":"recording","t":0,"format":1}}\n{hops}')
    with tour.Recording(tmp_path / "r") as recording:
        found = [[hop["number"] for hop in recording.hops_until(time)] for time in (1.5, 2.5, 3.0)]
    assert found == [[], [0, 1], [0, 1, 2]]


def test_lines_of_later_kinds_are_passed_over(tmp_path):
    head, *rest = OUTAGE.read_text().splitlines(keepends=True)
    (tmp_path / "r").write_text("".join([head, '{"what":"novelty","t":0.5,"x":1}\n', *rest]))
    with tour.Recording(tmp_path / "r") as recording, tour.Recording(OUTAGE) as before:
        assert recording.damaged == 0 and recording.to_dict() == {**before.to_dict(), "path": "r"}


def test_a_line_that_is_too_long_is_damaged_and_what_follows_is_read(tmp_path, monkeypatch):
    longest = max(map(len, OUTAGE.read_bytes().splitlines(keepends=True)))
    monkeypatch.setattr("clientgo.tour.recording.LONGEST_LINE", longest)
    head, *rest = OUTAGE.read_text().splitlines(keepends=True)
    (tmp_path / "r").write_text("".join([head, '{"what":"hop","t":1.0,"x":"' + "x" * 9 * longest + '"}\n', *rest]))
    with tour.Recording(tmp_path / "r") as recording, tour.Recording(OUTAGE) as before:
        assert recording.damaged == 1 and recording.damages == ["line 2 is cut off or no line of a recording"]
        assert recording.hops == before.hops and recording.is_complete


BYTES = OUTAGE.read_bytes() if OUTAGE.exists() else b""
HEAD = BYTES.find(b"\n") + 1


def test_of_a_place_in_the_source_only_what_is_known_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r"
    damaged = BYTES
    for found, instead in (b"caller", b"aller"), (b'first":', b'first":"no","last":'), (b'"code":5}', b'"code":{}}'):
        damaged = damaged.replace(found, instead)
    assert damaged != BYTES
    path.write_bytes(damaged)
    with tour.Recording(path) as recording:
        codes = [hop["code"] for hop in recording.hops_until(recording.duration)]
    assert {type(code[name]) for code in codes for name in code} == {str, int, list}
    assert {(code["caller"], code["first"]) for code in codes} == {("", 0)}
    assert not any("aller" in code or "last" in code for code in codes)


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_a_damaged_recording_is_played_as_far_as_it_can_be(tmp_path_factory, data):
    damaged = bytearray(BYTES)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(HEAD, len(damaged)))
        match data.draw(st.sampled_from(["cut", "byte", "out", "in"])):
            case "cut":
                del damaged[at:]
            case "byte":
                damaged[at : at + 1] = data.draw(st.binary(min_size=1, max_size=3))
            case "out":
                del damaged[at : at + data.draw(st.integers(1, 400))]
            case "in":
                damaged[at:at] = data.draw(st.sampled_from([b"\n", b"[" * 3000, b"\x00\xff", b"}\n{", b'"object":3,']))
    path = tmp_path_factory.mktemp("damaged") / "r"
    path.write_bytes(damaged)
    with tour.Recording(path) as recording:
        for hop in recording.hops_until(recording.duration):
            assert hop["code"].keys() == {"file", "function", "goFile", "goFunction", "first", "lines", "caller"}
        for source in recording.sources.values():
            known = recording.known(source, recording.duration)
            assert all(isinstance(obj, dict) for obj in known.objects.values())
        if len(recording.sources) == 1:
            (source,) = recording.sources.values()
            with synctest.bubble() as bubble:
                played = tour.Playback(recording, source, corev1.ConfigMap)
                Seen(played, bubble, 30.0)
                played.close()
        assert recording.damaged >= len(recording.damages)


def test_the_repr_of_a_source_is_short_however_long_the_recording():
    with tour.Recording(Path(__file__).parent / "outage.jsonl") as recording:
        for source in recording.sources.values():
            assert len(source.entries) > 5 and "array" not in repr(source)
            assert repr(source.name) in repr(source) and f"events={source.events}" in repr(source)
