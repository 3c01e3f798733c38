"""The version of a program. Mirrors k8s.io/apimachinery/pkg/version."""

from clientgo.apimachinery.version.types import Info

__all__ = ["Info"]
