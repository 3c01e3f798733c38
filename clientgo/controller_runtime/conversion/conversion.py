"""Hub and spokes: one version that all others convert to and from. Mirrors pkg/conversion/conversion.go.

A program implements these protocols in its types: the central version is the Hub, every other one is Convertible.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from clientgo.apimachinery.runtime import Object

__all__ = ["Convertible", "Hub"]


@runtime_checkable
class Hub(Protocol):
    """The marker of the version that all others convert to and from. Go: conversion.Hub."""

    def hub(self) -> None:
        """Do nothing. Go: Hub."""
        ...


@runtime_checkable
class Convertible(Protocol):
    """A version that converts itself to and from the hub. Go: conversion.Convertible."""

    def convert_to(self, dst: Object, /) -> None:
        """Fill the hub `dst` from this object. Go: ConvertTo."""
        ...

    def convert_from(self, src: Object, /) -> None:
        """Fill this object from the hub `src`. Go: ConvertFrom."""
        ...
