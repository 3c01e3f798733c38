"""Go's channels and `select` for threads: `Channel`, `Signal` and `select`.

Go's runtime has no file to mirror; the semantics are those of the language specification: an unbuffered send waits for
its receiver, a closed channel hands out what it still holds and then reports `ok=False`, a nil channel (None in a
`select`) is never ready. Three things differ: an operation may carry a timeout, `select` prefers the first ready case
instead of a random one, and a `chan struct{}` that is only ever closed is a `Signal` (stop.py), which also calls back.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar, cast

from clientgo.golang.stop import Done, Signal, StopChannel, add_done_callback

__all__ = [
    "Case",
    "Channel",
    "ChannelClosed",
    "Done",
    "Receive",
    "Selected",
    "Send",
    "Signal",
    "StopChannel",
    "add_done_callback",
    "select",
]

T = TypeVar("T")

# To take the next is one step, also without a GIL: no two channels have the same.
_ids = count()


class ChannelClosed(Exception):
    """A send on, or a second close of, a closed channel (Go panics)."""


class _Turn:
    """One blocked operation: a send, a receive, or a whole select.

    The thread that completes it must first win `claim`, which succeeds once. It then stores the outcome and opens the
    gate. The outcome is written under the lock of the channel that completed it.
    """

    __slots__ = ("_claim", "_gate", "case", "finished", "ok", "value")

    def __init__(self) -> None:
        self._claim = threading.Lock()
        # Closed until the turn is finished. The completing thread releases this bare lock, which is cheaper than an
        # Event.
        self._gate = threading.Lock()
        self._gate.acquire()
        self.case = -1
        self.value: Any = None
        self.ok = False
        self.finished = False

    def claim(self) -> bool:
        return self._claim.acquire(blocking=False)

    def finish(self, case: int, value: Any, ok: bool) -> None:
        self.case, self.value, self.ok = case, value, ok
        self.finished = True
        self._open()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until finished. Not to be called when it is: the gate lets one through, once."""
        assert timeout is None
        return self._gate.acquire()

    def _open(self) -> None:
        self._gate.release()


class _TimedTurn(_Turn):
    """A turn whose wait may run out of time. Its gate is an Event: the primitive made for waits with an end."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        super().__init__()
        self._event = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        return self._event.wait(timeout)

    def _open(self) -> None:
        self._event.set()


def _turn(timeout: float | None) -> _Turn:
    return _Turn() if timeout is None else _TimedTurn()


class _Waiter(NamedTuple):
    """A turn's place in the queue of one channel; `value` is what a sender offers."""

    turn: _Turn
    case: int
    value: Any


