"""Types of the built-in APIs at run time: decoding as Go's encoding/json does it, from type facts alone.

A request body is decoded into the normal form in which the real server would print the object again: fields in the
order of the Go struct, empty omitempty fields left out, zero values of the others shown, unknown fields dropped (and
reported). The rest of the server works on these plain dicts. There is no Go counterpart; the facts come from the Go
sources (hack/make-apiserver-data).

`Struct` and `Field` here are a second model of the API types, beside `runtime.Struct` of the clients, because the two
serve opposite ends. A client's struct is a lazy view: it keeps unknown fields and JSON's order, accepts what it reads,
and must not fail on another release's objects. The server has to check every value, report each unknown field by its
path with encoding/json's error texts, print zero values as the Go struct does, and link patch strategies, list types
and OpenAPI names to fields. It needs the types by name alone, for all kinds, and does not import the generated classes:
with their object model they take a sixth of a server's start. Both models come from the same facts: `clientgo.api`'s
classes are generated from the file that this module reads.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from clientgo.api import facts
from clientgo.apimachinery.api import resource
from clientgo.golang.base64 import decode_string
from clientgo.golang.json import NumberLiteral
from clientgo.testing.apiserver.wire.jsonio import Json

META_V1 = facts.META_V1
_INT_RANGES = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "int": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
    "byte": (0, 255),
}
# Times in their normal form. Of the leap days, those in the years of a new century count as unusual.
_DATE = (
    r"(?!000[01])(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]))|[0-9]{2}(?:0[48]|[2468][048]|[13579][26])-02-29)"
)
_SECONDS = _DATE + "T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_PLAIN_TIME = re.compile(f"{_SECONDS}Z")
_PLAIN_MICRO_TIME = re.compile(rf"{_SECONDS}\.[0-9]{{6}}Z")
_QUANTITY_TEXT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
# Canonical as it stands: too small for the next suffix.
_PLAIN_QUANTITY = re.compile(r"^[1-9]\d{0,2}(Ki|Mi|Gi|Ti|Pi|m|k|M|G|T|P)?$")


class DecodeError(Exception):
    """A value that does not fit its Go type. The text is that of encoding/json.

    `value`, `go_type` and `underlying`, the type without its name, allow callers to write another text. The types are
    empty if the error has none.
    """

    def __init__(self, text: str, value: Any = None, go_type: str = "", underlying: str = "") -> None:
        super().__init__(text)
        self.value = value
        self.go_type = go_type
        self.underlying = underlying or go_type


class Context:
    """The results of one decoding: the paths of unknown fields.

    With `whole_floats` a number such as 2.0 is an integer: Go converts maps to structs so, but does not decode JSON so.
    """

    __slots__ = ("unknown", "whole_floats")

    def __init__(self, *, whole_floats: bool = False) -> None:
        self.unknown: list[str] = []
        self.whole_floats = whole_floats

    def as_integer(self, value: Any) -> Any:
        """Return a whole float as an integer if this decoding takes it for one, and any other value unchanged."""
        return int(value) if self.whole_floats and isinstance(value, float) and value.is_integer() else value


class Codec:
    """The codec of one Go type: decodes JSON into normal form and encodes it again.

    `decode(value, ctx, path, field)` returns the normal form; `field` is "Struct.json.path" for error texts.
    `go_name` is the type as encoding/json names it in errors. `struct` is set for struct types only, `items` for lists
    and maps: the Python type, and the codec of the elements. A value of the Python type `plain` is already in normal
    form; an integer also has to be within `bounds`. `ends_decoding` states whether Go's type decodes its own JSON; then
    its error ends the decoding of the object. `chosen` returns the codec that such a type calls for a value, or None.
    """

    __slots__ = (
        "bounds",
        "chosen",
        "decode",
        "ends_decoding",
        "go_name",
        "is_empty",
        "items",
        "plain",
        "struct",
        "zero",
    )

    def __init__(
        self,
        go_name: str,
        decode: Callable[[Any, Context, str, str], Any],
        zero: Any = None,
        is_empty: Callable[[Any], bool] | None = None,
        struct: Struct | None = None,
        plain: type | None = None,
        bounds: range | None = None,
        items: tuple[type, Codec] | None = None,
        *,
        ends_decoding: bool = False,
        chosen: Callable[[Any], Codec | None] | None = None,
    ) -> None:
        self.go_name = go_name
        self.items = items
        self.ends_decoding = ends_decoding
        self.chosen = chosen
        self.decode = decode
        self.plain = plain
        self.bounds = bounds
        self.zero = zero
        # Whether omitempty leaves this normal form out. Structs are never empty for encoding/json.
        self.is_empty = is_empty or (lambda value: not value)
        self.struct = struct


class Field:
    """A field of a struct, with all facts that the server needs."""

    __slots__ = ("codec", "json", "merge_key", "merge_strategy", "omitempty", "optional", "struct", "type")

    def __init__(self, fact: facts.FieldFact) -> None:
        self.json = fact.json
        self.type = fact.type
        self.omitempty = fact.omitempty
        self.optional = fact.optional
        self.merge_strategy = fact.patch_strategy
        self.merge_key = fact.patch_merge_key
        self.codec: Codec = None  # type: ignore[assignment]  # linked by Struct.link, types may be recursive
        # The field's struct if its type is a struct or a pointer to one.
        self.struct: Struct | None = None


class Struct:
    """A Go struct: its fields in order, including those of inlined structs."""

    def __init__(self, package: str, name: str) -> None:
        self.package = package
        self.name = name
        self.fields: dict[str, Field] = {}
        self._plans: dict[str, _Plan] = {}
        # The fields that are printed without a value, too.
        self._always: list[_Plan] = []

    @property
    def definition(self) -> str:
        """The OpenAPI definition name, io.k8s.api.core.v1.Pod."""
        return facts.definition_name(self.package, self.name)

    def __repr__(self) -> str:
        return f"<Struct {self.definition} {len(self.fields)} fields>"

    def link(self) -> None:
        for field in self.fields.values():
            field.codec = codec(field.type, self.package)
            field.struct = codec(field.type.lstrip("*"), self.package).struct
        for place, field in enumerate(self.fields.values()):
            omitzero = field.json == "creationTimestamp" and self.name == "ObjectMeta"
            plan = self._plans[field.json] = _plan(place, field, omitzero=omitzero)
            if plan.rest.is_always_shown:
                self._always.append(plan)

    def decode(self, value: Any, ctx: Context, path: str, field: str) -> Any:
        if value is None:
            value = {}
        elif not isinstance(value, dict):
            raise mismatch(value, field, facts.go_name(self.name, self.package))
        plans = self._plans
        found = [*filter(None, map(plans.get, value))]
        known = len(found)
        for plan in self._always:
            if plan[1] not in value:
                found.append(plan)
        # Ordered by their places only, which are all different.
        if len(found) > 1:
            found.sort()
        out: Json = {}
        for _, name, plain, bounds, keeps_zero, rest in found:
            given = value.get(name)
            if type(given) is plain and (bounds is None or given in bounds):
                # Most fields are such, and no path has to be written out for them.
                if given or keeps_zero:
                    out[name] = given
                continue
            kind = rest.codec
            if given is None:
                if rest.is_always_shown:
                    # A struct without value still prints its zero form, {} or more.
                    out[name] = kind.zero if kind.struct is None else kind.decode(None, ctx, "", "")
            else:
                inner = f"{path}.{name}" if path else name
                normal = kind.decode(given, ctx, inner, f"{self.name}.{inner}")
                if not (rest.drops_empty and kind.is_empty(normal)):
                    out[name] = normal
        if known != len(value):
            ctx.unknown += [f"{path}.{key}" if path else key for key in value if key not in plans]
        return out


class _Shown(NamedTuple):
    """A field's codec with the conditions under which a struct prints the field."""

    codec: Codec
    is_always_shown: bool
    drops_empty: bool


