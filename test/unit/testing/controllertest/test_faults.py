"""Each fault step has exactly its effect: the rows of the history, in virtual time, of a small operator.

test_broken_operators.py and test_sample_controller.py show the effects on controllers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from brokenleaders import Led, Shop
from hypothesis import given, settings
from widgetoperator import MAPS, Operator, Widgets, widget

from clientgo import context, kubernetes, rest
from clientgo.testing import controllertest as ct
from clientgo.testing.controllertest.strategies import scripts

pytestmark = pytest.mark.takes_turns(2)

KIND = "example.com/v1/Widget"
ONE, TWO, SECOND = widget("a", 1), widget("a", 2), ct.Sleep(1.0)
CREATE, STATUS = "create configmaps default/a-data", "update widgets/status default/a"
Rows = list[tuple[float, str, str]]


def rows_of(steps: list[ct.Step], machine: type[ct.ControllerMachine] = Widgets, *, actors: str = "controller") -> Rows:
    """Return time, request and response of the rows of some actors, until the check of a second run."""
    found: Rows = []
    for row in ct.replay(machine, steps).history.rows:
        if row.response == "the controller is restarted":
            break
        if row.actor.startswith(tuple(actors.split(","))):
            found.append((round(row.seconds, 3), row.request, row.response.partition(" @")[0]))
    return found


def test_without_a_fault_a_call_takes_the_latency() -> None:
    assert rows_of([ONE]) == [(1.01, CREATE, "201"), (1.03, STATUS, "200")]


def test_kill_before_a_call_prevents_it_and_the_process_starts_again() -> None:
    assert rows_of([ct.Kill(1, "before"), ONE]) == [
        (1.0, CREATE, "killed before the request"),
        (2.0, "", "restarted"),
        (2.11, CREATE, "201"),
        (2.13, STATUS, "200"),
    ]


def test_kill_after_a_call_keeps_its_write_and_loses_the_rest() -> None:
    assert rows_of([ct.Kill(1, "after"), ONE]) == [
        (1.01, CREATE, "201"),
        (1.02, "", "killed after the request"),
        (2.02, "", "restarted"),
        (2.13, STATUS, "200"),
    ]


def test_kill_without_a_call_happens_immediately_and_loses_the_memory() -> None:
    lives: list[set[tuple[str, str]]] = []

    class Remembering(Operator):
        def run(self) -> None:
            lives.append(self.made)
            super().run()

    class Machine(Widgets):
        operator = Remembering

    assert rows_of([ONE, SECOND, ct.Kill()], Machine)[2:] == [(2.0, "", "killed"), (3.0, "", "restarted")]
    first, second, *_ = lives
    assert len(first) == 1
    assert second == set()


class AsksVersion(Widgets):
    """A controller whose requests have no context, like those of all discovery clients."""

    def start(self, config: rest.Config, ctx: context.Context) -> None:
        client = kubernetes.new_for_config(config)
        try:
            while not ctx.done().wait(10.0):
                client.discovery().server_version()
        finally:
            client.close()


def test_a_killed_process_repeats_no_request() -> None:
    rows = rows_of([ct.Sleep(9.0), ct.Kill()], AsksVersion)
    assert [row for row in rows if not row[1]] == [(10.0, "", "killed"), (11.01, "", "restarted")]


def test_lose_completes_the_write_and_fails_the_call() -> None:
    errors: list[tuple[str, bool]] = []

    class Recording(Operator):
        def failed(self, name: str, err: Exception) -> None:
            errors.append((type(err).__name__, self.live(MAPS, "a-data") is not None))
            super().failed(name, err)

    class Machine(Widgets):
        operator = Recording

    found = rows_of([ct.Lose(1), ONE], Machine)
    assert found[:2] == [(1.01, CREATE, "201"), (1.02, "", "the response is lost")]
    assert [request for _, request, _ in found].count(CREATE) == 1
    assert errors[0][1], "the object exists"


@pytest.mark.parametrize(
    ("code", "reason", "again"),
    [
        (500, "InternalError", 1.035),
        (504, "Timeout", 1.035),
        # The client itself tries again when the response says.
        (429, "TooManyRequests", 2.01),
        (503, "ServiceUnavailable", 2.01),
    ],
)
def test_fail_answers_instead_of_the_server(code: int, reason: str, again: float) -> None:
    creations = [row for row in rows_of([ct.Fail(1, code), ONE]) if row[1] == CREATE]
    assert creations == [(1.0, CREATE, f"{code} {reason} (injected)"), (again, CREATE, "201")]


def test_a_conflict_is_an_answer_to_updates_only() -> None:
    assert rows_of([ct.Fail(1, 409), ONE]) == rows_of([ONE])
    updates = [row for row in rows_of([ct.Fail(2, 409), ONE]) if row[1] == STATUS]
    assert updates == [(1.02, STATUS, "409 Conflict (injected)"), (1.03, STATUS, "200")]


def test_a_paused_process_sends_and_sees_nothing() -> None:
    assert rows_of([ct.Pause(1, 20.0), ONE, ct.Sleep(5.0), TWO], actors="controller,cache of controller,user")[:6] == [
        (1.0, "create widgets default/a", "201"),
        (1.0, "widgets", "ADDED default/a"),
        (1.0, CREATE, "paused for 20 s before the request"),
        (6.0, "update widgets default/a", "200"),
        (21.0, "widgets", "MODIFIED default/a"),
        (21.01, CREATE, "201"),
    ]


def test_a_change_of_the_leader_lasts_until_another_process_works() -> None:
    found = ct.replay(Led, [ct.ChangeLeader(1, TWO), ONE]).history.rows
    pause = next(row for row in found if "paused for" in row.response)
    at = found.index(pause)
    assert pause.response == "paused for 150 s before the request", "two and a half times the lease's 60 s"
    # The step happens while the old leader stands still; then the other process writes.
    assert (found[at + 1].actor, found[at + 1].seconds) == ("user", pause.seconds)
    writer = next(row for row in found[at + 1 :] if row.request == CREATE)
    assert writer.actor != pause.actor
    assert writer.seconds < pause.seconds + 150.0


def test_another_client_writes_before_the_call() -> None:
    assert rows_of([ct.Before(1, TWO), ONE], actors="controller,user")[:4] == [
        (1.0, "create widgets default/a", "201"),
        (1.0, "update widgets default/a", "200"),
        (1.01, CREATE, "201"),
        (1.03, STATUS, "409 Conflict"),
    ]


def test_a_webhook_rejects_the_controller_s_writes_for_a_time() -> None:
    creations = [row for row in rows_of([ct.Reject("configmaps", 5.0), ONE]) if row[1] == CREATE]
    *rejected, last = creations
    assert {(response, seconds < 6.0) for seconds, _, response in rejected} == {
        ("403 Forbidden (rejected by a webhook)", True)
    }
    assert (last[0] > 6.0, last[2]) == (True, "201")


def test_a_late_watch_cache_shows_the_event_after_its_lag_and_reorders_resources() -> None:
    found = rows_of([ONE, SECOND, ct.Lag("configmaps", 5.0), widget("b", 1)], actors="cache of controller")
    # The child of b is created before b's status is written, and the cache shows it afterwards.
    assert found[3:] == [
        (2.0, "widgets", "ADDED default/b"),
        (2.03, "widgets", "MODIFIED default/b"),
        (7.0, "configmaps", "ADDED default/b-data"),
    ]


class Trusting(Operator):
    """An operator that creates the child of each widget in its cache."""

    def check_current(self, name: str, uid: str) -> None:
        pass


@pytest.mark.parametrize("fault", [ct.Lag("widgets", 20.0), ct.Drop("widgets", 20.0, True)])
def test_a_process_with_an_old_cache_may_repeat_its_work_until_the_cache_is_current(fault: ct.Step) -> None:
    class Machine(Widgets):
        operator = Trusting

    # The garbage collector deletes each of these children, since the widget is gone.
    created = [row for row in rows_of([ONE, SECOND, fault, ct.Delete(KIND, "a")], Machine) if row[1] == CREATE]
    assert 100 < len(created) < 400


class Watching(Widgets):
    """An operator that records the handler's calls of widgets."""

    def new_outside(self) -> list[str]:
        return []

    def start(self, config: rest.Config, ctx: context.Context) -> None:
        calls = self.outside

        class Recording(Operator):
            def widget_added(self, obj: Any) -> None:
                calls.append(f"added {obj.object['spec']['size']}")
                super().widget_added(obj)

            def widget_updated(self, old: Any, new: Any) -> None:
                if old.object["spec"] != new.object["spec"]:
                    calls.append(f"{old.object['spec']['size']} to {new.object['spec']['size']}")
                super().widget_updated(old, new)

        Recording(config, ctx).run()


