"""The reflector: keeps a store equal to a resource of a server, with one list and a watch from its version on.

Mirrors tools/cache/reflector.go. `list_and_watch_with_context` fills the store, from a stream of the initial objects if
the server has such streams, else from a list. It then applies watch events until an error makes a new list necessary;
`run_with_context` repeats that with growing pauses.

Differs from Go:
  * a watch is read through a Reader (rest/watch/reader.py), not through its result channel. Two contexts take the place
    of the channels in Go's select: `ctx` is done at a stop, `resync_ctx` also with an error as its cause;
  * pauses are as long as Go's longest, never shorter: a failing server gets two attempts in four seconds, not three;
  * a stop also ends the pause before a stream is tried again;
  * a store with a `bookmark` method receives bookmarks; in Go the method of a plain Store has another signature;
  * `last_contact`, `request_list` and the calls of tools/cache/beyond, which are marked "Beyond Go".

Threads: everything runs on the thread of `run_with_context`, except `Store.resync`, which the thread "<name> resync"
calls if there is a resync period, and list requests, which "<name> list" makes. A stop does not wait for a lister that
ignores its context.
"""

from __future__ import annotations

import contextlib
import math
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from clientgo import context, features, klog
from clientgo.apimachinery import runtime, watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.util import naming, wait
from clientgo.apimachinery.util import net as utilnet
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang.channel import StopChannel, select
from clientgo.golang.duration import format_duration
from clientgo.golang.goroutine import go
from clientgo.golang.time import require_seconds
from clientgo.hops import hop
from clientgo.klog.answers import is_true
from clientgo.klog.exceptions import cause_text, name_subject, operational_error
from clientgo.rest.watch.reader import Reader, new_reader
from clientgo.tools import pager
from clientgo.tools.cache.beyond.malformed import MalformedEventError, new_kind_check
from clientgo.tools.cache.beyond.outage import OutageReporter, reporting_slow_list
from clientgo.tools.cache.beyond.relist import RelistRequested, RelistRequests
from clientgo.tools.cache.beyond.unproductive import UnproductiveRequests
from clientgo.tools.cache.delta_fifo import deletion_handling_meta_namespace_key_func
from clientgo.tools.cache.index import NAMESPACE_INDEX, Indexer, meta_namespace_index_func
from clientgo.tools.cache.listwatch import (
    ListerWatcher,
    ListerWatcherWithContext,
    list_from,
    require_lister_watcher,
    to_lister_watcher_with_context,
    watch_from,
)
from clientgo.tools.cache.reflector_data_consistency_detector import check_watch_list_data_consistency_if_requested
from clientgo.tools.cache.retry_with_deadline import new_retry_with_deadline
from clientgo.tools.cache.store import (
    KeyError,
    Store,
    TransactionError,
    meta_namespace_key_func,
    new_indexer,
    new_store,
    with_transformer,
)
from clientgo.util import watchlist
from clientgo.util.consistencydetector import DataInconsistencyError
from clientgo.utils import trace
from clientgo.utils.clock import REAL_CLOCK, Timer, WithTickerAndDelayedExecution

if TYPE_CHECKING:
    from clientgo.tools.cache.delta_fifo import TransformFunc

# Records the version of an event; the flag is False while only Added events came.
_SetResourceVersion = Callable[[str, bool], None]

_DEFAULT_EXPECTED_TYPE_NAME = "<unspecified>"

# Seconds. A watch ends after a random time between these two, so that the clients of a server do not return together.
_DEFAULT_MIN_WATCH_TIMEOUT = 5 * 60.0
_DEFAULT_MAX_WATCH_TIMEOUT = 2 * _DEFAULT_MIN_WATCH_TIMEOUT

# Go's pauses begin at 0.8 s and end at 30 s, each up to twice as long at random. These are as long as the longest of
# Go, so that no third attempt falls into the first four seconds: a request every 50 to 60 s while a server is down.
_DEFAULT_BACKOFF_INIT = 4 / 3
_DEFAULT_BACKOFF_MAX = 50.0
_DEFAULT_BACKOFF_RESET = 2 * 60.0
_DEFAULT_BACKOFF_FACTOR = 2.0
_DEFAULT_BACKOFF_JITTER = 0.2

# Seconds after which filling the store is logged with the time of each step.
_SLOW_SYNC_SECONDS = 10.0

# Seconds for which a stop waits for a list request to notice the cancelled context.
_LIST_GRACE_PERIOD = 0.2

# Local names of the enum's members, whose lookup costs more than their comparison.
_ADDED, _MODIFIED, _DELETED = watch.EventType.ADDED, watch.EventType.MODIFIED, watch.EventType.DELETED
_BOOKMARK, _ERROR = watch.EventType.BOOKMARK, watch.EventType.ERROR


class ReflectorStore(Protocol):
    """The methods of a store that a reflector calls; every Store and every Queue has them. Go: ReflectorStore."""

    def add(self, obj: Any, /) -> None:
        """Add a new object."""
        ...

    def update(self, obj: Any, /) -> None:
        """Replace the object of the same key."""
        ...

    def delete(self, obj: Any, /) -> None:
        """Delete the object of the same key."""
        ...

    def replace(self, objs: Sequence[Any], resource_version: str, /) -> None:
        """Replace the contents by `objs`, a list that the store may keep and change."""
        ...

    def resync(self) -> None:
        """Process the contents once more, in stores that process anything."""
        ...


@runtime_checkable
class ReflectorBookmarkStore(Protocol):
    """A store that receives bookmarks. Go: ReflectorBookmarkStore."""

    def bookmark(self, resource_version: str, /) -> None:
        """Note that every change up to `resource_version` was received."""
        ...


