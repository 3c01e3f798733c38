"""Conversion of custom resources between their versions. Mirrors pkg/conversion."""

from clientgo.controller_runtime.conversion.conversion import Convertible, Hub

__all__ = ["Convertible", "Hub"]
