"""Live: the same hops and views of a program that really runs, with real threads and a real clock.

`Live` observes a whole process. It counts every call of the functions in taps.py, which gives the rates. It emits hops
for some of those calls, at most BURST at once and PER_SECOND in the long run for each function, and reports how many it
skipped. So a quiet program is shown completely, and a busy one is not slowed down. The structures' contents are read
when a page asks, by their `contents()`, which take no lock.

The threads of the machinery wait only on request: `pause` makes a handler's thread wait before its next call, `slow`
makes a worker's thread wait each time it took a key. Both are logged in the program's log, start and end, and end on
their own when the pages that asked for them are gone.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from clientgo.golang import callers
from clientgo.tools.cache.beyond import stuck_handlers
from clientgo.tools.cache.event_handler_name import name_for_handler
from clientgo.tour import programframes
from clientgo.tour.attached import Attached
from clientgo.tour.controllog import log_changes
from clientgo.tour.hop import Hop
from clientgo.tour.seam import Probe, Seam, Tap
from clientgo.tour.secrecy import Secrecy
from clientgo.tour.taps import TAPS
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.clock import WithTicker

__all__ = ["ABSENCE", "BURST", "PER_SECOND", "Held", "Live", "Sum", "Work"]

callers.mark_inserted()

PER_SECOND = 50
"""Hops per second of one function in the long run."""

BURST = 200
"""Hops of one function at once, if there were few before."""

KEPT_HOPS = 5000
"""Number of hops that are kept."""

LONGEST_DELAY = 60.0
"""Longest delay of a worker, in seconds per key."""

ABSENCE = 5.0
"""Seconds without a connected page after which the pauses and delays that pages asked for end."""

# Seconds for which `stay_connected` blocks.
_HOLD = 2.0
_TICK = 0.1
# The period in seconds in which a paused thread checks whether the program is ending.
_PATIENCE = 0.5
# Rates are over so many ticks.
_WINDOW = 10
# Kinds of hops of reflectors and handlers that happen at the structure itself, and kinds that happen in its thread.
_NAMES_OWNER = frozenset({"watch", "list", "taken"})
_OF_THREAD = frozenset({"line", "called", "returned", "raised"})
# More structures than that are not listed: a program that makes them without end shall not be kept from forgetting.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Sum:
    """The calls of one function."""

    calls: int
    emitted: int
    rate: float
    """Calls a second, over the last second."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a worker, which is a thread that takes keys from a queue."""

    thread: str
    queue: Any
    item: Any
    """None while it waits for one."""
    since: float | None
    """None for one that began before the tour: its thread is not known either."""


@dataclass(frozen=True, slots=True)
class Held:
    """A queue: what its users hold, and the part of it that workers get their keys from."""

    queue: Any
    inner: Any
    since: dict[Any, float]
    """The clock's time at which each dirty item was added."""
    origin: str = ""
    """The variable from which the program passed the queue, or the line that created it; "" if neither is known."""


_NOTHING = object()


