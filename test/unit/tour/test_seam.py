"""The hooks of a tour: what it sees, and that it does not change the machinery."""

from __future__ import annotations

import inspect
import json
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import CodeType, FunctionType, SimpleNamespace

import pytest

from clientgo import tour
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.testing import synctest
from clientgo.tour import hop as hop_module
from clientgo.tour import seam as seam_module
from clientgo.util import workqueue
from clientgo.util.workqueue.queue import Typed


def codes() -> list[tuple[FunctionType, CodeType]]:
    return [(tap.find(), tap.find().__code__) for tap in tour.TAPS]


def tap_of(function: str) -> tour.Tap:
    return next(tap for tap in tour.TAPS if tap.function == function)


@pytest.fixture
def hops() -> list[tour.Hop]:
    return []


def names(hops: list[tour.Hop]) -> list[str]:
    return [f"{hop.kind} {hop.key}" for hop in hops]


def test_every_function_that_is_watched_is_there_and_names_its_go_file():
    for tap in tour.TAPS:
        assert tap.find().__qualname__ == tap.function
        assert tap.station in tour.STATIONS
        assert tap.go_file and (tap.go_function or tap.go_file == "etcd's compaction")


def test_nothing_is_changed_while_nobody_is_attached_and_all_is_as_before_afterwards(hops):
    before = codes()
    with tour.Seam(tour.TAPS, hops.append):
        assert all(now is was and code is not old for (now, code), (was, old) in zip(codes(), before))
    assert codes() == before


def test_a_function_that_is_watched_keeps_its_source_and_signature_for_inspect(hops):
    functions = [tap.find() for tap in tour.TAPS]
    own = [vars(function).copy() for function in functions]

    def seen() -> list[tuple[object, ...]]:
        return [(inspect.getsource(each), inspect.signature(each), inspect.getdoc(each)) for each in functions]

    before = seen()
    with tour.Seam(tour.TAPS, hops.append), tour.Seam(tour.TAPS, hops.append):
        assert seen() == before
    assert seen() == before
    assert [vars(function) for function in functions] == own


def test_it_is_undone_also_when_the_body_raises(hops):
    before = codes()
    with pytest.raises(ZeroDivisionError), tour.Seam(tour.TAPS, hops.append):
        1 / 0  # noqa: B018
    assert codes() == before


def test_a_tap_without_a_function_is_refused_by_name_and_nothing_is_wrapped(hops):
    before = codes()
    missing = replace(tour.TAPS[0], function="Store.vanished")
    with pytest.raises(LookupError, match=r"no function Store.vanished in clientgo.testing.apiserver.store.storage"):
        tour.Seam([*tour.TAPS, missing], hops.append).attach()
    assert codes() == before


def test_the_queues_three_sets_hop_by_hop(hops):
    with tour.Seam(tour.TAPS, hops.append):
        queue = workqueue.new_typed()
        queue.add("a")
        queue.add("a")
        queue.get()
        queue.add("a")
        queue.add("a")
        queue.done("a")
        queue.get()
        queue.done("a")
    kinds = ["added", "duplicate", "taken", "marked", "duplicate", "requeued", "taken", "done"]
    assert [hop.kind for hop in hops] == kinds
    assert {hop.station for hop in hops} == {"queue"}
    assert [hop.number for hop in hops] == list(range(8))


def test_a_delay_is_told_with_its_failure_and_its_due_time(hops):
    with synctest.bubble() as bubble, tour.Seam(tour.TAPS, hops.append):
        limiter = workqueue.new_typed_item_exponential_failure_rate_limiter(2.0, 100.0)
        queue = workqueue.new_typed_rate_limiting_queue(limiter)
        queue.add_rate_limited("a")
        queue.add_after("a", 5.0)
        bubble.sleep(3.0)
        queue.forget("a")
        queue.forget("a")
        queue.shut_down()
    assert names(hops) == ["failure a", "waits a", "sooner a", "due a", "added a", "forgotten a"]
    assert hops[0].more == {"delay": 2.0, "failures": 1}
    assert [hop.time for hop in hops] == [0.0, 0.0, 0.0, 2.0, 2.0, 3.0]
    assert hops[3].thread == "workqueue--delay"


def test_the_lines_that_ran_are_told_when_asked_for(hops):
    with tour.Seam(tour.TAPS, hops.append, lines=True):
        queue = workqueue.new_typed()
        queue.add("a")
        queue.add("a")
    source, first = __import__("inspect").getsourcelines(vars(Typed)["add"])

    def ran(hop: tour.Hop) -> str:
        return "".join(source[line - first] for line in hop.code.lines)

    assert "_push(item)" in ran(hops[0]) and "touch(item)" not in ran(hops[0])
    assert "touch(item)" in ran(hops[1]) and "_push(item)" not in ran(hops[1])
    assert hops[0].code.first == first
    assert hops[0].code.caller.startswith("test/unit/tour/test_seam.py:")


