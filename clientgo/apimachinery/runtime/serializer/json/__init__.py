"""JSON. Mirrors k8s.io/apimachinery/pkg/runtime/serializer/json."""

from clientgo.apimachinery.runtime.serializer.json.json import (
    LINE_FRAMER,
    JSONSerializer,
    check_header,
    parse_json,
    unstructured_document,
    written_kind,
)

__all__ = ["LINE_FRAMER", "JSONSerializer", "check_header", "parse_json", "unstructured_document", "written_kind"]
