"""The version of the library. Mirrors k8s.io/client-go/pkg/version."""

from clientgo.pkg.version.version import get

__all__ = ["get"]
