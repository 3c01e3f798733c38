"""Runs several caches at once. No Go file: two of the caches have a copy of it.

Differs from Go: when one of them fails the others are stopped and waited for before the error is raised.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from clientgo import context
from clientgo.context import Context


def start_all(ctx: Context, starts: Mapping[str, Callable[[Context], None]]) -> None:
    """Call each function in a thread of its own, named after its key, until `ctx` ends. Blocks until all have returned.

    Raises the first error of one of them, which ends the others.
    """
    own, cancel = context.with_cancel(ctx)
    errors: list[Exception] = []

    def run(start: Callable[[Context], None]) -> None:
        try:
            start(own)
        except Exception as err:
            errors.append(err)
            cancel()

    threads = [
        threading.Thread(target=run, args=(start,), name=f"cache {name}".rstrip(), daemon=True)
        for name, start in starts.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cancel()
    if errors:
        raise errors[0]