class Live(Attached):
    """One observer of the process; a context manager. All methods are thread-safe but `tick`.

    taps: functions of the program's own to watch too, see worker_tap.
    clock: tells when, and ticks.
    """

    def __init__(self, taps: Iterable[Tap] = (), *, clock: WithTicker = REAL_CLOCK) -> None:
        self.clock = clock
        self.secrecy = Secrecy()
        """By the identities of reflectors."""
        self._seam = Seam((*TAPS, *taps), self._receive, clock=clock, probes=self._probes(), metered=True)
        self._controls = Seam((), self._receive, probes=self._control_probes())
        # Appended to in the threads that hop, and emptied by who looks, so that each hop gets one place in a row: the
        # numbers that hops have of their own may come a little out of order.
        self._arrived: deque[Hop] = deque()
        # Guards the next two, for a moment; never taken where hops happen.
        self._collecting = threading.Lock()
        self._kept: list[Hop] = []
        # The place of the first of those.
        self._first = 0
        # Guards all below, and is notified of each request and at the end. Where hops happen, only paused threads
        # take it.
        self._changed = threading.Condition()
        self._paused: frozenset[str] = frozenset()
        self._delays: Mapping[str, float] = {}
        # The time of a page's last request; None for an observer without pages.
        self._visited: float | None = None
        self._is_detached = False
        self._informers: list[Any] = []
        self._unlisted = 0
        # By the identity of the part that workers get from. Written under the lock, read without.
        self._queues: dict[int, Held] = {}
        # The names of handlers' listeners, each of one listener only.
        self._handler_names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        # By thread. Each thread writes its own, in one step; a copy to look at is one step too.
        self._workers: dict[int, tuple[int, Any, float]] = {}
        # By thread and station, the structure of the thread's last hop there. Each thread writes its own, in one step.
        self._owners: dict[tuple[int, str], Any] = {}
        self._allowed = dict.fromkeys(self._seam.meters, float(BURST))
        self._marks: dict[Tap, deque[tuple[float, int, int]]] = {
            tap: deque(maxlen=_WINDOW + 1) for tap in self._seam.meters
        }
        self._called: dict[int, tuple[Any, float]] = {}
        self.on_tick: Callable[[], object] = lambda: None
        """Called ten times a second."""
        self._thread = threading.Thread(target=self._tick_on, name="tour ticker", daemon=True)

    # ---- being attached

    def attach(self) -> None:
        """Begin to watch."""
        self.tick()
        self._seam.attach()
        self._thread.start()

    def detach(self) -> None:
        """Stop watching, and continue all paused threads. The machinery is then unchanged."""
        self._request(paused=frozenset(), delays={}, reason="the tour detached")
        with self._changed:
            self._is_detached = True
            self._changed.notify_all()
        self._seam.detach()
        self._controls.detach()
        if self._thread.is_alive():
            self._thread.join()

    def watch(self, *things: Any) -> None:
        """Show these too: factories, informers, queues. Those that begin while it is attached are found without."""
        for thing in things:
            if hasattr(thing, "made"):
                self.watch(*thing.made().values())
            elif hasattr(thing, "parts"):
                self._add_informer(thing)
            elif hasattr(thing, "contents") and hasattr(thing, "get"):
                self._add_queue(thing, programframes.variable_of(thing))
            else:
                raise TypeError(f"the tour watches factories, informers and queues, not {type(thing).__name__}")

    def _add_informer(self, informer: Any) -> None:
        with self._changed:
            if any(informer is other for other in self._informers):
                return
            if len(self._informers) >= _MOST:
                self._unlisted += 1
                return
            self._informers.append(informer)

    def _add_queue(self, queue: Any, origin: str = "") -> Held | None:
        inner = getattr(queue.get, "__self__", queue)
        with self._changed:
            known = self._queues.get(id(inner))
            if known is None and len(self._queues) >= _MOST:
                self._unlisted += 1
                return None
            if known is None or known.queue is inner or hasattr(queue, "add_rate_limited"):
                known = Held(queue, inner, {}, origin) if known is None else replace(known, queue=queue)
                self._queues[id(inner)] = known
            return known

    # ---- recorded at every hop

    def _receive(self, hop: Hop) -> None:
        place = threading.get_ident(), hop.station
        if hop.kind in _NAMES_OWNER:
            self._owners[place] = hop.owner
        elif hop.kind in _OF_THREAD:
            # It happens at a decoder or a notification: its owner is the reflector or the handler of the thread.
            hop = replace(hop, owner=self._owners.get(place))
        self._arrived.append(hop)

    def _probes(self) -> tuple[Probe, ...]:
        return (
            Probe.at("informer.run", self._around_run),
            Probe("clientgo.util.workqueue.queue", "Typed.__init__", self._around_making),
            Probe.at("queue.new_rate_limiting", self._around_making),
            Probe.at("queue.new_delaying", self._around_making),
            Probe.at("queue.add", self._around_add),
            Probe.at("queue.get", self._around_get),
            Probe.at("queue.new_priority", self._around_making),
            Probe.at("queue.add_with_priority", self._around_add_with_priority),
            Probe.at("queue.get_with_priority", self._around_get),
            Probe.at("reflector.pass", self._around_pass),
            Probe.at("reflector.list_pages", self._around_pass),
            *self.secrecy.probes(),
        )

    def _around_pass(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(reflector: Any, *args: Any) -> Any:
            with self.secrecy.asking_for(id(reflector)):
                return function(reflector, *args)

        return run

    def _around_run(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def run_with_context(informer: Any, ctx: Any) -> None:
            self._add_informer(informer)
            function(informer, ctx)

        return run_with_context

    def _around_making(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(queue: Any, *args: Any, **kwargs: Any) -> None:
            function(queue, *args, **kwargs)
            self._add_queue(queue, programframes.line_of_call())

        return __init__

    def _around_add(self, function: Callable[..., Any]) -> Callable[..., Any]:
        queues, now = self._queues, self.clock.now

        def add(queue: Any, item: Any) -> None:
            held = queues.get(id(queue)) or self._add_queue(queue)
            if held is not None:
                _note_time(held, item, now)
            function(queue, item)

        return add

    def _around_add_with_priority(self, function: Callable[..., Any]) -> Callable[..., Any]:
        queues, now = self._queues, self.clock.now

        def _add(queue: Any, item: Any, due_at: float, priority: int | None) -> None:
            held = queues.get(id(queue)) or self._add_queue(queue)
            # A hop that must wait first is not late yet.
            if held is not None and due_at == -math.inf:
                _note_time(held, item, now)
            function(queue, item, due_at, priority)

        return _add

    def _around_get(self, function: Callable[..., Any]) -> Callable[..., Any]:
        queues, workers, now, ident = self._queues, self._workers, self.clock.now, threading.get_ident

        def get(queue: Any) -> tuple[Any, ...]:
            thread = ident()
            workers[thread] = id(queue), _NOTHING, now()
            got: tuple[Any, ...] = function(queue)
            item = got[0]
            if got[-1]:  # it is shut down
                workers.pop(thread, None)
                return got
            held = queues.get(id(queue)) or self._add_queue(queue)
            if held is not None:
                held.since.pop(item, None)
            workers[thread] = id(queue), item, now()
            if self._delays:
                self._wait(threading.current_thread().name, queue.shutting_down)
            return got

        return get

    # ---- requests of pages

    def name_of(self, listener: Any) -> str:
        """Return the name of a handler's listener, with a number if another listener has that name already."""
        with self._changed:
            if listener not in self._handler_names:
                # The numbers are in the order in which the handlers were added.
                handlers = [each for informer in self._informers for each in informer.parts().handlers]
                for each in (*handlers, listener):
                    if each not in self._handler_names:
                        self._handler_names[each] = _free_name(each.name(), set(self._handler_names.values()))
            return self._handler_names[listener]

    def pause(self, handler: str) -> None:
        """Let the thread of the handler with this name, see `name_of`, wait before its next call, until `go_on`.

        Its notifications pile up meanwhile.
        """
        self._request(paused=self._paused | {handler})

    def go_on(self, handler: str) -> None:
        """Let the handler go on."""
        self._request(paused=self._paused - {handler})

    def slow(self, thread: str, delay: float) -> None:
        """Let a worker's thread wait so many seconds each time it took a key; 0 for no longer. Raises ValueError."""
        if not 0 <= delay <= LONGEST_DELAY:
            raise ValueError(f"a worker is slowed down by 0 to {LONGEST_DELAY:g} seconds, not {delay}")
        delays = {**self._delays, thread: delay}
        self._request(delays={name: each for name, each in delays.items() if each})

    def requested(self) -> tuple[frozenset[str], Mapping[str, float]]:
        """Return the paused handlers, and the delays of workers in seconds."""
        return self._paused, self._delays

    def is_detached(self) -> bool:
        """Report whether `detach` was called."""
        with self._changed:
            return self._is_detached

    def connected(self) -> None:
        """Note that a page is connected. Pauses and delays end when this was last called ABSENCE seconds ago."""
        with self._changed:
            self._visited = self.clock.now()

    def stay_connected(self) -> None:
        """Block for up to two seconds, and note before and after that a page is connected.

        A page in a hidden tab calls this in a loop: browsers slow down its timers, but not its requests.
        """
        self.connected()
        with self._changed:
            if not self._is_detached:
                self.clock.wait(self._changed, _HOLD)
        self.connected()

    def _end_unattended(self, now: float) -> None:
        with self._changed:
            is_absent = self._visited is not None and now - self._visited > ABSENCE
            if not is_absent or not (self._paused or self._delays):
                return
        self._request(paused=frozenset(), delays={}, reason="no page of the tour is connected")

    def _request(
        self,
        *,
        paused: frozenset[str] | None = None,
        delays: Mapping[str, float] | None = None,
        reason: str = "the user asked for it",
    ) -> None:
        with self._changed:
            if self._is_detached:
                return
            before = self._paused, self._delays
            self._paused = self._paused if paused is None else paused
            self._delays = self._delays if delays is None else delays
            after = self._paused, self._delays
            self._changed.notify_all()
            if self._paused and not before[0]:
                self._controls.attach()
            elif before[0] and not self._paused:
                self._controls.detach()
        log_changes(before, after, reason)

    def _control_probes(self) -> tuple[Probe, ...]:
        names = ("handlers.add", "handlers.update", "handlers.delete")
        return tuple(Probe.at(name, self._around_deliver) for name in names)

    def _around_deliver(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def deliver(notification: Any, handler: Any) -> None:
            if self._paused:
                self._wait_while_paused(handler)
            function(notification, handler)

        return deliver

    def _wait_while_paused(self, handler: Any) -> None:
        listener = self._listener_of(threading.get_ident())
        name = name_for_handler(handler) if listener is None else self.name_of(listener)
        # The program's log must not blame the handler for the pause.
        with stuck_handlers.holding(), self._changed:
            while name in self._paused and not self._is_detached and _is_listening(listener):
                self.clock.wait(self._changed, _PATIENCE)

    def _listener_of(self, thread: int) -> Any:
        """Return the listener whose handler this thread calls; None if no informer of the tour has it."""
        listeners = (each for informer in list(self._informers) for each in informer.parts().handlers)
        return next((each for each in listeners if each.thread_ident() == thread), None)

    def _wait(self, thread: str, is_ending: Callable[[], bool]) -> None:
        began = self.clock.now()
        with self._changed:
            while not self._is_detached and not is_ending():
                left = began + self._delays.get(thread, 0.0) - self.clock.now()
                if left <= 0:
                    return
                self.clock.wait(self._changed, min(left, _PATIENCE))

    # ---- its own thread

    def _tick_on(self) -> None:
        while self._wait_for_tick():
            self.tick()  # without the lock: who looks, or begins an informer, does not wait for it

    def _wait_for_tick(self) -> bool:
        with self._changed:
            if not self._is_detached:
                self.clock.wait(self._changed, _TICK)
            return not self._is_detached

    def tick(self) -> None:
        """Record the number of calls and allow further hops. Only the ticker calls it, or a test in its place."""
        now = self.clock.now()
        for tap, meter in self._seam.meters.items():
            marks = self._marks[tap]
            calls, emitted = meter.read()
            before = marks[-1] if marks else (now, 0, 0)
            # Each emitted hop uses the allowance up, and time restores it.
            left = max(0.0, self._allowed[tap] - (emitted - before[2]))
            self._allowed[tap] = min(float(BURST), left + PER_SECOND * (now - before[0]))
            meter.allow(int(self._allowed[tap]))
            marks.append((now, calls, emitted))
        with self._collecting:
            self._collect()
        self._note_calls(now)
        self._end_unattended(now)
        self.on_tick()

    def _note_calls(self, now: float) -> None:
        """Note since when each handler is in its present call."""
        called: dict[int, tuple[Any, float]] = {}
        for informer in list(self._informers):
            for handler in informer.parts().handlers:
                delivering = handler.delivering()
                if delivering is None:
                    continue
                before, since = self._called.get(id(handler), (None, now))
                called[id(handler)] = delivering, since if before is delivering else now
        self._called = called

    # ---- what there is to see

    def informers(self) -> list[Any]:
        """Return all known informers, in the order in which they began."""
        with self._changed:
            return list(self._informers)

    def carries_secrets(self, parts: Any) -> bool:
        """Report whether an informer with these parts holds Secrets, by its resource, its description or its type."""
        source = id(parts.indexer if parts.reflector is None else parts.reflector)
        self.secrecy.mark_description(source, parts.kind)
        if parts.reflector is not None:
            self.secrecy.mark_description(source, parts.reflector.type_description())
        return self.secrecy.is_secret_source(source)

    def queues(self) -> list[Held]:
        """Return all known queues, in the order in which they began."""
        with self._changed:
            return list(self._queues.values())

    def unlisted(self) -> int:
        """Return the number of informers and queues beyond those that are listed."""
        return self._unlisted

    def in_call(self, handler: Any) -> float | None:
        """Return how many seconds a handler's present call has lasted, to a tick; None outside of a call."""
        delivering, since = self._called.get(id(handler), (None, 0.0))
        return None if delivering is None else self.clock.now() - since

    def workers(self) -> list[Work]:
        """Return the threads that take keys, by name. The thread of a key taken before the tour attached is unknown."""
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        found = []
        for ident, (queue, item, since) in list(self._workers.items()):
            held = self._queues.get(queue)
            if ident not in names or held is None:
                self._workers.pop(ident, None)
                continue
            at_work = item is not _NOTHING and held.inner.state_of(item)[1]
            found.append(Work(names[ident], held.queue, item if at_work else None, since))
        known = {(id(work.queue), work.item) for work in found}
        for held in self.queues():
            unknown = [item for item in _processing(held) if (id(held.queue), item) not in known]
            found += [Work("?", held.queue, item, None) for item in unknown]
        return sorted(found, key=lambda work: work.thread)

    def sums(self) -> dict[Tap, Sum]:
        """Return the calls of each watched function up to the last tick."""
        sums = {}
        for tap, marks in self._marks.items():
            then, now = marks[0], marks[-1]
            elapsed = now[0] - then[0]
            sums[tap] = Sum(now[1], now[2], (now[1] - then[1]) / elapsed if elapsed > 0 else 0.0)
        return sums

    def hops(self, since: int = -1, key: str = "", most: int = 200) -> list[Hop]:
        """Return the last `most` hops that were kept: behind place `since`, of `key` if one is given."""
        return self.hops_since(since, key, most)[0]

    def hops_since(self, since: int = -1, key: str = "", most: int = 200) -> tuple[list[Hop], int]:
        """Return `hops` and the place of the last hop, -1 for none: later hops are behind that place."""
        with self._collecting:
            self._collect()
            kept, last = self._kept, self._first + len(self._kept) - 1
            kept = kept[max(0, since + 1 - self._first) :]
        if key:
            kept = [hop for hop in kept if hop.key == key]
        return kept[max(0, len(kept) - most) :], last

    def _collect(self) -> None:
        hops_since, kept = self._arrived, self._kept
        while hops_since:
            kept.append(hops_since.popleft())
        gone = max(0, len(kept) - KEPT_HOPS)
        del kept[:gone]
        self._first += gone


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, or the name with the smallest number from 2 that makes it differ from all others."""
    names = itertools.chain([name], (f"{name} #{number}" for number in itertools.count(2)))
    return next(each for each in names if each not in taken)


def _is_listening(listener: Any) -> bool:
    """Report whether a handler still takes notifications; False while its informer stops, and for None."""
    return listener is not None and not listener.contents(1).closed


def _note_time(held: Held, item: Any, now: Callable[[], float]) -> None:
    """Note when an item was added. The queue itself reports an item that is not hashable, in its own words."""
    try:
        if item not in held.since:
            held.since[item] = now()
    except TypeError:
        return


def _processing(held: Held) -> Iterable[Any]:
    """Return the items that are being processed, without a copy of the whole queue."""
    if hasattr(held.inner, "processing"):
        items: frozenset[Any] = held.inner.processing()
        return items
    others: frozenset[Any] = held.queue.contents().processing
    return others
