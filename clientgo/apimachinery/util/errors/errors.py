"""The Aggregate exception, which combines several errors, and functions that filter, flatten and reduce it.

Mirrors k8s.io/apimachinery/pkg/util/errors/errors.go. `new_aggregate` returns an exception to raise, or None if there
is no error. Python's ExceptionGroup is not used, since it would change which exceptions an `except` clause catches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from clientgo.apimachinery.util.errors.chain import is_error
from clientgo.golang.functions import call_checked
from clientgo.golang.stop import is_crash
from clientgo.klog.answers import is_true

MessageCountMap: TypeAlias = dict[str, int]
"""Error text -> number of occurrences. Go: errors.MessageCountMap."""

Matcher: TypeAlias = Callable[[BaseException], bool]
"""A predicate on errors. Go: errors.Matcher."""


@runtime_checkable
class Aggregate(Protocol):
    """A combination of several errors. Go: errors.Aggregate."""

    def errors(self) -> list[BaseException]:
        """Return the errors, in the order given."""
        ...

    def is_(self, target: object) -> bool:
        """Report whether one of the errors matches `target`; see chain.is_error."""
        ...


def new_aggregate(errlist: Iterable[BaseException | None]) -> AggregateError | None:
    """Return an exception with all errors that are not None, or None without any. Go: errors.NewAggregate."""
    errs = [err for err in errlist if err is not None]
    return AggregateError(errs) if errs else None


class AggregateError(Exception):
    """The exception of new_aggregate. Its text shows each message once. Go: errors.aggregate.

    >>> str(AggregateError([ValueError("a"), ValueError("b"), ValueError("a")]))
    '[a, b]'
    """

    def __init__(self, errors: Sequence[BaseException]) -> None:
        super().__init__(errors)
        self._errors = list(errors)

    def __str__(self) -> str:
        if len(self._errors) == 1:
            return str(self._errors[0])
        messages = list(dict.fromkeys(str(err) for err in self._visit()))
        return messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"

    def __repr__(self) -> str:
        return f"<Aggregate {self._errors!r}>"

    def errors(self) -> list[BaseException]:
        """Return the errors, in the order given. Go: Aggregate.Errors."""
        return list(self._errors)

    def is_(self, target: object) -> bool:
        """Report whether one of the errors matches `target`. Go: Aggregate.Is."""
        return any(is_error(err, target) for err in self._visit())

    def _visit(self) -> Iterator[BaseException]:
        """Yield every error, and those of nested aggregates in their place."""
        for err in self._errors:
            if isinstance(err, AggregateError):
                yield from err._visit()
            elif isinstance(err, Aggregate):
                yield from err.errors()
            else:
                yield err


def filter_out(err: BaseException | None, *fns: Matcher) -> BaseException | None:
    """Drop the errors that a matcher accepts, also inside aggregates. Returns None if none is left.

    Go: errors.FilterOut.
    """
    if err is None:
        return None
    if isinstance(err, Aggregate):
        return new_aggregate(filter_out(each, *fns) for each in err.errors())
    return None if any(is_true(fn, err) for fn in fns) else err


def flatten(agg: Aggregate | None) -> AggregateError | None:
    """Return an aggregate without nested ones. Go: errors.Flatten."""
    if agg is None:
        return None
    return new_aggregate(_leaves(agg))


def _leaves(agg: Aggregate) -> Iterator[BaseException]:
    for err in agg.errors():
        if isinstance(err, Aggregate):
            yield from _leaves(err)
        else:
            yield err


def create_aggregate_from_message_count_map(m: MessageCountMap | None) -> AggregateError | None:
    """Return an aggregate with one error per text, which includes the count.

    Go: errors.CreateAggregateFromMessageCountMap.
    """
    if m is None:
        return None
    return new_aggregate(
        Exception(f"{text} (repeated {count} times)" if count > 1 else text) for text, count in m.items()
    )


def reduce(err: BaseException | None) -> BaseException | None:
    """Return the only error of an aggregate of one, otherwise `err`. Go: errors.Reduce."""
    if not isinstance(err, Aggregate):
        return err
    members = err.errors()
    if len(members) > 1:
        return err
    return members[0] if members else None


def aggregate_goroutines(*funcs: Callable[[], None]) -> AggregateError | None:
    """Run the functions concurrently, each in its own thread, and wait for all. Blocks until the last one returns.

    Raised errors are collected in order of completion. Go: errors.AggregateGoroutines.
    """
    raised: list[BaseException] = []
    # Guards raised.
    lock = threading.Lock()

    def run(func: Callable[[], None]) -> None:
        try:
            call_checked(func)
        except BaseException as err:
            if not is_crash(err):
                raise
            with lock:
                raised.append(err)

    threads = [
        threading.Thread(target=run, args=(func,), name=f"aggregate-goroutines-{index}", daemon=True)
        for index, func in enumerate(funcs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return new_aggregate(raised)


class ErrPreconditionViolated(Exception):
    """Raised when the caller's precondition is not met. Go: errors.ErrPreconditionViolated."""

    def __init__(self, message: str = "precondition is violated") -> None:
        super().__init__(message)
