"""The types behind new_type_converter (k8s.io/client-go/applyconfigurations/internal)."""

from clientgo.applyconfigurations.internal.internal import of_kind, of_type

__all__ = ["of_kind", "of_type"]
