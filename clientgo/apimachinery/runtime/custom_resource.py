"""The description of a class's CustomResourceDefinition: the `+kubebuilder` comment tags of Go's API types, as values.

    class OrderSpec(runtime.Struct):
        size: str = runtime.field("size", "string", default="", schema=runtime.Schema(enum=["S", "M", "L"]))

    class Order(runtime.ResourceObject):
        CRD = runtime.CustomResource(short_names=["ord"], printer_columns=[runtime.PrinterColumn("Size", ".spec.size")])

`clientgo.codegen.crds` reads the description and writes the definition. Reading and writing objects does not use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal


class _Unset:
    """No default: not even null."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final[Any] = _Unset()


@dataclass(frozen=True, slots=True)
class ValidationRule:
    """A rule in CEL, which holds for the value it stands at, `self`. Go: apiextensionsv1.ValidationRule."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Schema:
    """The schema of a field beyond its type. Go: the `+kubebuilder:validation` tags.

    Of a struct's class as its `SCHEMA`: what holds wherever the struct is used. `items` is about the elements of a
    list or the values of a map.
    """

    description: str = ""
    title: str = ""
    # The object above is refused without the field. Absent reads as a zero value here, so no field is on its own.
    required: bool = False
    nullable: bool = False
    default: Any = UNSET
    example: Any = UNSET
    # Values, or a class of the standard library's enum whose members have them.
    enum: Sequence[Any] | type[Enum] = ()
    # "" where the type's own (int32, date-time, byte) shall not stand there; None leaves it.
    format: str | None = None
    pattern: str = ""
    min_length: int | None = None
    max_length: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique_items: bool = False
    min_properties: int | None = None
    max_properties: int | None = None
    # How server-side apply merges.
    list_type: Literal["", "atomic", "set", "map"] = ""
    list_map_keys: Sequence[str] = ()
    map_type: Literal["", "atomic", "granular"] = ""
    # Fields that no schema names are kept. Of a struct: its own fields are not listed then.
    preserve_unknown_fields: bool = False
    # A whole object, with apiVersion, kind and metadata.
    embedded_resource: bool = False
    cel: Sequence[ValidationRule | str] = ()
    items: Schema | None = None

    def facts(self) -> list[str]:
        """Return the known values and the default of the field, for its description."""
        values = [each.value for each in self.enum] if isinstance(self.enum, type) else list(self.enum)
        found = [f"one of {', '.join(map(str, values))}"] if values else []
        if self.default is not UNSET:
            found.append(f"default {self.default}")
        return found


@dataclass(frozen=True, slots=True)
class PrinterColumn:
    """A column of `kubectl get`. Go: apiextensionsv1.CustomResourceColumnDefinition."""

    name: str
    json_path: str
    type: Literal["string", "integer", "number", "boolean", "date"] = "string"
    description: str = ""
    format: str = ""
    # Columns with a greater priority than 0 are shown with `-o wide` alone.
    priority: int = 0


@dataclass(frozen=True, slots=True)
class ScaleSubresource:
    """The JSON paths of the replicas that `kubectl scale` and autoscalers use."""

    spec_replicas_path: str = ".spec.replicas"
    status_replicas_path: str = ".status.replicas"
    label_selector_path: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CustomResource:
    """The options of a kind's definition. Go: the `+kubebuilder:resource`, `:subresource` ... tags.

    The definition takes its group, version and kind from the class.
    """

    # Its name in paths, and its scope: those of the class's GENCLIENT, or else the plural of the kind, in namespaces.
    resource: str = ""
    namespaced: bool | None = None
    short_names: Sequence[str] = ()
    categories: Sequence[str] = ()
    # The server's defaults: the kind in lower case, and the kind with "List".
    singular: str = ""
    list_kind: str = ""
    # Of several versions of a kind one is stored.
    storage: bool = True
    served: bool = True
    deprecated: bool = False
    deprecation_warning: str = ""
    # A status with a path of its own; None: where the class has a status, and its client an update_status.
    status: bool | None = None
    scale: ScaleSubresource | None = None
    printer_columns: Sequence[PrinterColumn] = ()
    # JSON paths that field selectors may name.
    selectable_fields: Sequence[str] = ()
    # How objects become another version's: the definition's `spec.conversion`. Without it only apiVersion changes.
    conversion: Mapping[str, Any] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    # Whether docstrings and comments become descriptions, and the formats of numbers (int32, double) are written.
    descriptions: bool = True
    number_formats: bool = True