class _Plan(NamedTuple):
    """The encoding of one field of a struct, computed once. The members that most fields need come first."""

    place: int
    name: str
    plain: type | None
    bounds: range | None
    # Whether an explicit "", 0 or false of a plain type is kept.
    keeps_zero: bool
    rest: _Shown


def _plan(place: int, field: Field, *, omitzero: bool) -> _Plan:
    kind = field.codec
    drops_empty = field.omitempty and kind.struct is None
    is_left_out = field.omitempty and (omitzero or (kind.struct is None and kind.is_empty(kind.zero)))
    keeps_zero = kind.plain is None or not (drops_empty and kind.is_empty(kind.plain()))
    return _Plan(place, field.json, kind.plain, kind.bounds, keeps_zero, _Shown(kind, not is_left_out, drops_empty))


_INDEX = re.compile(r"\[\d+\]")


def mismatch(value: Any, field: str, go_type: str, underlying: str = "") -> DecodeError:
    """Return encoding/json's error for a JSON value of the wrong type."""
    if isinstance(value, bool):
        kind = "bool"
    elif isinstance(value, str):
        kind = "string"
    elif isinstance(value, (int, float)):
        kind = "number"
        if go_type in _INT_RANGES and isinstance(value, NumberLiteral):
            kind = f"number {value.text}"
        elif go_type in _INT_RANGES:
            is_whole = isinstance(value, float) and value.is_integer() and 2**53 <= abs(value) < 1e21
            kind = f"number {int(value) if is_whole else json.dumps(value)}"
    elif isinstance(value, list):
        kind = "array"
    else:
        kind = "object"
    # Go's path of a field says nothing of the places in lists.
    where = f"struct field {_INDEX.sub('', field)}" if field else "value"
    return DecodeError(f"json: cannot unmarshal {kind} into Go {where} of type {go_type}", value, go_type, underlying)