class Channel(Generic[T]):
    """Go's `chan T`. `capacity` 0 makes an unbuffered channel: a send returns when a receiver has taken the value.

    Thread-safe. Waiting senders and receivers are served in the order they came. Timeouts are seconds of real time.

    Invariants (`_check`): the buffer never exceeds the capacity; no receiver waits while a value is buffered, and no
    sender while there is room; a closed channel has no waiters.
    """

    def __init__(self, capacity: int = 0) -> None:
        """Make an empty channel. Raises ValueError when capacity is negative."""
        if capacity < 0:
            raise ValueError(f"capacity must not be negative, got {capacity}")
        self._capacity = capacity
        self._id = next(_ids)
        # Guards everything below. A select takes the locks of its channels in the order of their ids.
        self._lock = threading.Lock()
        self._buffer: deque[T] = deque()
        self._receivers: deque[_Waiter] = deque()
        self._senders: deque[_Waiter] = deque()
        self._closed = False

    @property
    def capacity(self) -> int:
        """The size of the buffer (Go: `cap(ch)`)."""
        return self._capacity

    @property
    def closed(self) -> bool:
        """Report whether `close` was called; values may still be buffered."""
        return self._closed

    @property
    def waiting_receivers(self) -> int:
        """The number of receives and selects that wait for a value. A test waits for it, in place of a sleep."""
        return len(self._receivers)

    @property
    def waiting_senders(self) -> int:
        """The number of sends and selects that wait for a receiver or for room in the buffer."""
        return len(self._senders)

    def send(self, value: T, *, timeout: float | None = None) -> None:
        """Block until a receiver took the value or the buffer had room (Go: `ch <- v`).

        Raises ChannelClosed when the channel is closed, also while waiting, and TimeoutError.
        """
        with self._lock:
            if self._send_now(value):
                return
            turn = _turn(timeout)
            waiter = _Waiter(turn, 0, value)
            self._senders.append(waiter)
        self._await(turn, waiter, self._senders, timeout)
        if not turn.ok:
            raise ChannelClosed("send on closed channel")

    def try_send(self, value: T) -> bool:
        """Send if that needs no waiting; return whether it happened. Raises ChannelClosed."""
        with self._lock:
            return self._send_now(value)

    def receive(self, timeout: float | None = None) -> tuple[T | None, bool]:
        """Block until there is a value (Go: `v, ok := <-ch`); `(None, False)` when closed and drained.

        Raises TimeoutError.
        """
        with self._lock:
            value, ok, ready = self._receive_now()
            if not ready:
                turn = _turn(timeout)
                waiter = _Waiter(turn, 0, None)
                self._receivers.append(waiter)
        if not ready:
            self._await(turn, waiter, self._receivers, timeout)
            value, ok = turn.value, turn.ok
        return (value, True) if ok else (None, False)

    def try_receive(self) -> tuple[T | None, bool, bool]:
        """Receive if that needs no waiting: `(value, ok, ready)`; `ready` is False when it would have to wait."""
        with self._lock:
            return self._receive_now()

    def try_receive_all(self) -> deque[T]:
        """Receive every value that needs no waiting, in order: the buffered ones, then those of waiting senders.

        Takes the lock once for all of them. Go has only the receive of one value, which costs it little.
        """
        with self._lock:
            return self._receive_all_now()

    def close(self) -> None:
        """Close the channel: receivers get `ok=False` once it is drained, waiting senders raise.

        Raises ChannelClosed when it is closed already.
        """
        with self._lock:
            if self._closed:
                raise ChannelClosed("close of closed channel")
            self._closed = True
            for queue in (self._receivers, self._senders):
                while (waiter := _claim_first(queue)) is not None:
                    waiter.turn.finish(waiter.case, None, False)

    def __len__(self) -> int:
        """Return the number of buffered values."""
        return len(self._buffer)

    def __bool__(self) -> bool:
        # A channel is never "nothing", whatever its length: `if ch` must not depend on what is buffered.
        return True

    def __iter__(self) -> Iterator[T]:
        """Receive until the channel is closed and drained (Go: `for v := range ch`)."""
        while True:
            value, ok = self.receive()
            if not ok:
                return
            yield cast(T, value)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        waiting = f"{len(self._receivers)} receiving, {len(self._senders)} sending"
        return f"<Channel {len(self._buffer)}/{self._capacity}, {waiting}, {state}>"

    def _check(self) -> None:
        with self._lock:
            assert len(self._buffer) <= self._capacity
            assert not (self._receivers and self._buffer)
            assert not (self._senders and len(self._buffer) < self._capacity)
            assert not (self._closed and (self._receivers or self._senders))

    # The rest runs with self._lock held, unless it says otherwise.

    def _send_now(self, value: T) -> bool:
        if self._closed:
            raise ChannelClosed("send on closed channel")
        receiver = _claim_first(self._receivers) if self._receivers else None
        if receiver is not None:
            receiver.turn.finish(receiver.case, value, True)
            return True
        if len(self._buffer) < self._capacity:
            self._buffer.append(value)
            return True
        return False

    def _receive_now(self) -> tuple[T | None, bool, bool]:
        sender = _claim_first(self._senders) if self._senders else None
        if self._buffer:
            value = self._buffer.popleft()
            if sender is not None:
                self._buffer.append(sender.value)
                sender.turn.finish(sender.case, None, True)
            return value, True, True
        if sender is not None:
            sender.turn.finish(sender.case, None, True)
            return sender.value, True, True
        return None, False, self._closed

    def _receive_all_now(self) -> deque[T]:
        taken, self._buffer = self._buffer, deque()
        while self._senders:
            value, ok, _ = self._receive_now()
            if ok:
                taken.append(cast(T, value))
        return taken

    def _await(self, turn: _Turn, waiter: _Waiter, queue: deque[_Waiter], timeout: float | None) -> None:
        """Wait without the lock held for the turn of a single send or receive."""
        try:
            finished = turn.wait(timeout)
        except BaseException:  # KeyboardInterrupt in the main thread: do not stay in the queue.
            self._withdraw(turn, waiter, queue)
            raise
        if not finished and self._withdraw(turn, waiter, queue):
            raise TimeoutError("timed out waiting on a channel")

    def _withdraw(self, turn: _Turn, waiter: _Waiter, queue: deque[_Waiter]) -> bool:
        """Withdraw the turn under the lock; return False if another thread completed it in the meantime."""
        with self._lock:
            if not turn.claim():
                return False
            _discard(queue, waiter)
            return True