@runtime_checkable
class TransformingStore(ReflectorStore, Protocol):
    """A store that transforms objects, as the reflector then does with a stream's. Go: TransformingStore."""

    def transformer(self) -> TransformFunc | None:
        """Return the transform function, or None."""
        ...


class Reflector:
    """A loop that keeps a store equal to the objects of one resource. Go: Reflector.

    Make one with `new_reflector_with_options`. `run_with_context` may be called once; the getters from any thread.
    """

    def __init__(
        self,
        lw: ListerWatcher | ListerWatcherWithContext,
        expected_type: object,
        store: ReflectorStore,
        options: ReflectorOptions,
    ) -> None:
        clock = options.clock or REAL_CLOCK
        backoff = options.backoff or wait.Backoff(
            duration=_DEFAULT_BACKOFF_INIT,
            cap=_DEFAULT_BACKOFF_MAX,
            steps=math.ceil(_DEFAULT_BACKOFF_MAX / _DEFAULT_BACKOFF_INIT),
            factor=_DEFAULT_BACKOFF_FACTOR,
            jitter=_DEFAULT_BACKOFF_JITTER,
        )
        self._name = options.name or name_from_callsite(threading.current_thread().name)
        self._logger = klog.logger_with_name(options.logger or klog.background(), self._name)
        self._resync_period = require_seconds(options.resync_period, "resync_period")
        self._min_watch_timeout = max(options.min_watch_timeout, _DEFAULT_MIN_WATCH_TIMEOUT)
        self._max_watch_timeout = 2 * self._min_watch_timeout
        self._type_description = options.type_description or _get_type_description_from_object(expected_type)
        self._lister_watcher = to_lister_watcher_with_context(require_lister_watcher(lw))
        self._store = store
        self._delay_handler = backoff.delay_with_reset(clock, _DEFAULT_BACKOFF_RESET)
        self._clock = clock
        self._about = {"reflector": self._name, "type": self._type_description}
        # Called when `list_and_watch_with_context` raises.
        self.watch_error_handler: WatchErrorHandlerWithContext = default_watch_error_handler
        # The class that objects must have to enter the store; None for any.
        self._expected_type = _type_of(expected_type)
        self._expected_gvk = _get_expected_gvk_from_object(expected_type)
        self._use_watch_list = self._can_use_watch_list(lw)

        # Go: WatchListPageSize. The number of objects in a page of a list. With 0, lists of the newest or of any data
        # have pages of the pager's size, and a list at a version has none, so that the server's watch cache may answer
        # it. Each page is a read from the server's database: set it with care.
        self.watch_list_page_size = 0
        # Go: ShouldResync. Called each resync period; False skips the resync. None for always.
        self.should_resync: Callable[[], bool] | None = None
        # Go: MaxInternalErrorRetryDuration. Seconds for which an internal error of a watch leads to a new watch.
        self.max_internal_error_retry_duration = 0.0

        # The fields below are written by the thread that runs the reflector; reading one needs no lock.
        self._last_sync_resource_version = ""
        # The server rejected the last version used as too old or too new.
        self._is_last_sync_resource_version_unavailable = False
        # The first list came in pages: the server has no watch cache, so later lists are paged too.
        self._paginated_result = False

        # Beyond Go.
        self._last_contact: float | None = None
        self._check_kind = new_kind_check(self._expected_type)
        self._relist_requests = RelistRequests(clock)
        self._unproductive_streams = UnproductiveRequests(clock)
        self._outage_reporter = OutageReporter(clock, self._name, self._type_description)

    def _can_use_watch_list(self, lw: object) -> bool:
        if not features.feature_gates().enabled(features.WATCH_LIST_CLIENT):
            return False
        if watchlist.does_client_not_support_watch_list_semantics(lw):
            self._logger.v(2).info(
                "The client used to build this informer/reflector doesn't support WatchList semantics. "
                "The feature will be disabled. This is expected in unit tests but not in production. For details, "
                "see the documentation of watchlist.DoesClientNotSupportWatchListSemantics().",
                feature=features.WATCH_LIST_CLIENT,
            )
            return False
        return True

    def name(self) -> str:
        """Return the reflector's name in logs. Go: Name."""
        return self._name

    def type_description(self) -> str:
        """Return a description of the reflected type, for logs. Go: TypeDescription."""
        return self._type_description

    def run(self, stop_ch: StopChannel) -> None:
        """Call `run_with_context` with a context that is done when `stop_ch` is set. Go: Run."""
        self.run_with_context(wait.context_for_channel(stop_ch))

    def run_with_context(self, ctx: context.Context) -> None:
        """Call `list_and_watch_with_context` repeatedly until `ctx` is done. Blocks; call it in a thread.

        The pause between two calls grows, and is short again after two minutes without a pause. Go: RunWithContext.
        """

        def list_and_watch(ctx: context.Context) -> bool:
            with utilruntime.handle_crash_with_context(ctx, go_on=True):
                try:
                    try:
                        self.list_and_watch_with_context(ctx)
                    except Exception as err:
                        self.watch_error_handler(ctx, self, err)
                except BaseException as err:
                    name_subject(err, type=self._type_description, reflector=self._name)
                    raise
            return False

        logger = klog.from_context(ctx)
        period = format_duration(self._resync_period)
        about = {"type": self._type_description, "resyncPeriod": period, "reflector": self._name}
        logger.v(3).info("Starting reflector", **about)
        with contextlib.suppress(context.Canceled, context.DeadlineExceeded):
            self._delay_handler.until(ctx, True, True, list_and_watch)
        self._relist_requests.clear()  # Beyond Go.
        logger.v(3).info("Stopping reflector", **about)

    def list_and_watch(self, stop_ch: StopChannel) -> None:
        """Call `list_and_watch_with_context` with a context that is done when `stop_ch` is set. Go: ListAndWatch."""
        self.list_and_watch_with_context(wait.context_for_channel(stop_ch))

    @hop("reflector.list_and_watch", go="(*Reflector).ListAndWatchWithContext")
    def list_and_watch_with_context(self, ctx: context.Context) -> None:
        """Fill the store, then apply watch events until an error makes a new list necessary or `ctx` is done.

        Blocks. Raises when the list, or a request for a watch, failed; an error of an open watch is only logged.
        Go: ListAndWatchWithContext.
        """
        while True:
            try:
                return self._list_and_watch(ctx)
            except _StopRequested:
                return None
            except RelistRequested as err:  # Beyond Go.
                klog.from_context(ctx).v(2).info("Listing anew", **self._about, reason=err)

    @hop("reflector.pass", go="(*Reflector).ListAndWatchWithContext")
    def _list_and_watch(self, ctx: context.Context) -> None:
        """Make one pass of `list_and_watch_with_context`. Raises _StopRequested and RelistRequested too."""
        logger = klog.from_context(ctx)
        logger.v(3).info("Listing and watching", type=self._type_description, reflector=self._name)
        self._relist_requests.clear()  # Beyond Go.
        w: Reader | None = None
        if self._use_watch_list:
            try:
                w = self._watch_list(ctx)
            except (_StopRequested, DataInconsistencyError):
                raise
            except Exception as err:
                logger.v(4).info(
                    "Data couldn't be fetched in watchlist mode. Falling back to regular list. "
                    "This is expected if watchlist is not supported or disabled in kube-apiserver.",
                    err=err,
                )
        if w is None:
            self._list(ctx)
        logger.v(2).info("Caches populated", type=self._type_description, reflector=self._name)
        self._watch_with_resync(ctx, w)

    def _start_resync(self, ctx: context.Context, end_watch: context.CancelCauseFunc) -> None:
        """Call the store's resync each period until `ctx` is done or it fails. Blocks. Go: (*Reflector).startResync."""
        logger = klog.from_context(ctx)
        while context.sleep(ctx, self._resync_period, self._clock):
            try:
                if self.should_resync is None or is_true(self.should_resync):
                    logger.v(4).info("Forcing resync", reflector=self._name)
                    self._store.resync()
            except Exception as err:
                end_watch(err)
                return

    def _watch_with_resync(self, ctx: context.Context, w: Reader | None) -> None:
        """Call `_watch`, with `_start_resync` in a thread if there is a resync period.

        Go: (*Reflector).watchWithResync.
        """
        resync_ctx, cancel = context.with_cancel_cause(ctx)
        wg = wait.Group()
        try:
            if self._resync_period != 0:
                wg.start(lambda: self._start_resync(resync_ctx, cancel), name=f"{self._name} resync")
            with self._relist_requests.ending(cancel):  # Beyond Go.
                self._watch(ctx, w, resync_ctx)
        finally:
            cancel(None)
            wg.wait()

    @hop("reflector.watch", go="(*Reflector).watch")
    def _watch(self, ctx: context.Context, w: Reader | None, resync_ctx: context.Context) -> None:
        """Apply the events of one watch after another until an error or a stop. `w`, if given, is the first watch.

        Stops every watch. Raises the error of a watch that cannot be opened, and RelistRequested.
        """
        logger = klog.from_context(ctx)
        retry = new_retry_with_deadline(
            self.max_internal_error_retry_duration, 60.0, apierrors.is_internal_error, self._clock
        )
        unproductive_watches = UnproductiveRequests(self._clock)  # Beyond Go.
        while not ctx.done().is_set():
            # Taken before the request, because some proxies delay the answer until the first event.
            start = self._clock.now()
            # A watch that is open already is past the initial objects, whose versions are not in order.
            propagate_rv_from_start = True
            if w is None:
                options = metav1.ListOptions(
                    resource_version=self._last_sync_resource_version,
                    # A watch without events must not hang for ever.
                    timeout_seconds=self._random_watch_timeout(),
                    # Bookmarks keep the version of a silent watch recent. Servers may ignore the option.
                    allow_watch_bookmarks=True,
                )
                propagate_rv_from_start = options.resource_version not in ("", "0")
                try:
                    w = new_reader(watch_from(self._lister_watcher, ctx, options))
                except Exception as err:
                    if not _is_watch_error_retriable(err):
                        raise
                    logger.v(4).info("Watch failed - backing off", **self._about, err=err)
                    self._back_off(ctx, err)
                    continue
                self._record_contact(ctx)  # Beyond Go.
            version = self._last_sync_resource_version
            failure: Exception | None = None
            try:
                self._handle_watch(ctx, start, w, self._store, self._setter(propagate_rv_from_start), resync_ctx)
            except Exception as err:
                failure = err
            w = None
            retry.after(failure)
            if failure is None:
                pass
            elif isinstance(failure, _StopRequested):
                return
            elif isinstance(failure, RelistRequested):  # Beyond Go.
                raise failure
            elif _is_expired_error(failure):
                # The next list asks for data at least as new as the last version, which may succeed. So the version
                # does not count as unavailable yet.
                logger.v(4).info("Watch closed", **self._about, err=failure)
                return
            elif apierrors.is_too_many_requests(failure):
                logger.v(2).info("Watch returned 429 - backing off", **self._about)
                self._back_off(ctx, failure)
                continue
            elif apierrors.is_internal_error(failure) and retry.should_retry():
                logger.v(2).info("Retrying watch after internal error", **self._about, err=failure)
            else:
                logger.info("Warning: watch ended with error", **self._about, err=failure)
                return
            is_productive = version != self._last_sync_resource_version
            unproductive_watches.pause_after(ctx, start, is_productive)  # Beyond Go.
        if w is not None:
            w.stop()

    def _setter(self, propagate_rv_from_start: bool) -> _SetResourceVersion:
        """Return the function that records the version of each event of a watch."""
        store = self._store if isinstance(self._store, ResourceVersionUpdater) else None

        def set_last_sync_resource_version(rv: str, event_received_besides_added: bool) -> None:
            # A watch from "" or "0" begins with the existing objects, whose versions are not in order. Only an event
            # of another type than Added has a version to watch from.
            if propagate_rv_from_start or event_received_besides_added:
                self._last_sync_resource_version = rv
                if store is not None:
                    store.update_resource_version(rv)

        return set_last_sync_resource_version

    def _random_watch_timeout(self) -> int:
        return int(random.uniform(self._min_watch_timeout, self._max_watch_timeout))

    @hop("reflector.back_off", go="(*Reflector).watch")
    def _back_off(self, ctx: context.Context, err: BaseException) -> None:
        """Wait before the next request, because `err` reports that the server is down or busy."""
        if utilnet.is_connection_refused(err):
            self._outage_reporter.refused(klog.from_context(ctx), err)  # Beyond Go.
        context.sleep(ctx, self._delay_handler(), self._clock)

    def _list(self, ctx: context.Context) -> None:
        """Fill the store from a list and record its version. Raises if the list failed, and _StopRequested.

        Go: (*Reflector).list.
        """
        options = metav1.ListOptions(resource_version=self._relist_resource_version())
        with self._trace("Reflector ListAndWatch") as init_trace:
            call = go(lambda: self._list_pages(ctx, options), f"{self._name} list")
            if select([ctx.done(), call.done]).case == 0:
                call.join(_LIST_GRACE_PERIOD)
                raise _StopRequested
            try:
                list_, paginated_result = call.result()
            except Exception as err:
                init_trace.step("Objects listed", trace.Field("error", err))
                raise RuntimeError(f"failed to list {self._type_description}: {cause_text(err)}") from err
            init_trace.step("Objects listed")
            self._record_contact(ctx)  # Beyond Go.
            # A list of any data that comes in pages shows that the server has no watch cache and many objects. A list
            # of the newest data is always paged, which shows nothing.
            if options.resource_version == "0" and paginated_result:
                self._paginated_result = True
            self._is_last_sync_resource_version_unavailable = False
            try:
                resource_version = meta.list_accessor(list_).get_resource_version()
                items = meta.extract_list_with_alloc(list_)
            except Exception as err:
                raise RuntimeError(f"unable to understand list result {list_!r}: {err}") from err
            init_trace.step("Objects extracted")
            try:
                self._sync_with(ctx, items, resource_version)
            except Exception as err:
                raise RuntimeError(f"unable to sync list result: {err}") from err
            init_trace.step("SyncWith done")
            self._last_sync_resource_version = resource_version

    @contextmanager
    def _trace(self, name: str) -> Iterator[trace.Trace]:
        init_trace = trace.new(name, trace.Field("name", self._name), clock=self._clock)
        try:
            with reporting_slow_list(self._clock, self._about):  # Beyond Go.
                yield init_trace
        finally:
            init_trace.log_if_long(_SLOW_SYNC_SECONDS)

    @hop("reflector.list_pages", go="(*Reflector).list")
    def _list_pages(self, ctx: context.Context, options: metav1.ListOptions) -> tuple[runtime.Object, bool]:
        """Return the whole list, and whether it came in pages. The body of the goroutine in Go's list."""
        list_pager = pager.new(pager.simple_page_func(lambda opts: list_from(self._lister_watcher, ctx, opts)))
        if self.watch_list_page_size != 0:
            list_pager.page_size = self.watch_list_page_size
        elif not self._paginated_result and options.resource_version not in ("", "0"):
            # The watch cache can answer a list at a version, but only without a limit.
            list_pager.page_size = 0
        try:
            list_, paginated_result = list_pager.list_with_alloc(context.background(), options)
        except Exception as err:
            if not _is_expired_error(err) and not _is_too_large_resource_version_error(err):
                raise
            # The server does not have the version: ask for the newest data at once, to make progress.
            self._is_last_sync_resource_version_unavailable = True
            options = metav1.ListOptions(resource_version=self._relist_resource_version())
            list_, paginated_result = list_pager.list_with_alloc(context.background(), options)
        unsupported_list, unsupported_gvk = _is_unsupported_table_list_object(list_)
        if unsupported_list:
            raise ValueError(f"unsupported list gvk: {unsupported_gvk}, type: {self._type_description}")
        return list_, paginated_result

    def _watch_list(self, ctx: context.Context) -> Reader:
        """Fill the store from a watch that begins with all objects, and return the watch, which stays open.

        Without a version the stream begins with the newest state, as a list would show it; with one, with a state at
        least as new. The objects are collected in a temporary store and replace the contents of the store at the
        bookmark that ends them, so that no reader sees an incomplete list. Raises _StopRequested, and any error that
        another stream would meet too. Go: (*Reflector).watchList.
        """
        transformer = self._store.transformer() if isinstance(self._store, TransformingStore) else None
        store_options = [with_transformer(transformer)] if transformer else []
        with self._trace("Reflector WatchList") as init_trace:
            while True:
                if ctx.done().is_set():
                    raise _StopRequested
                temporary_store: Store = new_store(deletion_handling_meta_namespace_key_func, *store_options)
                start = self._clock.now()
                try:
                    w, resource_version = self._stream_initial_objects(ctx, start, temporary_store)
                    break
                except _StopRequested:
                    raise
                except Exception as err:
                    if not self._is_error_retriable_with_side_effects(ctx, err, start):
                        raise
            init_trace.step("Objects streamed", trace.Field("count", len(temporary_store.list_keys())))
            self._unproductive_streams.clear()  # Beyond Go.
            self._is_last_sync_resource_version_unavailable = False
            try:
                check_watch_list_data_consistency_if_requested(
                    ctx,
                    self._name,
                    resource_version,
                    self._lister_watcher.list_with_context,
                    transformer,
                    temporary_store.list,
                )
                self._replace(ctx, temporary_store.list(), resource_version)
            except Exception as err:
                w.stop()
                if isinstance(err, DataInconsistencyError):
                    raise
                raise RuntimeError(f"unable to sync watch-list result: {err}") from err
            init_trace.step("SyncWith done")
            self._last_sync_resource_version = resource_version
            return w

    def _stream_initial_objects(self, ctx: context.Context, start: float, store: Store) -> tuple[Reader, str]:
        """Open a stream, put its initial objects into `store`, and return the open stream and their version."""
        resource_version = ""

        def set_resource_version(rv: str, event_received_besides_added: bool) -> None:
            nonlocal resource_version
            if event_received_besides_added:
                resource_version = rv

        options = metav1.ListOptions(
            resource_version=self._rewatch_resource_version(),
            allow_watch_bookmarks=True,
            send_initial_events=True,
            resource_version_match=metav1.ResourceVersionMatch.NOT_OLDER_THAN,
            timeout_seconds=self._random_watch_timeout(),
        )
        w = new_reader(watch_from(self._lister_watcher, ctx, options))
        self._outage_reporter.answered(klog.from_context(ctx))  # Beyond Go.
        if not self._handle_list_watch(ctx, start, w, store, set_resource_version):
            raise _IncompleteStreamError
        return w, resource_version

    def _is_error_retriable_with_side_effects(self, ctx: context.Context, err: Exception, start: float) -> bool:
        """Report whether another stream may succeed, after a pause or without the version if `err` asks for that."""
        if _is_watch_error_retriable(err):
            klog.from_context(ctx).v(2).info("watch-list failed - backing off", **self._about, err=err)
            self._back_off(ctx, err)
            return True
        if _is_expired_error(err) or _is_too_large_resource_version_error(err):
            self._is_last_sync_resource_version_unavailable = True
        elif not isinstance(err, _IncompleteStreamError):
            return False
        return self._unproductive_streams.pause_before_stream(ctx, start)  # Beyond Go.

    @hop("reflector.sync_with", go="(*Reflector).syncWith")
    def _sync_with(self, ctx: context.Context, items: Sequence[Any], resource_version: str) -> None:
        """Replace the contents of the store by a list."""
        self._replace(ctx, items, resource_version)

    def _replace(self, ctx: context.Context, items: Sequence[Any], resource_version: str) -> None:
        try:
            self._store.replace(items, resource_version)
        except TransactionError as err:  # Beyond Go: the other objects are stored.
            self._report(ctx, err, "Unable to store all of a list")
            self.request_list()

    def _handle_list_watch(
        self, ctx: context.Context, start: float, w: Reader, store: Store, set_resource_version: _SetResourceVersion
    ) -> bool:
        """Apply events up to the bookmark that ends the initial objects, and leave the watch open.

        Returns False if the watch closed before the bookmark. Raises as `_handle_any_watch`. Go: handleListWatch.
        """
        return self._handle_any_watch(ctx, start, w, store, set_resource_version, True, ctx)

    @hop("reflector.handle_watch", go="handleWatch")
    def _handle_watch(
        self,
        ctx: context.Context,
        start: float,
        w: Reader,
        store: ReflectorStore,
        set_last_sync_resource_version: _SetResourceVersion,
        resync_ctx: context.Context,
    ) -> None:
        """Apply events until the watch closes, and stop the watch. Raises as `_handle_any_watch`."""
        self._handle_any_watch(ctx, start, w, store, set_last_sync_resource_version, False, resync_ctx)

    @hop("reflector.handle_any_watch", go="handleAnyWatch")
    def _handle_any_watch(
        self,
        ctx: context.Context,
        start: float,
        w: Reader,
        store: ReflectorStore,
        set_last_sync_resource_version: _SetResourceVersion,
        exit_on_watch_list_bookmark_received: bool,
        resync_ctx: context.Context,
    ) -> bool:
        """Apply the events of one watch to `store`, and report whether the bookmark after the initial objects came.

        Ends at that bookmark if asked to, and then leaves the watch open; else the watch is stopped. Raises
        _StopRequested when `ctx` is done, the cause of `resync_ctx`, the error of an ERROR event, and
        VeryShortWatchError.
        """
        watch_list_bookmark_received = False
        event_received_besides_added = False
        event_count = 0
        expected_type, expected_gvk, check_kind = self._expected_type, self._expected_gvk, self._check_kind
        logger = klog.from_context(ctx)
        ticker = _InitialEventsEndBookmarkTicker(
            logger, self._name, self._clock, start, exit_on_watch_list_bookmark_received
        )
        stop_watcher = True
        try:
            for event in w.read_events(resync_ctx.done(), self._clock):
                event_type, obj = event
                if event_type == _ERROR:
                    raise apierrors.from_object(obj)
                self._last_contact = w.read_at  # Beyond Go.
                if expected_type is not None and type(obj) is not expected_type:
                    expected, actual = type_string(expected_type), type_string(obj)
                    self._report(
                        ctx, None, "Unexpected watch event object type", expectedType=expected, actualType=actual
                    )
                    continue
                if check_kind is not None:
                    check_kind(obj)  # Beyond Go.
                if expected_gvk is not None and obj.group_version_kind() != expected_gvk:
                    actual_gvk = obj.group_version_kind()
                    self._report(
                        ctx, None, "Unexpected watch event object gvk", expectedGVK=expected_gvk, actualGVK=actual_gvk
                    )
                    continue
                # A server that was asked for tables sends rows without the objects that a store needs.
                if isinstance(obj, Unstructured) and _is_unsupported_table_object(obj):
                    self._report(ctx, None, "Unsupported watch event object gvk", actualGVK=obj.group_version_kind())
                    continue
                try:
                    accessor = meta.accessor(obj)
                except Exception as err:
                    self._report(ctx, err, "Unable to understand watch event", event=event)
                    continue
                resource_version = accessor.get_resource_version()
                if event_type == _ADDED:
                    try:
                        store.add(obj)
                    except Exception as err:
                        self._store_failed(ctx, err, "Unable to add watch event object to store", obj)
                elif event_type == _MODIFIED:
                    event_received_besides_added = True
                    try:
                        store.update(obj)
                    except Exception as err:
                        self._store_failed(ctx, err, "Unable to update watch event object to store", obj)
                elif event_type == _DELETED:
                    event_received_besides_added = True
                    try:
                        store.delete(obj)
                    except Exception as err:
                        self._store_failed(ctx, err, "Unable to delete watch event object from store", obj)
                elif event_type == _BOOKMARK:
                    event_received_besides_added = True
                    if accessor.get_annotations().get(metav1.INITIAL_EVENTS_ANNOTATION_KEY) == "true":
                        watch_list_bookmark_received = True
                    self._bookmark(ctx, store, obj, resource_version)
                else:
                    self._report(ctx, None, "Unknown watch event", event=event)
                set_last_sync_resource_version(resource_version, event_received_besides_added)
                event_count += 1
                if exit_on_watch_list_bookmark_received and watch_list_bookmark_received:
                    stop_watcher = False
                    logger.v(4).info(
                        "Exiting watch because received the bookmark that marks the end of initial events stream",
                        reflector=self._name,
                        totalItems=event_count,
                        duration=format_duration(self._clock.since(start)),
                    )
                    return True
                ticker.last_event_observe_time = w.read_at
            if ctx.done().is_set():
                raise _StopRequested
            if resync_ctx.done().is_set():
                raise resync_ctx.cause() or _StopRequested()
        finally:
            ticker.stop()
            if stop_watcher:
                w.stop()
        if self._clock.since(start) < 1.0 and event_count == 0:
            raise VeryShortWatchError(self._name)
        logger.v(4).info("Watch close", **self._about, totalItems=event_count)
        return watch_list_bookmark_received

    @hop("reflector.bookmark", go="handleAnyWatch")
    def _bookmark(self, ctx: context.Context, store: ReflectorStore, obj: Any, resource_version: str) -> None:
        if not isinstance(store, ReflectorBookmarkStore):
            return
        try:
            store.bookmark(resource_version)
        except Exception as err:
            self._report(ctx, err, "Unable to send bookmark event to store", object=obj)

    def _store_failed(self, ctx: context.Context, err: Exception, message: str, obj: Any) -> None:
        """Report that the store did not take `obj`. Beyond Go: request a list; an object without a name ends the watch.
        """
        if isinstance(err, KeyError):
            raise MalformedEventError(str(err)) from err
        self._report(ctx, err, message, object=obj)
        self.request_list()

    def _report(self, ctx: context.Context, err: BaseException | None, message: str, **about: Any) -> None:
        utilruntime.handle_error_with_context(ctx, err, message, reflector=self._name, **about)

    def last_sync_resource_version(self) -> str:
        """Return the newest version received; the store may be a little older or newer. Go: LastSyncResourceVersion."""
        return self._last_sync_resource_version

    def _relist_resource_version(self) -> str:
        """Return the version for a list: the last one; "0" (any data) at first; "" (the newest) if that failed.

        Go: (*Reflector).relistResourceVersion.
        """
        if self._is_last_sync_resource_version_unavailable:
            return ""
        return self._last_sync_resource_version or "0"

    def _rewatch_resource_version(self) -> str:
        """Return the version for a stream of the initial objects: the last one; "" if there is none or it failed.

        Go: (*Reflector).rewatchResourceVersion.
        """
        if self._is_last_sync_resource_version_unavailable:
            return ""
        return self._last_sync_resource_version

    def last_contact(self) -> float | None:
        """Return when the server last reported the current state, in seconds of the reflector's clock; None for never.

        A list, an event, a bookmark and the opening of a watch from the reflector's version report it; errors and ERROR
        events do not. On a silent watch, servers send bookmarks about once a minute and end the watch after at most
        `2 * min_watch_timeout`: a longer silence means that the cache is stale. Never blocks. Beyond Go.
        """
        return self._last_contact

    def request_list(self) -> None:
        """List again soon, because an object could not be stored. Thread-safe; never blocks. Beyond Go.

        The watch goes on for 1.3 seconds at first, then for twice as long each time, up to ten minutes. A list that is
        made before that serves the request.
        """
        self._relist_requests.request()

    def _record_contact(self, ctx: context.Context) -> None:
        """Record that the server reported the current state. Beyond Go."""
        self._last_contact = self._clock.now()
        self._outage_reporter.answered(klog.from_context(ctx))

    def __repr__(self) -> str:
        contact = "no contact yet" if self._last_contact is None else f"last contact at {self._last_contact:.3f}"
        version = self._last_sync_resource_version
        return f"<Reflector {self._name!r} of {self._type_description} at {version!r}, {contact}>"


