"""Field ownership and server-side apply (k8s.io/apimachinery/pkg/util/managedfields), on plain JSON documents."""

from typing import TYPE_CHECKING

from clientgo.apimachinery.util.managedfields.fieldmanager import (
    ConflictError,
    Managers,
    Writer,
    applied,
    live_or_new,
    updated,
    validate_managed_fields,
)
from clientgo.apimachinery.util.managedfields.fieldpath import FieldSet, Path, format_set, parse_set, path_text
from clientgo.apimachinery.util.managedfields.scalehandler import SCALE_VERSION, ScaleHandler
from clientgo.apimachinery.util.managedfields.schema import Node
from clientgo.apimachinery.util.managedfields.typeconverter import (
    DEDUCED_OBJECT,
    OBJECT_META,
    TypeConverter,
    new_deduced_type_converter,
    new_type_converter,
    of_schema,
)
from clientgo.apimachinery.util.managedfields.validate import problems
from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.apimachinery.util.managedfields.extract import extract_into, extracted
else:
    __getattr__, __dir__ = attach(__name__, {"extract": ["extract_into", "extracted"]})

__all__ = [
    "DEDUCED_OBJECT",
    "OBJECT_META",
    "SCALE_VERSION",
    "ConflictError",
    "FieldSet",
    "Managers",
    "Node",
    "Path",
    "ScaleHandler",
    "TypeConverter",
    "Writer",
    "applied",
    "extract_into",
    "extracted",
    "format_set",
    "live_or_new",
    "new_deduced_type_converter",
    "new_type_converter",
    "of_schema",
    "parse_set",
    "path_text",
    "problems",
    "updated",
    "validate_managed_fields",
]
