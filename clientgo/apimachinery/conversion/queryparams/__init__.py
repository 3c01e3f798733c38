"""Objects as query parameters. Mirrors k8s.io/apimachinery/pkg/conversion/queryparams."""

from clientgo.apimachinery.conversion.queryparams.convert import convert

__all__ = ["convert"]
