"""What watches a process for as long as a `with` lasts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

__all__ = ["Attached"]


class Attached(ABC):
    """A context manager that is attached while its body runs, whatever becomes of it."""

    @abstractmethod
    def attach(self) -> None:
        """Begin to watch."""

    @abstractmethod
    def detach(self) -> None:
        """Watch no more."""

    def __enter__(self) -> Self:
        self.attach()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.detach()
