"""What a cache could not take in. Beyond Go, where a failing index function ends the program.

A store refuses an object that one of its index functions fails for, or that has no key. One that the informer's
transform function fails for does not get so far; in Go that costs the whole list, or leaves the cache with an old state
for good. Everything else of its batch is stored and told of. The object is lacking from then on, or shows an old state,
and so

  * the process function raises `ProcessError`, which names it, and the controller reports that;
  * the informer has not synced until its cache has been complete once;
  * the reflector lists anew, after its usual pause, until the store has taken in what the server has;
  * `refused()` of informers and controllers tells what is lacking, and since when; `StalenessCheck` asks for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from clientgo import klog
from clientgo.apimachinery.api import meta
from clientgo.golang.strconv import quote
from clientgo.tools.cache.delta_fifo import Delta, DeltaType, KeyListerGetter, TransformFunc
from clientgo.tools.cache.store import KeyFunc
from clientgo.utils.clock import PassiveClock


@dataclass(frozen=True, slots=True)
class Refusal:
    """An object that a cache lacks, or of which it shows an old state. Beyond Go."""

    obj: Any
    """Its newest state."""

    err: Exception
    """Why the cache does not take it."""

    since: float
    """Since when, in seconds of the informer's clock."""


class Failure(NamedTuple):
    """What a process function could not apply."""

    key: str
    obj: Any
    err: Exception


# A list of thousands of objects that all fail is one line in the log, and one that can be read.
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
        """Return the keys of the objects that failed, sorted; of many the first ones."""
        return sorted(failure.key for failure in self.failures)[:_MOST_NAMED]


def joined(failures: Sequence[Failure]) -> str:
    """Return the texts of the failures; of many the first ones, and the number of the others."""
    errors = "; ".join(str(failure.err) for failure in failures[:_MOST_NAMED])
    return errors if len(failures) <= _MOST_NAMED else f"{errors}; and {len(failures) - _MOST_NAMED} more"


class TransformingError(RuntimeError):
    """The transform function failed for the object `key`, which was not stored for that reason. Beyond Go."""

    def __init__(self, key: str, err: Exception) -> None:
        super().__init__(f"unable to transform the object with key {quote(key)}: {klog.cause_text(err)}")
        self.key = key


class Untransformed:
    """An object that the transform function failed for, on its way through a queue.

    It has its key, so that it keeps its place there. Who empties the queue refuses it.
    """

    __slots__ = ("err", "obj")

    def __init__(self, obj: Any, err: Exception) -> None:
        self.obj = obj
        self.err = err

    def get_object_meta(self) -> Any:
        """The metadata of the object, for key functions."""
        return meta.accessor(self.obj)

    def __repr__(self) -> str:
        return f"<Untransformed {self.obj!r}: {self.err}>"


def refusing(transform: TransformFunc) -> TransformFunc:
    """The transform function of an informer's queue: what `transform` fails for becomes an Untransformed."""

    def transform_or_mark(obj: Any) -> Any:
        if isinstance(obj, Untransformed):
            return obj
        try:
            return transform(obj)
        except Exception as err:
            return Untransformed(obj, err)

    return transform_or_mark


class Refusals:
    """The refusals a cache has not made up for yet.

    An object is made up for when it is stored or deleted, or when a new list does not have it. Thread-safe.
    """

    def __init__(self, key_func: KeyFunc, clock: PassiveClock) -> None:
        self._key_func = key_func
        self._clock = clock
        # Held to change the dict, which is replaced as a whole in most changes; reading needs no lock.
        self._lock = threading.Lock()
        self._by_key: Mapping[str, Refusal] = {}
        # Called when there are none any more.
        self.on_clear: Callable[[], None] = lambda: None
        # Called when there are some, and were none.
        self.on_refused: Callable[[], None] = lambda: None

    def by_key(self) -> Mapping[str, Refusal]:
        """All there are now; not to be changed. Never blocks."""
        return self._by_key

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def noting(self, process: Callable[[Any, bool], None]) -> Callable[[Any, bool], None]:
        """The process function `process`, with notes of what it could not apply and of what it made up for."""

        def process_and_note(obj: Any, is_in_initial_list: bool) -> None:
            try:
                process(obj, is_in_initial_list)
            except ProcessError as err:
                self._note(obj, err.failures)
                raise
            if self._by_key:
                self._note(obj, ())

        return process_and_note

    def _note(self, processed: Iterable[object], failures: Iterable[Failure]) -> None:
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
    """What a queue has to take for known: what is stored, and what the store refused.

    A queue drops the deletion of an object that nobody knows; that of a refused one must come through. Go:
    KeyListerGetter.
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
    "refusing",
]
