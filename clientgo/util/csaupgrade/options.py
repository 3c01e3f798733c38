"""Options of an upgrade. Mirrors client-go's util/csaupgrade/options.go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Option", "subresource"]


@dataclass
class Options:
    """The settings of one upgrade."""

    subresource: str = ""


Option: TypeAlias = Callable[[Options], None]
"""A setting of an upgrade. Go: csaupgrade.Option."""


def subresource(s: str) -> Option:
    """Return the option that upgrades the managers of a subresource. Go: csaupgrade.Subresource."""

    def option(options: Options) -> None:
        options.subresource = s

    return option
