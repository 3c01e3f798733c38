"""The reflector: keeps a store equal to what a server says, by listing once and watching from there on.

Mirrors tools/cache/reflector.go. One pass (`list_and_watch_with_context`) brings the store up to date, with a stream of
the initial objects where the server can do that and with a list otherwise, and follows the changes until the watch
breaks in a way that makes another pass necessary; `run_with_context` makes pass after pass, backing off between them.

Differs from Go:
  * a reflector tells when it last heard from its server (`last_heard`), for health checks;
  * the resync thread runs only if there is a resync period;
  * whoever cannot take in what comes may ask for a new list (`request_list`), and the watch goes on until it is due; a
    store that does not take an event, or a part of a list, counts as one who asks;
  * an object of another kind than the reflector's, or without a name, ends the watch and leads to a list, as what Go's
    decoder refuses does there;
  * a stop also cuts short the pause before a streaming list is tried again;
  * pauses are as long as Go's, but not as short: a failing server gets two attempts in four seconds, never three;
  * a server that refuses stream after stream as too old, or ends each stream or watch within a second, is not asked
    again and again without a pause: there is one from the first, too short to be noticed, and each is sixteen times
    as long as the one before; before it would last a second a list takes the place of the stream;
  * that nobody listens at the server's address is said at the default level, where Go says so at -v=2 only;
  * a store with a `bookmark` method is told of bookmarks; in Go a plain Store's has the wrong signature for that.

Threads: everything happens on the thread that runs the reflector, except that `Store.resync` is called from one named
"<name> resync", and that a list request runs on one named "<name> list". That last one is the only thread not waited
for when the reflector stops, if the lister ignores the context it is given.
"""

from __future__ import annotations

import contextlib
import math
import random
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

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
from clientgo.golang import channel
from clientgo.golang.batch_channel import BatchChannel
from clientgo.golang.channel import Channel, Receive, Signal, StopChannel
from clientgo.golang.duration import format_duration
from clientgo.hops import hop
from clientgo.klog.exceptions import operational_error
from clientgo.tools import pager
from clientgo.tools.cache.beyond.outage import OutageReporter
from clientgo.tools.cache.beyond.relist import RelistRequested, RelistRequests
from clientgo.tools.cache.beyond.unproductive import SHORT_WATCH, UnproductiveRequests
from clientgo.tools.cache.delta_fifo import deletion_handling_meta_namespace_key_func
from clientgo.tools.cache.index import NAMESPACE_INDEX, Indexer, meta_namespace_index_func
from clientgo.tools.cache.listwatch import ListerWatcher, ListerWatcherWithContext, to_lister_watcher_with_context
from clientgo.tools.cache.reflector_data_consistency_detector import (
    check_watch_list_data_consistency_if_requested,
)
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
from clientgo.utils.clock import REAL_CLOCK, PassiveClock, WithTickerAndDelayedExecution

if TYPE_CHECKING:
    from clientgo.tools.cache.delta_fifo import TransformFunc

R = TypeVar("R")

_DEFAULT_EXPECTED_TYPE_NAME = "<unspecified>"

# Watches end after a random time between these two, so that a server's clients do not come back all at once.
_DEFAULT_MIN_WATCH_TIMEOUT = 5 * 60.0
_DEFAULT_MAX_WATCH_TIMEOUT = 2 * _DEFAULT_MIN_WATCH_TIMEOUT

# While a server is down a reflector asks it every 50 to 60 s; after two minutes without a pause it counts as well
# again. Go's pauses begin at 0.8 s and end at 30 s, each up to twice as long by chance; these keep to the longer of
# them, so that no third attempt ever falls into the first four seconds.
_DEFAULT_BACKOFF_INIT = 4 / 3
_DEFAULT_BACKOFF_MAX = 50.0
_DEFAULT_BACKOFF_RESET = 2 * 60.0
_DEFAULT_BACKOFF_FACTOR = 2.0
_DEFAULT_BACKOFF_JITTER = 0.2

# Filling the store for longer than this is worth a line in the log that says where the time went.
_SLOW_SYNC_SECONDS = 10.0

# After a stop, how long the thread of a pending list request may take to notice the cancelled context.
_LIST_GRACE_PERIOD = 0.2


class ReflectorStore(Protocol):
    """What a reflector needs of the store it fills; every Store and every Queue has it. Go: ReflectorStore."""

    def add(self, obj: Any) -> None:
        """Take in an object that is new."""
        ...

    def update(self, obj: Any) -> None:
        """Take in a changed object."""
        ...

    def delete(self, obj: Any) -> None:
        """Take in that an object is gone."""
        ...

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """Take in that `objs` is all there is. The list belongs to the store from then on."""
        ...

    def resync(self) -> None:
        """Process everything known once more, in stores for which that means something."""
        ...


@runtime_checkable
class ReflectorBookmarkStore(Protocol):
    """A store that wants to hear of bookmarks. Go: ReflectorBookmarkStore."""

    def bookmark(self, resource_version: str) -> None:
        """Everything up to `resource_version` has been seen."""
        ...


@runtime_checkable
class TransformingStore(ReflectorStore, Protocol):
    """A store that transforms objects; the reflector transforms what it collects itself too. Go: TransformingStore."""

    def transformer(self) -> TransformFunc | None:
        """The function, or None."""
        ...


