"""Channels, select, signals and contexts under arbitrary thread interleavings."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from invariants import check_invariants

from clientgo import context
from clientgo.golang import channel
from clientgo.golang import stop as stop_signals
from clientgo.golang.channel import Channel, Send, Signal, select
from clientgo.testing import synctest
from clientgo.utils.clock import REAL_CLOCK


def run_all(*bodies: Callable[[], object]) -> None:
    """Run the bodies in threads of the bubble and wait for all; a body that raises fails the test."""
    threads = [threading.Thread(target=body, name=f"body {number}") for number, body in enumerate(bodies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@given(
    capacity=st.integers(0, 2),
    sizes=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    receivers=st.integers(1, 2),
    schedule=synctest.schedules(),
)
def test_nothing_is_lost_doubled_or_reordered(capacity, sizes, receivers, schedule):
    """Each sender's values arrive exactly once and in order, through blocking sends, tries and selects."""

    def scenario() -> None:
        ch: Channel[tuple[int, int]] = Channel(capacity)
        idle: Channel[int] = Channel()
        received: list[list[tuple[int, int]]] = [[] for _ in range(receivers)]
        left = Signal()
        running = len(sizes)
        lock = threading.Lock()

        def send(sender: int, size: int) -> None:
            nonlocal running
            for number in range(size):
                value = (sender, number)
                if number % 3 == 0:
                    ch.send(value)
                elif number % 3 == 1:
                    assert select([idle, Send(ch, value)]).case == 1
                elif not ch.try_send(value):
                    ch.send(value)
            with lock:
                running -= 1
                if running == 0:
                    ch.close()
                    left.set()

        def receive(into: list[tuple[int, int]], by_select: bool) -> None:
            while True:
                if by_select:
                    _, value, ok = select([ch, idle])
                else:
                    value, ok = ch.receive()
                if not ok:
                    return
                into.append(value)

        run_all(
            *(lambda s=s, n=n: send(s, n) for s, n in enumerate(sizes)),
            *(lambda r=r: receive(received[r], by_select=r == 1) for r in range(receivers)),
        )
        check_invariants(ch)
        check_invariants(idle)
        assert left.is_set()
        assert sorted(value for got in received for value in got) == [
            (s, n) for s, size in enumerate(sizes) for n in range(size)
        ]
        for got in received:
            for sender in range(len(sizes)):
                mine = [number for s, number in got if s == sender]
                assert mine == sorted(mine)
        assert not idle.waiting_receivers
        assert not idle.waiting_senders

    synctest.run(scenario, schedule=schedule)


@given(crossed=st.booleans(), rounds=st.integers(1, 3), schedule=synctest.schedules())
def test_two_selects_over_the_same_channels_always_meet(crossed, rounds, schedule):
    """Each offers on one channel and takes from the other: they may pair up only one way at a time, and must."""

    def scenario() -> None:
        a: Channel[str] = Channel()
        b: Channel[str] = Channel()
        outcomes: list[tuple[str, str]] = []

        def first() -> None:
            for _ in range(rounds):
                chosen = select([Send(a, "a"), b])
                outcomes.append(("first", "sent" if chosen.case == 0 else "took"))

        def second() -> None:
            for _ in range(rounds):
                cases = [Send(b, "b"), a] if crossed else [a, Send(b, "b")]
                chosen = select(cases)
                outcomes.append(("second", "sent" if isinstance(cases[chosen.case], Send) else "took"))

        run_all(first, second)
        for mine, other in (("first", "second"), ("second", "first")):
            sent = outcomes.count((mine, "sent"))
            assert sent == outcomes.count((other, "took"))

    synctest.run(scenario, schedule=schedule)


@given(timeout=st.sampled_from([0.0, 1.0, 2.0]), schedule=synctest.schedules())
def test_a_timed_out_operation_leaves_nothing_behind(timeout, schedule):
    """A value either arrives or its sender learns that it did not; never both, never neither."""

    def scenario() -> None:
        ch: Channel[int] = Channel()
        outcomes: dict[str, bool] = {}

        def send() -> None:
            try:
                ch.send(1, timeout=timeout)
                outcomes["sent"] = True
            except TimeoutError:
                outcomes["sent"] = False

        def receive() -> None:
            REAL_CLOCK.sleep(1.0)
            outcomes["received"] = ch.try_receive()[2]

        run_all(send, receive)
        assert outcomes["sent"] == outcomes["received"]
        assert not ch.waiting_senders

    synctest.run(scenario, schedule=schedule)


@given(schedule=synctest.schedules(), plain_event=st.booleans())
def test_a_callback_runs_exactly_once_or_was_removed(schedule, plain_event):
    def scenario() -> None:
        stop = threading.Event() if plain_event else Signal()
        calls: list[int] = []
        removed: list[bool] = []

        def add_and_remove() -> None:
            remove = channel.add_done_callback(stop, lambda: calls.append(1))
            removed.append(remove())

        run_all(stop.set, lambda: channel.add_done_callback(stop, lambda: calls.append(2)), add_and_remove)
        synctest.wait()
        assert calls.count(2) == 1
        assert calls.count(1) == (0 if removed == [True] else 1)

    # The watchers of plain events have a lock of the module, which no bubble made. No thread may block while it holds
    # it.
    synctest.run(scenario, schedule=schedule, preempt_in=() if plain_event else [stop_signals])


@given(
    parents=st.lists(st.integers(0, 5), min_size=1, max_size=6),
    cancelled=st.lists(st.integers(0, 5), max_size=3),
    schedule=synctest.schedules(),
)
def test_a_context_is_done_exactly_when_it_or_one_above_was_cancelled(parents, cancelled, schedule):
    def scenario() -> None:
        tree = [context.with_cancel(context.background())]
        above = [{0}]
        for number, parent in enumerate(parents, 1):
            chosen = parent % number
            tree.append(context.with_cancel(tree[chosen][0]))
            above.append(above[chosen] | {number})
        targets = {target % len(tree) for target in cancelled}
        late: list[context.Context] = []

        def derive() -> None:
            late.append(context.with_cancel(tree[-1][0])[0])

        run_all(derive, *(tree[target][1] for target in targets))
        for number, (ctx, _) in enumerate(tree):
            expected = bool(above[number] & targets)
            assert ctx.done().is_set() is expected
            assert isinstance(ctx.err(), context.Canceled) is expected
        assert late[0].done().is_set() is bool(above[-1] & targets)

    synctest.run(scenario, schedule=schedule, preempt_in=[context])
