"""Semantic equality of API objects. Mirrors k8s.io/apimachinery/pkg/api/equality."""

from clientgo.apimachinery.api.equality.semantic import SEMANTIC, Equalities

__all__ = ["SEMANTIC", "Equalities"]
