"""Parts of controller.py's process functions that Go does not have.

Go's process functions return at the first error. Here `FailureCollector` keeps each failure, and the other objects of
the batch are stored. An object that reaches the store is read-only from then on, since all readers share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeGuard

from clientgo import context
from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang import channel
from clientgo.golang.channel import Done, Signal
from clientgo.tools.cache.beyond.refusals import (
    Failure,
    ProcessError,
    Refusals,
    TransformingError,
    Untransformed,
    error_summary,
)
from clientgo.tools.cache.beyond.unsynced import RejectionReport
from clientgo.tools.cache.delta_fifo import DeletedFinalStateUnknown, Delta, DeltaType
from clientgo.tools.cache.store import KeyFunc, Store, TransactionError, TransactionStore
from clientgo.utils.clock import PassiveClock

if TYPE_CHECKING:
    from clientgo.tools.cache.fifo import Queue
    from clientgo.tools.cache.reflector import Reflector


class TransactionalStore(Store, TransactionStore, Protocol):
    """A Store that applies transactions."""


class BatchReader(Store, Protocol):
    """A Store that looks up many objects at once."""

    def get_all(self, objs: Iterable[Any], /) -> list[Any]:
        """Return the stored state of each of `objs`, None for none, all from one moment.

        Raises KeyError when an object has no key.
        """
        ...


def supports_transactions(store: Store) -> TypeGuard[TransactionalStore]:
    """Report whether `store` applies transactions; a user's store need not. Go: a type assertion."""
    # Not isinstance, here and below: checking a protocol takes longer than storing a batch.
    return getattr(store, "transaction", None) is not None


def _reads_batches(store: Store) -> TypeGuard[BatchReader]:
    return getattr(store, "get_all", None) is not None


# A tombstone may hold an untransformed object too.
_MAY_BE_UNTRANSFORMED = frozenset({Untransformed, DeletedFinalStateUnknown})


def freeze(obj: Any, before: Any = None) -> None:
    """Make `obj`, or a tombstone's object, read-only; `before` is the state that the cache had until now, if any."""
    if isinstance(obj, Object):
        obj.freeze(before)
    elif isinstance(obj, DeletedFinalStateUnknown) and isinstance(obj.obj, Object):
        obj.obj.freeze(before)


def freeze_all(objs: Sequence[Any], known: Sequence[Any]) -> None:
    """Freeze the objects of a batch; `known` has the state that the cache had of each until now. See `freeze`."""
    for obj, before in zip(objs, known):
        if isinstance(obj, Object):
            obj.freeze(before)
        else:
            freeze(obj)


def get_known(client_state: Store, obj: Any) -> tuple[Any, bool]:
    """Return (the state that the store has of `obj`, True), or (None, False), also for an object without a key."""
    try:
        return client_state.get(obj)
    except Exception:
        return None, False


def get_all_known(client_state: Store, objs: Sequence[Any]) -> list[Any]:
    """Return the state that the store has of each of `objs`; None for no state, and for an object without a key."""
    if _reads_batches(client_state):
        try:
            return client_state.get_all(objs)
        except Exception:  # an object has no key
            pass
    return [get_known(client_state, obj)[0] for obj in objs]


