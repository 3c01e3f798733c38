"""What server-side apply needs to know of the built-in kinds (k8s.io/client-go/applyconfigurations)."""

from clientgo.applyconfigurations.utils import new_type_converter

__all__ = ["new_type_converter"]
