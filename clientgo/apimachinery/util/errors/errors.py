"""Several errors as one: the Aggregate exception and functions that filter, flatten and reduce it.

Mirrors k8s.io/apimachinery/pkg/util/errors/errors.go. `new_aggregate` gives an exception to raise, or None when there
was no error. Python's ExceptionGroup is not used: it would change what an `except` clause catches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from clientgo.apimachinery.util.errors.chain import is_error

MessageCountMap: TypeAlias = dict[str, int]
"""Error text -> how often it was seen. Go: errors.MessageCountMap."""

Matcher: TypeAlias = Callable[[BaseException], bool]
"""Says whether an error is of some kind. Go: errors.Matcher."""


@runtime_checkable
class Aggregate(Protocol):
    """An error made of several. Go: errors.Aggregate."""

    def errors(self) -> list[BaseException]:
        """The errors, in the order given."""
        ...

    def is_(self, target: object) -> bool:
        """True when one of the errors is `target`; see chain.is_error."""
        ...


def new_aggregate(errlist: Iterable[BaseException | None]) -> AggregateError | None:
    """One exception for all that are not None; None when nothing is left. Go: errors.NewAggregate."""
    errs = [err for err in errlist if err is not None]
    return AggregateError(errs) if errs else None


class AggregateError(Exception):
    """The exception new_aggregate makes. Each message shows once. Go: errors.aggregate.

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
        """The errors, in the order given. Go: Aggregate.Errors."""
        return list(self._errors)

    def is_(self, target: object) -> bool:
        """True when one of the errors is `target`. Go: Aggregate.Is."""
        return any(is_error(err, target) for err in self._visit())

    def _visit(self) -> Iterator[BaseException]:
        """Every error, those of nested aggregates in their place."""
        for err in self._errors:
            if isinstance(err, AggregateError):
                yield from err._visit()
            elif isinstance(err, Aggregate):
                yield from err.errors()
            else:
                yield err


def filter_out(err: BaseException | None, *fns: Matcher) -> BaseException | None:
    """Drop what any matcher accepts, also inside aggregates; None when nothing is left. Go: errors.FilterOut."""
    if err is None:
        return None
    if isinstance(err, Aggregate):
        return new_aggregate(filter_out(each, *fns) for each in err.errors())
    return None if any(fn(err) for fn in fns) else err


def flatten(agg: Aggregate | None) -> AggregateError | None:
    """One level instead of aggregates in aggregates. Go: errors.Flatten."""
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
    """One error per text, its count in words. Go: errors.CreateAggregateFromMessageCountMap."""
    if m is None:
        return None
    return new_aggregate(
        Exception(f"{text} (repeated {count} times)" if count > 1 else text) for text, count in m.items()
    )


def reduce(err: BaseException | None) -> BaseException | None:
    """The only member of an aggregate of one; anything else unchanged. Go: errors.Reduce."""
    if not isinstance(err, Aggregate):
        return err
    members = err.errors()
    if len(members) > 1:
        return err
    return members[0] if members else None


def aggregate_goroutines(*funcs: Callable[[], None]) -> AggregateError | None:
    """Run the functions side by side, one thread each, and wait for all. Blocks until the last one returned.

    What they raise is collected in order of completion. Go: errors.AggregateGoroutines.
    """
    raised: list[BaseException] = []
    # Guards raised.
    lock = threading.Lock()

    def run(func: Callable[[], None]) -> None:
        try:
            func()
        except Exception as err:
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
    """A precondition given by the caller does not hold. Go: errors.ErrPreconditionViolated."""

    def __init__(self, message: str = "precondition is violated") -> None:
        super().__init__(message)
