"""The errors of a bubble, and the exception that ends its remaining threads."""

from __future__ import annotations


class BubbleError(AssertionError):
    """Raised for a problem with the threads of a bubble."""


class DeadlockError(BubbleError):
    """Raised if every thread is blocked and no timeout is pending."""


class LeakError(BubbleError):
    """Raised if the body of the bubble ends while other threads are alive."""


class ThreadError(BubbleError):
    """Raised if an exception ends a thread of the bubble; the exception is the `__cause__`."""


class LivelockError(BubbleError):
    """Raised if the bubble has not ended after `max_steps` operations."""


class HangError(BaseException):
    """Raised if the running thread makes no progress in real time because it blocks outside of the bubble's control.

    It is not an Exception, and thus not a BubbleError, so that Hypothesis stops at once instead of waiting again for
    every step of shrinking, and no `except Exception` of the code under test catches it.
    """

    ends_thread = True
    """See clientgo.golang.stop.is_crash."""


class BubbleExit(BaseException):
    """Raised in a thread that outlives its bubble, to unwind it."""

    ends_thread = True
    """See clientgo.golang.stop.is_crash."""
