"""References to objects (k8s.io/client-go/tools/reference)."""

from clientgo.tools.reference.ref import ErrNilObject, get_partial_reference, get_reference, go_syntax

__all__ = ["ErrNilObject", "get_partial_reference", "get_reference", "go_syntax"]
