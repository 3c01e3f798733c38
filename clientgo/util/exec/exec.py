"""Errors of programs that exited with another status than 0. Mirrors client-go's util/exec/exec.go."""

from __future__ import annotations

from abc import abstractmethod

__all__ = ["CodeExitError", "ExitError"]


class ExitError(Exception):
    """A program that ended in failure; see CodeExitError. Go: exec.ExitError."""

    @abstractmethod
    def __str__(self) -> str:
        """Return the error's text."""

    @abstractmethod
    def exited(self) -> bool:
        """Report whether the program exited. Go: exec.ExitError.Exited."""

    @abstractmethod
    def exit_status(self) -> int:
        """Return the program's exit status. Go: exec.ExitError.ExitStatus."""


class CodeExitError(ExitError):
    """An error and the exit status of the program that failed. Go: exec.CodeExitError.

    >>> str(CodeExitError(err=RuntimeError("command terminated"), code=3))
    'command terminated'
    """

    def __init__(self, err: Exception, code: int) -> None:
        super().__init__(err, code)
        self.err = err
        self.code = code
        self.__cause__ = err

    def __str__(self) -> str:
        return str(self.err)

    def exited(self) -> bool:
        """Return True. Go: exec.CodeExitError.Exited."""
        return True

    def exit_status(self) -> int:
        """Return `code`. Go: exec.CodeExitError.ExitStatus."""
        return self.code