def test_no_lines_are_told_when_nobody_asks_and_a_debugger_keeps_its_trace(hops):
    seen = []

    def debugger(frame, event, arg):
        seen.append(event)

    sys = __import__("sys")
    before = sys.gettrace()
    sys.settrace(debugger)
    try:
        with tour.Seam(tour.TAPS, hops.append, lines=True):
            workqueue.new_typed().add("a")
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(before)
    with tour.Seam(tour.TAPS, hops.append):
        workqueue.new_typed().add("b")
    assert hops[0].code.lines and not hops[1].code.lines


def test_several_seams_see_the_same_and_the_last_one_puts_things_back():
    before = codes()
    one: list[tour.Hop] = []
    two: list[tour.Hop] = []
    first, second = tour.Seam(tour.TAPS, one.append), tour.Seam(tour.TAPS, two.append)
    first.attach()
    second.attach()
    queue = workqueue.new_typed()
    queue.add("a")
    first.detach()
    queue.add("b")
    second.detach()
    second.detach()
    queue.add("c")
    assert names(one) == ["added a"]
    assert names(two) == ["added a", "added b"]
    assert codes() == before


def test_a_seam_is_attached_once(hops):
    seam = tour.Seam(tour.TAPS, hops.append)
    with seam, pytest.raises(RuntimeError, match="attached already"):
        seam.attach()


def test_what_kept_a_function_is_seen_from_when_to_when_the_tour_is_attached(hops):
    with synctest.bubble() as bubble:
        queue = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
        queue.add("before")
        with tour.Seam(tour.TAPS, hops.append):
            queue.add("a")
            queue.add_after("b", 1.0)
            bubble.sleep(2.0)
        queue.add("after")
        assert [queue.get()[0] for _ in range(4)] == ["before", "a", "b", "after"]
        queue.shut_down()
    assert names(hops) == ["added a", "waits b", "due b", "added b"]


class Base:
    def reconcile(self, key: str) -> str:
        return key


class Derived(Base):
    def reconcile(self, key: str, *, times: int = 1) -> str:
        return super().reconcile(key) * times


def test_a_method_that_calls_super_and_has_defaults_can_be_watched(hops):
    derived, bound = Derived(), Derived().reconcile
    with tour.Seam([tour.worker_tap(__name__, "Derived.reconcile")], hops.append):
        assert derived.reconcile("a") == "a" and bound("b", times=2) == "bb"
    assert derived.reconcile("c", times=3) == "ccc"
    assert names(hops) == ["reconcile a", "ok a", "reconcile b", "ok b"]


def test_a_meter_lets_so_many_through_and_counts_the_rest(hops):
    seam = tour.Seam([tap_of("Typed.add")], hops.append, metered=True)
    meter = seam.meters[tap_of("Typed.add")]
    meter.allow(3)
    with seam:
        queue = workqueue.new_typed()
        for item in range(10):
            queue.add(item)
        assert meter.read() == (10, 3)
        meter.allow(2)
        for item in range(10, 20):
            queue.add(item)
    assert meter.read() == meter.read() == (20, 5)
    assert names(hops) == [f"added {item}" for item in (0, 1, 2, 10, 11)]
    assert queue.contents().order == tuple(range(20))