class Reflector:
    """Makes a store reflect the objects of one resource. Go: Reflector.

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
        self._lister_watcher = to_lister_watcher_with_context(lw)
        self._store = store
        self._clock = clock
        self._resync_period = options.resync_period
        self._delay_handler = backoff.delay_with_reset(clock, _DEFAULT_BACKOFF_RESET)
        self._min_watch_timeout = max(options.min_watch_timeout, _DEFAULT_MIN_WATCH_TIMEOUT)
        self._max_watch_timeout = 2 * self._min_watch_timeout
        # Called when a pass ended with an error.
        self.watch_error_handler: WatchErrorHandlerWithContext = default_watch_error_handler
        # What an object must be to get into the store; None for anything.
        self._expected_type = _type_of(expected_type)
        self._expected_gvk = _get_expected_gvk_from_object(expected_type)
        self._type_description = options.type_description or _get_type_description_from_object(expected_type)
        self._use_watch_list = self._can_use_watch_list(lw)

        # Errors that end the watch: a failed resync, a relist request.
        self._errors: Channel[BaseException] = Channel(1)
        self._relist_requests = RelistRequests(clock)

        # All below are written by the thread that runs the reflector alone; a read of one needs no lock.
        self._last_sync_resource_version = ""
        # The server said of the last version used that it is too old or too new.
        self._is_last_sync_resource_version_unavailable = False
        self._last_heard: float | None = None
        self._unproductive_streams = UnproductiveRequests(clock)
        self._outage_reporter = OutageReporter(clock, self._name, self._type_description)
        # The first list came back in pages: the server has no watch cache, so later lists are paged too.
        self._paginated_result = False

        # Go: WatchListPageSize. How many objects to ask for at once. 0: pages of the pager's size for a list of the
        # newest or of any data, none for a list at a version, so that the server may answer it from its watch cache.
        # Paged lists always cost the server a read from its database: to be set with care.
        self.watch_list_page_size = 0
        # Go: ShouldResync. Asked each resync period whether to resync the store; None for always.
        self.should_resync: Callable[[], bool] | None = None
        # Go: MaxInternalErrorRetryDuration. For how many seconds internal errors on a watch lead to a new watch.
        self.max_internal_error_retry_duration = 0.0

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
        """How the reflector calls itself in logs. Go: Name."""
        return self._name

    def type_description(self) -> str:
        """What it reflects, in words, for logs. Go: TypeDescription."""
        return self._type_description

    def last_sync_resource_version(self) -> str:
        """The newest version seen; the store may be a little behind or ahead. Go: LastSyncResourceVersion."""
        return self._last_sync_resource_version

    def last_heard(self) -> float | None:
        """When the server last said how things stand, in seconds of the reflector's clock; None for never.

        It does so with a list, an event, a bookmark, and by opening a watch at the version the reflector is at; an
        error, be it the answer to a request or an ERROR event, says nothing of the kind. Servers send bookmarks about
        once a minute on a silent watch and end every watch after at most `2 * min_watch_timeout`: a reflector that
        heard nothing for much longer shows the past. Thread-safe, as are those of controllers and shared informers,
        which pass it on; never blocks. Beyond Go.
        """
        return self._last_heard

    def request_list(self) -> None:
        """List anew soon: not everything that came could be taken in. Thread-safe; never blocks. Beyond Go.

        The watch goes on until then. That is after 1.3 seconds at first, and after twice as long each time, up to ten
        minutes; any list before that will do.
        """
        self._relist_requests.request()

    def run(self, stop_ch: StopChannel) -> None:
        """`run_with_context` until `stop_ch` is set. Go: Run."""
        self.run_with_context(wait.context_for_channel(stop_ch))

    def run_with_context(self, ctx: context.Context) -> None:
        """List and watch, again and again, until `ctx` is done. Blocks; call it in a thread. Go: RunWithContext.

        The pause before a pass grows while passes fail, and starts small again after two minutes without one.
        """
        logger = klog.from_context(ctx)
        about = {
            "type": self._type_description,
            "resyncPeriod": format_duration(self._resync_period),
            "reflector": self._name,
        }
        logger.v(3).info("Starting reflector", **about)
        with contextlib.suppress(context.Canceled, context.DeadlineExceeded):
            self._delay_handler.until(ctx, True, True, self._run_once)
        self._relist_requests.clear()
        logger.v(3).info("Stopping reflector", **about)

    def _run_once(self, ctx: context.Context) -> bool:
        """One pass; False: never the last one."""
        try:
            self.list_and_watch_with_context(ctx)
        except Exception as err:
            with utilruntime.handle_crash_with_context(ctx, go_on=True):
                self.watch_error_handler(ctx, self, err)
        return False

    def list_and_watch(self, stop_ch: StopChannel) -> None:
        """`list_and_watch_with_context` until `stop_ch` is set. Go: ListAndWatch."""
        self.list_and_watch_with_context(wait.context_for_channel(stop_ch))

    @hop("reflector.list_and_watch", go="(*Reflector).ListAndWatchWithContext")
    def list_and_watch_with_context(self, ctx: context.Context) -> None:
        """One pass: fill the store, then follow the watch until it ends for good or `ctx` is done.

        Blocks. Raises when the list, or a request for the watch, failed; a watch that broke after it was opened is
        only logged. Go: ListAndWatchWithContext.
        """
        while self._list_and_watch(ctx):
            pass

    @hop("reflector.pass", go="(*Reflector).ListAndWatchWithContext")
    def _list_and_watch(self, ctx: context.Context) -> bool:
        """One list and the watches behind it; whether they ended because somebody wants another list."""
        logger = klog.from_context(ctx)
        logger.v(3).info("Listing and watching", type=self._type_description, reflector=self._name)
        self._relist_requests.clear()
        self._errors.try_receive()
        w: watch.Interface | None = None
        if self._use_watch_list:
            try:
                w = self._watch_list(ctx)
            except DataInconsistencyError:
                raise
            except Exception as err:
                logger.v(4).info(
                    "Data couldn't be fetched in watchlist mode. Falling back to regular list. "
                    "This is expected if watchlist is not supported or disabled in kube-apiserver.",
                    err=err,
                )
            else:
                if w is None:  # stopped
                    return False
        if w is None and not self._list(ctx):
            return False
        logger.v(2).info("Caches populated", type=self._type_description, reflector=self._name)
        return self._watch_with_resync(ctx, w)

    def _start_resync(self, ctx: context.Context) -> None:
        """Call the store's resync each period until `ctx` is done or it fails. Blocks; runs in a thread of its own."""
        logger = klog.from_context(ctx)
        while context.sleep(ctx, self._resync_period, self._clock):
            try:
                if self.should_resync is None or self.should_resync():
                    logger.v(4).info("Forcing resync", reflector=self._name)
                    self._store.resync()
            except Exception as err:
                self._errors.try_send(err)
                return

    def _watch_with_resync(self, ctx: context.Context, w: watch.Interface | None) -> bool:
        """`_watch`, with resyncs in the background."""
        with self._relist_requests.ending(self._end_watch):
            return self._watch_and_resync(ctx, w)

    def _end_watch(self, err: BaseException) -> None:
        self._errors.try_send(err)

    def _watch_and_resync(self, ctx: context.Context, w: watch.Interface | None) -> bool:
        if self._resync_period == 0:
            return self._watch(ctx, w)
        resync_ctx, cancel = context.with_cancel(ctx)
        resyncer = threading.Thread(
            target=self._start_resync, args=(resync_ctx,), name=f"{self._name} resync", daemon=True
        )
        resyncer.start()
        try:
            return self._watch(ctx, w)
        finally:
            cancel()
            resyncer.join()

    def _watch(self, ctx: context.Context, w: watch.Interface | None) -> bool:
        """Follow watch after watch, the first one being `w` if given, until a new list is due or `ctx` is done.

        Returns when a watch was ended by an error, raises when one could not be opened; True if that is only because
        somebody wants a list. Every watch is stopped.
        """
        retry = new_retry_with_deadline(
            self.max_internal_error_retry_duration, 60.0, apierrors.is_internal_error, self._clock
        )
        unproductive_watches = UnproductiveRequests(self._clock)
        while True:
            if ctx.done().is_set():
                if w is not None:
                    w.stop()
                return False
            # Taken before the request: some proxies hold the answer back until the first event.
            start = self._clock.now()
            # A watch that is open already is past the initial objects, whose versions are in no order.
            propagate_rv_from_start = True
            if w is None:
                options = self._watch_options()
                propagate_rv_from_start = options.resource_version not in ("", "0")
                try:
                    w = self._lister_watcher.watch_with_context(ctx, options)
                except Exception as err:
                    if not _is_watch_error_retriable(err):
                        raise
                    klog.from_context(ctx).v(4).info(
                        "Watch failed - backing off", reflector=self._name, type=self._type_description, err=err
                    )
                    self._back_off(ctx, err)
                    continue
                self._heard(ctx)
            version = self._last_sync_resource_version
            failure = self._follow(ctx, start, w, propagate_rv_from_start)
            w = None
            is_unproductive = self._clock.since(start) < SHORT_WATCH and version == self._last_sync_resource_version
            retry.after(failure)
            if failure is not None and not self._watch_again(ctx, failure, retry.should_retry):
                return isinstance(failure, RelistRequested)
            if apierrors.is_too_many_requests(failure):
                self._back_off(ctx, failure)
            elif is_unproductive:
                unproductive_watches.pause(ctx)
            else:
                unproductive_watches.clear()

    def _watch_options(self) -> metav1.ListOptions:
        return metav1.ListOptions(
            resource_version=self._last_sync_resource_version,
            # A watch over which nothing comes any more must not hang for ever.
            timeout_seconds=self._random_watch_timeout(),
            # Bookmarks make the version move on a silent watch, and a later rewatch cheaper. Servers may send none.
            allow_watch_bookmarks=True,
        )

    def _random_watch_timeout(self) -> int:
        return int(random.uniform(self._min_watch_timeout, self._max_watch_timeout))

    @hop("reflector.follow", go="(*Reflector).watch")
    def _follow(
        self,
        ctx: context.Context,
        start: float,
        w: watch.Interface,
        propagate_rv_from_start: bool,
    ) -> Exception | None:
        """Handle one watch to its end; what ended it, or None if it simply closed."""
        update_resource_version = (
            self._store.update_resource_version if isinstance(self._store, ResourceVersionUpdater) else None
        )

        def set_last_sync_resource_version(rv: str, event_received_besides_added: bool) -> None:
            # A watch from "" or "0" begins with the objects there are, in no order of versions. Only after something
            # else than an Added is a version worth keeping.
            if propagate_rv_from_start or event_received_besides_added:
                self._last_sync_resource_version = rv
                if update_resource_version is not None:
                    update_resource_version(rv)

        try:
            self._handle_watch(ctx, start, w, self._store, set_last_sync_resource_version, self._errors)
        except Exception as err:
            return err
        return None

    def _watch_again(self, ctx: context.Context, err: Exception, should_retry: Callable[[], bool]) -> bool:
        """After a watch was ended by `err`: whether to open another one (True) or to list anew."""
        logger = klog.from_context(ctx)
        if isinstance(err, _StopRequested):
            return False
        if isinstance(err, RelistRequested):
            logger.v(2).info("Listing anew", reflector=self._name, type=self._type_description, reason=err)
            return False
        if _is_expired_error(err):
            # The next list asks for data at least as new as the last version seen. That may well work, so the version
            # does not count as unavailable yet.
            logger.v(4).info("Watch closed", reflector=self._name, type=self._type_description, err=err)
            return False
        if apierrors.is_too_many_requests(err):
            logger.v(2).info("Watch returned 429 - backing off", reflector=self._name, type=self._type_description)
            return True
        if apierrors.is_internal_error(err) and should_retry():
            logger.v(2).info(
                "Retrying watch after internal error", reflector=self._name, type=self._type_description, err=err
            )
            return True
        logger.info("Warning: watch ended with error", reflector=self._name, type=self._type_description, err=err)
        return False

    @hop("reflector.back_off", go="(*Reflector).watch")
    def _back_off(self, ctx: context.Context, err: BaseException | None) -> None:
        """Wait before the same is asked again, since `err` says that the server is down or busy."""
        if err is not None and utilnet.is_connection_refused(err):
            self._outage_reporter.refused(klog.from_context(ctx), err)
        context.sleep(ctx, self._delay_handler(), self._clock)

    def _heard(self, ctx: context.Context) -> None:
        """The server said how things stand."""
        self._last_heard = self._clock.now()
        self._outage_reporter.answered(klog.from_context(ctx))

    def _list(self, ctx: context.Context) -> bool:
        """Fill the store from a list and note its version; False when stopped meanwhile. Raises if the list failed."""
        tracing = self._new_trace("Reflector ListAndWatch")
        try:
            return self._list_and_sync(ctx, tracing)
        finally:
            tracing.log_if_long(_SLOW_SYNC_SECONDS)

    def _new_trace(self, what: str) -> trace.Trace:
        return trace.new(what, trace.Field("name", self._name), clock=self._clock)

    def _list_and_sync(self, ctx: context.Context, tracing: trace.Trace) -> bool:
        options = metav1.ListOptions(resource_version=self._relist_resource_version())
        try:
            outcome = _run_until_done(ctx, lambda: self._list_pages(ctx, options), f"{self._name} list", self._clock)
        except Exception as err:
            tracing.step("Objects listed", trace.Field("error", err))
            raise RuntimeError(f"failed to list {self._type_description}: {err}") from err
        if outcome is None:
            return False
        tracing.step("Objects listed")
        listed, paginated = outcome
        self._heard(ctx)
        # A first list that comes in pages although any data would do says that the server has no watch cache and many
        # objects. Lists of the newest data are always paged and say nothing.
        if options.resource_version == "0" and paginated:
            self._paginated_result = True
        self._is_last_sync_resource_version_unavailable = False
        try:
            resource_version = meta.list_accessor(listed).get_resource_version()
            items = meta.extract_list_with_alloc(listed)
        except Exception as err:
            raise RuntimeError(f"unable to understand list result {listed!r}: {err}") from err
        tracing.step("Objects extracted")
        try:
            self._sync_with(ctx, items, resource_version)
        except Exception as err:
            raise RuntimeError(f"unable to sync list result: {err}") from err
        tracing.step("SyncWith done")
        self._last_sync_resource_version = resource_version
        return True

    @hop("reflector.list_pages", go="(*Reflector).list")
    def _list_pages(self, ctx: context.Context, options: metav1.ListOptions) -> tuple[runtime.Object, bool]:
        """The whole list, and whether it came in pages."""
        list_pager = pager.new(pager.simple_page_func(lambda opts: self._lister_watcher.list_with_context(ctx, opts)))
        if self.watch_list_page_size != 0:
            list_pager.page_size = self.watch_list_page_size
        elif not self._paginated_result and options.resource_version not in ("", "0"):
            # A list at a version can be served from the watch cache, but only without a limit.
            list_pager.page_size = 0
        try:
            listed, paginated = list_pager.list_with_alloc(context.background(), options)
        except Exception as err:
            if not _is_expired_error(err) and not _is_too_large_resource_version_error(err):
                raise
            # The version cannot be had: ask for the newest data at once, or the reflector would never get on.
            self._is_last_sync_resource_version_unavailable = True
            options = metav1.ListOptions(resource_version=self._relist_resource_version())
            listed, paginated = list_pager.list_with_alloc(context.background(), options)
        unsupported, gvk = _is_unsupported_table_list_object(listed)
        if unsupported:
            raise ValueError(f"unsupported list gvk: {gvk}, type: {self._type_description}")
        return listed, paginated

    def _watch_list(self, ctx: context.Context) -> watch.Interface | None:
        """Fill the store from a stream that begins with all objects, and return it still open; None when stopped.

        Without a version the stream begins with the newest state, as a list would show it; with one, with a state at
        least as new. The objects are collected apart and replace the store's content when the bookmark arrives that
        ends the initial ones, so nobody ever sees half a list. Raises when the server has no such streams, and on all
        other errors except those that a new stream may overcome.
        """
        tracing = self._new_trace("Reflector WatchList")
        try:
            return self._stream_and_sync(ctx, tracing)
        finally:
            tracing.log_if_long(_SLOW_SYNC_SECONDS)

    def _stream_and_sync(self, ctx: context.Context, tracing: trace.Trace) -> watch.Interface | None:
        transformer = self._store.transformer() if isinstance(self._store, TransformingStore) else None
        while not ctx.done().is_set():
            collected: Store = new_store(
                deletion_handling_meta_namespace_key_func,
                *([with_transformer(transformer)] if transformer else []),
            )
            start = self._clock.now()
            try:
                w, resource_version = self._stream_initial_objects(ctx, collected)
            except _StopRequested:
                return None
            except Exception as err:
                if not self._try_another_stream(ctx, err, self._clock.since(start)):
                    raise
                continue
            tracing.step("Objects streamed", trace.Field("count", len(collected.list_keys())))
            self._publish(ctx, w, collected, resource_version, transformer)
            tracing.step("SyncWith done")
            return w
        return None

    def _stream_initial_objects(self, ctx: context.Context, collected: Store) -> tuple[watch.Interface, str]:
        """Open one stream and collect its initial objects: the stream and the version they are at.

        Raises _IncompleteStreamError when the stream closed too early. It stays open only if it is returned.
        """
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
        start = self._clock.now()
        w = self._lister_watcher.watch_with_context(ctx, options)
        self._outage_reporter.answered(klog.from_context(ctx))
        if not self._handle_list_watch(ctx, start, w, collected, set_resource_version):
            raise _IncompleteStreamError
        return w, resource_version

    def _try_another_stream(self, ctx: context.Context, err: Exception, lasted: float) -> bool:
        """Whether a new stream may do better after one that `lasted` so many seconds and ended with `err`.

        Waits, or gives the version up, as the error asks for.
        """
        if _is_watch_error_retriable(err):
            klog.from_context(ctx).v(2).info(
                "watch-list failed - backing off", reflector=self._name, type=self._type_description, err=err
            )
            self._back_off(ctx, err)
            return True
        if _is_expired_error(err) or _is_too_large_resource_version_error(err):
            self._is_last_sync_resource_version_unavailable = True
        elif not isinstance(err, _IncompleteStreamError):
            return False
        if lasted >= SHORT_WATCH:
            self._unproductive_streams.clear()
            return True
        return self._unproductive_streams.pause_before_stream(ctx)

    def _publish(
        self,
        ctx: context.Context,
        w: watch.Interface,
        collected: Store,
        resource_version: str,
        transformer: TransformFunc | None,
    ) -> None:
        """Make what a stream brought the store's content."""
        self._unproductive_streams.clear()
        self._is_last_sync_resource_version_unavailable = False
        try:
            check_watch_list_data_consistency_if_requested(
                ctx,
                self._name,
                resource_version,
                self._lister_watcher.list_with_context,
                transformer,
                collected.list,
            )
            self._replace_store(ctx, collected.list(), resource_version)
        except DataInconsistencyError:
            w.stop()
            raise
        except Exception as err:
            w.stop()
            raise RuntimeError(f"unable to sync watch-list result: {err}") from err
        self._last_sync_resource_version = resource_version

    @hop("reflector.sync_with", go="(*Reflector).syncWith")
    def _sync_with(self, ctx: context.Context, items: Sequence[Any], resource_version: str) -> None:
        self._replace_store(ctx, items, resource_version)

    def _replace_store(self, ctx: context.Context, items: Sequence[Any], resource_version: str) -> None:
        try:
            self._store.replace(items, resource_version)
        except TransactionError as err:  # all the others are stored
            utilruntime.handle_error_with_context(ctx, err, "Unable to store all of a list", reflector=self._name)
            self.request_list()

    def _handle_list_watch(
        self,
        ctx: context.Context,
        start: float,
        w: watch.Interface,
        store: Store,
        set_last_sync_resource_version: Callable[[str, bool], None],
    ) -> bool:
        """Apply events to `store` until the bookmark that ends the initial objects: True, and `w` stays open.

        False when the watch closed before. Raises as `_handle_any_watch`.
        """
        return self._handle_any_watch(ctx, start, w, store, set_last_sync_resource_version, True, None)

    def _handle_watch(
        self,
        ctx: context.Context,
        start: float,
        w: watch.Interface,
        store: ReflectorStore,
        set_last_sync_resource_version: Callable[[str, bool], None],
        errors: Channel[BaseException] | None,
    ) -> None:
        """Apply events to `store` until the watch closes; it is always stopped. Raises as `_handle_any_watch`."""
        self._handle_any_watch(ctx, start, w, store, set_last_sync_resource_version, False, errors)

    @hop("reflector.handle_watch", go="handleAnyWatch")
    def _handle_any_watch(
        self,
        ctx: context.Context,
        start: float,
        w: watch.Interface,
        store: ReflectorStore,
        set_last_sync_resource_version: Callable[[str, bool], None],
        exit_on_watch_list_bookmark_received: bool,
        errors: Channel[BaseException] | None,
    ) -> bool:
        """Apply the events of one watch to `store`.

        Returns whether the bookmark came that ends the initial objects; ends there and leaves `w` open if so asked,
        else goes on until `w` is closed. Raises _StopRequested when `ctx` is done, what comes over `errors`, the error
        an ERROR event carries, and VeryShortWatchError. Unless it ended at the bookmark, `w` is stopped.
        """
        ticker = _new_initial_events_end_bookmark_ticker(
            klog.from_context(ctx), self._name, self._clock, start, exit_on_watch_list_bookmark_received
        )
        # What stands behind the bookmark is for whoever reads `w` next.
        reader = _EventReader(ctx, w, errors, ticker, self._clock, ahead=not exit_on_watch_list_bookmark_received)
        applier = _EventApplier(self, ctx, store)
        keep_open = False
        try:
            while (event := reader.next()) is not None:
                resource_version = applier.apply(event)
                self._last_heard = reader.heard_at
                if resource_version is None:
                    continue
                ticker.last_event_observe_time = reader.heard_at
                set_last_sync_resource_version(resource_version, applier.event_received_besides_added)
                if exit_on_watch_list_bookmark_received and applier.watch_list_bookmark_received:
                    keep_open = True
                    self._log_end_of_initial_events(ctx, applier.event_count, self._clock.since(start))
                    return True
        finally:
            ticker.stop()
            if not keep_open:
                w.stop()
        if self._clock.since(start) < SHORT_WATCH and applier.event_count == 0:
            raise VeryShortWatchError(self._name)
        klog.from_context(ctx).v(4).info(
            "Watch close", reflector=self._name, type=self._type_description, totalItems=applier.event_count
        )
        return applier.watch_list_bookmark_received

    def _log_end_of_initial_events(self, ctx: context.Context, total_items: int, duration: float) -> None:
        klog.from_context(ctx).v(4).info(
            "Exiting watch because received the bookmark that marks the end of initial events stream",
            reflector=self._name,
            totalItems=total_items,
            duration=format_duration(duration),
        )

    def _relist_resource_version(self) -> str:
        """The version to ask a list for: the last one seen; "0", any data, at first; "", the newest, if that failed."""
        if self._is_last_sync_resource_version_unavailable:
            return ""
        return self._last_sync_resource_version or "0"

    def _rewatch_resource_version(self) -> str:
        """The version to ask a stream of the initial objects for: the last one seen, "" if none or if that failed."""
        if self._is_last_sync_resource_version_unavailable:
            return ""
        return self._last_sync_resource_version

    def __repr__(self) -> str:
        heard = "nothing heard yet" if self._last_heard is None else f"heard at {self._last_heard:.3f}"
        version = self._last_sync_resource_version
        return f"<Reflector {self._name!r} of {self._type_description} at {version!r}, {heard}>"


