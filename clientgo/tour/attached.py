"""Observers of a process for the duration of a `with` statement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

__all__ = ["Attached"]


class Attached(ABC):
    """A context manager that is attached while its body runs and detaches even if the body raises."""

    @abstractmethod
    def attach(self) -> None:
        """Begin to observe."""

    @abstractmethod
    def detach(self) -> None:
        """Stop observing."""

    def __enter__(self) -> Self:
        self.attach()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.detach()
