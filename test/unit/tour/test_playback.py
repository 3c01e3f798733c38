"""A recording as a server, line by line: what each kind of request gets from each kind of line, and when."""

from __future__ import annotations

import errno
import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clientgo import context, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import Object
from clientgo.golang.stop import Signal
from clientgo.testing import synctest
from clientgo.tour.playback import Playback, RecordedError, first_object, kind_of, play, source_of
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.testing import new_fake_clock

OPTIONS = metav1.ListOptions()
STREAM = metav1.ListOptions(send_initial_events=True)
BACKGROUND = context.background()
STREAMING = {"sendInitialEvents": True}


def config_map(name: str, version: str = "1", **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "d", "resourceVersion": version}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **more}


def line(what: str, t: float, **about: Any) -> dict[str, Any]:
    return {"what": what, "t": t, "source": 0, **about}


def requested(what: str, t: float, **options: Any) -> dict[str, Any]:
    return line(what, t, request=0, options=options)


def event(t: float, name: str, version: str, kind: str = "ADDED") -> dict[str, Any]:
    return line("event", t, request=0, type=kind, object=config_map(name, version))


def end_of_initial_objects(t: float, version: str) -> dict[str, Any]:
    metadata = {"resourceVersion": version, "annotations": {metav1.INITIAL_EVENTS_ANNOTATION_KEY: "true"}}
    about = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    return line("event", t, request=0, type="BOOKMARK", object=about)


def listed(t: float, version: str, *names: str) -> dict[str, Any]:
    return line("listed", t, version=version, items=[config_map(name, version) for name in names])


def ended(t: float, why: str = "closed") -> dict[str, Any]:
    return line("ended", t, request=0, why=why, error="")


def failed(t: float, **about: Any) -> dict[str, Any]:
    return line("failed", t, request=0, **about)


@contextmanager
def playing(tmp_path: Path, *lines: dict[str, Any], kind: Any = None, **options: Any) -> Iterator[Playback]:
    """Play a recording with these lines of one source, in a bubble."""
    path = tmp_path / "r"
    head = {"what": "recording", "t": 0.0, "format": 1, "began": "", "program": ""}
    about = {"what": "source", "t": 0.0, "source": 0, "name": "n", "type": "*v1.ConfigMap"}
    path.write_text("".join(json.dumps(each, separators=(",", ":")) + "\n" for each in (head, about, *lines)))
    with (
        tour.Recording(path) as recording,
        synctest.bubble(),
        Playback(recording, recording.sources[0], kind, **options) as played,
    ):
        yield played


def names(answer: Any) -> list[str]:
    return [obj.get_name() for obj in answer.extract_items()]


def received(watch: Any, many: int) -> list[tuple[str, str, str]]:
    """Return the types, names and versions of the next events of a watch."""
    found = []
    for _ in range(many):
        got, _ = watch.result_chan().receive()
        found.append((str(got.type), got.object.get_name(), got.object.get_resource_version()))
    return found


def elapsed_since(began: float) -> float:
    return round(REAL_CLOCK.now() - began, 6)


LISTING = (requested("list", 0.0), listed(1.0, "5", "a", "b"), requested("watch", 1.0), event(3.0, "c", "6"))


def test_a_list_comes_at_its_time_with_its_version_and_then_its_watch(tmp_path: Path) -> None:
    with playing(tmp_path, *LISTING, ended(4.0)) as played:
        began = REAL_CLOCK.now()
        answer = played.list(OPTIONS)
        assert (names(answer), answer.get_resource_version(), elapsed_since(began)) == (["a", "b"], "5", 1.0)
        assert type(answer.extract_items()[0]) is corev1.ConfigMap and answer.kind == "List"
        watch = played.watch(OPTIONS)
        assert (received(watch, 1), elapsed_since(began)) == ([("ADDED", "c", "6")], 3.0)
        assert (watch.result_chan().receive()[1], elapsed_since(began)) == (False, 4.0)
        seen = {"type": "ADDED", "key": "d/c", "version": "6", "ref": "d/c@6"}
        assert (played.seen(), played.moment()) == (("6", [seen]), 4.0)


@pytest.mark.parametrize(
    ("speed", "times"), [(2.0, [0.5, 1.5]), (0.5, [2.0, 6.0]), (math.inf, [0.0, 0.0])], ids=["2", "half", "inf"]
)
def test_a_speed_divides_the_times_of_answers(tmp_path: Path, speed: float, times: list[float]) -> None:
    with playing(tmp_path, *LISTING, speed=speed) as played:
        began, seen = REAL_CLOCK.now(), []
        assert played.moment() == 0.0
        played.list(OPTIONS)
        seen.append(elapsed_since(began))
        received(played.watch(OPTIONS), 1)
        seen.append(elapsed_since(began))
        assert seen == times and played.moment() == (0.0 if speed == math.inf else 3.0)
        assert played.due(0.0) == (0.0 if speed == math.inf else -times[1])


