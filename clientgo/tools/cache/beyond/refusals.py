"""Objects that a cache rejects. Has no Go file: a failing index function ends a Go program.

A store rejects an object without a key, and an object for which an index function raises. The informer's transform
function may raise even earlier; in Go that loses the whole list, or leaves an old state in the cache. Here the other
objects of the batch are stored, and handlers are notified of them. For a rejected object:

  * the process function raises `ProcessError`, which names the object, and the controller logs the error;
  * the informer has not synced until its cache was complete once;
  * the reflector relists, with its usual backoff, until the store accepts all objects of the server;
  * `refused()` of informers and controllers returns the object and the time of its first rejection, which
    `StalenessCheck` reads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clientgo import klog
from clientgo.apimachinery.api import meta
from clientgo.golang.functions import describe_function
from clientgo.golang.stop import is_crash
from clientgo.golang.strconv import quote
from clientgo.klog.exceptions import crash_error
from clientgo.tools.cache.delta_fifo import Delta, DeltaType, KeyListerGetter, TransformFunc
from clientgo.tools.cache.store import KeyFunc
from clientgo.utils.clock import PassiveClock


class Refusal(NamedTuple):
    """An object that a cache does not store, or stores in an old state. Beyond Go."""

    obj: Any
    """The newest state of the object."""

    err: Exception
    """The reason for the rejection."""

    since: float
    """Time of the first rejection, in seconds of the informer's clock."""


class Failure(NamedTuple):
    """An object that a process function could not apply."""

    key: str
    obj: Any
    err: Exception


# A log line about thousands of failures stays readable.
_MOST_NAMED = 10


class ProcessError(RuntimeError):
    """Some deltas could not be applied; handlers are notified of all the others. Beyond Go.

    Raise it from the first failure, so that a log line shows where the user's function failed.
    """

    def __init__(self, message: str, failures: Sequence[Failure]) -> None:
        super().__init__(message)
        self.failures = failures

    @property
    def keys(self) -> list[str]:
        """The first ten keys of the objects that failed, sorted."""
        return sorted(failure.key for failure in self.failures)[:_MOST_NAMED]


def error_summary(failures: Sequence[Failure]) -> str:
    """Return the texts of the first ten failures, and the number of the others."""
    errors = "; ".join(str(failure.err) for failure in failures[:_MOST_NAMED])
    return errors if len(failures) <= _MOST_NAMED else f"{errors}; and {len(failures) - _MOST_NAMED} more"


class TransformingError(RuntimeError):
    """The transform function raised for the object `key`, which was not stored. Beyond Go."""

    def __init__(self, key: str, err: Exception) -> None:
        super().__init__(f"unable to transform the object with key {quote(key)}: {klog.cause_text(err)}")
        self.key = key


class Untransformed:
    """An object for which the transform function raised or returned None, on its way through a queue.

    It has the object's key, so that it keeps its place in the queue. The process function rejects it.
    """

    __slots__ = ("err", "obj")

    def __init__(self, obj: Any, err: Exception) -> None:
        self.obj = obj
        self.err = err

    def get_object_meta(self) -> Any:
        """Return the object's metadata, for key functions."""
        return meta.accessor(self.obj)

    def __repr__(self) -> str:
        return f"<Untransformed {self.obj!r}: {self.err}>"


# Results of a transform function that is no such function: in Go it returns an object and an error.
_NO_OBJECTS = (str, tuple, type, BaseException, Coroutine, Generator)