def calls_after(steps: list[ct.Step]) -> list[str]:
    """Return the handler's calls until the check of a second run, which adds the widget once more."""
    seen: list[list[str]] = []

    class Machine(Watching):
        @ct.eventually()
        def keep(self, cluster: ct.Cluster) -> None:
            seen.append(list(self.outside))

    ct.replay(Machine, steps)
    return seen[0]


@pytest.mark.parametrize(
    ("compact", "calls"),
    # With the history the next watch continues where the first one broke.
    [(False, ["added 1", "1 to 2", "2 to 3"]), (True, ["added 1", "1 to 3"])],
)
def test_a_compaction_hides_the_states_of_an_outage(compact: bool, calls: list[str]) -> None:
    steps: list[ct.Step] = [ONE, SECOND, ct.Drop("widgets", 5.0, compact), TWO, SECOND, widget("a", 3)]
    assert calls_after(steps) == calls


def test_a_rewound_controller_sees_the_past_and_then_each_change_once_more() -> None:
    steps: list[ct.Step] = [ONE, SECOND, TWO, SECOND, ct.Rewind("widgets", 2)]
    assert calls_after(steps) == ["added 1", "1 to 2", "added 1", "1 to 2"]
    assert (4.0, "list widgets", "as of") in rows_of(steps)


