"""The interface of reconcilers, which bring an object to its desired state. Mirrors pkg/reconcile/reconcile.go.

A Reconciler is an object with `reconcile(ctx, request)`, or such a function. It returns a Result, or None for
`Result()`, or raises an error: Go returns `(Result, error)`. Raise `terminal_error(err)` for an error that a retry
cannot fix. Go distinguishes panics from errors; in Python every Exception is an error of the reconciler.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast, runtime_checkable

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.types import NamespacedName
from clientgo.apimachinery.util.errors.chain import is_error
from clientgo.context import Context
from clientgo.controller_runtime.client.interfaces import Reader
from clientgo.controller_runtime.client.object import Object
from clientgo.golang.functions import require_function

__all__ = [
    "Func",
    "ObjectReconciler",
    "Reconciler",
    "ReconcilerLike",
    "Request",
    "Result",
    "TerminalError",
    "TypedFunc",
    "TypedReconciler",
    "as_reconciler",
    "is_terminal_error",
    "result_of",
    "terminal_error",
    "to_function",
    "with_result",
]

RequestT = TypeVar("RequestT", bound=Hashable)
RequestT_contra = TypeVar("RequestT_contra", bound=Hashable, contravariant=True)
ObjectT = TypeVar("ObjectT", bound=Object)
ObjectT_contra = TypeVar("ObjectT_contra", bound=Object, contravariant=True)


@dataclass(kw_only=True)
class Result:
    """The next step after a reconcile without an error. Go: reconcile.Result."""

    requeue: bool = False
    """Retry after the rate limiter's delay. Deprecated: raise an error, or use `requeue_after`."""
    requeue_after: float = 0.0
    """Seconds until the next reconcile, if positive."""
    priority: int | None = None
    """The priority of the next request, also after an error. None keeps the current priority."""

    def is_zero(self) -> bool:
        """Report whether the result requests no further step."""
        return not self.requeue and not self.requeue_after and self.priority is None


_DONE = Result()
# The attribute of an exception that holds a result.
_RESULT = "reconcile_result"


@dataclass(frozen=True, slots=True)
class Request(NamespacedName):
    """The namespace and name of the object to reconcile, without the event. A client accepts it as an ObjectKey. Go:
    reconcile.Request.

    >>> Request("default", "web")
    Request(namespace='default', name='web')
    """

    @property
    def namespaced_name(self) -> NamespacedName:
        """The request itself. In Go it is an embedded field."""
        return self


class TypedReconciler(Protocol[RequestT_contra]):
    """A function that brings an object to its desired state. Go: reconcile.TypedReconciler.

    The controller never reconciles the same request in two threads at once, but several workers reconcile different
    requests concurrently.
    """

    def reconcile(self, ctx: Context, request: RequestT_contra, /) -> Result | None:
        """Compare the actual state with the desired state and correct it.

        The controller retries with growing delays when it raises. It may also call it without a change, so the method
        must be idempotent.
        """
        ...


Reconciler: TypeAlias = TypedReconciler[Request]
"""A reconciler of requests that name an object. Go: reconcile.Reconciler."""

ReconcilerLike: TypeAlias = TypedReconciler[RequestT] | Callable[[Context, RequestT], Result | None]
"""The parameter type where Go has a Reconciler: an object with `reconcile`, or a function."""


class TypedFunc(Generic[RequestT]):
    """A function as a Reconciler, for code that needs an object. Go: reconcile.TypedFunc."""

    def __init__(self, function: Callable[[Context, RequestT], Result | None]) -> None:
        self._function = function

    def reconcile(self, ctx: Context, request: RequestT, /) -> Result | None:
        """Call the function."""
        return self._function(ctx, request)


Func: TypeAlias = TypedFunc[Request]
"""A reconciler of requests that name an object. Go: reconcile.Func."""


