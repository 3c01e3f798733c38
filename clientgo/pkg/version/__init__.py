"""Which release of the library this is. Mirrors k8s.io/client-go/pkg/version."""

from clientgo.pkg.version.version import get

__all__ = ["get"]