@runtime_checkable
class ResourceVersionUpdater(Protocol):
    """A store that wants to know the reflector's current version. Go: ResourceVersionUpdater."""

    def update_resource_version(self, resource_version: str) -> None:
        """Called, on the reflector's thread, with the version of every event once those are in order."""
        ...


# Go: WatchErrorHandler. Called, on the reflector's thread, when a pass ended with an error; the reflector then backs
# off and goes on. Should return quickly.
WatchErrorHandler = Callable[[Reflector, BaseException], None]

# Go: WatchErrorHandlerWithContext. The same with the context, and so the logger, of the run.
WatchErrorHandlerWithContext = Callable[[context.Context, Reflector, BaseException], None]


def default_watch_error_handler(ctx: context.Context, r: Reflector, err: BaseException) -> None:
    """Log `err` as loudly as it deserves. Go: DefaultWatchErrorHandler."""
    logger = klog.from_context(ctx)
    if _is_expired_error(err):
        # As in `Reflector._watch_again`: the next list will tell whether the version is really lost.
        logger.v(4).info("Watch closed", reflector=r.name(), type=r.type_description(), err=err)
    elif isinstance(err, utilnet.ErrUnexpectedEOF):
        logger.v(1).info("Watch closed with unexpected EOF", reflector=r.name(), type=r.type_description(), err=err)
    elif isinstance(err, EOFError):
        pass  # the ordinary end of a watch
    else:
        utilruntime.handle_error_with_context(
            ctx, err, "Failed to watch", reflector=r.name(), type=r.type_description()
        )


