"""JSON. Mirrors k8s.io/apimachinery/pkg/runtime/serializer/json."""

from clientgo.apimachinery.runtime.serializer.json.json import (
    LINE_FRAMER,
    JSONSerializer,
    YAMLSerializer,
    check_header,
    marshal_unstructured,
    parse_json,
    written_kind,
)

__all__ = [
    "LINE_FRAMER",
    "JSONSerializer",
    "YAMLSerializer",
    "check_header",
    "marshal_unstructured",
    "parse_json",
    "written_kind",
]
