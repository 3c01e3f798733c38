"""Log lines about the pauses and delays that the live tour's users ask for.

They have a module of their own because `live` is an inserted file (see golang/callers.py). A line from there would have
its caller's place, which is Python's threading.py for a pause that ends on its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from clientgo import klog

__all__ = ["Requested", "log_changes"]

Requested = tuple[frozenset[str], Mapping[str, float]]
"""The names of the paused handlers, and the delay of each slow thread in seconds."""


def log_changes(before: Requested, after: Requested, reason: str) -> None:
    """Log the start and the end of each pause and delay: without it, a stopped handler looks like a bug."""
    logger = klog.background()
    for handler in sorted(after[0] - before[0]):
        logger.info("The tour pauses a handler", handler=handler, reason=reason)
    for handler in sorted(before[0] - after[0]):
        logger.info("The tour ends the pause of a handler", handler=handler, reason=reason)
    for thread in sorted(before[1].keys() | after[1].keys()):
        delay = after[1].get(thread, 0.0)
        if delay == before[1].get(thread, 0.0):
            continue
        if delay:
            logger.info("The tour slows down a worker", thread=thread, seconds=delay, reason=reason)
        else:
            logger.info("The tour ends the delay of a worker", thread=thread, reason=reason)
