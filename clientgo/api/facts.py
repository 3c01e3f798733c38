"""Facts about the built-in types from the Go sources: fields in order, Go types, patch strategies, list types.

They are data, unlike the classes in the other packages, for code that works on plain documents of any kind, such as
server-side apply and the embedded API server. No Go file: hack/make-apiserver-data extracts the facts from the Go
sources.
"""

from __future__ import annotations

import gzip
import json
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

META_V1 = "k8s.io/apimachinery/pkg/apis/meta/v1"
_BASIC = frozenset(("string", "bool", "float64", "interface{}", "int32", "int64", "int", "uint32", "byte"))
_SHORT_PACKAGES = {"resource": "k8s.io/apimachinery/pkg/api/resource", "metav1": META_V1}


class FieldFact(NamedTuple):
    """A field of a Go struct. `type` is the Go type, with its package if the field comes from a struct of another one.
    """

    json: str
    type: str
    omitempty: bool
    optional: bool
    patch_strategy: str
    patch_merge_key: str


@cache
def data() -> dict[str, Any]:
    """Return all facts: "packages" by Go package, and "merge" by OpenAPI definition. Callers must not change them."""
    return _loaded("facts")


@cache
def _older() -> dict[str, Any]:
    """Return the types of alpha and beta versions by Go package, without fields of basic types: errors name the others.
    """
    return _loaded("older")


def _loaded(name: str) -> dict[str, Any]:
    packed = pkgutil.get_data("clientgo.api", f"data/{name}.json.gz")
    assert packed is not None
    loaded: dict[str, Any] = json.loads(gzip.decompress(packed))
    return loaded


def types_of(package: str) -> dict[str, Any]:
    """Return the types of a Go package: a list of rows for a struct, a Go type for an alias. Empty if unknown, as for
    alpha and beta versions.
    """
    known: dict[str, Any] = data()["packages"].get(package, {}).get("types", {})
    return known


def _named_types_of(package: str) -> dict[str, Any]:
    """Return the types of a package of any version, for errors: of alpha and beta versions, the fields with names."""
    return types_of(package) or _older().get(package, {})


def definition_name(package: str, name: str) -> str:
    """Return the name of a type's OpenAPI definition.

    >>> definition_name("k8s.io/api/core/v1", "Pod")
    'io.k8s.api.core.v1.Pod'
    """
    head, _, rest = package.partition("/")
    return f"io.k8s.{rest.replace('/', '.')}.{name}" if head == "k8s.io" else f"{package.replace('/', '.')}.{name}"


def resolve(go_type: str, package: str) -> tuple[str, str]:
    """Resolve a type without stars and brackets, used in `package`, to its package and name.

    >>> resolve("metav1.Time", "k8s.io/api/core/v1")
    ('k8s.io/apimachinery/pkg/apis/meta/v1', 'Time')
    >>> resolve("PodSpec", "k8s.io/api/core/v1")
    ('k8s.io/api/core/v1', 'PodSpec')
    """
    if "." not in go_type:
        return package, go_type
    owner, _, name = go_type.rpartition(".")
    return _SHORT_PACKAGES.get(owner, owner), name


def is_struct(package: str, name: str) -> bool:
    """Report whether the facts contain that type as a struct."""
    return isinstance(types_of(package).get(name), list)


def fields_of(package: str, name: str) -> Iterator[FieldFact]:
    """Yield the fields of a struct in order, including those of inlined structs. Raises KeyError for an unknown type.
    """
    return _fields(package, name, package)


def _fields(package: str, name: str, home: str) -> Iterator[FieldFact]:
    for row in _named_types_of(package)[name]:
        json_name, go_type, flags = row[:3]
        if json_name == "-":
            continue
        if "i" in flags:
            yield from _fields(*_without_aliases(*resolve(go_type.lstrip("*"), package)), home)
            continue
        strategy, key = (*row[3:], "", "")[:2]
        full_type = go_type if package == home else _qualified(go_type, package)
        yield FieldFact(json_name, full_type, "e" in flags, "o" in flags, strategy, key)


def _qualified(go_type: str, package: str) -> str:
    """Return the name of a type of another package, with that package."""
    match = re.match(r"^((?:\*|\[\]|map\[[^\]]*\])*)(.*)$", go_type)
    assert match is not None
    prefix, name = match[1], match[2]
    if name in _BASIC or "." in name or go_type.endswith("[]byte"):
        return go_type
    return f"{prefix}{package}.{name}"