# ---- scalars and the types with their own JSON form


def _string(value: Any, ctx: Context, path: str, field: str) -> Any:
    if isinstance(value, str):
        return value
    raise mismatch(value, field, "string")


def _text(go_name: str) -> Codec:
    """Return the codec of a named string type, whose name Go's errors have."""

    def decode(value: Any, ctx: Context, path: str, field: str) -> Any:
        if isinstance(value, str):
            return value
        raise mismatch(value, field, go_name, "string")

    return Codec(go_name, decode, "", plain=str)


def _bool(value: Any, ctx: Context, path: str, field: str) -> Any:
    if isinstance(value, bool):
        return value
    raise mismatch(value, field, "bool")


def _float(value: Any, ctx: Context, path: str, field: str) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise mismatch(value, field, "float64")


def _integer(go_type: str) -> Codec:
    low, high = _INT_RANGES[go_type]

    def decode(value: Any, ctx: Context, path: str, field: str) -> Any:
        number = ctx.as_integer(value)
        if type(number) is int and low <= number <= high:
            return number
        raise mismatch(value, field, go_type)

    return Codec(go_type, decode, 0, plain=int, bounds=range(low, high + 1))


def _any(value: Any, ctx: Context, path: str, field: str) -> Any:
    return value


def _time(value: Any, ctx: Context, path: str, field: str) -> Any:
    if isinstance(value, str) and _PLAIN_TIME.fullmatch(value):
        # The given text, so that objects of one second share it.
        return value
    return _written(value, field, "seconds")


def _microtime(value: Any, ctx: Context, path: str, field: str) -> Any:
    if isinstance(value, str) and _PLAIN_MICRO_TIME.fullmatch(value):
        return value
    return _written(value, field, "microseconds")


# Go's zero time, which is null in JSON.
_ZERO_TIME = datetime(1, 1, 1, tzinfo=UTC)


def _written(value: Any, field: str, unit: str) -> str | None:
    """Return a time as Go writes it again, to the second or microsecond; None for Go's zero time. Raises DecodeError.
    """
    from clientgo.golang import rfc3339  # Here: most times are in their normal form.

    if not isinstance(value, str):
        raise mismatch(value, field, "string")
    try:
        moment, _ = rfc3339.parse(value, rfc3339.RFC3339 if unit == "seconds" else rfc3339.RFC3339_MICRO)
    except ValueError as err:
        raise DecodeError(str(err)) from None
    return None if moment == _ZERO_TIME else moment.replace(tzinfo=None).isoformat(timespec=unit) + "Z"


def _quantity(value: Any, ctx: Context, path: str, field: str) -> Any:
    if isinstance(value, str) and _PLAIN_QUANTITY.match(value):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = json.dumps(value)
    try:
        return str(resource.parse_quantity(value.strip()))
    except (ValueError, AttributeError, TypeError) as err:
        raise DecodeError(str(err) if isinstance(value, str) else _QUANTITY_TEXT) from None


def _int_or_string(value: Any, ctx: Context, path: str, field: str) -> Any:
    low, high = _INT_RANGES["int32"]
    number = ctx.as_integer(value)
    if isinstance(number, str) or (type(number) is int and low <= number <= high):
        return number
    raise mismatch(value, field, "int32")


def _bytes(value: Any, ctx: Context, path: str, field: str) -> Any:
    if not isinstance(value, str):
        raise mismatch(value, field, "[]uint8")
    try:
        return base64.b64encode(decode_string(value)).decode()
    except ValueError as err:
        raise DecodeError(str(err)) from None