def new_namespace_keyed_indexer_and_reflector(
    lw: ListerWatcher, expected_type: object, resync_period: float
) -> tuple[Indexer, Reflector]:
    """An indexer by namespace and the reflector that fills it. Go: NewNamespaceKeyedIndexerAndReflector."""
    indexer = new_indexer(meta_namespace_key_func, {NAMESPACE_INDEX: meta_namespace_index_func})
    return indexer, new_reflector(lw, expected_type, indexer, resync_period)


def new_reflector(lw: ListerWatcher, expected_type: object, store: ReflectorStore, resync_period: float) -> Reflector:
    """A reflector named after the line that asked for it. Go: NewReflector."""
    return new_reflector_with_options(lw, expected_type, store, ReflectorOptions(resync_period=resync_period))


def new_named_reflector(
    name: str, lw: ListerWatcher, expected_type: object, store: ReflectorStore, resync_period: float
) -> Reflector:
    """A reflector with a name of your choice. Go: NewNamedReflector."""
    options = ReflectorOptions(name=name, resync_period=resync_period)
    return new_reflector_with_options(lw, expected_type, store, options)


@dataclass(kw_only=True)
class ReflectorOptions:
    """Everything about a reflector that has a default. Go: ReflectorOptions."""

    logger: klog.Logger | None = None
    """Used in place of klog.background(); the reflector's name is added to it."""
    name: str = ""
    """The nearest caller outside of this package when empty, as file:line."""
    type_description: str = ""
    """What to call the expected type in logs; otherwise made from it."""
    resync_period: float = 0.0
    """Seconds between resyncs of the store; 0 for none."""
    min_watch_timeout: float = 0.0
    """Ask the server to end watches after this many seconds to twice as many. Less than five minutes is not honoured.
    """
    clock: WithTickerAndDelayedExecution | None = None
    """The real one when None."""
    backoff: wait.Backoff | None = None
    """The pauses between passes; used as `backoff.delay_with_reset(clock, 120.0)`."""


