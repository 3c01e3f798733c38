"""The checks that need no code of the user, and their limits, by controllers of a few lines.

test_broken_operators.py has the operators whose bugs the other checks find.
"""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from hypothesis import strategies as st
from widgetoperator import MAPS, WIDGETS, Json, Operator, Widgets, widget

from clientgo import dynamic, rest
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.context import Context
from clientgo.testing import controllertest as ct
from clientgo.testing.controllertest import world

ONE, SECOND = widget("a", 1), ct.Sleep(1.0)
DELETED = ct.Delete("example.com/v1/Widget", "a")


class Bare(ct.ControllerMachine):
    """The base of machines without informers."""

    def desired(self) -> st.SearchStrategy[ct.Step]:
        return st.just(ONE)

    def start(self, config: rest.Config, ctx: Context) -> None:
        client = dynamic.new_for_config(config)
        try:
            self.work(client.resource(MAPS).namespace("default"), ctx)
        finally:
            client.close()

    def work(self, maps: Any, ctx: Context) -> None:
        ctx.done().wait()


def violation(machine: type[ct.ControllerMachine], *steps: ct.Step) -> tuple[str, str]:
    with pytest.raises(ct.ControllerFailure) as raised:
        ct.replay(machine, steps)
    return raised.value.check, raised.value.problem


def without_line(found: tuple[str, str]) -> tuple[str, str]:
    """Remove the number of the line from the place of an error."""
    check, problem = found
    return check, re.sub(r"\.py:\d+ in ", ".py in ", problem)


class Raises(Bare):
    def work(self, maps: Any, ctx: Context) -> None:
        raise OSError("no configuration")


class RaisesInThread(Bare):
    def work(self, maps: Any, ctx: Context) -> None:
        thread = threading.Thread(target=int, args=("x",), name="parser")
        thread.start()
        super().work(maps, ctx)
        thread.join()


class Returns(Bare):
    def work(self, maps: Any, ctx: Context) -> None:
        ctx.done().wait(5.0)


class Stays(Bare):
    def work(self, maps: Any, ctx: Context) -> None:
        super().work(maps, ctx)
        threading.Event().wait(3600.0)


class Deadlocks(Bare):
    """A controller whose threads wait for each other when it ends."""

    def work(self, maps: Any, ctx: Context) -> None:
        super().work(maps, ctx)
        locks = threading.Lock(), threading.Lock()
        meeting = threading.Barrier(2)

        def take(first: threading.Lock, second: threading.Lock) -> None:
            with first:
                meeting.wait()
                with second:
                    pass

        threads = [threading.Thread(target=take, args=pair, name="taker", daemon=True) for pair in (locks, locks[::-1])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class KeepsWatch(Bare):
    def work(self, maps: Any, ctx: Context) -> None:
        self.watch = maps.watch(Context(), metav1.ListOptions())
        super().work(maps, ctx)


class EndsLater(Bare):
    """A controller that does not wait for the thread of its last request, as with an event broadcaster."""

    lasts = 0.5

    def work(self, maps: Any, ctx: Context) -> None:
        super().work(maps, ctx)
        threading.Thread(target=threading.Event().wait, args=(self.lasts,), name="last request").start()


class EndsTooLate(EndsLater):
    lasts = 1.5


class Ticks(Bare):
    """A controller that changes an object every ten seconds."""

    def work(self, maps: Any, ctx: Context) -> None:
        obj: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "clock"}, "data": {}}
        found = maps.create(ctx, Unstructured(obj), metav1.CreateOptions()).object
        number = 0
        while not ctx.done().wait(10.0):
            number += 1
            found = maps.update(
                ctx, Unstructured({**found, "data": {"number": str(number)}}), metav1.UpdateOptions()
            ).object


class Counts(Bare):
    """A controller that changes an object every ten seconds for five minutes, which is no endless work."""

    setup = ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "clock"}, "data": {"number": "0"}},)

    def work(self, maps: Any, ctx: Context) -> None:
        found = maps.get(ctx, "clock", metav1.GetOptions()).object
        while (number := int(found["data"]["number"])) < 30 and not ctx.done().wait(10.0):
            changed = Unstructured({**found, "data": {"number": str(number + 1)}})
            found = maps.update(ctx, changed, metav1.UpdateOptions()).object
        ctx.done().wait()