def _never(value: Any) -> bool:
    return False


def _schema_or_bool(package: str) -> Codec:
    """Return the codec of apiextensions' JSONSchemaPropsOrBool."""
    schema = codec("JSONSchemaProps", package)

    def chosen(value: Any) -> Codec | None:
        if isinstance(value, (bool, dict)):
            return schema if isinstance(value, dict) else None
        raise DecodeError("boolean or JSON schema expected")

    return _choice("v1.JSONSchemaPropsOrBool", chosen, lambda value: value)


def _schema_or_list(name: str, element: str, package: str) -> Codec:
    """Return the codec of JSONSchemaPropsOrArray or JSONSchemaPropsOrStringArray. They read other values as null."""
    kinds: dict[type, Codec] = {dict: codec("JSONSchemaProps", package), list: codec(f"[]{element}", package)}
    return _choice(f"v1.{name}", lambda value: kinds.get(type(value)), lambda value: None)


def _choice(name: str, chosen: Callable[[Any], Codec | None], scalar: Callable[[Any], Any]) -> Codec:
    """Return the codec of a type that calls the decoder for the type that its value needs; `scalar` reads the others.
    """

    def decode(value: Any, ctx: Context, path: str, field: str) -> Any:
        kind = chosen(value)
        try:
            return scalar(value) if kind is None else kind.decode(value, ctx, path, field)
        except DecodeError as err:
            raise of_field(err, field) from None

    return Codec(name, decode, None, lambda value: value is None, ends_decoding=True, chosen=chosen)


def of_field(err: DecodeError, field: str) -> DecodeError:
    """Return an error of a decoder's inner call. It names the field whose type made the call, not the inner one."""
    return mismatch(err.value, field, err.go_type, err.underlying) if err.go_type else err


_SCALARS = {
    "string": Codec("string", _string, "", plain=str),
    "bool": Codec("bool", _bool, False, plain=bool),
    "float64": Codec("float64", _float, 0),
    "interface{}": Codec("interface {}", _any, None, lambda value: value is None),
    **{name: _integer(name) for name in _INT_RANGES},
}
_SPECIAL = {
    f"{META_V1}.Time": Codec("v1.Time", _time, None, _never, ends_decoding=True),
    f"{META_V1}.MicroTime": Codec("v1.MicroTime", _microtime, None, _never, ends_decoding=True),
    f"{META_V1}.Duration": Codec("v1.Duration", _string, "0s", _never, ends_decoding=True),
    f"{META_V1}.FieldsV1": Codec("v1.FieldsV1", _any, None, _never),
    "time.Duration": Codec("time.Duration", _any, 0),
    "k8s.io/apimachinery/pkg/api/resource.Quantity": Codec(
        "resource.Quantity", _quantity, "0", _never, ends_decoding=True
    ),
    "k8s.io/apimachinery/pkg/runtime.RawExtension": Codec("runtime.RawExtension", _any, None, _never),
    "k8s.io/apimachinery/pkg/util/intstr.IntOrString": Codec(
        "intstr.IntOrString", _int_or_string, 0, _never, ends_decoding=True
    ),
    "k8s.io/apimachinery/pkg/types.UID": _text("types.UID"),
    "k8s.io/apimachinery/pkg/types.NodeName": _text("types.NodeName"),
}


def _pointer(inner: Codec) -> Codec:
    """Return the codec of a pointer. A pointer is empty only when nil, so that an explicit 0 or "" is kept."""
    if inner.struct is not None:

        def decode(value: Any, ctx: Context, path: str, field: str) -> Any:
            return inner.decode(value, ctx, path, field)

        return Codec(inner.go_name, decode, None, lambda value: value is None)
    return Codec(
        inner.go_name, inner.decode, None, lambda value: value is None, plain=inner.plain, bounds=inner.bounds
    )


def _are_plain(values: Iterable[Any], kind: Codec) -> bool:
    """Report whether all values are already in normal form."""
    return kind.plain is not None and kind.bounds is None and set(map(type, values)) <= {kind.plain}