def to_function(reconciler: ReconcilerLike[RequestT]) -> Callable[[Context, RequestT], Result | None]:
    """Return the function to call for a reconcile. Raises TypeError if `reconciler` is not a Reconciler.

    Controllers call it on creation, so that the error does not wait for the first request.
    """
    method = getattr(reconciler, "reconcile", None)
    function = method if callable(method) else reconciler
    if callable(function) and not isinstance(reconciler, type):
        require_function(function, "a Reconciler", "ctx, request")
        return cast("Callable[[Context, RequestT], Result | None]", function)
    raise TypeError(f"a Reconciler has a method reconcile(ctx, request), or is a function: {reconciler!r}")


@runtime_checkable
class ObjectReconciler(Protocol[ObjectT_contra]):
    """A function that brings an object to its desired state; see `as_reconciler`. Go: reconcile.ObjectReconciler."""

    def reconcile(self, ctx: Context, obj: ObjectT_contra, /) -> Result | None:
        """Reconcile the object, as TypedReconciler.reconcile does. The object may be read-only: change
        `obj.deep_copy()`.
        """
        ...


def as_reconciler(
    client: Reader,
    rec: ObjectReconciler[ObjectT] | Callable[[Context, ObjectT], Result | None],
    obj: type[ObjectT] | ObjectT | None = None,
) -> Reconciler:
    """Return a Reconciler that reads the object and passes it to `rec`. It ignores requests for deleted objects.

    `obj` is the objects' class, or an example for Unstructured. None reads it from the annotations of `rec`, where Go
    has a type parameter. Raises TypeError if the annotations do not contain it. Go: AsReconciler.
    """
    function = cast("Callable[[Context, ObjectT], Result | None]", to_function(cast("ReconcilerLike[Any]", rec)))
    return _ObjectReconcilerAdapter(client, function, _annotated_class(function) if obj is None else obj)


def _annotated_class(function: Callable[..., Any]) -> Any:
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):  # annotations that only a type checker can resolve
        hints = {}
    for name, hint in hints.items():
        if name != "return" and isinstance(hint, type) and issubclass(hint, Object):
            return hint
    raise TypeError(f"as_reconciler needs the class of the objects: {function!r} has no annotation that says it")


class _ObjectReconcilerAdapter(Generic[ObjectT]):
    def __init__(
        self, client: Reader, function: Callable[[Context, ObjectT], Result | None], obj: type[ObjectT] | ObjectT
    ) -> None:
        self._client = client
        self._function = function
        self._obj = obj

    def reconcile(self, ctx: Context, request: Request, /) -> Result | None:
        try:
            obj = self._client.get(ctx, request, self._obj)
        except Exception as err:
            if errors.is_not_found(err):
                return _DONE
            raise
        return self._function(ctx, obj)


class TerminalError(Exception):
    """An error that a retry cannot fix: the controller logs and counts it, and does not retry the request.

    Raise `terminal_error(err)`. An error raised `from` a terminal error is terminal too.
    """

    def __init__(self, wrapped: BaseException | None = None) -> None:
        super().__init__(wrapped)
        self.wrapped = wrapped
        """The original error. Go: Unwrap."""
        self.__cause__ = wrapped

    def __str__(self) -> str:
        return "nil terminal error" if self.wrapped is None else f"terminal error: {self.wrapped}"


def terminal_error(wrapped: BaseException | None) -> TerminalError:
    """Return an error that wraps `wrapped` and prevents a retry. Go: reconcile.TerminalError."""
    return TerminalError(wrapped)


def is_terminal_error(err: BaseException | None) -> bool:
    """Report whether `err` is a terminal error or was raised from one.

    Go: errors.Is(err, reconcile.TerminalError(nil)).
    """
    return is_error(err, TerminalError)


E = TypeVar("E", bound=BaseException)


def with_result(err: E, result: Result) -> E:
    """Attach a result to `err` and return it: `raise with_result(err, Result(priority=10))`.

    In Go a Reconciler returns both. Only the result's priority has an effect, for the next attempt. The controller logs
    a warning about its other values.
    """
    setattr(err, _RESULT, result)
    return err


def result_of(err: BaseException) -> Result:
    """Return the result attached to an error, or an empty one."""
    result = getattr(err, _RESULT, None)
    return result if isinstance(result, Result) else _DONE
