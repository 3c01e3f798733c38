"""The errors of waiting. Mirrors apimachinery/pkg/util/wait/error.go."""

from __future__ import annotations

from clientgo.context import Canceled, DeadlineExceeded

__all__ = ["ErrWaitTimeout", "error_interrupted", "interrupted"]


class _ErrInterrupted(Exception):
    """Marks an error as "interrupted"; prints as its cause does."""

    def __init__(self, cause: BaseException | None = None) -> None:
        super().__init__("timed out waiting for the condition" if cause is None else str(cause))
        self.__cause__ = cause


class ErrWaitTimeout(_ErrInterrupted):
    """The condition was not met in time. Go: wait.ErrWaitTimeout. Ask with `interrupted`, not by this class."""

    def __init__(self) -> None:
        super().__init__()


def interrupted(err: BaseException | None) -> bool:
    """Report whether the wait ended without an answer: timed out, cancelled, or past its deadline.

    Searches the chain of causes, so `raise X from err` stays interrupted.

    Go: wait.Interrupted.
    """
    while err is not None:
        if isinstance(err, _ErrInterrupted | Canceled | DeadlineExceeded):
            return True
        err = err.__cause__
    return False


def error_interrupted(cause: BaseException | None) -> BaseException:
    """An error that prints as `cause` and counts as `interrupted`; conditions of their own may raise it.

    Go: wait.ErrorInterrupted.
    """
    return cause if isinstance(cause, _ErrInterrupted) else _ErrInterrupted(cause)
