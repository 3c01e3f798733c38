"""Random texts for names. Mirrors k8s.io/apimachinery/pkg/util/rand."""

from clientgo.apimachinery.util.rand.rand import string

__all__ = ["string"]