@runtime_checkable
class ResourceVersionUpdater(Protocol):
    """A store that records the reflector's current version. Go: ResourceVersionUpdater."""

    def update_resource_version(self, resource_version: str, /) -> None:
        """Record `resource_version`. The reflector's thread calls it for each event that has a version to watch from.

        A watch from "" or "0" begins with existing objects, whose versions are not in order and are not reported.
        """
        ...


# Go: WatchErrorHandler. Called on the reflector's thread when `list_and_watch_with_context` raised; the reflector then
# backs off and repeats it. Should return quickly.
WatchErrorHandler = Callable[[Reflector, BaseException], None]

# Go: WatchErrorHandlerWithContext. WatchErrorHandler with the context, and so the logger, of the run.
WatchErrorHandlerWithContext = Callable[[context.Context, Reflector, BaseException], None]


def default_watch_error_handler(ctx: context.Context, r: Reflector, err: BaseException) -> None:
    """Log `err` at the level that fits its type. Go: DefaultWatchErrorHandler."""
    logger = klog.from_context(ctx)
    if _is_expired_error(err):
        # The next list shows whether the version is really lost; see `Reflector._watch`.
        logger.v(4).info("Watch closed", reflector=r.name(), type=r.type_description(), err=err)
    elif isinstance(err, utilnet.ErrUnexpectedEOF):
        logger.v(1).info("Watch closed with unexpected EOF", reflector=r.name(), type=r.type_description(), err=err)
    elif isinstance(err, EOFError):
        pass  # the normal end of a watch
    else:
        utilruntime.handle_error_with_context(
            ctx, err, "Failed to watch", reflector=r.name(), type=r.type_description()
        )