SETTINGS: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}}


class Asks(Bare):
    """A controller that reads an object about 40 times a minute."""

    setup = (SETTINGS,)

    def work(self, maps: Any, ctx: Context) -> None:
        while not ctx.done().wait(1.5):
            maps.get(ctx, "settings", metav1.GetOptions())


class AsksPatiently(Asks):
    busy_limit = 50.0


CHECKS: list[tuple[type[ct.ControllerMachine], str, str]] = [
    (Raises, "crash", "start() raised OSError: no configuration at test_checks.py in work"),
    (
        RaisesInThread,
        "crash",
        "thread 'parser' ended with ValueError: invalid literal for int() with base 10: 'x' at threading.py in run",
    ),
    (Returns, "crash", "start() returned before its context was done"),
    (Stays, "stop", "start() has not returned 60 s after its context was done"),
    (Deadlocks, "stop", "start() has not returned 60 s after its context was done"),
    (KeepsWatch, "stop", "start() has returned and left watches open: configmaps"),
    (EndsTooLate, "stop", "start() has returned and left threads behind: last request"),
    (Ticks, "quiet", "objects still change after 1200 s without faults and user actions"),
    (Asks, "hot loop", "40 requests within 60 s in which nothing changed"),
]


@pytest.mark.parametrize(("machine", "check", "problem"), CHECKS, ids=[machine.__name__ for machine, _, _ in CHECKS])
def test_a_check_reports(machine: type[ct.ControllerMachine], check: str, problem: str) -> None:
    assert without_line(violation(machine)) == (check, problem)


def test_a_thread_may_end_its_last_request() -> None:
    ct.replay(EndsLater, [])


class Spins(Bare):
    """A controller that waits in a loop without a pause."""

    def work(self, maps: Any, ctx: Context) -> None:
        lock = threading.Lock()
        while not ctx.done().is_set():
            with lock:
                pass


def test_a_loop_without_requests_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "MOST_OPERATIONS", 20_000)
    check, problem = violation(Spins)
    assert check == "hang"
    assert "20000" in problem.replace(",", ""), problem


@pytest.mark.parametrize("machine", [Bare, AsksPatiently, Counts])
def test_a_controller_within_the_limits_passes(machine: type[ct.ControllerMachine]) -> None:
    assert ct.replay(machine, []).check == ""


class LooksUp(Operator):
    """An operator with a mistake in its worker, which catches all exceptions and retries."""

    def sync_status(self, obj: Json) -> None:
        if not obj.get("status"):
            raise KeyError("status")
        super().sync_status(obj)


class Mistaken(Widgets):
    operator = LooksUp


def test_a_mistake_that_a_worker_catches_is_a_crash() -> None:
    problem = "KeyError: 'status' at test_checks.py in sync_status"
    assert without_line(violation(Mistaken, ONE)) == ("crash", problem)


class KeepsChildren(Operator):
    """An operator whose children have no owner, like volumes that outlive their claims."""

    def new_child(self, obj: Json, suffix: str = "data") -> Json:
        child = super().new_child(obj, suffix)
        del child["metadata"]["ownerReferences"]
        return child

    def sync_child(self, obj: Json) -> None:
        if self.cached(self.maps, f"{obj['metadata']['name']}-data") is None:
            self.create(MAPS, {**self.new_child(obj), "data": {}})


class Leaves(Widgets):
    operator = KeepsChildren


class Keeps(Leaves):
    keeps = ("configmaps",)


def test_what_a_machine_keeps_may_be_left_behind() -> None:
    text = "left behind after the deletion of all user objects: configmaps default/a-data"
    assert violation(Leaves, ONE) == ("left behind", text)
    assert ct.replay(Keeps, [ONE]).check == ""


