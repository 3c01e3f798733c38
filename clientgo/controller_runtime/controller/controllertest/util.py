"""An informer whose events a test makes. Mirrors pkg/controller/controllertest/util.go.

It holds nothing and runs nothing: `add`, `update` and `delete` tell its handlers, in the thread that calls.
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
    """What can be chosen about a FakeInformer. Go: controllertest.InformerOptions."""

    synced: bool = False
    """Whether it has synced from the start."""


class InformerOption(Protocol):
    """Changes how a FakeInformer is made. Go: controllertest.InformerOption."""

    def apply(self, opts: InformerOptions) -> None:
        """Change the options."""
        ...


class _Synced:
    def apply(self, opts: InformerOptions) -> None:
        opts.synced = True


# The informer has synced from the start. Go: controllertest.Synced.
SYNCED: Final[InformerOption] = _Synced()


class FakeInformer:
    """A SharedIndexInformer for tests. Made by `new_fake_informer`. Go: controllertest.FakeInformer.

    What it is told of (indexers, transforms, error handlers) is ignored.
    """

    def __init__(self) -> None:
        # How often it was run.
        self.run_count = 0
        self._synced = Signal()
        self._handlers: list[tuple[_FakeHandlerRegistration, cache.ResourceEventHandler]] = []

    def add_indexers(self, indexers: cache.Indexers) -> None:
        """Does nothing."""

    def get_indexer(self) -> cache.Indexer:
        """An empty one."""
        return cache.new_indexer(cache.deletion_handling_meta_namespace_key_func, {})

    def informer(self) -> FakeInformer:
        """Itself."""
        return self

    def synced(self) -> None:
        """From now on it has synced. Go: (*FakeInformer).Synced."""
        self._synced.set()

    def has_synced(self) -> bool:
        """Whether `synced` was called."""
        return self._synced.is_set()

    def has_synced_checker(self) -> cache.DoneChecker:
        """Done when `synced` is called."""
        return self

    def name(self) -> str:
        """What is waited for, as a DoneChecker."""
        return "FakeInformer"

    def done(self) -> StopChannel:
        """Set by `synced`."""
        return self._synced

    def add_event_handler(self, handler: cache.ResourceEventHandler) -> cache.ResourceEventHandlerRegistration:
        """From now on tell `handler` too."""
        registration = _FakeHandlerRegistration(self)
        self._handlers.append((registration, handler))
        return registration

    def add_event_handler_with_resync_period(
        self, handler: cache.ResourceEventHandler, resync_period: float
    ) -> cache.ResourceEventHandlerRegistration:
        """The same; there are no resyncs."""
        return self.add_event_handler(handler)

    def add_event_handler_with_options(
        self, handler: cache.ResourceEventHandler, options: cache.HandlerOptions
    ) -> cache.ResourceEventHandlerRegistration:
        """The same, whatever the options say."""
        return self.add_event_handler(handler)

    def remove_event_handler(self, handle: cache.ResourceEventHandlerRegistration) -> None:
        """Tell a handler no more. Go's does nothing."""
        self._handlers = [each for each in self._handlers if each[0] is not handle]

    def run(self, stop_ch: StopChannel) -> None:
        """Count the call. Returns at once."""
        self.run_count += 1

    def run_with_context(self, ctx: Context) -> None:
        """Count the call. Returns at once."""
        self.run_count += 1

    def add(self, obj: Any) -> None:
        """Tell the handlers that there is a new object."""
        for _, handler in self._handlers:
            handler.on_add(obj, False)

    def update(self, old_obj: Any, new_obj: Any) -> None:
        """Tell the handlers that an object has changed."""
        for _, handler in self._handlers:
            handler.on_update(old_obj, new_obj)

    def delete(self, obj: Any) -> None:
        """Tell the handlers that an object is gone."""
        for _, handler in self._handlers:
            handler.on_delete(obj)

    def get_store(self) -> cache.Store:
        """An empty one. Go's has none."""
        return self.get_indexer()

    def get_controller(self) -> cache.Controller:
        """Raises NotImplementedError: nothing feeds it. In Go it is nil."""
        raise NotImplementedError("a FakeInformer has no controller")

    def last_sync_resource_version(self) -> str:
        """Empty: it never lists."""
        return ""

    def last_heard(self) -> float | None:
        """None: it has no server."""
        return None

    def refused(self) -> Mapping[str, cache.Refusal]:
        """Empty: it takes nothing in."""
        return {}

    def set_watch_error_handler(self, handler: cache.WatchErrorHandler) -> None:
        """Does nothing."""

    def set_watch_error_handler_with_context(self, handler: cache.WatchErrorHandlerWithContext) -> None:
        """Does nothing."""

    def set_transform(self, handler: cache.TransformFunc) -> None:
        """Does nothing."""

    def is_stopped(self) -> bool:
        """It never is."""
        return False


def new_fake_informer(*opts: InformerOption) -> FakeInformer:
    """A FakeInformer. Go: controllertest.NewFakeInformer."""
    options = InformerOptions()
    for opt in opts:
        opt.apply(options)
    informer = FakeInformer()
    if options.synced:
        informer.synced()
    return informer


class _FakeHandlerRegistration:
    """A handler has heard of everything as soon as its informer has synced. Go: fakeHandlerRegistration."""

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