def mark_failures(transform: TransformFunc | None) -> TransformFunc | None:
    """Return a transform function for a queue that returns an Untransformed where `transform` raises or returns None.

    A function without a return statement returns None. Such a result would have no key to name the object by.
    """
    if transform is None:
        return None

    def transform_or_mark(obj: Any) -> Any:
        if isinstance(obj, Untransformed):
            return obj
        try:
            transformed = transform(obj)
        except BaseException as err:
            if not is_crash(err):
                raise
            failure = err if isinstance(err, Exception) else crash_error("the transform function", err)
            return Untransformed(obj, failure)
        if transformed is None:
            text = f"the transform function returned None: return the object: {describe_function(transform)}"
            return Untransformed(obj, TypeError(text))
        if isinstance(transformed, _NO_OBJECTS) and not isinstance(obj, type(transformed)):
            text = f"the transform function returned {transformed!r}: return the object: {describe_function(transform)}"
            return Untransformed(obj, TypeError(text))
        return transformed

    return transform_or_mark


class Refusals:
    """The objects that one cache rejects at present.

    A later delta of the object removes it, if the delta can be applied. So does a list without the object. Thread-safe.
    """

    def __init__(self, key_func: KeyFunc, clock: PassiveClock) -> None:
        self._key_func = key_func
        self._clock = clock
        # Held to replace the mapping. Readers take no lock, since a mapping never changes.
        self._lock = threading.Lock()
        self._by_key: Mapping[str, Refusal] = {}
        # Called when the last refusal is removed.
        self.on_clear: Callable[[], None] = lambda: None
        # Called when there is a refusal and was none before.
        self.on_refused: Callable[[], None] = lambda: None

    def by_key(self) -> Mapping[str, Refusal]:
        """Return the present refusals; the caller must not change the mapping. Never blocks."""
        return self._by_key

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def tracking(self, process: Callable[[Any, bool], None]) -> Callable[[Any, bool], None]:
        """Return the process function `process`, which also records rejected and accepted objects here."""

        def process_and_record(obj: Any, is_in_initial_list: bool) -> None:
            try:
                process(obj, is_in_initial_list)
            except ProcessError as err:
                self._record(obj, err.failures)
                raise
            except BaseException as err:
                if isinstance(err, Exception) or not is_crash(err):
                    raise
                # Like any other error of the function, it costs a relist and not the objects.
                raise crash_error("the process function", err) from err
            if self._by_key:
                self._record(obj, ())

        return process_and_record

    def _record(self, processed: Iterable[object], failures: Iterable[Failure]) -> None:
        deltas = [each for each in processed if isinstance(each, Delta)]
        with self._lock:
            before = self._by_key
            if any(delta.type is DeltaType.REPLACED_ALL for delta in deltas):
                after: dict[str, Refusal] = {}
            else:
                applied = {key for delta in deltas if (key := self._key_of(delta.object)) is not None}
                after = {key: refusal for key, refusal in before.items() if key not in applied}
            now = self._clock.now()
            for key, obj, err in failures:
                after[key] = Refusal(obj, err, before[key].since if key in before else now)
            self._by_key = after
        if before and not after:
            self.on_clear()
        elif after and not before:
            self.on_refused()

    def _key_of(self, obj: Any) -> str | None:
        try:
            return self._key_func(obj)
        except Exception:
            return None

    def __repr__(self) -> str:
        return f"<{len(self._by_key)} Refusals>"


class KnownObjects:
    """The objects that a queue must treat as known: the stored and the rejected ones. Go: KeyListerGetter.

    A queue drops the deletion of an unknown object. The deletion of a rejected object must reach the process function.
    """

    def __init__(self, store: KeyListerGetter, refusals: Refusals) -> None:
        self._store = store
        self._refusals = refusals

    def list_keys(self) -> list[str]:
        """See KeyLister."""
        keys = self._store.list_keys()
        return [*dict.fromkeys((*keys, *self._refusals.by_key()))] if self._refusals else keys

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """See KeyGetter."""
        obj, exists = self._store.get_by_key(key)
        if not exists and (refusal := self._refusals.by_key().get(key)) is not None:
            return refusal.obj, True
        return obj, exists


__all__ = [
    "Failure",
    "KnownObjects",
    "ProcessError",
    "Refusal",
    "Refusals",
    "TransformingError",
    "Untransformed",
    "error_summary",
    "mark_failures",
]
