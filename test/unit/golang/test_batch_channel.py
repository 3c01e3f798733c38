"""Tests of sending and receiving many values at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from invariants import check_invariants

from clientgo.golang.batch_channel import BatchChannel
from clientgo.golang.channel import Channel, ChannelClosed, Receive, select
from clientgo.testing import synctest


def sending(ch: BatchChannel[int], count: int) -> tuple[threading.Thread, list[BaseException | None]]:
    """Return a thread that sends the numbers up to `count`, and the list of its results."""
    ended: list[BaseException | None] = []

    def send() -> None:
        try:
            ch.send_all(range(count))
        except ChannelClosed as err:
            ended.append(err)
        else:
            ended.append(None)

    thread = threading.Thread(target=send)
    thread.start()
    return thread, ended


def test_values_come_in_order_and_the_sender_waits_for_room_of_half_the_buffer():
    with synctest.bubble() as bubble:
        ch: BatchChannel[int] = BatchChannel(4)
        sender, ended = sending(ch, 10)
        bubble.wait()
        assert len(ch) == 4
        assert ch.receive() == (0, True)
        bubble.wait()
        assert len(ch) == 3, "no room for a half: it was not woken"
        assert ch.receive() == (1, True)
        bubble.wait()
        assert len(ch) == 4
        assert [ch.receive()[0] for _ in range(8)] == list(range(2, 10))
        sender.join()
        assert ended == [None]
        check_invariants(ch)


Receiving = Callable[[Channel[int]], tuple[int, bool]]
in_both_ways = pytest.mark.parametrize(
    "receive", [Channel.receive, lambda ch: select([Channel(), Receive(ch)])[1:]], ids=["receive", "select"]
)


def two_waiting(
    receive: Receiving, bubble: synctest.Bubble
) -> tuple[BatchChannel[int], list[threading.Thread], list[tuple[int, bool]]]:
    """Return a channel, two threads that receive from it, and the list of the values they received."""
    ch: BatchChannel[int] = BatchChannel(2)
    received: list[tuple[int, bool]] = []
    threads = [threading.Thread(target=lambda: received.append(receive(ch))) for _ in range(2)]
    for thread in threads:
        thread.start()
        bubble.wait()
    return ch, threads, received


@in_both_ways
def test_a_receiver_waits_on_when_others_take_the_values(receive: Receiving):
    with synctest.bubble() as bubble:
        ch, threads, received = two_waiting(receive, bubble)
        ch.send_all([0])
        bubble.wait()
        assert (received, len(ch)) == ([(0, True)], 0)
        ch.send_all([1])
        for thread in threads:
            thread.join()
        assert received == [(0, True), (1, True)]


@in_both_ways
def test_waiting_receivers_get_the_first_values(receive: Receiving):
    with synctest.bubble() as bubble:
        ch, threads, received = two_waiting(receive, bubble)
        ch.send_all([1, 2, 3, 4])
        for thread in threads:
            thread.join()
        assert sorted(received) == [(1, True), (2, True)]
        assert len(ch) == 2
        check_invariants(ch)


@pytest.mark.parametrize(("end", "left"), [(BatchChannel.close, [0, 1]), (BatchChannel.abandon, [])])
def test_closing_ends_a_waiting_sender_and_abandoning_leaves_nothing(
    end: Callable[[BatchChannel[int]], None], left: list[int]
):
    with synctest.bubble() as bubble:
        ch: BatchChannel[int] = BatchChannel(2)
        sender, ended = sending(ch, 5)
        bubble.wait()
        assert ended == []
        end(ch)
        sender.join()
        assert isinstance(ended[0], ChannelClosed)
        assert list(ch) == left
        with pytest.raises(ChannelClosed):
            ch.send_all([1])


def test_abandoning_ends_a_waiting_receiver_and_may_come_after_close():
    with synctest.bubble() as bubble:
        ch: BatchChannel[int] = BatchChannel(2)
        received: list[tuple[int | None, bool]] = []
        receiver = threading.Thread(target=lambda: received.append(ch.receive()))
        receiver.start()
        bubble.wait()
        ch.abandon()
        receiver.join()
        assert received == [(None, False)]
    ch = BatchChannel(2)
    ch.send_all([1])
    ch.close()
    ch.abandon()
    assert list(ch) == []
    with pytest.raises(ChannelClosed, match="close of closed channel"):
        ch.close()


@pytest.mark.parametrize("capacity", [2, 0])
def test_receiving_all_takes_the_values_of_waiting_senders_too(capacity: int) -> None:
    with synctest.bubble() as bubble:
        ch: Channel[int] = Channel(capacity)
        assert not ch.try_receive_all()
        senders = [threading.Thread(target=ch.send, args=(number,)) for number in range(4)]
        for sender in senders:
            sender.start()
            bubble.wait()
        assert list(ch.try_receive_all()) == [0, 1, 2, 3]
        for sender in senders:
            sender.join()
        assert not ch.try_receive_all()
        check_invariants(ch)
        ch.close()
        assert not ch.try_receive_all()


def test_receiving_all_makes_room_for_a_sender_of_many() -> None:
    with synctest.bubble() as bubble:
        ch: BatchChannel[int] = BatchChannel(2)
        many, ended = sending(ch, 3)
        bubble.wait()
        assert list(ch.try_receive_all()) == [0, 1]
        many.join()
        ch.send_all([3])
        one = threading.Thread(target=lambda: ch.send(4))
        one.start()
        bubble.wait()
        assert list(ch.try_receive_all()) == [2, 3, 4]
        one.join()
        assert ended == [None]
        check_invariants(ch)


def test_nothing_to_send_is_no_send_and_a_batch_needs_a_buffer():
    ch: BatchChannel[int] = BatchChannel(1)
    ch.close()
    ch.send_all([])
    with pytest.raises(ValueError, match="capacity must be positive, got 0"):
        BatchChannel(0)