def test_the_beginning_counts_from_the_first_line(tmp_path: Path) -> None:
    later = [{**each, "t": each["t"] + 100.0} for each in LISTING]
    with playing(tmp_path, *later) as played:
        assert (played.moment(), played.due(200.0)) == (100.0, 0.0)
        began = REAL_CLOCK.now()
        played.list(OPTIONS)
        assert (elapsed_since(began), played.moment(), played.due(105.0)) == (1.0, 101.0, 4.0)


@pytest.mark.parametrize(
    ("about", "error", "text"),
    [
        ({"type": "ValueError", "error": "odd"}, RecordedError, "ValueError: odd"),
        ({"error": "odd"}, RecordedError, "Exception: odd"),
        ({}, RecordedError, "Exception: "),
        ({"refused": True, "error": "dial: refused"}, ConnectionRefusedError, "dial: refused"),
        ({"refused": True}, ConnectionRefusedError, "connection refused"),
        ({"refused": False, "type": "X"}, RecordedError, "X: "),
        (
            {"object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}, "refused": True},
            apierrors.StatusError,
            "too old",
        ),
        ({"object": {"details": 7}}, RecordedError, "a recorded status that cannot be decoded: "),
    ],
)
@pytest.mark.parametrize("request_", ["list", "watch", "stream"])
def test_a_recorded_error_is_raised_at_its_time(
    tmp_path: Path, request_: str, about: dict[str, Any], error: type[Exception], text: str
) -> None:
    lines = {
        "list": [requested("list", 0.0), failed(2.0, **about)],
        "watch": [requested("watch", 0.0), failed(2.0, **about)],
        "stream": [requested("watch", 0.0, sendInitialEvents=True), failed(2.0, **about)],
    }[request_]
    with playing(tmp_path, *lines, *LISTING) as played:
        began = REAL_CLOCK.now()
        with pytest.raises(error) as caught:
            if request_ == "list":
                played.list(OPTIONS)
            else:
                played.watch(STREAM if request_ == "stream" else OPTIONS)
        assert text in str(caught.value) and elapsed_since(began) == 2.0
        if error is ConnectionRefusedError:
            assert isinstance(caught.value, OSError) and caught.value.errno == errno.ECONNREFUSED
        if error is apierrors.StatusError:
            assert apierrors.is_resource_expired(caught.value)
        # The next request gets what came next.
        assert names(played.list(OPTIONS)) == ["a", "b"]


STREAMED = (
    *(requested("watch", 0.0, sendInitialEvents=True), line("opened", 0.5, request=0), event(1.0, "a", "3")),
    *(event(2.0, "b", "4"), end_of_initial_objects(3.0, "5"), event(4.0, "c", "6")),
)


def test_a_list_in_place_of_a_stream_has_its_initial_objects_at_their_end(tmp_path: Path) -> None:
    with playing(tmp_path, *STREAMED) as played:
        assert played.is_watch_list_semantics_un_supported() is False
        began = REAL_CLOCK.now()
        answer = played.list(OPTIONS)
        assert (names(answer), answer.get_resource_version(), elapsed_since(began)) == (["a", "b"], "5", 3.0)
        assert received(played.watch(OPTIONS), 1) == [("ADDED", "c", "6")] and elapsed_since(began) == 4.0


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ([requested("watch", 0.0, sendInitialEvents=True), failed(2.0, error="x")], RecordedError),
        (
            [requested("watch", 0.0, sendInitialEvents=True), event(1.0, "z", "1"), ended(2.0), *LISTING],
            ["a", "b"],
        ),
        ([requested("watch", 0.0, sendInitialEvents=True), event(1.0, "z", "1")], None),
        ([requested("list", 0.0), requested("list", 0.5), listed(1.0, "5", "a", "b")], ["a", "b"]),
        ([requested("list", 0.0)], None),
        ([ended(0.0), *LISTING], ["a", "b"]),
        ([listed(1.0, "5", "a"), event(3.0, "c", "6")], ["a"]),
        ([requested("watch", 0.0), event(3.0, "c", "6")], []),
        ([requested("list", 0.0), requested("watch", 1.0), event(3.0, "c", "6")], []),
    ],
)
def test_a_list_gets_an_answer_of_each_beginning(tmp_path: Path, lines: list[Any], wanted: Any) -> None:
    with playing(tmp_path, *lines) as played:
        if wanted is RecordedError:
            with pytest.raises(RecordedError):
                played.list(OPTIONS)
        elif wanted is None:  # it waits until the caller has enough
            ctx, cancel = context.with_timeout(context.background(), 50.0)
            began = REAL_CLOCK.now()
            with pytest.raises(context.Canceled):
                played.list_with_context(ctx, OPTIONS)
            assert elapsed_since(began) == 50.0
            cancel()
        else:
            assert names(played.list(OPTIONS)) == wanted