def test_another_writer_touches_an_object_and_an_administrator_removes_one() -> None:
    assert rows_of([ONE, SECOND, ct.Touch(0), SECOND, ct.Remove(0)], actors="other,controller")[2:] == [
        (2.0, "patch configmaps default/a-data", "200"),
        (3.0, "delete configmaps default/a-data", "200"),
        (3.01, "get widgets default/a", "200"),
        (3.03, CREATE, "201"),
    ]


def test_a_finalizer_of_another_controller_lingers_until_the_faults_end() -> None:
    found = rows_of([ONE, SECOND, ct.Linger(1), ct.Delete(KIND, "a")], actors="other,user,test,cache of controller")
    assert found[4:] == [
        (2.0, "patch widgets default/a", "200"),
        (2.0, "widgets", "MODIFIED default/a"),
        (2.0, "delete widgets default/a", "200"),
        (2.0, "widgets", "MODIFIED default/a"),
        (7.0, "", "all faults end"),
        (7.0, "patch widgets default/a", "200"),
        (7.0, "widgets", "DELETED default/a"),
        (7.0, "configmaps", "DELETED default/a-data"),
    ]


def test_the_clock_moves_the_time_of_day_and_no_timer() -> None:
    times: list[tuple[float, float]] = []

    class Timing(Operator):
        def sync(self, name: str) -> None:
            times.append((time.time(), time.monotonic()))
            super().sync(name)

    class Machine(Widgets):
        operator = Timing

    rows = ct.replay(Machine, [ONE, SECOND, ct.Clock(-3600.0), TWO]).history.rows
    first = times[0]
    changed = next(each for each in times if each[1] >= first[1] + 1.0)
    assert changed[1] - first[1] == pytest.approx(1.0)
    assert changed[0] - first[0] == pytest.approx(1.0 - 3600.0)
    assert ("time of day", "-3600 s") in [(row.request, row.response) for row in rows if row.actor == "fault"]


