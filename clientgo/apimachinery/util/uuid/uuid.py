"""Identifiers of objects. Mirrors apimachinery/pkg/util/uuid/uuid.go."""

from __future__ import annotations

from uuid import uuid4

from clientgo.apimachinery.types import UID

__all__ = ["new_uuid"]


def new_uuid() -> UID:
    """Return a random UUID of version 4. Go: uuid.NewUUID."""
    return UID(str(uuid4()))