class Counts(Operator):
    """An operator whose status shows the number of changes that it saw."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.seen: set[Any] = set()

    def widget_updated(self, old: Any, new: Any) -> None:
        self.seen.add(new.object["metadata"]["generation"])
        super().widget_updated(old, new)

    def sync_status(self, obj: Json) -> None:
        status = {"size": obj["spec"]["size"], "seen": max(len(self.seen), obj.get("status", {}).get("seen", 0))}
        if obj.get("status") != status:
            self.update(WIDGETS, {**obj, "status": status}, "status")


class CountsEvents(Widgets):
    operator = Counts


def test_an_end_state_that_depends_on_the_seen_events_is_reported() -> None:
    outage: list[ct.Step] = [ct.Drop("widgets", 5.0, True), widget("a", 2), SECOND, widget("a", 3)]
    check, problem = violation(CountsEvents, ONE, ct.Sleep(5.0), *outage)
    assert check == "end state"
    assert problem == "the faults change the result: example.com/widgets default/a: status.seen is 2, not 3"


class OnlyReports(Widgets):
    """The operator without known bugs, and a rule that never holds while a child exists."""

    @ct.invariant()
    def no_child(self, cluster: ct.Cluster) -> None:
        assert cluster.list("ConfigMap") == [], "a child"


class Skipped(OnlyReports):
    skip = ("no_child",)


def test_an_invariant_is_checked_at_each_change_and_may_be_skipped() -> None:
    # At the end the child does not exist any more.
    check, problem = violation(OnlyReports, ONE, SECOND, DELETED)
    assert check == "no_child"
    assert problem.startswith("no_child: a child")
    assert ct.replay(Skipped, [ONE, SECOND, DELETED]).check == ""


class Mistakes(Widgets):
    @ct.invariant()
    def the_first_child_has_data(self, cluster: ct.Cluster) -> None:
        assert all(each["data"] for each in cluster.list("ConfigMap")[1:])

    @ct.eventually()
    def there_is_one_child(self, cluster: ct.Cluster) -> None:
        (_,) = cluster.list("ConfigMap")


class MistakesInInvariant(Widgets):
    @ct.invariant()
    def the_first_child_has_data(self, cluster: ct.Cluster) -> None:
        assert cluster.list("ConfigMap")[0]["data"]


class SaysNothing(Widgets):
    """A rule whose assert shows nothing, as in a module that pytest does not rewrite."""

    @ct.invariant()
    def there_is_no_child(self, cluster: ct.Cluster) -> None:
        if cluster.list("ConfigMap"):
            raise AssertionError


def test_a_violation_without_a_text_has_its_place() -> None:
    found = without_line(violation(SaysNothing, ONE))
    place = "test_checks.py in there_is_no_child"
    assert found == ("there_is_no_child", f"there_is_no_child: AssertionError at {place}")


@pytest.mark.parametrize(
    ("machine", "check", "problem"),
    [
        (Mistakes, "there_is_one_child", "ValueError: not enough values to unpack (expected 1, got 0)"),
        (MistakesInInvariant, "the_first_child_has_data", "IndexError: list index out of range"),
    ],
)
def test_an_error_of_a_rule_is_reported_with_its_script(
    machine: type[ct.ControllerMachine], check: str, problem: str
) -> None:
    found = without_line(violation(machine, ONE, SECOND, DELETED))
    place = f"test_checks.py in {check}"
    assert found == (check, f"{check}: the rule raised {problem} at {place}")


def test_the_history_has_time_actor_request_response_and_what_each_cache_saw() -> None:
    table = ct.replay(Widgets, [ONE]).history.table()
    lines = [line.split() for line in table.splitlines()]
    assert lines[:4] == [
        ["time", "actor", "request", "response"],
        ["1.000", "user", "create", "widgets", "default/a", "201", lines[1][-1]],
        ["1.000", "cache", "of", "controller", "widgets", "ADDED", "default/a", lines[1][-1]],
        ["1.010", "controller", "create", "configmaps", "default/a-data", "201", lines[3][-1]],
    ]


def test_the_schedule_repeats_the_run_also_as_the_first_one_of_a_process() -> None:
    """A search prints a schedule that it has used after many runs, and the program begins with it."""

    class Threads(Operator):
        threads = 3

    def table(machine: type[ct.ControllerMachine], schedule: int) -> str:
        steps = [widget("a", 1), widget("b", 2), widget("c", 3), ct.Kill(2), widget("a", 3)]
        return ct.replay(machine, steps, schedule).history.table()

    class Machine(Widgets):
        operator = Threads

    class Another(Widgets):
        operator = Threads

    first = table(Machine, 1)
    others = {table(Machine, schedule) for schedule in range(2, 5)}
    assert others - {first}
    assert table(Machine, 1) == first
    assert table(Another, 1) == first, "the first run of another machine"
