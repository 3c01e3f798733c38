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

# Seconds. A request that ends sooner and brings nothing new is unproductive.
_SHORT = 1.0

# Seconds. The reflector lists instead of waiting longer for the next stream.
_MAX_STREAM_PAUSE = 1.0


class UnproductiveRequests:
    """A counter of consecutive unproductive requests: requests that ended within a second and brought nothing new.

    Each one in a row makes the next pause longer. Only the reflector's thread may use it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.clear()

    def clear(self) -> None:
        """Reset the pause to its minimum, after a productive request."""
        self._backoff = replace(_BACKOFF)

    def pause_after(self, ctx: context.Context, start: float, is_productive: bool) -> None:
        """Record the end of a watch that began at `start`.

        After an unproductive watch, blocks for the pause or until `ctx` is done.
        """
        if is_productive or self._clock.since(start) >= _SHORT:
            self.clear()
        else:
            context.sleep(ctx, self._backoff.step(), self._clock)

    def pause_before_stream(self, ctx: context.Context, start: float) -> bool:
        """Record the failure of a stream that began at `start`, and report whether to open another one.

        Blocks for the pause or until `ctx` is done. If the pause would be too long, returns False immediately, so that
        the reflector lists instead.
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
