"""Extraction from unstructured objects. Mirrors k8s.io/client-go/applyconfigurations/meta/v1.

The types of `clientgo.apimachinery.apis.meta.v1` are the apply configurations of ObjectMeta and the other types.
"""

from clientgo.applyconfigurations.meta.v1.unstructured import UnstructuredExtractor, new_unstructured_extractor

__all__ = ["UnstructuredExtractor", "new_unstructured_extractor"]
