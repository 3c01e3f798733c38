"""The errors of interrupted waits. Mirrors apimachinery/pkg/util/wait/error.go."""

from __future__ import annotations

from clientgo.context import Canceled, DeadlineExceeded

__all__ = ["ErrWaitTimeout", "error_interrupted", "interrupted"]


class _ErrInterrupted(Exception):
    """A base class that marks an error as "interrupted" and has its cause's text."""

    def __init__(self, cause: BaseException | None = None) -> None:
        super().__init__("timed out waiting for the condition" if cause is None else str(cause))
        self.__cause__ = cause


class ErrWaitTimeout(_ErrInterrupted):
    """Raised when the condition was not met in time. Check with `interrupted`, not with this class.

    Go: wait.ErrWaitTimeout.
    """

    def __init__(self) -> None:
        super().__init__()


def interrupted(err: BaseException | None) -> bool:
    """Report whether the wait ended without a result: timed out, cancelled, or past its deadline.

    Follows the chain of causes, so an error raised from an interrupted one is interrupted too. Go: wait.Interrupted.
    """
    while err is not None:
        if isinstance(err, _ErrInterrupted | Canceled | DeadlineExceeded):
            return True
        err = err.__cause__
    return False


def error_interrupted(cause: BaseException | None) -> BaseException:
    """Return an error that has the text of `cause` and counts as `interrupted`; conditions may raise it.

    Go: wait.ErrorInterrupted.
    """
    return cause if isinstance(cause, _ErrInterrupted) else _ErrInterrupted(cause)
