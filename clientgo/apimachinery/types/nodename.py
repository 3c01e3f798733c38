"""The name of a Node (k8s.io/apimachinery/pkg/types/nodename.go)."""

from __future__ import annotations

from typing import TypeAlias

NodeName: TypeAlias = str
"""A Node's metadata.name. An alias, so that plain texts need no conversion. Go: types.NodeName."""
