"""Names derived from the caller's position. Mirrors k8s.io/apimachinery/pkg/util/naming."""

from clientgo.apimachinery.util.naming.from_stack import get_name_from_callsite, never_name_after

__all__ = ["get_name_from_callsite", "never_name_after"]
