"""Watches that change or record the events of another one.

Mirrors k8s.io/apimachinery/pkg/watch/filter.go.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeAlias

from clientgo.apimachinery.util.runtime import handle_crash
from clientgo.apimachinery.watch.watch import Event, Interface
from clientgo.golang.channel import Channel

FilterFunc: TypeAlias = Callable[[Event], tuple[Event, bool]]
"""A function that returns the event to pass on, and whether to pass it on. Go: watch.FilterFunc."""


def filter(w: Interface, f: FilterFunc) -> Interface:
    """Return a watch that transforms every event of `w` with `f`, in its own thread. Go: watch.Filter.

    The thread ends when `w`'s channel is closed and its events have been received.
    """
    return _FilteredWatch(w, f)


class _FilteredWatch:
    """Go: watch.filteredWatch."""

    def __init__(self, incoming: Interface, f: FilterFunc) -> None:
        self._incoming = incoming
        self._filter = f
        self._result: Channel[Event] = Channel()
        threading.Thread(target=self._loop, name="watch-filter", daemon=True).start()

    def result_chan(self) -> Channel[Event]:
        return self._result

    def stop(self) -> None:
        """Stop the source; this watch ends when the source has ended."""
        self._incoming.stop()

    def _loop(self) -> None:
        try:
            with handle_crash(go_on=True):
                for event in self._incoming.result_chan():
                    filtered, keep = self._filter(event)
                    if keep:
                        self._result.send(filtered)
        finally:
            self._result.close()


class Recorder:
    """A watch that records the events of another one. Thread-safe. Go: watch.Recorder."""

    def __init__(self, w: Interface) -> None:
        # Guards _events.
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._interface = filter(w, self._record)

    def _record(self, event: Event) -> tuple[Event, bool]:
        with self._lock:
            self._events.append(event)
        return event, True

    def stop(self) -> None:
        """Stop the source."""
        self._interface.stop()

    def result_chan(self) -> Channel[Event]:
        """Return the source's events."""
        return self._interface.result_chan()

    def events(self) -> list[Event]:
        """Return a copy of the recorded events. Go: Recorder.Events."""
        with self._lock:
            return list(self._events)


def new_recorder(w: Interface) -> Recorder:
    """Return a watch that records the events of another watch. Go: watch.NewRecorder."""
    return Recorder(w)