class FailureCollector:
    """The objects that one call of a process function could not apply. For one thread."""

    __slots__ = ("_details", "_key_func", "failures")

    # Replaces the failures' texts in the error's message. Set by `add_rejected`.
    _details: str

    def __init__(self, key_func: KeyFunc) -> None:
        self._key_func = key_func
        self.failures: list[Failure] = []

    def add(self, obj: Any, err: Exception) -> None:
        """Add a failure of `obj`."""
        self.failures.append(Failure(self._key_of(obj), obj, err))

    def add_rejected(self, objs: Sequence[Any], err: TransactionError) -> None:
        """Add the objects that a transaction about `objs` did not store, each with its error."""
        stored = set(err.successful_indices)
        rejected = [obj for i, obj in enumerate(objs) if i not in stored]
        # A user's store may not report one error for each object.
        errors = err.errors if len(err.errors) == len(rejected) else [err] * len(rejected)
        for obj, error in zip(rejected, errors):
            self.add(obj, error)
        self._details = str(err)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Add the failures of a ProcessError that the block raises, in place of raising it."""
        try:
            yield
        except ProcessError as err:
            self.failures += err.failures

    def admit(self, delta: Delta, client_state: Store) -> Delta | None:
        """Return the delta to process in place of `delta`; None for none.

        That is `delta`, except for an object that could not be transformed. Such an object is a failure. Its deletion
        becomes a deletion of the known state, if there is one.
        """
        obj = delta.object
        if type(obj) not in _MAY_BE_UNTRANSFORMED:
            return delta
        final = obj.obj if isinstance(obj, DeletedFinalStateUnknown) else obj
        if not isinstance(final, Untransformed):
            return delta
        if delta.type is not DeltaType.DELETED:
            self._add_untransformed(final)
            return None
        known, exists = get_known(client_state, obj)
        return Delta(DeltaType.DELETED, DeletedFinalStateUnknown(self._key_func(obj), known)) if exists else None

    def admit_all(self, deltas: Sequence[Delta], client_state: Store) -> tuple[Sequence[Delta], list[Any]]:
        """Return the deltas to process in place of `deltas`, and their objects; see `admit`."""
        objs = [delta.object for delta in deltas]
        if _MAY_BE_UNTRANSFORMED.isdisjoint(map(type, objs)):
            return deltas, objs
        admitted = [found for delta in deltas if (found := self.admit(delta, client_state)) is not None]
        return admitted, [delta.object for delta in admitted]

    def admit_listed(self, objs: Sequence[Any], client_state: Store) -> Sequence[Any]:
        """Return the objects of a list, with the known state of each that could not be transformed, if there is one."""
        if Untransformed not in map(type, objs):
            return objs
        admitted = []
        for obj in objs:
            if not isinstance(obj, Untransformed):
                admitted.append(obj)
                continue
            self._add_untransformed(obj)
            known, exists = get_known(client_state, obj)
            if exists:
                admitted.append(known)
        return admitted

    def admit_keyed(self, objs: Sequence[Any]) -> Sequence[Any]:
        """Return the objects that have a key; each of the others is a failure."""
        keyed = []
        for obj in objs:
            try:
                self._key_func(obj)
            except Exception as err:
                self.failures.append(Failure("", obj, err))
            else:
                keyed.append(obj)
        return keyed

    def raise_all(self, message: str) -> NoReturn:
        """Raise a ProcessError with the failures; there must be one."""
        details = getattr(self, "_details", None) or error_summary(self.failures)
        raise ProcessError(f"{message}: {details}", self.failures) from self.failures[0].err

    def _add_untransformed(self, obj: Untransformed) -> None:
        err = TransformingError(self._key_of(obj), obj.err)
        err.__cause__ = obj.err
        self.failures.append(Failure(err.key, obj.obj, err))

    def _key_of(self, obj: Any) -> str:
        try:
            return self._key_func(obj)
        except Exception:
            return ""  # the missing key is the failure

    def __repr__(self) -> str:
        return f"<{len(self.failures)} failures>"


class CompleteSync:
    """Reports that a queue has processed the first list and that the cache has been complete since then. A DoneChecker.

    Go uses the queue's own checker: there a rejected object ends the program.
    """

    def __init__(self, type_name: str, queue: Queue, refusals: Refusals, clock: PassiveClock) -> None:
        """Set up the state. `type_name` names the objects in a warning about an object that keeps the cache from
        syncing.
        """
        self._queue_synced = queue.has_synced_checker()
        self._refusals = refusals
        # Set once.
        self._synced = Signal()
        refusals.on_clear = self._check_synced
        self._rejection_report = RejectionReport(type_name, refusals, clock, self._synced.is_set)
        channel.add_done_callback(self._queue_synced.done(), self._check_synced)

    def name(self) -> str:
        """Return the queue's name, as in Go."""
        return self._queue_synced.name()

    def done(self) -> Done:
        """Return a signal that is set when the cache has synced."""
        return self._synced

    def _check_synced(self) -> None:
        """Set `synced` when the queue has synced and no refusal is left. The queue's lock may be held."""
        if self._queue_synced.done().is_set() and not self._refusals:
            self._synced.set()


def report_unprocessed(ctx: context.Context, err: Exception, queue: Queue, reflector: Reflector | None) -> None:
    """Log that a process function raised, and request a relist. Go ignores the error."""
    keys = err.keys if isinstance(err, ProcessError) else []
    utilruntime.handle_error_with_context(
        ctx,
        err,
        "Unable to process all deltas of the queue, relisting",
        queue=repr(queue),
        **({"keys": keys} if keys else {}),
    )
    if reflector is not None:
        reflector.request_list()


__all__ = [
    "CompleteSync",
    "FailureCollector",
    "freeze",
    "freeze_all",
    "get_all_known",
    "get_known",
    "report_unprocessed",
    "supports_transactions",
]
