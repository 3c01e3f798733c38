"""Retries of failed operations, mainly after conflicts. Mirrors client-go/util/retry/util.go."""

from __future__ import annotations

from collections.abc import Callable

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.util import wait
from clientgo.golang.functions import raise_returned
from clientgo.klog.answers import is_true

__all__ = ["DEFAULT_BACKOFF", "DEFAULT_RETRY", "on_error", "retry_on_conflict"]

DEFAULT_RETRY = wait.Backoff(steps=5, duration=0.01, factor=1.0, jitter=0.1)
"""The backoff for conflicts between clients that change the same object."""

DEFAULT_BACKOFF = wait.Backoff(steps=4, duration=0.01, factor=5.0, jitter=0.1)
"""The backoff for conflicts with controllers that change the object continuously."""


def on_error(backoff: wait.Backoff, retriable: Callable[[Exception], bool], fn: Callable[[], object]) -> None:
    """Call `fn` until it does not raise, at most `backoff.steps` times, with the backoff's delays in between.

    Raises an error that is not `retriable` at once, and the last error after the last attempt. Blocks. Difference from
    Go: there, an `fn` that was cancelled or timed out appears to have succeeded. Go: retry.OnError.
    """
    last_err: Exception | None = None

    def attempt() -> bool:
        nonlocal last_err
        try:
            raise_returned(fn())  # as in Go, where `fn` returns its error
        except Exception as err:
            last_err = err
            if not is_true(retriable, err):
                raise
            return False
        return True

    try:
        wait.exponential_backoff(backoff, attempt)
    except wait.ErrWaitTimeout:
        # As in Go there is no error if the backoff has no steps.
        if last_err is not None:
            raise last_err from None


def retry_on_conflict(backoff: wait.Backoff, fn: Callable[[], object]) -> None:
    """Call `fn` again when it raises a Conflict; see `on_error`.

    `fn` must read the object each time, change it and write it:

        def update() -> None:
            foo = foos.get(ctx, name)
            foo.spec.replicas = 3
            foos.update(ctx, foo)

        retry.retry_on_conflict(retry.DEFAULT_RETRY, update)

    Go: retry.RetryOnConflict.
    """
    on_error(backoff, errors.is_conflict, fn)
