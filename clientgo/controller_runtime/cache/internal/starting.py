"""A function that runs several caches at once. No Go file: two of Go's caches contain a copy of it.

Difference from Go: when one cache fails, the function stops and joins the others before it raises the error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from clientgo import context
from clientgo.context import Context


def start_all(ctx: Context, starts: Mapping[str, Callable[[Context], None]]) -> None:
    """Call each function in its own thread, named after its key, until `ctx` ends. Blocks until all have returned.

    The first error stops the other functions; it is raised after they have returned.
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
