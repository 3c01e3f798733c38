"""Tests of a Receiver: values in order, a stop that ends any wait, and no waiter left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from invariants import check_invariants

from clientgo.golang.channel import Channel, Signal
from clientgo.golang.receiver import Receiver
from clientgo.testing import synctest


def new_buffered() -> Channel[int]:
    return Channel(3)


every_channel = pytest.mark.parametrize("new_channel", [Channel, new_buffered])


def receiving(receiver: Receiver[int]) -> tuple[threading.Thread, list[list[int]]]:
    """Start a thread that receives until nothing comes; return it and a list of the values of each time."""
    received: list[list[int]] = []

    def receive() -> None:
        while not received or received[-1]:
            received.append(list(receiver.receive_all()))

    thread = threading.Thread(target=receive, name="receiver")
    thread.start()
    return thread, received


@every_channel
def test_values_come_in_order_until_the_channel_is_closed(new_channel: Callable[[], Channel[int]]) -> None:
    with synctest.bubble() as bubble:
        ch, stop = new_channel(), Signal()
        receiver = Receiver(ch, stop)
        thread, received = receiving(receiver)
        for number in range(20):
            ch.send(number)
            if number % 7 == 0:
                bubble.wait()
        bubble.wait()
        ch.close()
        thread.join()
        assert [number for values in received for number in values] == list(range(20))
        assert received[-1] == []
        receiver.close()
        check_invariants(ch)


@every_channel
def test_a_stop_ends_a_wait_and_leaves_no_waiter(new_channel: Callable[[], Channel[int]]) -> None:
    with synctest.bubble() as bubble:
        ch, stop = new_channel(), Signal()
        thread, received = receiving(Receiver(ch, stop))
        bubble.wait()
        assert "1 receiving" in repr(ch)
        stop.set()
        thread.join()
        assert received == [[]]
        assert "0 receiving" in repr(ch)
        assert not ch.try_send(1) or len(ch) == 1, "no stopped receiver takes a value"


def test_a_stop_before_the_wait_leaves_the_values_in_the_channel() -> None:
    ch, stop = new_buffered(), Signal()
    ch.send(1)
    stop.set()
    receiver = Receiver(ch, stop)
    assert not receiver.receive_all()
    assert len(ch) == 1


def test_a_stop_after_a_wait_that_got_a_value_changes_nothing_of_it() -> None:
    with synctest.bubble() as bubble:
        ch, stop = new_buffered(), Signal()
        receiver = Receiver(ch, stop)
        thread, received = receiving(receiver)
        bubble.wait()
        ch.send(1)
        bubble.wait()
        stop.set()
        thread.join()
        assert received == [[1], []]
        check_invariants(ch)


def test_a_closed_receiver_is_not_stopped_any_more() -> None:
    ch, stop = new_buffered(), Signal()
    receiver = Receiver(ch, stop)
    receiver.close()
    stop.set()
    ch.send(1)
    assert list(receiver.receive_all()) == [1]


def test_all_that_waits_comes_at_once() -> None:
    ch = new_buffered()
    for number in range(3):
        ch.send(number)
    assert list(Receiver(ch, Signal()).receive_all()) == [0, 1, 2]


@synctest.explore(cases=200)
def test_in_no_schedule_a_stop_is_lost(schedule: synctest.Schedule) -> None:
    with synctest.bubble(schedule=schedule):
        ch, stop = new_buffered(), Signal()
        thread, received = receiving(Receiver(ch, stop))
        sender = threading.Thread(target=lambda: [ch.try_send(number) for number in range(2)], name="sender")
        stopper = threading.Thread(target=stop.set, name="stopper")
        sender.start()
        stopper.start()
        for each in (sender, stopper, thread):
            each.join()
        got = [number for values in received for number in values]
        assert got == [0, 1][: len(got)]
        assert len(got) + len(ch) == 2
        check_invariants(ch)