def new_namespace_keyed_indexer_and_reflector(
    lw: ListerWatcher, expected_type: object, resync_period: float
) -> tuple[Indexer, Reflector]:
    """Return an indexer by namespace and the reflector that fills it. Go: NewNamespaceKeyedIndexerAndReflector."""
    indexer = new_indexer(meta_namespace_key_func, {NAMESPACE_INDEX: meta_namespace_index_func})
    return indexer, new_reflector(lw, expected_type, indexer, resync_period)


def new_reflector(lw: ListerWatcher, expected_type: object, store: ReflectorStore, resync_period: float) -> Reflector:
    """Return a reflector named after the calling line. Go: NewReflector."""
    return new_reflector_with_options(lw, expected_type, store, ReflectorOptions(resync_period=resync_period))


def new_named_reflector(
    name: str, lw: ListerWatcher, expected_type: object, store: ReflectorStore, resync_period: float
) -> Reflector:
    """Return a reflector named `name`. Go: NewNamedReflector."""
    options = ReflectorOptions(name=name, resync_period=resync_period)
    return new_reflector_with_options(lw, expected_type, store, options)


@dataclass(kw_only=True)
class ReflectorOptions:
    """The options of a reflector. Go: ReflectorOptions."""

    logger: klog.Logger | None = None
    """Used in place of klog.background(); the reflector's name is added to it."""
    name: str = ""
    """The name in logs. If empty, file:line of the nearest caller outside of this package."""
    type_description: str = ""
    """The description of the expected type in logs; derived from the type if empty."""
    resync_period: float = 0.0
    """Seconds between resyncs of the store; 0 for none."""
    min_watch_timeout: float = 0.0
    """Seconds after which the server ends a watch, at least; at most twice as many. Below five minutes it is ignored.
    """
    clock: WithTickerAndDelayedExecution | None = None
    """The real clock when None."""
    backoff: wait.Backoff | None = None
    """The pauses of `run_with_context`; used as `backoff.delay_with_reset(clock, 120.0)`."""