def new_reflector_with_options(
    lw: ListerWatcher | ListerWatcherWithContext,
    expected_type: object,
    store: ReflectorStore,
    options: ReflectorOptions,
) -> Reflector:
    """A reflector that keeps `store` equal to what `lw` lists and watches. Go: NewReflectorWithOptions.

    `expected_type` is an example object of what may enter the store (or its class; or None for anything); of an
    Unstructured also the apiVersion and kind count.
    """
    return Reflector(lw, expected_type, store, options)


def _type_of(example: object) -> type | None:
    if example is None or isinstance(example, type):
        return example
    return type(example)


def _kind_of(cls: type | None) -> tuple[str, str] | None:
    """The apiVersion and kind that every object of the class has; None for classes that serve many kinds."""
    if cls is None or not issubclass(cls, runtime.Object) or issubclass(cls, metav1.PartialObjectMetadata):
        return None
    gvk = cls.GROUP_VERSION_KIND
    return None if gvk is None else gvk.to_api_version_and_kind()


def type_string(example: object) -> str:
    """The type of an example object as Go prints it, for logs: "*v1.Pod"."""
    cls = _type_of(example)
    if cls is None:
        return "<nil>"
    gvk = getattr(cls, "GROUP_VERSION_KIND", None)
    if gvk is not None:
        return f"*{gvk.version}.{gvk.kind}"
    return f"*{cls.__module__.rpartition('.')[2]}.{cls.__name__}"


