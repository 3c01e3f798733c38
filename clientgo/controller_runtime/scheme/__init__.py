"""A builder of schemes. Mirrors pkg/scheme."""

from clientgo.controller_runtime.scheme.scheme import (
    Builder,
)

__all__ = [
    "Builder",
]
