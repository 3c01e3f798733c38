"""What a controller does: bring one object to the state it should have. Mirrors pkg/reconcile/reconcile.go.

A Reconciler is an object with `reconcile(ctx, request)`, or just such a function. It returns a Result, or None for
`Result()`, and raises what went wrong: where Go returns `(Result, error)`, here it is the one or the other. An
exception becomes the error; raise `terminal_error(err)` for one that trying again does not help. In Go a panic is
something else than an error; in Python it is not: every Exception is an error of the reconciler.
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
    """What is to happen after a reconcile that raised nothing. Go: reconcile.Result."""

    requeue: bool = False
    """Try again when the rate limiter says so. Deprecated: raise an error, or use `requeue_after`."""
    requeue_after: float = 0.0
    """Try again in so many seconds, when positive."""
    priority: int | None = None
    """With which priority it is queued next, also after an error. None: with the one it had."""

    def is_zero(self) -> bool:
        """Whether nothing is to happen."""
        return not self.requeue and not self.requeue_after and self.priority is None


_DONE = Result()
# The attribute of an exception that carries a result.
_RESULT = "reconcile_result"


@dataclass(frozen=True, slots=True)
class Request(NamespacedName):
    """Which object to reconcile, not what happened to it. Go: reconcile.Request. A client takes it as an ObjectKey.

    >>> Request("default", "web")
    Request(namespace='default', name='web')
    """

    @property
    def namespaced_name(self) -> NamespacedName:
        """Itself: in Go a field, that a Request embeds."""
        return self


class TypedReconciler(Protocol[RequestT_contra]):
    """Brings things to the state they should have. Go: reconcile.TypedReconciler.

    Never called for one request by two threads at once, but for several requests at once when the controller has
    several workers.
    """

    def reconcile(self, ctx: Context, request: RequestT_contra, /) -> Result | None:
        """Look at how things are, and do what is missing.

        It is called again, with growing pauses, when it raises. It is also called again for no reason: doing it twice
        must do no harm.
        """
        ...


Reconciler: TypeAlias = TypedReconciler[Request]
"""Of the requests that name an object. Go: reconcile.Reconciler."""

ReconcilerLike: TypeAlias = TypedReconciler[RequestT] | Callable[[Context, RequestT], Result | None]
"""What is taken wherever Go takes a Reconciler: an object with `reconcile`, or a function."""


class TypedFunc(Generic[RequestT]):
    """A function as a Reconciler. Go: reconcile.TypedFunc. Needed only where it must be an object."""

    def __init__(self, function: Callable[[Context, RequestT], Result | None]) -> None:
        self._function = function

    def reconcile(self, ctx: Context, request: RequestT, /) -> Result | None:
        """Call the function."""
        return self._function(ctx, request)


Func: TypeAlias = TypedFunc[Request]
"""Of the requests that name an object. Go: reconcile.Func."""


def to_function(reconciler: ReconcilerLike[RequestT]) -> Callable[[Context, RequestT], Result | None]:
    """What to call to reconcile. Raises TypeError for what is no Reconciler.

    A controller without one finds that out when it is made, not at the first request.
    """
    method = getattr(reconciler, "reconcile", None)
    if callable(method) and not isinstance(reconciler, type):
        return cast("Callable[[Context, RequestT], Result | None]", method)
    if callable(reconciler) and not isinstance(reconciler, type):
        return reconciler
    raise TypeError(f"a Reconciler has a method reconcile(ctx, request), or is a function: {reconciler!r}")


@runtime_checkable
class ObjectReconciler(Protocol[ObjectT_contra]):
    """Brings one object to the state it should have (Go: reconcile.ObjectReconciler); see `as_reconciler`."""

    def reconcile(self, ctx: Context, obj: ObjectT_contra, /) -> Result | None:
        """As TypedReconciler.reconcile, with the object. It may be read-only: change `obj.deep_copy()`."""
        ...


def as_reconciler(
    client: Reader,
    rec: ObjectReconciler[ObjectT] | Callable[[Context, ObjectT], Result | None],
    obj: type[ObjectT] | ObjectT | None = None,
) -> Reconciler:
    """A Reconciler that reads the object and hands it to `rec`; one that is gone is done with. Go: AsReconciler.

    `obj` is the class of the objects, or an example for Unstructured; None takes it from the annotations of `rec`,
    where Go takes its type parameter. Raises TypeError when they do not say it.
    """
    function = cast("Callable[[Context, ObjectT], Result | None]", to_function(cast("ReconcilerLike[Any]", rec)))
    return _ObjectReconcilerAdapter(client, function, _annotated_class(function) if obj is None else obj)


def _annotated_class(function: Callable[..., Any]) -> Any:
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):  # annotations that only a type checker can read
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
    """An error that trying again does not help: it is logged and counted, and the request is not queued again.

    Raise `terminal_error(err)`. Other errors may be raised from one, `raise ... from`: they are terminal too.
    """

    def __init__(self, wrapped: BaseException | None = None) -> None:
        super().__init__(wrapped)
        self.wrapped = wrapped
        """What went wrong. Go: Unwrap."""
        self.__cause__ = wrapped

    def __str__(self) -> str:
        return "nil terminal error" if self.wrapped is None else f"terminal error: {self.wrapped}"


def terminal_error(wrapped: BaseException | None) -> TerminalError:
    """`wrapped` as an error that is not tried again. Go: reconcile.TerminalError."""
    return TerminalError(wrapped)


def is_terminal_error(err: BaseException | None) -> bool:
    """Whether `err` is a terminal error or was raised from one (Go: errors.Is(err, reconcile.TerminalError(nil)))."""
    return is_error(err, TerminalError)


E = TypeVar("E", bound=BaseException)


def with_result(err: E, result: Result) -> E:
    """`err`, carrying a result: `raise with_result(err, Result(priority=10))`.

    In Go a Reconciler returns both. Of the result the priority counts then, for the next try; the rest is ignored, and
    the controller logs a warning about that.
    """
    setattr(err, _RESULT, result)
    return err


def result_of(err: BaseException) -> Result:
    """The result an error carries; an empty one when it carries none."""
    result = getattr(err, _RESULT, None)
    return result if isinstance(result, Result) else _DONE