def _get_type_description_from_object(expected_type: object) -> str:
    if expected_type is None:
        return _DEFAULT_EXPECTED_TYPE_NAME
    gvk = _get_expected_gvk_from_object(expected_type)
    return type_string(expected_type) if gvk is None else str(gvk)


def _get_expected_gvk_from_object(expected_type: object) -> GroupVersionKind | None:
    """The kind events must have, if the type alone does not say it."""
    if not isinstance(expected_type, Unstructured):
        return None
    gvk = expected_type.group_version_kind()
    return None if gvk.empty() else gvk


# Modules between a user and the constructor of his reflector: naming a reflector after them would tell nothing.
_INTERNAL_MODULES = ("clientgo.tools.cache", "clientgo.apimachinery.util", "threading", "contextlib")


def name_from_callsite(default: str) -> str:
    """The nearest caller outside of the machinery, as file:line; `default` if there is none on this thread."""
    return naming.get_name_from_callsite(*_INTERNAL_MODULES, default=default)


class _StopRequested(Exception):
    """A watch was left because the context is done."""

    def __init__(self) -> None:
        super().__init__("stop requested")


class _MalformedEventError(Exception):
    """A watch brought what cannot be in it. Nothing behind it can be trusted, so it is left, and a new list made."""


@operational_error
class _IncompleteStreamError(Exception):
    """A stream closed before the bookmark came that ends its initial objects."""

    def __init__(self) -> None:
        super().__init__("the stream closed before its initial objects were complete")