def new_reflector_with_options(
    lw: ListerWatcher | ListerWatcherWithContext,
    expected_type: object,
    store: ReflectorStore,
    options: ReflectorOptions,
) -> Reflector:
    """Return a reflector that keeps `store` equal to the objects that `lw` lists and watches.

    `expected_type` is an example of the objects that may enter the store, or their class, or None for any. The
    apiVersion and kind of an Unstructured count too. Go: NewReflectorWithOptions.
    """
    return Reflector(lw, expected_type, store, options)


def _get_type_description_from_object(expected_type: object) -> str:
    if expected_type is None:
        return _DEFAULT_EXPECTED_TYPE_NAME
    gvk = _get_expected_gvk_from_object(expected_type)
    return type_string(expected_type) if gvk is None else str(gvk)


def _get_expected_gvk_from_object(expected_type: object) -> GroupVersionKind | None:
    """Return the kind that objects must have, if the class alone does not determine it.

    Go: getExpectedGVKFromObject.
    """
    if not isinstance(expected_type, Unstructured):
        return None
    gvk = expected_type.group_version_kind()
    return None if gvk.empty() else gvk


def _type_of(example: object) -> type | None:
    return example if example is None or isinstance(example, type) else type(example)


def type_string(example: object) -> str:
    """Return the type of an example object as Go prints it, for logs: "*v1.Pod"."""
    cls = _type_of(example)
    if cls is None:
        return "<nil>"
    gvk = getattr(cls, "GROUP_VERSION_KIND", None)
    if gvk is not None:
        return f"*{gvk.version}.{gvk.kind}"
    return f"*{cls.__module__.rpartition('.')[2]}.{cls.__name__}"


