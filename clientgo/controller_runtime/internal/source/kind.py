"""A source of the changes to all objects of a kind. Mirrors pkg/internal/source/kind.go."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

from clientgo import context
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.util import wait
from clientgo.apimachinery.util.errors.chain import as_type
from clientgo.context import Context
from clientgo.controller_runtime.cache.cache import Cache, Informer
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.handler.eventhandler import TypedEventHandler
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.controller_runtime.internal.source.event_handler import new_event_handler, require_methods
from clientgo.controller_runtime.predicate.predicate import TypedPredicate
from clientgo.golang.channel import Channel, Receive, select
from clientgo.golang.stop import is_crash
from clientgo.klog.exceptions import crash_error
from clientgo.tools import cache as toolscache
from clientgo.util.workqueue import TypedRateLimitingInterface

__all__ = ["Kind"]

_LOG = RUNTIME_LOG.with_name("source").with_name("Kind")
_RETRY_PERIOD = 10.0

ObjectT = TypeVar("ObjectT", bound=Object)
RequestT = TypeVar("RequestT", bound=Hashable)


class Kind(Generic[ObjectT, RequestT]):
    """A source of the events of one kind, from the cache's informer. Go: internal.Kind.

    `start` does not block. While the server does not serve the kind, for example before its CRD is installed, a thread
    retries every ten seconds. The thread ends when the handler has synced, or with the context.
    """

    def __init__(
        self,
        type: type[ObjectT] | ObjectT | None,
        cache: Cache | None,
        handler: TypedEventHandler[ObjectT, RequestT] | None,
        predicates: Sequence[TypedPredicate[ObjectT]] = (),
    ) -> None:
        self.type = type
        """The class of the objects, or an example for Unstructured and PartialObjectMetadata."""
        self.cache = cache
        self.handler = handler
        self.predicates = list(predicates)
        # Receives the error of the start; closed without an error on success.
        self._started: Channel[Exception | None] | None = None
        self._start_cancel: context.CancelFunc = lambda: None

    def start(self, ctx: Context, queue: TypedRateLimitingInterface[RequestT]) -> None:
        """Start to deliver events. Raises ValueError if a part is missing; `wait_for_sync` raises all other errors."""
        if self.type is None:
            raise ValueError("must create Kind with a non-nil object")
        if self.cache is None:
            raise ValueError("must create Kind with a non-nil cache")
        if self.handler is None:
            raise ValueError("must create Kind with non-nil handler")
        require_methods(self.handler, self.predicates, ("create", "update", "delete"))
        # Only this source cancels this context; it is the parent of the handlers' contexts.
        ctx, self._start_cancel = context.with_cancel(ctx)
        started: Channel[Exception | None] = Channel(1)
        self._started = started
        threading.Thread(
            target=self._run, args=(ctx, queue, self.cache, self.handler, started), name=f"source-{self}", daemon=True
        ).start()

    def _run(
        self,
        ctx: Context,
        queue: TypedRateLimitingInterface[RequestT],
        cache: Cache,
        handler: TypedEventHandler[ObjectT, RequestT],
        started: Channel[Exception | None],
    ) -> None:
        try:
            informer = self._get_informer(ctx, cache)
            registration = informer.add_event_handler_with_options(
                new_event_handler(ctx, queue, handler, self.predicates), toolscache.HandlerOptions(logger=_LOG)
            )
            if not cache.wait_for_cache_sync(ctx):
                raise RuntimeError("cache did not sync")
            if not toolscache.wait_for_cache_sync(ctx.done(), registration.has_synced):
                raise RuntimeError("handler did not sync")
        except Exception as err:
            started.send(err)
        except BaseException as err:  # the source would seem to have synced
            if not is_crash(err):
                raise
            started.send(crash_error(self, err))
        finally:
            started.close()

    def _get_informer(self, ctx: Context, cache: Cache) -> Informer:
        """Retry until the cache returns an informer. Raises the last error if the context ends first."""
        assert self.type is not None
        example: Any = self.type
        found: list[Informer] = []
        last: list[Exception] = []

        def ask(ctx: Context) -> bool:
            try:
                found.append(cache.get_informer(ctx, example))
                return True
            except Exception as err:
                last[:] = [err]
                if not isinstance(ctx.err(), context.Canceled):
                    # Otherwise the program stops, often because of another error. Go logs a timeout then, too.
                    _log_failure(err)
                return False

        try:
            wait.poll_until_context_cancel(ctx, _RETRY_PERIOD, True, ask)
        except Exception:
            if last:
                raise RuntimeError(f"failed to get informer from cache: {last[0]}") from last[0]
            raise
        return found[0]

    def wait_for_sync(self, ctx: Context) -> None:
        """Wait until the handler has received all initial objects. Raises the error of the start.

        If `ctx` ends first it stops the source and raises TimeoutError at a deadline, and nothing after a cancellation.
        """
        if self._started is None:
            raise RuntimeError(f"{self} was not started")
        chosen = select([Receive(self._started), ctx.done()])
        if chosen.case == 0:
            if chosen.value is not None:
                raise chosen.value
            return
        self._start_cancel()
        if isinstance(ctx.err(), context.Canceled):
            return
        raise TimeoutError(f"timed out waiting for cache to be synced for {self}")

    def __str__(self) -> str:
        if self.type is None:
            return "kind source: unknown type"
        if isinstance(self.type, Object):
            name = type(self.type).__name__
            if isinstance(self.type, Unstructured | metav1.PartialObjectMetadata):
                api_version, kind = self.type.group_version_kind().to_api_version_and_kind()
                return f"kind source: {name}[{api_version} {kind}]"
            return f"kind source: {name}"
        return f"kind source: {self.type.__name__}"

    def __repr__(self) -> str:
        return f"<{self}>"


def _log_failure(err: Exception) -> None:
    no_match = as_type(err, meta.NoKindMatchError)
    if no_match is not None:
        _LOG.error(err, "if kind is a CRD, it should be installed before calling Start", kind=no_match.group_kind)
    elif runtime.is_not_registered_error(err):
        _LOG.error(err, "kind must be registered to the Scheme")
    else:
        _LOG.error(err, "failed to get informer from cache")
