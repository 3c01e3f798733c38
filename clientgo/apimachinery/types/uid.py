"""The unique identity of an object (k8s.io/apimachinery/pkg/types/uid.go)."""

from __future__ import annotations

from typing import TypeAlias

UID: TypeAlias = str
"""An object's metadata.uid. An alias, so that plain texts need no conversion. Go: types.UID."""