# Modules between a user and the constructor of a reflector, whose names say nothing about the reflector.
_INTERNAL_MODULES = ("clientgo.tools.cache", "clientgo.apimachinery.util", "threading", "contextlib")


def name_from_callsite(default: str) -> str:
    """Return file:line of the nearest caller outside of these modules; `default` if this thread has none."""
    return naming.get_name_from_callsite(*_INTERNAL_MODULES, default=default)


class _StopRequested(Exception):
    """The context is done. Go: errorStopRequested."""

    def __init__(self) -> None:
        super().__init__("stop requested")


@operational_error
class _IncompleteStreamError(Exception):
    """A stream closed before the bookmark that ends its initial objects."""

    def __init__(self) -> None:
        super().__init__("the stream closed before its initial objects were complete")


def _is_expired_error(err: BaseException) -> bool:
    # Servers up to 1.17 answer Gone where later ones answer Expired.
    return bool(apierrors.is_resource_expired(err) or apierrors.is_gone(err))


def _is_too_large_resource_version_error(err: BaseException) -> bool:
    """Report whether the server has not reached the requested version. Its message depends on the server's version.

    Go: isTooLargeResourceVersionError.
    """
    if apierrors.has_status_cause(err, metav1.CauseType.RESOURCE_VERSION_TOO_LARGE):
        return True
    if not apierrors.is_timeout(err) or not isinstance(err, apierrors.APIStatus):
        return False
    status = err.status()
    if status.details is None:
        return False
    if any(cause.message == "Too large resource version" for cause in status.details.causes):
        return True
    return "Too large resource version" in status.message