def _run_until_done(
    ctx: context.Context, fn: Callable[[], R], name: str, clock: WithTickerAndDelayedExecution
) -> R | None:
    """Run `fn` in a thread and wait for it or for `ctx`: its result, or None when `ctx` was first. Raises what it
    raises.

    Requests take a context, but not every lister minds it; the stop must not wait for one that does not.
    """
    finished = Signal()
    results: list[R] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(fn())
        except BaseException as err:
            failures.append(err)
        finished.set()

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    if channel.select([ctx.done(), finished]).case == 0:
        thread.join(_LIST_GRACE_PERIOD)
        return None
    thread.join()
    if failures:
        raise failures[0]
    return results[0]


class _EventReader:
    """Waits for all that may happen during a watch: an event, the stop, an error from elsewhere, a tick."""

    def __init__(
        self,
        ctx: context.Context,
        w: watch.Interface,
        errors: Channel[BaseException] | None,
        ticker: _InitialEventsEndBookmarkTicker | _NoopInitialEventsEndBookmarkTicker,
        clock: PassiveClock,
        ahead: bool,
    ) -> None:
        """`ahead` if it may take more out of the channel than it is asked for."""
        self._ticker = ticker
        self._errors = errors
        self._clock = clock
        events = w.result_chan()
        self._stopped = ctx.done().is_set
        # When the last event came out of the channel, together with others perhaps.
        self.heard_at = 0.0
        # What came with it and was not asked for yet, and how it becomes an event.
        self._arrived: deque[Any] = deque()
        self._unpack = events.unpack
        self._take_arrived = events.take_all if ahead and isinstance(events, BatchChannel) else deque
        self._receive_waiting = events.try_receive
        self._cases: list[channel.Case] = [ctx.done(), Receive(errors), Receive(events), Receive(ticker.c())]

    def next(self) -> watch.Event | None:
        """The next event; None when the watch has closed. Blocks. Raises _StopRequested and what `errors` brings."""
        while True:
            # The stop and the errors are looked at here too, since a busy watch never gets to the select below.
            if self._stopped():
                raise _StopRequested
            if self._arrived:
                return self._unpack(self._arrived.popleft())
            if self._errors is not None and len(self._errors):
                raise self._errors.receive()[0] or _StopRequested()
            if arrived := self._take_arrived():
                self._arrived = arrived
                self.heard_at = self._clock.now()
                continue
            event, is_open, is_waiting = self._receive_waiting()
            if not is_waiting:
                chosen = channel.select(self._cases)
                if chosen.case == 1:
                    raise chosen.value
                if chosen.case == 3:
                    self._ticker.warn_if_expired()
                if chosen.case != 2:
                    continue
                event, is_open = chosen.value, chosen.ok
            self.heard_at = self._clock.now()
            return event if is_open else None


# Looking a member up in its enum takes longer than comparing with it.
_ADDED, _BOOKMARK, _ERROR = watch.EventType.ADDED, watch.EventType.BOOKMARK, watch.EventType.ERROR
_NO_KIND = "", ""
_NO_CHANGE = None, ""


