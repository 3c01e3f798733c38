"""The merge semantics of the built-in kinds for server-side apply (k8s.io/client-go/applyconfigurations)."""

from clientgo.applyconfigurations.utils import new_type_converter

__all__ = ["new_type_converter"]
