"""The error for unhashable items. Has no Go file: Go's compiler rejects such items (`comparable`)."""

from __future__ import annotations

__all__ = ["check_hashable"]


def check_hashable(item: object) -> None:
    """Raise TypeError with advice if `item` is not hashable.

    The queues call this after an operation has raised TypeError, so hashable items need no extra check.
    """
    try:
        hash(item)
    except TypeError as err:
        # Most often the item is an API object. A queue of objects would hold outdated states, so the message suggests
        # the key.
        raise TypeError(
            f"{err}: a work queue holds keys, not objects; add its key: "
            "queue.add(cache.meta_namespace_key_func(obj)), or a reconcile.Request in controller_runtime"
        ) from None