def _claim_first(queue: deque[_Waiter]) -> _Waiter | None:
    """Remove and return the first waiter whose turn can be claimed; drop those that other threads completed."""
    while queue:
        waiter = queue.popleft()
        if waiter.turn.claim():
            return waiter
    return None


class Receive(NamedTuple):
    """A case of `select`: receive from `channel` (Go: `case v, ok := <-ch`). A None channel is never ready."""

    channel: Channel[Any] | None


class Send(NamedTuple):
    """A case of `select`: send `value` (Go: `case ch <- v`). A None channel is never ready."""

    channel: Channel[Any] | None
    value: Any


class Selected(NamedTuple):
    """The position of the `select` case that completed, and the received value. Case -1: default or timeout."""

    case: int
    value: Any = None
    ok: bool = False


_NOTHING = Selected(-1)

Case = Receive | Send | Channel[Any] | StopChannel | None
"""A case of `select`; None stands for a nil channel."""


def select(cases: Sequence[Case], timeout: float | None = None, default: bool = False) -> Selected:
    """Wait until one of the cases is ready, execute it and return its number. Go: `select`.

    A case is a `Send`, a `Receive`, a Channel (short for Receive), a StopChannel such as `ctx.done()` or a
    threading.Event (ready once set, `ok` False as for a closed channel), or None (never ready). Of several ready cases
    the first one wins: put the stop signal first. With `default=True` it does not wait, and after `timeout` seconds of
    real time it gives up; both return case -1. Raises ChannelClosed when the chosen case sends on a closed channel.

        chosen = select([ctx.done(), Receive(events)])
        if chosen.case == 0: return
    """
    chosen = _take_ready(cases)
    if chosen is not None:
        return chosen
    operations = [_operation(case) for case in cases]
    channels = sorted({op.channel for op in operations if op.channel is not None}, key=lambda channel: channel._id)
    at_once = default or (timeout is not None and timeout <= 0)
    turn = None if at_once else _turn(timeout)
    chosen = _take_or_enqueue(operations, channels, turn)
    if chosen is None:
        chosen = _NOTHING if turn is None else _wait_for_turn(operations, turn, timeout)
    return chosen


def _take_or_enqueue(
    operations: Sequence[_Operation], unlocked: Sequence[Channel[Any]], turn: _Turn | None
) -> Selected | None:
    """Check the operations again with all channels locked, and enqueue them if none is ready, so that a later operation
    finds them.

    Each call locks one channel more: only a `with` keeps a KeyboardInterrupt from leaving a lock behind.
    """
    if unlocked:
        with unlocked[0]._lock:
            return _take_or_enqueue(operations, unlocked[1:], turn)
    chosen = _poll(operations)
    if chosen is None and turn is not None:
        for index, op in enumerate(operations):
            op.enqueue(turn, index)
    return chosen


def _take_ready(cases: Sequence[Case]) -> Selected | None:
    """Do the first case that is ready, one lock at a time and without allocating anything: the way of a busy stream."""
    for index, case in enumerate(cases):
        if isinstance(case, Send):
            if case.channel is not None and case.channel.try_send(case.value):
                return Selected(index, None, True)
            continue
        channel = case.channel if isinstance(case, Receive) else case
        if isinstance(channel, Channel):
            value, ok, ready = channel.try_receive()
            if ready:
                return Selected(index, value, ok)
        elif channel is not None and channel.is_set():
            return Selected(index)
    return None


