"""The operators of label and field selectors (k8s.io/apimachinery/pkg/selection)."""

from clientgo.apimachinery.selection.operator import Operator

__all__ = ["Operator"]