def test_behind_the_end_a_list_has_what_is_known_at_once(tmp_path: Path) -> None:
    with playing(tmp_path, *LISTING) as played:
        played.list(OPTIONS)
        received(played.watch(OPTIONS), 1)
        began = REAL_CLOCK.now()
        answer = played.list(OPTIONS)
        assert (names(answer), answer.get_resource_version()) == (["a", "b", "c"], "6") and elapsed_since(began) == 0.0


@pytest.mark.parametrize("options", [OPTIONS, STREAM])
def test_a_watch_where_a_list_was_made_fails_at_once(tmp_path: Path, options: metav1.ListOptions) -> None:
    with playing(tmp_path, *LISTING) as played:
        assert played.is_watch_list_semantics_un_supported() is True
        began = REAL_CLOCK.now()
        with pytest.raises((RecordedError, apierrors.StatusError), match="made a list here") as caught:
            played.watch(options)
        assert apierrors.is_resource_expired(caught.value) is (options is OPTIONS) and elapsed_since(began) == 0.0
        assert names(played.list(OPTIONS)) == ["a", "b"]


def test_a_wait_for_an_answer_ends_with_its_context(tmp_path: Path) -> None:
    with playing(tmp_path, requested("list", 0.0), listed(100.0, "5", "a")) as played:
        ctx, cancel = context.with_timeout(context.background(), 3.0)
        with pytest.raises(context.Canceled):
            played.list_with_context(ctx, OPTIONS)
        assert played.moment() == 3.0
        cancel()


def test_a_watch_that_was_left_at_the_end_is_silent(tmp_path: Path) -> None:
    for last, is_silent in ((ended(4.0, "left"), True), (ended(4.0), False)):
        with playing(tmp_path, *LISTING, last) as played:
            played.list(OPTIONS)
            watch = played.watch(OPTIONS)
            received(watch, 1)
            timer = threading.Timer(100.0, watch.stop)
            timer.start()
            assert watch.result_chan().receive()[1] is False
            assert played.moment() == (103.0 if is_silent else 4.0)
            timer.cancel()


def test_an_event_that_was_not_received_is_left_for_the_next_watch(tmp_path: Path) -> None:
    with playing(tmp_path, *LISTING, event(3.0, "e", "7")) as played:
        played.list(OPTIONS)
        first = played.watch(OPTIONS)
        channel = first.result_chan()
        assert channel is first.result_chan()
        (thread,) = (each for each in threading.enumerate() if each.name == "playback *v1.ConfigMap")
        assert thread.daemon
        REAL_CLOCK.sleep(10.0)
        first.stop()
        assert received(played.watch(OPTIONS), 2) == [("ADDED", "c", "6"), ("ADDED", "e", "7")]
        assert channel.closed and not thread.is_alive()


def test_a_watch_that_was_stopped_before_has_a_closed_channel(tmp_path: Path) -> None:
    with playing(tmp_path, *LISTING) as played:
        played.list(OPTIONS)
        watch = played.watch(OPTIONS)
        watch.stop()
        assert watch.result_chan().closed and watch.result_chan() is watch.result_chan()
        assert list(watch.read_events(Signal(), REAL_CLOCK)) == []


def test_a_reader_yields_events_at_their_times_until_it_is_told_to_end(tmp_path: Path) -> None:
    with playing(tmp_path, *LISTING, event(5.0, "e", "7"), event(90.0, "f", "8")) as played:
        played.list(OPTIONS)
        began = REAL_CLOCK.now()
        watch, done = played.watch(OPTIONS), Signal()
        assert watch.read_at == 0.0
        timer = threading.Timer(10.0, done.set)
        timer.start()
        seen = [
            (each.object.get_name(), elapsed_since(began), watch.read_at == REAL_CLOCK.now())
            for each in watch.read_events(done, REAL_CLOCK)
        ]
        assert seen == [("c", 2.0, True), ("e", 4.0, True)] and elapsed_since(began) == 10.0
        timer.cancel()
        # What came is known, and what did not is there for the next watch.
        assert played.seen()[0] == "7" and received(played.watch(OPTIONS), 1) == [("ADDED", "f", "8")]