def test_a_namespace_in_deletion_refuses_new_objects() -> None:
    in_shop = ct.Set({**ONE.obj, "metadata": {"name": "a", "namespace": "shop"}})
    found = rows_of([in_shop, SECOND, ct.DeleteNamespace("shop")], Shop)
    refused = [row for row in found if row[1] == "create configmaps shop/a-backup"]
    assert [row[2] for row in refused] == ["403 Forbidden"]


class Everything(Led):
    namespaces = ("shop",)


class Few(Everything):
    faults = ("Kill", "Touch")


@pytest.mark.parametrize(("machine", "faults"), [(Everything, ct.FAULTS), (Few, Few.faults)])
def test_the_search_uses_the_faults_of_the_machine(machine: type[ct.ControllerMachine], faults: Sequence[str]) -> None:
    names: set[str] = set()

    @settings(max_examples=400, database=None, deadline=None, derandomize=True)
    @given(scripts(machine))
    def collect(script: tuple[list[ct.Step], int]) -> None:
        names.update(type(step).__name__ for step in script[0])

    collect()
    assert names == {"Set", "Delete", "Sleep", *faults}


def is_between_changes(kinds: tuple[type[ct.Step], ...], steps: list[ct.Step]) -> bool:
    """Report whether the user changes an object that existed at a step of these kinds."""
    objects: dict[str, Any] = {}
    existed: set[str] = set()
    for step in steps:
        if isinstance(step, ct.Set):
            name = step.obj["metadata"]["name"]
            if name in existed and objects.get(name) not in (None, step.obj):
                return True
            objects[name] = step.obj
        elif isinstance(step, ct.Delete):
            objects.pop(step.name, None)
            existed.discard(step.name)
        elif isinstance(step, kinds):
            existed.update(objects)
    return False


def is_replaced_during_an_outage(steps: list[ct.Step]) -> bool:
    """Report whether an object goes and comes back immediately after an outage begins."""
    return any(
        isinstance(drop, ct.Drop) and isinstance(gone, ct.Delete) and isinstance(again, ct.Set) and again in steps[:at]
        for at, (drop, gone, again) in enumerate(zip(steps, steps[1:], steps[2:]))
    )


def is_handled_before_the_past_returns(steps: list[ct.Step]) -> bool:
    """Report whether the controller has time for a new or changed object, then restarts and reads an older state."""
    return any(
        isinstance(change, ct.Set) and isinstance(pause, ct.Sleep) and rewind.resource == "widgets"
        for change, pause, rewind in zip(steps, steps[1:], steps[2:])
        if isinstance(rewind, ct.Rewind)
    )


def scripts_of(machine: type[ct.ControllerMachine]) -> list[list[ct.Step]]:
    found: list[list[ct.Step]] = []

    @settings(max_examples=600, database=None, deadline=None, derandomize=True)
    @given(scripts(machine))
    def collect(script: tuple[list[ct.Step], int]) -> None:
        found.append(script[0])

    collect()
    return found


@pytest.fixture(scope="module")
def many_scripts() -> list[list[ct.Step]]:
    return scripts_of(Widgets)


@pytest.mark.parametrize(
    "is_order",
    [
        partial(is_between_changes, (ct.Touch,)),
        partial(is_between_changes, (ct.Fail, ct.Lose, ct.Kill)),
        is_replaced_during_an_outage,
        is_handled_before_the_past_returns,
    ],
    ids=["another writer between changes", "a failing call between changes", "a replaced object", "an old state"],
)
def test_the_search_often_has_the_steps_in_this_order(
    is_order: Callable[[list[ct.Step]], bool], many_scripts: list[list[ct.Step]]
) -> None:
    """Independent steps have these orders in at most 3 of 100 scripts: too few for bugs that need little more."""
    assert sum(map(is_order, many_scripts)) > 0.05 * len(many_scripts)


def test_a_namespace_often_ends_with_an_object_that_the_controller_has_handled() -> None:
    found = [
        steps
        for steps in scripts_of(Shop)
        for change, pause, end in zip(steps, steps[1:], steps[2:])
        if isinstance(change, ct.Set) and isinstance(pause, ct.Sleep) and isinstance(end, ct.DeleteNamespace)
    ]
    assert len(found) > 60
