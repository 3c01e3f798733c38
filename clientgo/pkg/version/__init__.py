"""Which release of the library this is. Mirrors k8s.io/client-go/pkg/version."""

from clientgo.pkg.version.version import Info, get

__all__ = ["Info", "get"]