class _EventApplier:
    """Checks the events of one watch, passes them to a store, and remembers what has been seen."""

    def __init__(self, reflector: Reflector, ctx: context.Context, store: ReflectorStore) -> None:
        self._reflector = reflector
        self._ctx = ctx
        self._store = store
        self._changes: dict[str, tuple[Callable[[Any], None], str]] = {
            watch.EventType.ADDED: (store.add, "Unable to add watch event object to store"),
            watch.EventType.MODIFIED: (store.update, "Unable to update watch event object to store"),
            watch.EventType.DELETED: (store.delete, "Unable to delete watch event object from store"),
        }
        self._expected_type = reflector._expected_type
        # A server that was asked for tables sends them as rows, without the objects a store needs.
        self._may_be_tables = self._expected_type is None or issubclass(self._expected_type, Unstructured)
        self._expected_gvk = reflector._expected_gvk
        self._expected_kind = _kind_of(reflector._expected_type)
        self.event_count = 0
        # Something else than an Added came: the initial objects, if the watch had any, are over.
        self.event_received_besides_added = False
        # The bookmark came that ends the initial objects.
        self.watch_list_bookmark_received = False

    @hop("reflector.apply", go="handleAnyWatch")
    def apply(self, event: watch.Event) -> str | None:
        """Pass `event` on and return its object's version; None when the event was refused.

        An event the store fails to take in is reported and counts as seen. Raises the error an ERROR event carries, and
        _MalformedEventError for what Go's decoder does not take: an object of another kind, or without a name.
        """
        kind, obj = event
        if kind == _ERROR:
            raise apierrors.from_object(obj)
        if not self._is_expected(obj):
            return None
        try:
            accessor = meta.accessor(obj)
        except Exception as err:
            self._report(err, "Unable to understand watch event", event=event)
            return None
        resource_version: str = accessor.get_resource_version()
        change, failure = self._changes.get(kind, _NO_CHANGE)
        if change is not None:
            if kind != _ADDED:
                self.event_received_besides_added = True
            try:
                change(obj)
            except Exception as err:
                self._refused(err, failure, obj)
        elif kind == _BOOKMARK:
            self.event_received_besides_added = True
            self._apply_bookmark(obj, accessor, resource_version)
        else:
            self._report(None, "Unknown watch event", event=event)
        self.event_count += 1
        return resource_version

    @hop("reflector.bookmark", go="handleAnyWatch")
    def _apply_bookmark(self, obj: Any, accessor: Any, resource_version: str) -> None:
        if accessor.get_annotations().get(metav1.INITIAL_EVENTS_ANNOTATION_KEY) == "true":
            self.watch_list_bookmark_received = True
        if not isinstance(self._store, ReflectorBookmarkStore):
            return
        try:
            self._store.bookmark(resource_version)
        except Exception as err:
            self._report(err, "Unable to send bookmark event to store", object=obj)

    def _is_expected(self, obj: Any) -> bool:
        expected_type = self._expected_type
        if expected_type is not None and type(obj) is not expected_type:
            self._report(
                None,
                "Unexpected watch event object type",
                expectedType=type_string(expected_type),
                actualType=type_string(obj),
            )
            return False
        if self._expected_kind is not None:
            kind = obj.api_version_and_kind()
            if kind != self._expected_kind and kind != _NO_KIND:
                self._check_kind(kind, self._expected_kind)
        expected_gvk = self._expected_gvk
        if expected_gvk is not None and obj.group_version_kind() != expected_gvk:
            self._report(
                None,
                "Unexpected watch event object gvk",
                expectedGVK=expected_gvk,
                actualGVK=obj.group_version_kind(),
            )
            return False
        if self._may_be_tables and _is_unsupported_table_object(obj):
            self._report(None, "Unsupported watch event object gvk", actualGVK=obj.group_version_kind())
            return False
        return True

    def _check_kind(self, kind: tuple[str, str], expected: tuple[str, str]) -> None:
        """Raise if an object says that it is of another kind; one made by a program need not say anything.

        It has the type that the client was asked for, whatever came over the wire.
        """
        if any(said and said != wanted for said, wanted in zip(kind, expected)):
            raise _MalformedEventError(
                f"unexpected object in the watch stream: expected {' '.join(expected)}, got {' '.join(kind)}"
            )

    def _refused(self, err: Exception, message: str, obj: Any) -> None:
        """The store did not take `obj`, which is lost for good if nobody lists anew; in Go it is."""
        if isinstance(err, KeyError):
            raise _MalformedEventError(str(err)) from err
        self._report(err, message, object=obj)
        self._reflector.request_list()

    def _report(self, err: BaseException | None, message: str, **about: Any) -> None:
        utilruntime.handle_error_with_context(self._ctx, err, message, reflector=self._reflector.name(), **about)


def _is_expired_error(err: BaseException) -> bool:
    # Servers up to 1.17 say Gone where later ones say Expired.
    return bool(apierrors.is_resource_expired(err) or apierrors.is_gone(err))


def _is_too_large_resource_version_error(err: BaseException) -> bool:
    """Whether the server does not know the version asked for yet. Servers have said so in three ways over time."""
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
    """Whether the watch may simply be opened again: a server that is down or busy has most likely lost no events."""
    return bool(utilnet.is_connection_refused(err) or apierrors.is_too_many_requests(err))


class _InitialEventsEndBookmarkTicker:
    """Complains every `tick_interval` while a stream's initial objects do not come to an end. Not thread-safe."""

    def __init__(
        self,
        logger: klog.Logger,
        name: str,
        clock: WithTickerAndDelayedExecution,
        watch_start: float,
        tick_interval: float,
    ) -> None:
        self._logger = logger
        self._name = name
        self._clock = clock
        self._watch_start = watch_start
        self._tick_interval = tick_interval
        self._ticker = clock.new_ticker(tick_interval)
        # To be set at each event.
        self.last_event_observe_time: float | None = None

    def c(self) -> Channel[float] | None:
        """Receives something when it is time to call `warn_if_expired`."""
        return self._ticker.c()

    def stop(self) -> None:
        self._ticker.stop()

    def warn_if_expired(self) -> None:
        """Log a warning if the last event, or the start, is a tick ago. To be called at each tick."""
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


class _NoopInitialEventsEndBookmarkTicker:
    """For watches that have no initial objects: never ticks, never warns."""

    last_event_observe_time: float | None = None

    def c(self) -> Channel[float] | None:
        return None

    def stop(self) -> None:
        pass

    def warn_if_expired(self) -> None:
        pass

    def _produce_warning_if_expired(self) -> str | None:
        return None


def _new_initial_events_end_bookmark_ticker(
    logger: klog.Logger,
    name: str,
    clock: WithTickerAndDelayedExecution,
    watch_start: float,
    exit_on_watch_list_bookmark_received: bool,
    tick_interval: float = 10.0,
) -> _InitialEventsEndBookmarkTicker | _NoopInitialEventsEndBookmarkTicker:
    if not exit_on_watch_list_bookmark_received:
        return _NoopInitialEventsEndBookmarkTicker()
    return _InitialEventsEndBookmarkTicker(logger, name, clock, watch_start, tick_interval)


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
