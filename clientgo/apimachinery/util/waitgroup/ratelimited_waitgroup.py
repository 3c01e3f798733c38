"""A counter of work in progress that limits how fast work may end. Mirrors util/waitgroup/ratelimited_waitgroup.go."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TypeAlias

from clientgo.context import Context
from clientgo.golang.stop import add_done_callback

__all__ = ["NotDrainedError", "RateLimitedSafeWaitGroup", "RateLimiter", "RateLimiterFactoryFunc"]


class RateLimiter(Protocol):
    """A limit on how fast work ends. Thread-safe. Go: waitgroup.RateLimiter."""

    def wait(self, ctx: Context, /) -> object:
        """Wait until the next piece of work may end, or the context is done. Go: waitgroup.RateLimiter.Wait."""
        ...


RateLimiterFactoryFunc: TypeAlias = Callable[[int], tuple[RateLimiter, Context, Callable[[], None]]]
"""A function that makes the limiter for an amount of work in progress, the wait's context, and its cancel function.

Go: waitgroup.RateLimiterFactoryFunc.
"""


class NotDrainedError(Exception):
    """Raised when the wait ended before all work did. The cause is the context's error."""

    def __init__(self, before: int, after: int, cause: BaseException | None) -> None:
        super().__init__(str(cause))
        self.before = before
        """The counter when the wait began."""
        self.after = after
        """The counter when the wait ended."""
        self.__cause__ = cause


class RateLimitedSafeWaitGroup:
    """A counter of work in progress; during a wait, a rate limiter delays the end of work. Thread-safe.

    Go: waitgroup.RateLimitedSafeWaitGroup.
    """

    def __init__(self) -> None:
        # Guards the fields below; notified when work has ended and when the wait must end. Not held in the limiter.
        self._changed = threading.Condition()
        # The work in progress, including work whose `done` has not returned: it may still be in the limiter.
        self._count = 0
        self._unfinished = 0
        self._limiter: RateLimiter | None = None
        self._stop_ctx: Context | None = None

    def __repr__(self) -> str:
        return f"<RateLimitedSafeWaitGroup {self._count}{', waited for' if self._limiter else ''}>"

    def add(self, delta: int) -> None:
        """Add to the counter. Raises RuntimeError for a positive delta after `wait`, ValueError below zero.

        Go: waitgroup.RateLimitedSafeWaitGroup.Add.
        """
        with self._changed:
            if self._limiter is not None and delta > 0:
                raise RuntimeError("add with positive delta after Wait is forbidden")
            if self._unfinished + delta < 0:
                raise ValueError("sync: negative WaitGroup counter")
            self._count += delta
            self._unfinished += delta
            self._changed.notify_all()

    def done(self) -> None:
        """Decrement the counter; blocks in the rate limiter while another thread waits.

        Raises ValueError below zero. Go: waitgroup.RateLimitedSafeWaitGroup.Done.
        """
        with self._changed:
            if not self._count:
                raise ValueError("sync: negative WaitGroup counter")
            self._count -= 1
            limiter, ctx = self._limiter, self._stop_ctx
        try:
            if limiter is not None and ctx is not None:
                # As in Go, the reason why the limiter returned is ignored, since the work ends in any case.
                with suppress(Exception):
                    limiter.wait(ctx)
        finally:
            with self._changed:
                self._unfinished -= 1
                self._changed.notify_all()

    def wait(self, limiter_factory: RateLimiterFactoryFunc | None) -> tuple[int, int]:
        """Wait until all work has ended; return the counter at the start and at the end.

        Raises NotDrainedError if the factory's context is done first, ValueError without a factory.
        Go: waitgroup.RateLimitedSafeWaitGroup.Wait.
        """
        if limiter_factory is None:
            raise ValueError("rate limiter factory must be specified")
        with self._changed:
            before = self._count
            self._limiter, ctx, cancel = limiter_factory(before)
            self._stop_ctx = ctx
        forget = add_done_callback(ctx.done(), self._wake)
        try:
            with self._changed:
                while self._unfinished and ctx.err() is None:
                    self._changed.wait()
                after, err = self._count, ctx.err() if self._unfinished else None
        finally:
            forget()
            cancel()
        if err is not None:
            raise NotDrainedError(before, after, err)
        return before, after

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
