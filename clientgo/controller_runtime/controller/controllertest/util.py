"""An informer whose events a test makes. Mirrors pkg/controller/controllertest/util.go.

It stores nothing and runs nothing: `add`, `update` and `delete` call its handlers in the calling thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from clientgo.context import Context
from clientgo.golang.stop import Signal, StopChannel
from clientgo.tools import cache

__all__ = ["SYNCED", "FakeInformer", "InformerOption", "InformerOptions", "new_fake_informer"]


@dataclass(kw_only=True)
class InformerOptions:
    """The options of a FakeInformer. Go: controllertest.InformerOptions."""

    synced: bool = False
    """Start in the synced state."""


class InformerOption(Protocol):
    """An option of a FakeInformer. Go: controllertest.InformerOption."""

    def apply(self, opts: InformerOptions) -> None:
        """Change the options."""
        ...


class _Synced:
    def apply(self, opts: InformerOptions) -> None:
        opts.synced = True


# Start in the synced state. Go: controllertest.Synced.
SYNCED: Final[InformerOption] = _Synced()


class FakeInformer:
    """A SharedIndexInformer for tests, made by `new_fake_informer`. Go: controllertest.FakeInformer.

    It ignores indexers, transforms and error handlers.
    """

    def __init__(self) -> None:
        # The number of runs.
        self.run_count = 0
        self._synced = Signal()
        self._handlers: list[tuple[_FakeHandlerRegistration, cache.ResourceEventHandler]] = []

    def add_indexers(self, indexers: cache.Indexers) -> None:
        """Do nothing."""

    def get_indexer(self) -> cache.Indexer:
        """Return an empty indexer."""
        return cache.new_indexer(cache.deletion_handling_meta_namespace_key_func, {})

    def informer(self) -> FakeInformer:
        """Return this informer."""
        return self

    def synced(self) -> None:
        """Mark the informer as synced. Go: (*FakeInformer).Synced."""
        self._synced.set()

    def has_synced(self) -> bool:
        """Report whether `synced` was called."""
        return self._synced.is_set()

    def has_synced_checker(self) -> cache.DoneChecker:
        """Return a checker that is done after `synced`."""
        return self

    def name(self) -> str:
        """Return the name of this DoneChecker."""
        return "FakeInformer"

    def done(self) -> StopChannel:
        """Return a channel that `synced` closes."""
        return self._synced

    def add_event_handler(self, handler: cache.ResourceEventHandler) -> cache.ResourceEventHandlerRegistration:
        """Add `handler`; it receives the events from now on."""
        registration = _FakeHandlerRegistration(self)
        self._handlers.append((registration, handler))
        return registration

    def add_event_handler_with_resync_period(
        self, handler: cache.ResourceEventHandler, resync_period: float
    ) -> cache.ResourceEventHandlerRegistration:
        """Add `handler`. There are no resyncs."""
        return self.add_event_handler(handler)

    def add_event_handler_with_options(
        self, handler: cache.ResourceEventHandler, options: cache.HandlerOptions
    ) -> cache.ResourceEventHandlerRegistration:
        """Add `handler`. The options are ignored."""
        return self.add_event_handler(handler)

    def remove_event_handler(self, handle: cache.ResourceEventHandlerRegistration) -> None:
        """Remove a handler. Go's method does nothing."""
        self._handlers = [each for each in self._handlers if each[0] is not handle]

    def run(self, stop_ch: StopChannel) -> None:
        """Count the call. Returns at once."""
        self.run_count += 1

    def run_with_context(self, ctx: Context) -> None:
        """Count the call. Returns at once."""
        self.run_count += 1

    def add(self, obj: Any) -> None:
        """Call `on_add` of the handlers."""
        for _, handler in self._handlers:
            handler.on_add(obj, False)

    def update(self, old_obj: Any, new_obj: Any) -> None:
        """Call `on_update` of the handlers."""
        for _, handler in self._handlers:
            handler.on_update(old_obj, new_obj)

    def delete(self, obj: Any) -> None:
        """Call `on_delete` of the handlers."""
        for _, handler in self._handlers:
            handler.on_delete(obj)

    def get_store(self) -> cache.Store:
        """Return an empty store. Go's has none."""
        return self.get_indexer()

    def get_controller(self) -> cache.Controller:
        """Raise NotImplementedError, since no controller feeds this informer. In Go it is nil."""
        raise NotImplementedError("a FakeInformer has no controller")

    def last_sync_resource_version(self) -> str:
        """Return "", since this informer never lists."""
        return ""

    def last_contact(self) -> float | None:
        """Return None, since this informer has no server."""
        return None

    def refused(self) -> Mapping[str, cache.Refusal]:
        """Return an empty mapping, since this informer stores no objects."""
        return {}

    def set_watch_error_handler(self, handler: cache.WatchErrorHandler) -> None:
        """Do nothing."""

    def set_watch_error_handler_with_context(self, handler: cache.WatchErrorHandlerWithContext) -> None:
        """Do nothing."""

    def set_transform(self, handler: cache.TransformFunc) -> None:
        """Do nothing."""

    def is_stopped(self) -> bool:
        """Return False."""
        return False


def new_fake_informer(*opts: InformerOption) -> FakeInformer:
    """Return a FakeInformer. Go: controllertest.NewFakeInformer."""
    options = InformerOptions()
    for opt in opts:
        opt.apply(options)
    informer = FakeInformer()
    if options.synced:
        informer.synced()
    return informer


class _FakeHandlerRegistration:
    """A registration that has synced as soon as its informer has. Go: fakeHandlerRegistration."""

    def __init__(self, informer: FakeInformer) -> None:
        self._informer = informer

    def has_synced(self) -> bool:
        return self._informer.has_synced()

    def has_synced_checker(self) -> cache.DoneChecker:
        return self

    def statistics(self) -> cache.HandlerStatistics:
        name = self.name()
        return cache.HandlerStatistics(handler=name, pending=0, oldest_age=0.0, failed=0, merged=0, closed=False)

    def name(self) -> str:
        return "FakeHandlerRegistration"

    def done(self) -> StopChannel:
        return self._informer.done()
