"""Differences between objects, for messages. Mirrors k8s.io/apimachinery/pkg/util/diff."""

from clientgo.apimachinery.util.diff.diff import diff

__all__ = ["diff"]