def test_nothing_is_known_before_the_first_request(tmp_path: Path) -> None:
    at_once = [{**each, "t": 0.0} for each in LISTING]
    with playing(tmp_path, *at_once) as played:
        assert (played.seen(), played.moment()) == (("", []), 0.0)
        assert names(played.list(OPTIONS)) == ["a", "b"]


def test_the_last_six_changes_are_remembered(tmp_path: Path) -> None:
    changes = [event(2.0, "n", str(10 + number), "MODIFIED") for number in range(8)]
    with playing(tmp_path, *LISTING[:3], *changes, end_of_initial_objects(2.0, "30")) as played:
        played.list(OPTIONS)
        assert played.seen() == ("5", [])
        watch, done = played.watch(OPTIONS), Signal()
        reading = watch.read_events(done, REAL_CLOCK)
        for _ in range(9):
            next(reading)
        version, came = played.seen()
        assert version == "30" and [each["version"] for each in came] == ["12", "13", "14", "15", "16", "17"]


class Nameless(Object):
    """A class without a kind of its own."""


def test_each_event_is_an_object_of_its_class(tmp_path: Path) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    foo = {"apiVersion": "x/v1", "kind": "Foo", "metadata": {"name": "f"}}
    for kind, classes in ((None, [corev1.Pod, Unstructured]), (Unstructured, [Unstructured, Unstructured])):
        with playing(tmp_path, *LISTING, kind=kind) as played:
            made = [played.event({"type": "ADDED", "object": each}) for each in (pod, foo)]
            assert [type(each and each.object) for each in made] == classes
            assert [each and each.type for each in made] == ["ADDED", "ADDED"]
            status = played.event({"type": "ERROR", "object": {"kind": "Status", "code": 410}})
            assert status is not None and isinstance(status.object, metav1.Status) and status.object.code == 410
            later = played.event({"type": "LATER", "object": pod})
            assert later is not None and later.type == "LATER"


@pytest.mark.parametrize(
    "entry",
    [
        {"object": config_map("a")},
        {"type": 7, "object": config_map("a")},
        {"type": "ADDED"},
        {"type": "ADDED", "object": "a"},
        {"type": "ADDED", "object": {"kind": "ConfigMap", "apiVersion": "v1", "metadata": 7}},
        {"type": "ERROR", "object": {"details": 7}},
    ],
)
def test_a_damaged_event_is_none(tmp_path: Path, entry: dict[str, Any]) -> None:
    with playing(tmp_path, *LISTING) as played:
        assert played.event(entry) is None
        assert played._recording.damaged == 0  # it is of no line


class Picky(corev1.ConfigMap):
    """A class of a program that takes not every document."""

    @classmethod
    def from_dict(cls, document: Any, /) -> Any:
        if document["metadata"]["name"] == "bad":
            raise ValueError("too bad")
        return super().from_dict(document)


def test_an_object_that_cannot_be_decoded_is_left_out_and_described(tmp_path: Path) -> None:
    bad = config_map("bad")
    lines = [requested("list", 0.0), line("listed", 0.0, version="5", items=[config_map("a"), bad])]
    lines += [requested("watch", 0.0), line("event", 0.0, request=0, type="ADDED", object=bad), event(1.0, "c", "6")]
    with playing(tmp_path, *lines, kind=Picky) as played:
        assert names(played.list(OPTIONS)) == ["a"]
        assert received(played.watch(OPTIONS), 1) == [("ADDED", "c", "6")]
        damages = played._recording.damages
    assert damages == [
        "line 4: `items[1]` cannot be decoded: ValueError: too bad",
        "line 6: `object` cannot be decoded: ValueError: too bad",
    ]


def test_its_repr_has_the_place_in_the_recording(tmp_path: Path) -> None:
    with playing(tmp_path, *LISTING) as played:
        assert repr(played) == "<Playback of *v1.ConfigMap, line 0 of 4>"
        played.list(OPTIONS)
        assert repr(played) == "<Playback of *v1.ConfigMap, line 2 of 4>"
        assert played.clock() is REAL_CLOCK


