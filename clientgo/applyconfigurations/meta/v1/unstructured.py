"""The fields of an unstructured object that a field manager owns. Mirrors applyconfigurations/meta/v1/unstructured.go.

Difference: Go looks up the schema of the kind on the server and fails for an unknown one. Here the managed fields and
the object are enough, so that an extractor sends no request.
"""

from __future__ import annotations

from typing import Protocol

from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.applyconfigurations.builders import extract

__all__ = ["UnstructuredExtractor", "new_unstructured_extractor"]


class UnstructuredExtractor(Protocol):
    """An extractor of the fields that a field manager owns by Apply. Thread-safe. Go: UnstructuredExtractor."""

    def extract(self, object: Unstructured, field_manager: str) -> Unstructured:
        """Return a new object with the manager's fields outside of subresources. Go: Extract."""
        ...

    def extract_status(self, object: Unstructured, field_manager: str) -> Unstructured:
        """Return a new object with the manager's fields of the subresource status. Go: ExtractStatus."""
        ...


def new_unstructured_extractor(dc: object = None) -> UnstructuredExtractor:
    """Return an extractor. It needs no schema: `dc` has Go's place and is not used. Go: NewUnstructuredExtractor."""
    return _Extractor()


class _Extractor:
    def extract(self, object: Unstructured, field_manager: str) -> Unstructured:
        return extract(object, field_manager)

    def extract_status(self, object: Unstructured, field_manager: str) -> Unstructured:
        return extract(object, field_manager, "status")
