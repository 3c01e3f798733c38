"""The machine of a run: which replica is in the picture, what a kill does, and that everything ends with it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from clientgo import tour
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing import synctest
from clientgo.tour.machine import Machine, Program
from clientgo.tour.script import FAULTS, SHOUTER, Step, play
from clientgo.utils.clock import REAL_CLOCK

CREATE = [Step(0, "create", "apple", "an apple")]


@contextmanager
def running(*, starts: bool = True, **settings: Any) -> Iterator[Machine]:
    """Run a machine in a bubble."""
    with synctest.bubble():
        machine = Machine(tour.Settings(**settings), SHOUTER)
        if starts:
            machine.start()
        try:
            yield machine
        finally:
            machine.stop()


def shouts(machine: Machine) -> dict[str, str]:
    listed = machine.outside.core_v1().config_maps("default").list(machine.ctx, metav1.ListOptions())
    return {each.metadata.name: each.data.get("shout", "") for each in listed.items}


def test_the_controller_works_in_the_machine() -> None:
    with running() as machine:
        play(machine, CREATE)
        REAL_CLOCK.sleep(1.0)
        assert shouts(machine) == {"apple": "AN APPLE"}
        assert machine.scene.informers == machine.replica.informers and machine.scene.queue is machine.replica.queue


def test_the_uids_are_the_same_in_each_run() -> None:
    found = []
    for _ in range(2):
        with running(starts=False) as machine:
            play(machine, [*CREATE, Step(0, "create", "bread", "some bread")])
            listed = machine.outside.core_v1().config_maps("default").list(machine.ctx, metav1.ListOptions())
            found.append([each.metadata.uid for each in listed.items])
    assert found[0] == found[1] and len({*found[0]}) == 2


def test_replicas_are_named_in_words_and_beyond_nine_in_digits() -> None:
    with running(starts=False, replicas=2) as machine:
        assert [each.name for each in machine._replicas] == ["one", "two"]
        assert machine.replica.name == "one"
        assert list(itertools.islice(machine._names, 9)) == [
            *("three", "four", "five", "six", "seven", "eight", "nine"),
            *("10", "11"),
        ]


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_killed_replica_is_followed_by_another_ten_seconds_later(replicas: int) -> None:
    with running(replicas=replicas) as machine:
        REAL_CLOCK.sleep(5.0)
        first, began = machine.replica, REAL_CLOCK.now()
        machine.spawn("second kill", lambda: (REAL_CLOCK.sleep(1.0), machine.kill()))  # it is dead already
        machine.kill()
        assert REAL_CLOCK.now() - began == pytest.approx(10.0)
        assert first.is_killed and first.wire.state() == "down"
        assert [each.name for each in machine._replicas] == [*("one", "two")[:replicas], ("two", "three")[replicas - 1]]
        play(machine, CREATE)
        REAL_CLOCK.sleep(30.0)
        assert machine.replica is not first and not machine.replica.is_killed
        assert machine.scene.informers == machine.replica.informers
        assert shouts(machine) == {"apple": "AN APPLE"}
        assert len(machine._replicas) == replicas + 1, "the second kill found nothing to kill"


def test_the_picture_of_a_killed_replica_is_empty() -> None:
    with running() as machine:
        killing = machine.spawn("kill", FAULTS["kill"].do, machine)
        REAL_CLOCK.sleep(5.0)
        assert machine.scene.informers == [] and machine.scene.queue is None
        assert machine.scene.wire is machine.replica.wire
        killing.join()


def test_the_history_of_the_server_is_forgotten() -> None:
    with running() as machine:
        play(machine, CREATE)
        REAL_CLOCK.sleep(1.0)
        for code in (None, 410):
            options = metav1.ListOptions(resource_version="1")
            watch = machine.outside.core_v1().config_maps("default").watch(machine.ctx, options)
            event, _ = watch.result_chan().receive()
            watch.stop()
            assert event is not None and getattr(event.object, "code", None) == code
            machine.forget_history()


def test_a_stop_ends_every_wait_and_every_thread() -> None:
    with synctest.bubble():
        before = {*threading.enumerate()}
        machine = Machine(tour.Settings(), SHOUTER)
        machine.start()
        pausing = machine.spawn("pausing", machine.pause, 1000.0)
        assert pausing.daemon and pausing.name == "pausing"
        REAL_CLOCK.sleep(1.0)
        killing = machine.spawn("killing", machine.kill)
        REAL_CLOCK.sleep(1.0)
        began = REAL_CLOCK.now()
        machine.stop()
        assert REAL_CLOCK.now() == began and not pausing.is_alive() and not killing.is_alive()
        # No replica follows in a machine that has stopped.
        assert len(machine._replicas) == 1
        assert {each for each in threading.enumerate() if each.is_alive()} <= before


def test_a_program_prepares_nothing_and_has_all_switches_by_default() -> None:
    made = Program(worker=SHOUTER.worker, resources=("/a",), new_replica=SHOUTER.new_replica, verbs={})
    assert made.switches == () and made.prepare(None) is None  # type: ignore[arg-type]


def test_every_client_and_the_server_are_closed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    with synctest.bubble():
        machine = Machine(tour.Settings(replicas=2), SHOUTER)
        machine.start()
        parts = {"outside": machine.outside, **{each.name: each for each in machine._replicas}}
        for name, part in parts.items():
            close = part.close
            monkeypatch.setattr(part, "close", lambda name=name, close=close: (closed.append(name), close()))
        end = machine.server.stop
        monkeypatch.setattr(machine.server, "stop", lambda: (closed.append("server"), end()))
        for each in machine._replicas:
            each.wire.down()
        machine.stop()
    assert sorted(closed) == ["one", "outside", "server", "two"] and closed[-1] == "server"
    assert [each.wire.state() for each in machine._replicas] == ["up", "up"]
