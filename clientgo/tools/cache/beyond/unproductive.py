"""Pauses between requests that end at once without progress. Beyond Go, which repeats such requests without a pause.

Some servers refuse stream after stream as too old, or end each watch within a second. The first pauses are shorter than
a request, so that a server that recovers is asked as soon as Go asks; the sixth is the first that lasts a second.
"""

from __future__ import annotations

from dataclasses import replace

from clientgo import context
from clientgo.apimachinery.util import wait
from clientgo.utils.clock import Clock

_BACKOFF = wait.Backoff(duration=1e-6, factor=16.0, steps=10, cap=50.0)

# Seconds. A shorter request is unproductive if it brought nothing new.
_SHORT = 1.0

# Seconds. A list replaces a stream that would have to wait longer.
_MAX_STREAM_PAUSE = 1.0


class UnproductiveRequests:
    """Counter of the unproductive requests in a row. Belongs to the thread of the reflector."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.clear()

    def clear(self) -> None:
        """Begin with short pauses again, because a request was productive."""
        self._backoff = replace(_BACKOFF)

    def pause_after(self, ctx: context.Context, start: float, is_productive: bool) -> None:
        """Note the end of a watch that began at `start`; after an unproductive one, block for its pause or until `ctx`
        is done.
        """
        if is_productive or self._clock.since(start) >= _SHORT:
            self.clear()
        else:
            context.sleep(ctx, self._backoff.step(), self._clock)

    def pause_before_stream(self, ctx: context.Context, start: float) -> bool:
        """Note the failure of a stream that began at `start`, and report whether to open another one.

        Blocks for the pause or until `ctx` is done. Returns False at once if a list is better than so long a pause.
        """
        if self._clock.since(start) >= _SHORT:
            self.clear()
            return True
        pause = self._backoff.step()
        if pause > _MAX_STREAM_PAUSE:
            return ctx.done().is_set()
        context.sleep(ctx, pause, self._clock)
        return True


__all__ = ["UnproductiveRequests"]
