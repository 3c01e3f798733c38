"""Field ownership and server-side apply (k8s.io/apimachinery/pkg/util/managedfields), on plain JSON documents."""

from clientgo.apimachinery.util.managedfields.fieldmanager import (
    ConflictError,
    Managers,
    Writer,
    applied,
    updated,
    validate_managed_fields,
)
from clientgo.apimachinery.util.managedfields.fieldpath import FieldSet, Path, format_set, parse_set, path_text
from clientgo.apimachinery.util.managedfields.schema import Node
from clientgo.apimachinery.util.managedfields.typeconverter import (
    DEDUCED_OBJECT,
    OBJECT_META,
    TypeConverter,
    new_deduced_type_converter,
    of_schema,
)
from clientgo.apimachinery.util.managedfields.validate import problems

__all__ = [
    "DEDUCED_OBJECT",
    "OBJECT_META",
    "ConflictError",
    "FieldSet",
    "Managers",
    "Node",
    "Path",
    "TypeConverter",
    "Writer",
    "applied",
    "format_set",
    "new_deduced_type_converter",
    "of_schema",
    "parse_set",
    "path_text",
    "problems",
    "updated",
    "validate_managed_fields",
]
