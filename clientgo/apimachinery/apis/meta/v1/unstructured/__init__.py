"""Objects without declared fields (k8s.io/apimachinery/pkg/apis/meta/v1/unstructured)."""

from clientgo.apimachinery.apis.meta.v1.unstructured.unstructured import Unstructured
from clientgo.apimachinery.apis.meta.v1.unstructured.unstructured_list import UnstructuredList

__all__ = ["Unstructured", "UnstructuredList"]