def _list(inner: Codec, go_name: str = "") -> Codec:
    go_name = go_name or f"[]{inner.go_name}"
    zero = {} if inner.struct is not None else inner.zero

    def decode(value: Any, ctx: Context, path: str, field: str) -> Any:
        if not isinstance(value, list):
            raise mismatch(value, field, go_name, "[]")
        if _are_plain(value, inner):
            return list(value)
        each = inner.decode
        return [zero if item is None and inner.struct is None else each(item, ctx, f"{path}[{i}]", field)
                for i, item in enumerate(value)]  # fmt: skip

    return Codec(go_name, decode, None, items=(list, inner))


def _map(key: str, inner: Codec, go_name: str = "") -> Codec:
    go_name = go_name or f"map[{key}]{inner.go_name}"
    # Bytes that are null in a map come back from protobuf, in which objects are stored, as empty ones.
    zero = "" if inner.go_name == "[]uint8" else inner.zero

    def decode(value: Any, ctx: Context, path: str, field: str) -> Any:
        if not isinstance(value, dict):
            raise mismatch(value, field, go_name, "map[]")
        if _are_plain(value.values(), inner):
            return {sys.intern(name): value[name] for name in sorted(value)}
        each = inner.decode
        out = {}
        for name in map(sys.intern, sorted(value)):
            item = value[name]
            if item is None and inner.struct is None:
                out[name] = zero
            else:
                out[name] = each(item, ctx, f"{path}.{name}", field)
        return out

    return Codec(go_name, decode, None, items=(dict, inner))


@cache
def codec(go_type: str, package: str) -> Codec:
    """Return the codec of a Go type expression in `package`: *T, []T, map[K]V, pkg.T or T."""
    if go_type.startswith("*"):
        return _pointer(codec(go_type[1:], package))
    if go_type == "[]byte":
        return Codec("[]uint8", _bytes, None)
    if go_type.startswith("[]"):
        return _list(codec(go_type[2:], package))
    if go_type.startswith("map["):
        key, _, inner = go_type[4:].partition("]")
        return _map(facts.go_name(key, package), codec(inner, package))
    if go_type in _SCALARS:
        return _SCALARS[go_type]
    if go_type in _SPECIAL:
        return _SPECIAL[go_type]
    return _named(*facts.resolve(go_type, package))


@cache
def _named(package: str, name: str) -> Codec:
    if name == "JSONSchemaPropsOrBool":
        return _schema_or_bool(package)
    if name in ("JSONSchemaPropsOrArray", "JSONSchemaPropsOrStringArray"):
        return _schema_or_list(name, "JSONSchemaProps" if name.endswith("OrArray") else "string", package)
    if f"{package}.{name}" in _SPECIAL:
        return _SPECIAL[f"{package}.{name}"]
    if name == "JSON" and "apiextensions" in package:
        return Codec("v1.JSON", _any, None, _never)
    known = facts.types_of(package)
    if name not in known:
        return Codec(name, _any, None)
    fact = known[name]
    go_name = facts.go_name(name, package)
    if fact == "string":
        return _text(go_name)
    if isinstance(fact, str) and fact.startswith("map["):
        key, _, value = fact[4:].partition("]")
        return _map(key, codec(value, package), go_name)
    if isinstance(fact, str) and fact.startswith("[]"):
        return _list(codec(fact[2:], package), go_name)
    if isinstance(fact, str):
        return codec(fact, package)
    struct = structure(package, name)
    return Codec(go_name, struct.decode, {}, _never, struct)


_STRUCTS: dict[tuple[str, str], Struct] = {}
# Guards _STRUCTS, in which a struct stands before its fields are there: types may be recursive.
_LOCK = threading.RLock()


def structure(package: str, name: str) -> Struct:
    """Return the struct `name` of `package`, linked to the codecs of its fields. Raises KeyError if there is none."""
    with _LOCK:
        known = _STRUCTS.get((package, name))
        if known is not None:
            return known
        struct = _STRUCTS[package, name] = Struct(package, name)
        for fact in facts.fields_of(package, name):
            struct.fields[fact.json] = Field(fact)
        struct.link()
        return struct


@cache
def element(go_type: str, package: str) -> Codec | None:
    """Return the codec of a list's items or a map's values.

    `go_type` may be a pointer. Returns None for other types.
    """
    kind, inner, owner = facts.collection_of(go_type, package)
    return codec(inner, owner) if kind in ("list", "map") else None


def kind_struct(group_version: str, kind: str) -> Struct | None:
    """Return the struct of a kind, or None if the facts do not include it (APIService)."""
    package = facts.package_of_kind(group_version, kind)
    return structure(package, kind) if package is not None else None
