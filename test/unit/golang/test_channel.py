"""Channels, signals and select behave as Go's."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from invariants import check_invariants
from patience import PATIENCE
from threadtools import eventually, in_thread

from clientgo.golang import channel
from clientgo.golang.channel import Channel, ChannelClosed, Receive, Selected, Send, Signal, select
from clientgo.testing import synctest


class Foreign:
    """A StopChannel that is no threading.Event."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.set, self.is_set, self.wait = self._event.set, self._event.is_set, self._event.wait


def test_unbuffered_send_returns_only_when_received():
    ch: Channel[int] = Channel()
    sender = in_thread(lambda: ch.send(1))
    eventually(lambda: ch.waiting_senders == 1)
    assert sender.running()
    assert ch.receive() == (1, True)
    sender.result()
    check_invariants(ch)


def test_unbuffered_receive_waits_for_a_sender():
    ch: Channel[int] = Channel()
    receiver = in_thread(ch.receive)
    eventually(lambda: ch.waiting_receivers == 1)
    ch.send(7)
    assert receiver.result() == (7, True)


def test_try_send_needs_a_waiting_receiver_or_room():
    ch: Channel[int] = Channel()
    assert not ch.try_send(1)
    receiver = in_thread(ch.receive)
    eventually(lambda: ch.waiting_receivers == 1)
    assert ch.try_send(2)
    assert receiver.result() == (2, True)
    buffered: Channel[int] = Channel(1)
    assert buffered.try_send(1)
    assert not buffered.try_send(2)


def test_buffer_keeps_order_and_a_waiting_sender_moves_up():
    ch: Channel[int] = Channel(2)
    ch.send(1)
    ch.send(2)
    sender = in_thread(lambda: ch.send(3))
    eventually(lambda: ch.waiting_senders == 1)
    assert len(ch) == 2
    assert [ch.receive()[0] for _ in range(3)] == [1, 2, 3]
    sender.result()


def test_closed_channel_drains_then_reports_not_ok():
    ch: Channel[str] = Channel(2)
    ch.send("a")
    ch.close()
    assert ch.receive() == ("a", True)
    assert ch.receive() == (None, False)
    assert ch.try_receive() == (None, False, True)


def test_try_receive_on_an_open_empty_channel_is_not_ready():
    assert Channel[int]().try_receive() == (None, False, False)


def test_close_wakes_receivers_and_fails_senders():
    ch: Channel[int] = Channel()
    sender = in_thread(lambda: ch.send(1))
    eventually(lambda: ch.waiting_senders == 1)
    ch.close()
    with pytest.raises(ChannelClosed, match="send on closed channel"):
        sender.result()
    other: Channel[int] = Channel()
    receiver = in_thread(other.receive)
    eventually(lambda: other.waiting_receivers == 1)
    other.close()
    assert receiver.result() == (None, False)


def test_sending_on_or_closing_a_closed_channel_raises():
    ch: Channel[int] = Channel(1)
    ch.close()
    with pytest.raises(ChannelClosed):
        ch.send(1)
    with pytest.raises(ChannelClosed):
        ch.try_send(1)
    with pytest.raises(ChannelClosed, match="close of closed channel"):
        ch.close()


def test_timeouts_leave_no_waiter_behind():
    ch: Channel[int] = Channel()
    with pytest.raises(TimeoutError):
        ch.receive(timeout=0.001)
    with pytest.raises(TimeoutError):
        ch.send(1, timeout=0.001)
    assert not ch.waiting_receivers
    assert not ch.waiting_senders
    assert select([ch], timeout=0.001).case == -1
    assert not ch.waiting_receivers


def test_iteration_ends_with_the_channel():
    ch: Channel[int] = Channel()

    def produce() -> None:
        for i in range(100):
            ch.send(i)
        ch.close()

    producer = in_thread(produce)
    assert list(ch) == list(range(100))
    producer.result()


def test_a_channel_is_never_falsy():
    assert Channel[int]()