def test_a_meter_counts_every_call_of_many_threads():
    meter = tour.Meter()
    meter.allow(0)
    threads = [
        threading.Thread(target=lambda: [meter.count() for _ in range(20_000)], name=f"caller-{n}", daemon=True)
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert meter.read()[1] == 0
    assert meter.read() == (80_000, 0)


def test_a_probe_stands_around_each_call_whether_it_is_told_or_not(hops):
    seen = []

    def note(function):
        def add(queue, item):
            seen.append(item)
            return function(queue, item)

        return add

    probe = tour.Probe("clientgo.util.workqueue.queue", "Typed.add", note)
    seam = tour.Seam([tap_of("Typed.add")], hops.append, probes=[probe], metered=True)
    seam.meters[tap_of("Typed.add")].allow(1)
    queue = workqueue.new_typed()
    with seam:
        queue.add("a")
        queue.add("b")
    queue.add("c")
    assert seen == ["a", "b"] and names(hops) == ["added a"] and queue.contents().order == ("a", "b", "c")


@pytest.fixture
def errors() -> Iterator[list[str]]:
    """Return the list of reported errors."""
    seen: list[str] = []
    before = [*utilruntime.ERROR_HANDLERS]
    utilruntime.ERROR_HANDLERS[:] = [lambda ctx, err, msg, *more: seen.append(str(err))]
    yield seen
    utilruntime.ERROR_HANDLERS[:] = before


def test_a_listener_that_raises_disturbs_nobody_and_it_is_said(errors):
    def raising(hop: tour.Hop) -> None:
        raise ValueError("no")

    with tour.Seam(tour.TAPS, raising):
        queue = workqueue.new_typed()
        queue.add("a")
        assert queue.get() == ("a", False)
    assert len(errors) == 2 and "a tour's listener raised on" in errors[0] and "ValueError('no')" in errors[0]


@pytest.mark.parametrize("when", ["before", "after", "instead"])
def test_a_tap_that_raises_changes_nothing_and_it_is_said(hops, when, errors):
    calls = []

    def around(call, queue, item):
        if when == "after":
            call()
        calls.append(item)
        if when != "instead":
            raise ValueError("no")

    broken = replace(tap_of("Typed.add"), around=around)
    with tour.Seam([broken], hops.append):
        queue = workqueue.new_typed()
        queue.add("a")
        queue.add("b")
    assert queue.contents().order == ("a", "b")
    assert calls == ["a", "b"]
    trouble = ["the tour could not observe Typed.add: ValueError('no')"]
    assert errors == (trouble * 2 if when != "instead" else [])


def test_what_a_function_raises_is_raised_and_no_trouble_of_the_tour(hops, errors):
    with tour.Seam(tour.TAPS, hops.append):
        queue = workqueue.new_typed()
        with pytest.raises(TypeError, match="unhashable"):
            queue.add([])
    assert errors == []


def test_hops_of_many_threads_have_a_number_each(hops):
    with tour.Seam(tour.TAPS, hops.append):
        queue = workqueue.new_typed()
        threads = [
            threading.Thread(target=lambda n=n: [queue.add((n, i)) for i in range(200)], name=f"adder-{n}", daemon=True)
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(hop.number for hop in hops) == list(range(800))
    assert {hop.thread for hop in hops} == {f"adder-{n}" for n in range(4)}


def test_the_stream_is_json_with_the_documented_fields(hops):
    with tour.Seam(tour.TAPS, hops.append, lines=True):
        workqueue.new_typed().add("a")
    documented = re.findall(r"^    (\w+) {2,}\S", hop_module.__doc__ or "", re.MULTILINE)
    shown = json.loads(json.dumps(hops[0].to_dict()))
    assert [*shown] == documented
    assert shown["code"]["function"] == "Typed.add"
    assert shown["code"]["goFile"] == "util/workqueue/queue.go"


def no_parameters():
    return ()


def positional_only(a, b, /):
    return a, b


def positional_first(a, /, b, c=3):
    return a, b, c


def named_only(a, *, b=2, c):
    return a, b, c


def any_number(a, *rest, b=2):
    return a, rest, b


def any_names(a, /, b=2, **more):
    return a, b, more


def all_sorts(a, /, b, *rest, c=3, d, **more):
    return a, b, rest, c, d, more


def with_locals(a, *, b=2):
    c = a
    d = b
    return c, d


@pytest.mark.parametrize("metered", [False, True])
@pytest.mark.parametrize(
    ("function", "args", "kwargs", "result"),
    [
        ("no_parameters", (), {}, ()),
        ("positional_only", (1, 2), {}, (1, 2)),
        ("positional_first", (1, 2), {}, (1, 2, 3)),
        ("positional_first", (1,), {"c": 5, "b": 4}, (1, 4, 5)),
        ("named_only", (1,), {"c": 5}, (1, 2, 5)),
        ("named_only", (), {"c": 5, "b": 4, "a": 6}, (6, 4, 5)),
        ("any_number", (1,), {}, (1, (), 2)),
        ("any_number", (1, 2, 3), {"b": 4}, (1, (2, 3), 4)),
        ("any_names", (1,), {}, (1, 2, {})),
        ("any_names", (1,), {"a": 4, "z": 5}, (1, 2, {"a": 4, "z": 5})),
        ("all_sorts", (1, 2), {"d": 4}, (1, 2, (), 3, 4, {})),
        ("all_sorts", (1, 2, 7, 8), {"c": 9, "d": 4, "a": 0}, (1, 2, (7, 8), 9, 4, {"a": 0})),
        ("with_locals", (1,), {"b": 3}, (1, 3)),
        ("positional_only", (1,), {"b": 2}, None),
        ("named_only", (1, 2), {"c": 3}, None),
        ("no_parameters", (1,), {}, None),
    ],
)
def test_a_function_with_any_parameters_gets_its_arguments(function, args, kwargs, result, metered):
    """Refused arguments are refused in the same words, and no hop happens."""
    module, seen = sys.modules[__name__], []

    def around(call, *args, **kwargs):
        seen.append((args, kwargs))
        call()
        call.emit("ok")

    def outcome():
        try:
            return getattr(module, function)(*args, **kwargs)
        except TypeError as err:
            return re.sub("^.*inner", function, str(err))

    before = outcome()
    tap = tour.Tap(__name__, function, "workers", "", "", around)
    hops = []
    with tour.Seam([tap], hops.append, metered=metered):
        assert outcome() == before
    assert outcome() == before and len(seen) == len(hops) == (result is not None)
    assert before == result or result is None


def test_a_hop_names_its_function_its_caller_and_its_owner(hops):
    queue = workqueue.new_typed()
    with tour.Seam(tour.TAPS, hops.append):
        line = sys._getframe().f_lineno + 1
        queue.add("a")
    (hop,) = hops
    assert hop.owner is queue and hop.code.caller == f"test/unit/tour/test_seam.py:{line}"
    assert (hop.code.file, hop.code.function) == ("clientgo/util/workqueue/queue.py", "Typed.add")
    assert hop.code.first == Typed.add.__code__.co_firstlineno and hop.code.lines == ()


def test_one_of_two_seams_may_be_metered_and_one_may_ask_for_lines():
    one: list[tour.Hop] = []
    two: list[tour.Hop] = []
    tap = tap_of("Typed.add")
    metered = tour.Seam([tap], one.append, metered=True)
    meter = metered.meters[tap]
    meter.allow(2)
    with metered, tour.Seam([tap], two.append, lines=True):
        queue = workqueue.new_typed()
        for item in "abcd":
            queue.add(item)
    assert names(one) == ["added a", "added b"] and names(two) == [f"added {item}" for item in "abcd"]
    assert meter.read() == (4, 2)
    assert all(hop.code.lines for hop in two) and one[0].code.lines == two[0].code.lines


def test_the_time_of_hops_begins_when_the_seam_is_attached(hops):
    now = [1.0]
    clock = SimpleNamespace(now=lambda: now[0], since=lambda time: now[0] - time)
    seam = tour.Seam(tour.TAPS, hops.append, clock=clock)
    queue = workqueue.new_typed()
    now[0] = 3.0
    with seam:
        for now[0] in (3.0, 3.1234567894):
            queue.add(now[0])
    assert [hop.time for hop in hops] == [0.0, 0.123456789]


@pytest.mark.parametrize("function", ["Typed.vanished", "Vanished.add", "Vanished.Typed.add", "Typed", "T"])
def test_what_is_no_function_is_not_found(function):
    module = "clientgo.util.workqueue.queue"
    for each in (replace(tap_of("Typed.add"), function=function), tour.Probe(module, function, lambda fn: fn)):
        with pytest.raises(LookupError, match=rf"there is no function {function} in {module} to watch"):
            each.find()


def test_an_unknown_hop_has_no_tap_and_no_probe():
    for cls in (tour.Tap, tour.Probe):
        with pytest.raises(KeyError):
            cls.at("queue.vanished", lambda *args: None)
    assert tour.Probe.at("queue.add", lambda fn: fn).find() is Typed.add


def test_the_path_of_a_program_is_that_of_a_clone(tmp_path):
    root = Path(seam_module.__file__).parents[2]
    assert seam_module.relative_path(str(root / "clientgo/tour/seam.py")) == "clientgo/tour/seam.py"
    assert seam_module.relative_path(str(root / "clientgo/programs/a/main.py")) == "cmd/a/main.py"
    assert seam_module.relative_path(str(tmp_path / "other.py")) == "other.py"


def test_a_traceback_is_the_same_with_and_without_the_tour(hops):
    def frames():
        with pytest.raises(ZeroDivisionError) as caught:
            failing(0)
        return [entry.name for entry in caught.traceback]

    before = frames()
    tap = tour.worker_tap(__name__, "failing")
    with tour.Seam([tap], hops.append):
        assert frames() == before
    assert [hop.kind for hop in hops] == ["reconcile", "error"]


def failing(key):
    return 1 / key


def test_by_default_a_seam_has_no_meters_no_lines_and_no_probes(hops):
    seam = tour.Seam(tour.TAPS, hops.append)
    assert (seam.meters, seam.lines, seam.probes, seam.taps) == ({}, False, (), tuple(tour.TAPS))
    assert [*tour.Seam(tour.TAPS, hops.append, metered=True).meters] == [*tour.TAPS]