class _Operation:
    """A case of a select in one form, whatever the caller wrote. This base is the nil channel: never ready."""

    channel: Channel[Any] | None = None

    def poll(self, case: int) -> Selected | None:
        """Go ahead if that is possible at once. The channel's lock is held."""
        return None

    def enqueue(self, turn: _Turn, case: int) -> None:
        """Queue for the channel. Its lock is held."""

    def subscribe(self, turn: _Turn, case: int) -> None:
        """Ask a stop signal to finish the turn. No lock is held, for callbacks may run at once."""

    def withdraw(self) -> None:
        """Leave the queue again. Takes the channel's lock."""

    def unsubscribe(self) -> None:
        """Take back what `subscribe` did. No lock is held."""


class _ReceiveOperation(_Operation):
    def __init__(self, channel: Channel[Any]) -> None:
        self.channel: Channel[Any] = channel
        self._waiter: _Waiter | None = None

    def poll(self, case: int) -> Selected | None:
        value, ok, ready = self.channel._receive_now()
        return Selected(case, value, ok) if ready else None

    def enqueue(self, turn: _Turn, case: int) -> None:
        self._waiter = _Waiter(turn, case, None)
        self.channel._receivers.append(self._waiter)

    def withdraw(self) -> None:
        with self.channel._lock:
            _discard(self.channel._receivers, self._waiter)


class _SendOperation(_Operation):
    def __init__(self, channel: Channel[Any], value: Any) -> None:
        self.channel: Channel[Any] = channel
        self._value = value
        self._waiter: _Waiter | None = None

    def poll(self, case: int) -> Selected | None:
        return Selected(case, None, True) if self.channel._send_now(self._value) else None

    def enqueue(self, turn: _Turn, case: int) -> None:
        self._waiter = _Waiter(turn, case, self._value)
        self.channel._senders.append(self._waiter)

    def withdraw(self) -> None:
        with self.channel._lock:
            _discard(self.channel._senders, self._waiter)


class _StopOperation(_Operation):
    def __init__(self, stop: StopChannel) -> None:
        self._stop = stop
        self._remove: Callable[[], bool] | None = None

    def poll(self, case: int) -> Selected | None:
        return Selected(case) if self._stop.is_set() else None

    def subscribe(self, turn: _Turn, case: int) -> None:
        def stopped() -> None:
            if turn.claim():
                turn.finish(case, None, False)

        self._remove = add_done_callback(self._stop, stopped)

    def unsubscribe(self) -> None:
        if self._remove is not None:
            self._remove()


def _operation(case: Case) -> _Operation:
    if isinstance(case, Channel):
        return _ReceiveOperation(case)
    if isinstance(case, Receive):
        return _Operation() if case.channel is None else _ReceiveOperation(case.channel)
    if isinstance(case, Send):
        return _Operation() if case.channel is None else _SendOperation(case.channel, case.value)
    return _Operation() if case is None else _StopOperation(case)


def _poll(operations: Sequence[_Operation]) -> Selected | None:
    for index, op in enumerate(operations):
        chosen = op.poll(index)
        if chosen is not None:
            return chosen
    return None


def _wait_for_turn(operations: Sequence[_Operation], turn: _Turn, timeout: float | None) -> Selected:
    try:
        for index, op in enumerate(operations):
            op.subscribe(turn, index)
        turn.wait(timeout)
    finally:
        given_up = _withdraw_all(operations, turn)
    if given_up:
        return _NOTHING
    if not turn.ok and isinstance(operations[turn.case], _SendOperation):
        raise ChannelClosed("send on closed channel")
    return Selected(turn.case, turn.value, turn.ok)


def _withdraw_all(operations: Sequence[_Operation], turn: _Turn) -> bool:
    """Leave every queue, and report whether the turn was given up before another thread completed it.

    Reads `finished` instead of the outcome of the wait, which a KeyboardInterrupt may have ended.
    """
    given_up = not turn.finished and turn.claim()
    for op in operations:
        op.withdraw()
        op.unsubscribe()
    if not given_up and not turn.finished:
        turn.wait()  # another thread has claimed it and is writing the outcome
    return given_up


def _discard(queue: deque[_Waiter], waiter: _Waiter | None) -> None:
    """Remove exactly this waiter, if it is still there."""
    for position, queued in enumerate(queue):
        if queued is waiter:
            del queue[position]
            return
