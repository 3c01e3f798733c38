"""What a bubble has to say against the threads inside it, and how it ends those that are left."""

from __future__ import annotations


class BubbleError(AssertionError):
    """A bubble found something wrong with the threads inside it."""


class DeadlockError(BubbleError):
    """Every thread is blocked and no timeout is pending."""


class LeakError(BubbleError):
    """The body of the bubble ended while other threads were still alive."""


class ThreadError(BubbleError):
    """An exception ended a thread of the bubble; it is the `__cause__`."""


class LivelockError(BubbleError):
    """The bubble went through `max_steps` operations without coming to an end."""


class HangError(BaseException):
    """The running thread made no progress in real time: it blocks on something the bubble does not control.

    No Exception, and so no BubbleError: Hypothesis gives it up at once instead of waiting as long again for every
    step of shrinking, and no `except Exception` of the code under test swallows it.
    """


class BubbleExit(BaseException):
    """Unwinds a thread that outlived its bubble."""
