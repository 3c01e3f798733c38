"""A registry of finalizers, which adds them to objects and runs them on deletion. Mirrors pkg/finalizer/finalizer.go.

    finalizers = new_finalizers()
    finalizers.register("example.com/dns", CleanUpDNS())
    result = finalizers.finalize(ctx, obj)
    if result.updated:
        client.update(ctx, obj)

Difference: a finalizer that fails may set the attribute `result` of its error.
"""

from __future__ import annotations

from dataclasses import dataclass

from clientgo.apimachinery.util.errors import new_aggregate
from clientgo.context import Context
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.controller.controllerutil import add_finalizer, contains_finalizer, remove_finalizer
from clientgo.controller_runtime.finalizer.types import Finalizer, Finalizers
from clientgo.klog.exceptions import cause_text


@dataclass(kw_only=True)
class Result:
    """The parts of an object that a finalizer changed and the caller must write. Go: finalizer.Result."""

    # Anything except the status.
    updated: bool = False
    status_updated: bool = False


def new_finalizers() -> Finalizers:
    """Return an empty set of finalizers. Go: finalizer.NewFinalizers."""
    return _Finalizers()


class _Finalizers:
    """A registry of finalizers, in the order of their registration; Go has no order. Go: finalizers."""

    def __init__(self) -> None:
        self._by_key: dict[str, Finalizer] = {}

    def register(self, key: str, f: Finalizer) -> None:
        if key in self._by_key:
            raise ValueError(f'finalizer for key "{key}" already registered')
        self._by_key[key] = f

    def finalize(self, ctx: Context, obj: Object) -> Result:
        """Add the missing finalizers. If the object is being deleted, run its finalizers and remove them.

        Raises an Aggregate of the finalizers' errors, whose `result` shows the changes made nevertheless.
        """
        result = Result()
        errors: list[Exception] = []
        is_deleted = obj.get_deletion_timestamp() is not None
        for key, finalizer in self._by_key.items():
            if not is_deleted:
                result.updated |= add_finalizer(obj, key)
            elif contains_finalizer(obj, key):
                self._run(ctx, key, finalizer, obj, result, errors)
        aggregate = new_aggregate(errors)
        if aggregate is not None:
            aggregate.result = result  # type: ignore[attr-defined]
            raise aggregate
        return result

    def _run(
        self, ctx: Context, key: str, finalizer: Finalizer, obj: Object, result: Result, errors: list[Exception]
    ) -> None:
        try:
            done = finalizer.finalize(ctx, obj)
        except Exception as err:
            failure = RuntimeError(f'finalizer "{key}" failed: {cause_text(err)}')
            failure.__cause__ = err
            errors.append(failure)
            # A failed finalizer may still have changed the object, for example a condition in its status.
            partial = getattr(err, "result", None)
            if isinstance(partial, Result):
                result.updated |= partial.updated
                result.status_updated |= partial.status_updated
            return
        if not isinstance(done, Result):
            # Keep the finalizer, since it is unknown whether the function did its work.
            errors.append(TypeError(f'finalizer "{key}" returned {done!r}, not a finalizer.Result'))
            return
        remove_finalizer(obj, key)
        result.updated = True
        result.status_updated |= done.status_updated

    def __repr__(self) -> str:
        return f"<Finalizers {sorted(self._by_key)}>"