@pytest.mark.parametrize("start", [0.0, 0.5, 1.0, 2.0, 3.0, 50.0])
def test_who_begins_in_the_middle_gets_a_list_of_what_was_known(tmp_path: Path, start: float) -> None:
    with playing(tmp_path, *LISTING, event(9.0, "e", "7"), start=start) as played:
        in_the_middle = start >= 1.0
        assert played.moment() == (start if in_the_middle else 0.0)
        assert played.is_watch_list_semantics_un_supported() is True
        began = REAL_CLOCK.now()
        known = ["a", "b", *(["c"] if start >= 3.0 else []), *(["e"] if start >= 9.0 else [])]
        assert names(played.list(OPTIONS)) == known
        assert elapsed_since(began) == (0.0 if in_the_middle else 1.0)
        if start < 9.0:
            received(played.watch(OPTIONS), 1)
            assert played.moment() == (9.0 if start >= 3.0 else 3.0)


@pytest.mark.parametrize(
    ("lines", "kind", "is_found"),
    [
        (LISTING, corev1.ConfigMap, True),
        (LISTING, corev1.Pod, False),
        (LISTING, "*v1.ConfigMap", True),
        (LISTING, "*v1.Pod", False),
        (LISTING, Nameless, False),
        ((requested("list", 0.0),), corev1.ConfigMap, True),  # it has no object, and so its type counts
        ((requested("list", 0.0),), corev1.Pod, False),
    ],
)
def test_a_source_is_found_by_its_objects_or_its_type(tmp_path: Path, lines: Any, kind: Any, is_found: bool) -> None:
    with playing(tmp_path, *lines) as played:
        recording = played._recording
        if is_found:
            assert source_of(recording, kind) is play(recording, kind).source is recording.sources[0]
        else:
            name = kind if isinstance(kind, str) else kind.__name__
            with pytest.raises(LookupError, match=rf"has 0 sources of {name.replace('*', '.')}; it has \*v1.ConfigMap"):
                source_of(recording, kind)


def test_the_first_object_is_one_of_the_cache(tmp_path: Path) -> None:
    status = {"kind": "Status", "code": 410}
    error = line("event", 1.0, request=0, type="ERROR", object=status)
    lines = (requested("list", 0.0), failed(0.5, object=status), listed(0.7, "1"), error, event(2.0, "z", "3"))
    with playing(tmp_path, *lines) as played:
        assert first_object(played._recording, played.source) == config_map("z", "3")
    with playing(tmp_path, *lines[:-1]) as played:
        assert first_object(played._recording, played.source) is None


def test_the_class_of_an_object_is_that_of_the_scheme() -> None:
    assert kind_of(config_map("a")) is corev1.ConfigMap
    assert kind_of({"apiVersion": "x/v1", "kind": "ConfigMap"}) is Unstructured and kind_of({}) is Unstructured


def test_a_wait_that_was_ended_leaves_no_timer(tmp_path: Path) -> None:
    clock = new_fake_clock()
    with playing(tmp_path, requested("watch", 0.0), event(100.0, "c", "6"), clock=clock) as played:
        watch = played.watch(OPTIONS)
        watch.result_chan()
        REAL_CLOCK.sleep(1.0)
        assert clock.waiters() == 1
        watch.stop()
        REAL_CLOCK.sleep(1.0)
        assert clock.waiters() == 0 and played.clock() is clock


def test_a_fixture_has_its_scope_and_closes_what_it_served(monkeypatch: pytest.MonkeyPatch) -> None:
    scopes: list[str] = []

    def fixture(*, scope: str) -> Any:
        scopes.append(scope)
        return lambda function: function

    monkeypatch.setattr(pytest, "fixture", fixture)
    outage = Path(__file__).parent / "outage.jsonl"
    serving: Any = tour.fixture(outage)()
    tour.fixture(str(outage), scope="module")
    assert scopes == ["function", "module"]
    with synctest.bubble():
        served = next(serving)
        first, second = served(corev1.ConfigMap), served("*v1.ConfigMap", start=9.0, speed=2.0)
        assert (first.moment(), second.moment()) == (0.0, 9.0)
        first.list(OPTIONS)
        channel = first.watch(OPTIONS).result_chan()
        assert list(serving) == [] and channel.closed
    with pytest.raises(ValueError, match="closed"):
        first._recording._file.read()


def test_a_failure_whose_request_is_lost_is_raised_once(tmp_path: Path) -> None:
    for options in (OPTIONS, STREAM):
        with playing(tmp_path, failed(1.0, error="odd"), *LISTING) as played:
            with pytest.raises(RecordedError, match="odd"):
                played.watch(options)
            assert played.moment() == 1.0 and names(played.list(OPTIONS)) == ["a", "b"]