@cache
def collection_of(go_type: str, package: str) -> tuple[str, str, str]:
    """Return the collection ("list", "map", "bytes" or ""), the element type and its package. Follows aliases and
    pointers.

    >>> collection_of("[]Container", "k8s.io/api/core/v1")
    ('list', 'Container', 'k8s.io/api/core/v1')
    """
    go_type = go_type.lstrip("*")
    if go_type == "[]byte":
        return "bytes", "byte", package
    if go_type.startswith("[]"):
        return "list", go_type[2:], package
    if go_type.startswith("map["):
        return "map", go_type.partition("]")[2], package
    if go_type in _BASIC:
        return "", "", ""
    owner, name = resolve(go_type, package)
    fact = _named_types_of(owner).get(name)
    return collection_of(fact, owner) if isinstance(fact, str) and fact != name else ("", "", "")


_TYPES = "k8s.io/apimachinery/pkg/types"


def go_name(go_type: str, package: str) -> str:
    """Return a type, used in `package`, as Go's errors name it: with the packages' last parts and the names of maps.

    >>> go_name("*PullPolicy", "k8s.io/api/core/v1"), go_name("map[ResourceName][]byte", "k8s.io/api/core/v1")
    ('v1.PullPolicy', 'map[v1.ResourceName][]uint8')
    """
    go_type = go_type.lstrip("*")
    if go_type.startswith("[]"):
        return f"[]{go_name(go_type[2:], package)}"
    if go_type.startswith("map["):
        key, _, value = go_type[len("map[") :].partition("]")
        return f"map[{go_name(key, package)}]{go_name(value, package)}"
    if go_type in _BASIC:
        return {"interface{}": "interface {}", "byte": "uint8"}.get(go_type, go_type)
    owner, name = _without_aliases(*resolve(go_type, package))
    return f"{owner.rpartition('/')[2]}.{name}"


def _without_aliases(package: str, name: str) -> tuple[str, str]:
    """Return the package and the name of the type that a name stands for: Go's aliases have no name of their own."""
    fact = _named_types_of(package).get(name)
    if isinstance(fact, str) and (fact in _named_types_of(package) or "/" in fact):
        return _without_aliases(*resolve(fact, package))
    return package, name


def is_text(go_type: str, package: str) -> bool:
    """Report whether a type, used in `package`, is a string or is named after one. Follows pointers."""
    go_type = go_type.lstrip("*")
    if go_type == "string":
        return True
    owner, name = _without_aliases(*resolve(go_type, package))
    return owner == _TYPES or _named_types_of(owner).get(name) == "string"


def declared_type(module: str, name: str, key: str) -> tuple[str, str] | None:
    """Return the Go type of a class's field, and the package in which it is declared; None if unknown.

    Of alpha and beta versions, it knows the fields whose types have names.
    """
    package = package_of_module(module)
    if package is None or not isinstance(_named_types_of(package).get(name), list):
        return None
    return next(((fact.type, package) for fact in fields_of(package, name) if fact.json == key), None)


def package_of_module(module: str) -> str | None:
    """Return the Go package whose types a module has, or None if it is unknown.

    >>> package_of_module("clientgo.api.core.v1.types")
    'k8s.io/api/core/v1'
    """
    for ours, theirs in _MODULES.items():
        if module.startswith(ours):
            package = theirs + module.removeprefix(ours).removesuffix(".types").replace(".", "/")
            return package if _named_types_of(package) else None
    return None


_MODULES = {
    "clientgo.api.": "k8s.io/api/",
    "clientgo.apimachinery.": "k8s.io/apimachinery/pkg/",
    "clientgo.apiextensions.": "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/",
}


@cache
def merge_facts(definition: str) -> dict[str, Any]:
    """Return a definition's associative lists (their keys), and fields that are "set" or "atomic"; "" is the type
    itself.
    """
    facts: dict[str, Any] = data()["merge"].get(definition, {})
    return facts


@cache
def packages_by_group_version() -> dict[str, str]:
    """Return the Go package of each group and version: "apps/v1" to "k8s.io/api/apps/v1"."""
    out = {}
    for package, fact in data()["packages"].items():
        if not package.startswith("k8s.io/api") or package.startswith("k8s.io/apimachinery"):
            continue
        group, version = fact["group"], fact["version"]
        group = "" if group == "core" else group
        out[f"{group}/{version}" if group else version] = package
    return out


def package_of_kind(group_version: str, kind: str) -> str | None:
    """Return the Go package of a kind, or None if it is unknown."""
    package = packages_by_group_version().get(group_version)
    return package if package is not None and is_struct(package, kind) else None
