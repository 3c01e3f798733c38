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

# Requests that last no longer, in seconds, are unproductive if they brought nothing new. Go: 1*time.Second.
SHORT_WATCH = 1.0

# Seconds. A list replaces a stream that would have to wait longer.
_MAX_STREAM_PAUSE = 1.0


class UnproductiveRequests:
    """Counts the unproductive requests in a row. Belongs to the thread of the reflector."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.clear()

    def clear(self) -> None:
        """Begin with short pauses again, because a request was productive."""
        self._backoff = replace(_BACKOFF)

    def pause(self, ctx: context.Context) -> None:
        """Count one more, and block until its pause is over or `ctx` is done."""
        context.sleep(ctx, self._backoff.step(), self._clock)

    def pause_before_stream(self, ctx: context.Context) -> bool:
        """Count one more, block as `pause` does, and report whether to open another stream.

        Returns False without blocking when the pause is so long that a list is the better way.
        """
        pause = self._backoff.step()
        if pause > _MAX_STREAM_PAUSE:
            return ctx.done().is_set()
        context.sleep(ctx, pause, self._clock)
        return True


__all__ = ["SHORT_WATCH", "UnproductiveRequests"]
