"""The error for items that are not hashable. Has no Go file: Go's compiler rejects such items (`comparable`)."""

from __future__ import annotations

__all__ = ["check_hashable"]


def check_hashable(item: object) -> None:
    """Raise TypeError with the remedy when `item` is not hashable.

    The queues call this after an operation has raised TypeError, so that hashable items pay nothing for the check.
    """
    try:
        hash(item)
    except TypeError as err:
        # API objects are the usual case. A queue of objects would hold old states of them, so the remedy is the key.
        raise TypeError(
            f"{err}: a work queue holds keys, not objects; add its key: "
            "queue.add(cache.meta_namespace_key_func(obj)), or a reconcile.Request in controller_runtime"
        ) from None
