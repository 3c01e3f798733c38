"""Names derived from the caller's position. Mirrors k8s.io/apimachinery/pkg/util/naming."""

from clientgo.apimachinery.util.naming.from_stack import call_site, get_name_from_callsite, never_name_after

__all__ = ["call_site", "get_name_from_callsite", "never_name_after"]