def _is_watch_error_retriable(err: BaseException) -> bool:
    """Report whether to open the watch again: a server that is down or busy has most likely lost no events.

    Go: isWatchErrorRetriable.
    """
    return bool(utilnet.is_connection_refused(err) or apierrors.is_too_many_requests(err))


class _InitialEventsEndBookmarkTicker:
    """A ticker that logs a warning every `tick_interval` until the initial objects of a stream end. Other watches have
    none.

    The warnings come from the clock's thread, because the reflector's thread waits for events.
    """

    def __init__(
        self,
        logger: klog.Logger,
        name: str,
        clock: WithTickerAndDelayedExecution,
        watch_start: float,
        exit_on_watch_list_bookmark_received: bool,
        tick_interval: float = 10.0,
    ) -> None:
        self._logger = logger
        self._name = name
        self._clock = clock
        self._watch_start = watch_start
        self._tick_interval = tick_interval
        # Set by the reflector at each event; read without a lock.
        self.last_event_observe_time: float | None = None
        # Guards the timer, which is None after `stop`, and always for watches without initial objects.
        self._lock = threading.Lock()
        self._timer: Timer | None = None
        if exit_on_watch_list_bookmark_received:
            self._timer = clock.after_func(tick_interval, self._tick)

    def stop(self) -> None:
        """Log no warning any more."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.stop()

    def _tick(self) -> None:
        with self._lock:
            if self._timer is None:
                return
            self._timer = self._clock.after_func(self._tick_interval, self._tick)
        self.warn_if_expired()

    def warn_if_expired(self) -> None:
        """Log a warning if the last event, or the start, is a tick ago."""
        warning = self._produce_warning_if_expired()
        if warning is not None:
            self._logger.info("Warning: event bookmark expired", err=warning)

    def _produce_warning_if_expired(self) -> str | None:
        if self.last_event_observe_time is None:
            waited = format_duration(self._clock.since(self._watch_start))
            return (
                f"{self._name}: awaiting required bookmark event for initial events stream, "
                f"no events received for {waited}"
            )
        elapsed = self._clock.since(self.last_event_observe_time)
        if elapsed < self._tick_interval:
            return None
        return (
            f"{self._name}: hasn't received required bookmark event marking the end of initial events stream, "
            f"received last event {format_duration(elapsed)} ago"
        )


@operational_error
class VeryShortWatchError(Exception):
    """A watch closed within a second and brought nothing. Go: VeryShortWatchError."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return (
            f"very short watch: {self.name}: Unexpected watch close - "
            "watch lasted less than a second and no items received"
        )


_UNSUPPORTED_TABLE_GVK = frozenset(GroupVersionKind("meta.k8s.io", version, "Table") for version in ("v1beta1", "v1"))


def _is_unsupported_table_object(obj: object) -> bool:
    if not isinstance(obj, Unstructured) or obj.get_kind() != "Table":
        return False
    return obj.group_version_kind() in _UNSUPPORTED_TABLE_GVK


def _is_unsupported_table_list_object(obj: object) -> tuple[bool, GroupVersionKind]:
    if not isinstance(obj, UnstructuredList):
        return False, GroupVersionKind("", "", "")
    gvk = obj.group_version_kind()
    return gvk in _UNSUPPORTED_TABLE_GVK, gvk


__all__ = [
    "Reflector",
    "ReflectorBookmarkStore",
    "ReflectorOptions",
    "ReflectorStore",
    "ResourceVersionUpdater",
    "TransformingStore",
    "VeryShortWatchError",
    "WatchErrorHandler",
    "WatchErrorHandlerWithContext",
    "default_watch_error_handler",
    "new_named_reflector",
    "new_namespace_keyed_indexer_and_reflector",
    "new_reflector",
    "new_reflector_with_options",
]
