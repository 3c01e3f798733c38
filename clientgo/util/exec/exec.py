"""Errors of programs with a nonzero exit status. Mirrors client-go's util/exec/exec.go."""

from __future__ import annotations

from abc import abstractmethod

__all__ = ["CodeExitError", "ExitError"]


class ExitError(Exception):
    """Raised for a program that failed; see CodeExitError. Go: exec.ExitError."""

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
    """Raised for a program that failed, with its exit status. Go: exec.CodeExitError.

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