def test_negative_capacity_is_refused():
    with pytest.raises(ValueError):
        Channel[int](-1)


def test_select_takes_the_first_ready_case():
    a: Channel[str] = Channel(1)
    b: Channel[str] = Channel(1)
    a.send("a")
    b.send("b")
    assert select([b, a]) == Selected(0, "b", True)
    assert select([b, a]) == Selected(1, "a", True)


@pytest.mark.parametrize("make", [Signal, threading.Event, lambda: Foreign()], ids=["signal", "event", "foreign"])
def test_a_stop_signal_that_comes_first_wins(make):
    stop = make()
    stop.set()
    ch: Channel[int] = Channel(1)
    ch.send(1)
    assert select([stop, ch]) == Selected(0, None, False)
    assert select([ch, stop]) == Selected(0, 1, True)


def ready_cases() -> list[channel.Case]:
    full: Channel[int] = Channel(1)
    full.send(7)
    closed: Channel[int] = Channel()
    closed.close()
    stop = Signal()
    stop.set()
    return [full, Send(Channel(1), 8), closed, stop]


@pytest.mark.parametrize("case", range(4), ids=["receive", "send", "closed", "stop"])
def test_a_select_takes_what_became_ready_after_its_first_look(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "_take_ready", lambda _: None)
    chosen = select([Channel(), None, ready_cases()[case]], default=True)
    assert (chosen.case, chosen.value) == (2, 7 if case == 0 else None)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_select_holds_the_locks_of_all_channels_when_it_looks_again(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    channels: list[Channel[int]] = [Channel() for _ in range(count)]
    look, held = channel._poll, list[list[bool]]()

    def poll(operations: Any) -> Selected | None:
        held.append([each._lock.locked() for each in channels])
        return look(operations)

    monkeypatch.setattr(channel, "_poll", poll)
    assert select([*channels, channels[0]], default=True).case == -1
    assert held == [[True] * count]
    assert not any(each._lock.locked() for each in channels)


def test_select_default_and_nil_channels():
    assert select([None, Receive(None), Send(None, 1)], default=True).case == -1
    assert select([Channel(), None], timeout=0).case == -1


def test_select_sends():
    ch: Channel[int] = Channel()
    receiver = in_thread(ch.receive)
    assert select([Send(ch, 5)]) == Selected(0, None, True)
    assert receiver.result() == (5, True)


def test_select_waits_for_whichever_comes_first_and_leaves_the_other():
    a: Channel[str] = Channel()
    b: Channel[str] = Channel()
    waiting = in_thread(lambda: select([a, Send(b, "x")]))
    eventually(lambda: a.waiting_receivers == 1 and b.waiting_senders == 1)
    assert b.receive() == ("x", True)
    assert waiting.result() == Selected(1, None, True)
    assert not a.waiting_receivers
    assert not a.try_send("late")


def test_two_selects_meet():
    ch: Channel[int] = Channel()
    idle: Channel[int] = Channel()
    receiver = in_thread(lambda: select([idle, ch]))
    eventually(lambda: ch.waiting_receivers == 1)
    assert select([Send(ch, 3), idle]).case == 0
    assert receiver.result() == Selected(1, 3, True)


def test_select_on_the_same_channel_twice():
    ch: Channel[int] = Channel()
    waiting = in_thread(lambda: select([ch, ch]))
    eventually(lambda: ch.waiting_receivers == 2)
    ch.send(1)
    assert waiting.result() == Selected(0, 1, True)
    assert not ch.waiting_receivers


def test_select_sees_closing():
    ch: Channel[int] = Channel()
    waiting = in_thread(lambda: select([ch]))
    eventually(lambda: ch.waiting_receivers == 1)
    ch.close()
    assert waiting.result() == Selected(0, None, False)
    with pytest.raises(ChannelClosed):
        select([Send(ch, 1)])


def test_select_send_waiting_while_the_channel_closes_raises():
    ch: Channel[int] = Channel()
    waiting = in_thread(lambda: select([Send(ch, 1)]))
    eventually(lambda: ch.waiting_senders == 1)
    ch.close()
    with pytest.raises(ChannelClosed):
        waiting.result()


@pytest.mark.parametrize("make", [Signal, threading.Event, lambda: Foreign()], ids=["signal", "event", "foreign"])
def test_select_on_a_stop_channel(make):
    stop = make()
    ch: Channel[int] = Channel()
    assert select([stop, ch], default=True).case == -1
    waiting = in_thread(lambda: select([stop, ch]))
    eventually(lambda: ch.waiting_receivers == 1)
    stop.set()
    assert waiting.result() == Selected(0, None, False)
    assert select([stop]).case == 0


def test_a_select_interrupted_just_when_its_turn_came_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C arrives after the wake-up and before it is recorded. No second wake-up follows."""
    wait = channel._Turn.wait

    def interrupted(turn: channel._Turn, timeout: float | None = None) -> bool:
        wait(turn, timeout)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(channel._Turn, "wait", interrupted)
    a: Channel[int] = Channel()
    b: Channel[int] = Channel()
    selecting = in_thread(lambda: select([a, b]))
    eventually(lambda: b.waiting_receivers == 1)

    b.send(1)

    with pytest.raises(KeyboardInterrupt):
        selecting.result(timeout=PATIENCE)
    assert not (a.waiting_receivers or b.waiting_receivers)


def test_many_senders_and_receivers_lose_nothing():
    ch: Channel[int] = Channel(3)
    senders = [in_thread(lambda base=base: [ch.send(base + i) for i in range(50)]) for base in range(0, 200, 50)]
    receivers = [in_thread(lambda: list(ch)) for _ in range(3)]
    for sender in senders:
        sender.result()
    ch.close()
    received = [value for receiver in receivers for value in receiver.result()]
    assert sorted(received) == list(range(200))


def test_selects_across_channels_lose_nothing():
    a: Channel[int] = Channel()
    b: Channel[int] = Channel()
    done = Signal()
    taken: list[int] = []

    def consume() -> None:
        while True:
            chosen = select([done, a, b])
            if chosen.case == 0:
                return
            taken.append(chosen.value)

    def produce(base: int) -> None:
        for i in range(100):
            select([Send(a, base + i), Send(b, base + i)])

    consumers = [in_thread(consume) for _ in range(2)]
    producers = [in_thread(lambda base=base: produce(base)) for base in (0, 100)]
    for producer in producers:
        producer.result()
    done.set()
    for consumer in consumers:
        consumer.result()
    assert sorted(taken) == list(range(200))
    check_invariants(a)
    check_invariants(b)


def _select_while_one_sends(ch: channel.Channel[int], bubble: synctest.Bubble) -> list[channel.Selected]:
    chosen: list[channel.Selected] = []
    thread = threading.Thread(target=lambda: chosen.append(channel.select([channel.Channel(), channel.Receive(ch)])))
    thread.start()
    bubble.wait()
    ch.send(7)
    thread.join()
    return chosen


def test_every_way_to_receive_returns_the_value_and_whether_there_is_one():
    with synctest.bubble() as bubble:
        ch: channel.Channel[int] = channel.Channel(3)
        for number in (1, 2, 3):
            ch.send(number)
        assert ch.receive() == (1, True)
        assert ch.try_receive() == (2, True, True)
        assert channel.select([ch]) == (0, 3, True)
        assert _select_while_one_sends(ch, bubble) == [(1, 7, True)]
        received: list[object] = []
        thread = threading.Thread(target=lambda: received.append(ch.receive()))
        thread.start()
        bubble.wait()
        ch.send(8)
        thread.join()
        assert received == [(8, True)]
        ch.send(9)
        ch.close()
        assert list(ch) == [9]
        assert ch.receive() == (None, False)
        assert ch.try_receive() == (None, False, True)
        assert channel.select([ch]) == (0, None, False)
