"""Write the typed views of the built-in API types: `types.py`, `register.py` and `__init__.py` of each package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from clientgo.apimachinery.runtime.fields import FieldInfo
from clientgo.codegen import naming
from codegen.source import META, Package, field_defaults, lookup, named

# Go types with a JSON form of their own: their notation in `runtime.field`, their Python type, what absent reads as.
LEAVES = {
    "string": ("string", "str", '""'),
    "bool": ("bool", "bool", "False"),
    "int": ("int", "int", "0"),
    "int32": ("int32", "int", "0"),
    "int64": ("int64", "int", "0"),
    "uint8": ("int", "int", "0"),
    "float64": ("float64", "float", "0.0"),
    "[]byte": ("bytes", "bytes", 'b""'),
    "interface{}": ("raw", "Any", "None"),
    "map[string]interface{}": ("raw", "Any", "None"),
    "time.Time": ("time", "datetime | None", "None"),
    f"{META}.Time": ("time", "datetime | None", "None"),
    f"{META}.MicroTime": ("microtime", "datetime | None", "None"),
    f"{META}.Duration": ("duration", "float", "0.0"),
    f"{META}.FieldsV1": ("raw", "Any", "None"),
    "k8s.io/apimachinery/pkg/api/resource.Quantity": ("quantity", "Quantity", "runtime.EMPTY"),
    "k8s.io/apimachinery/pkg/util/intstr.IntOrString": ("intorstring", "int | str", "0"),
    "k8s.io/apimachinery/pkg/runtime.RawExtension": ("raw", "Any", "None"),
    "k8s.io/apimachinery/pkg/runtime.Object": ("raw", "Any", "None"),
    "k8s.io/apimachinery/pkg/types.UID": ("string", "str", '""'),
    "k8s.io/apimachinery/pkg/types.NodeName": ("string", "str", '""'),
}
# Structs whose encoder writes another JSON shape than their fields say.
RAW_NAMES = {"JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"}
# Types of apis/meta/v1 that are no documents.
NOT_VIEWS = {"Time", "MicroTime", "Duration", "Timestamp", "FieldsV1", "InternalEvent", "TypeMeta"}

# Types of apis/meta/v1 with methods, which are written by hand in these classes.
METHODS = {
    "ApplyOptions": "type_methods.ApplyOptionsMethods",
    "GroupKind": "type_methods.GroupKindMethods",
    "GroupResource": "type_methods.GroupResourceMethods",
    "GroupVersion": "type_methods.GroupVersionMethods",
    "GroupVersionKind": "type_methods.GroupVersionKindMethods",
    "GroupVersionResource": "type_methods.GroupVersionResourceMethods",
    "ListMeta": "runtime.ListMetaAccessors",
    "ObjectMeta": "runtime.ObjectMetaAccessors",
}


@dataclass(frozen=True)
class Resolved:
    """A Go type as the port declares it."""

    notation: str
    python: str
    default: str
    # The class of the known values of a text or of a list of texts.
    values: str = ""


class TypesModule:
    """The `types.py` of one package."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.imports: set[Package] = set()
        self.uses: set[str] = set()

    def resolve(self, go_type: str, owner: str) -> Resolved:
        """Return the Go type as Python declares it. The type's name is relative to the package `owner`."""
        if go_type.startswith("*"):
            inner = self.resolve(go_type[1:], owner)
            python = inner.python
            if not python.endswith("None") and python != "Any":
                python += " | None"
            return Resolved(f"*{inner.notation}", python, "None", inner.values)
        if go_type in LEAVES:
            return self._leaf(go_type)
        if go_type.startswith("[]"):
            item = self.resolve(go_type[2:].lstrip("*"), owner)
            self.uses.add("MutableSequence")
            return Resolved(f"[]{item.notation}", f"MutableSequence[{item.python}]", "runtime.EMPTY", item.values)
        if match := re.match(r"map\[[^]]+\]", go_type):
            item = self.resolve(go_type[match.end() :], owner)
            self.uses.add("MutableMapping")
            return Resolved(f"map[string]{item.notation}", f"MutableMapping[str, {item.python}]", "runtime.EMPTY")
        return self._named(*named(go_type, owner))

    def _leaf(self, go_type: str) -> Resolved:
        leaf = Resolved(*LEAVES[go_type])
        self.uses.update(re.findall(r"\b(datetime|Any|Quantity)\b", leaf.python))
        return leaf

    def _named(self, owner: str, name: str) -> Resolved:
        full = f"{owner}.{name}"
        if full in LEAVES:
            return self._leaf(full)
        if name in RAW_NAMES:
            return self._leaf("interface{}")
        facts = lookup(owner, name)
        if facts is None:
            raise ValueError(f"{self.package.go}: unknown type {full}")
        if facts["kind"] == "alias" and not self._is_struct_alias(owner, facts["underlying"]):
            plain = self.resolve(facts["underlying"], owner)
            if not facts.get("constants"):
                return plain
            home = Package(owner)
            return replace(plain, values=name if home == self.package else f"{home.alias}.{name}")
        if facts["kind"] == "alias":
            return self._named(*named(facts["underlying"], owner))
        target = Package(owner)
        if target == self.package:
            return Resolved(name, name, "runtime.EMPTY")
        self.imports.add(target)
        return Resolved(f"{target.alias}.{name}", f"{target.alias}.{name}", "runtime.EMPTY")

    def _is_struct_alias(self, owner: str, underlying: str) -> bool:
        if "." not in underlying:
            return False
        facts = lookup(*named(underlying, owner))
        return facts is not None and facts["kind"] == "struct"

    # --- text ---

    def render(self) -> str:
        structs = [text for name in self._ordered() for text in self._struct(name)]
        constants = list(self._constants())
        text = "\n".join([*self._head(), *constants, *structs]).rstrip("\n") + "\n"
        return text + self._exports(text) if self.package.go == META else text

    def _exports(self, text: str) -> str:
        """Return the text of `__all__` for a hand-written `__init__.py` that re-exports the types."""
        names = naming.sort_exports(naming.public_names(text))
        return "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"

    def _head(self) -> Iterator[str]:
        title = f"{self.package.group or 'core'}/{self.package.version}"
        yield f'"""Typed views of {title}, k8s.io types of the Go package {self.package.go}.'
        yield ""
        yield 'Generated by hack/update-codegen from the API\'s type data; do not edit."""'
        yield ""
        yield "from __future__ import annotations"
        yield ""
        abstract = sorted(self.uses & {"MutableMapping", "MutableSequence"})
        if abstract:
            yield f"from collections.abc import {', '.join(abstract)}"
        if "datetime" in self.uses:
            yield "from datetime import datetime"
        typing = [name for name, used in (("TYPE_CHECKING", "Quantity"), ("Any", "Any")) if used in self.uses]
        if typing:
            yield f"from typing import {', '.join(typing)}"
        if self.uses & {"MutableMapping", "MutableSequence", "datetime", "Any", "Quantity"}:
            yield ""
        lines = ["from clientgo.apimachinery import runtime"]
        if "gvk" in self.uses:
            lines.append("from clientgo.apimachinery.runtime import schema")
        if self.package.go == META:
            lines.append(f"from {self.package.module} import type_methods")
        lines += [f"from {p.parent} import {p.version} as {p.alias}" for p in self.imports]
        yield from sorted(lines)
        yield ""
        if "Quantity" in self.uses:
            yield from ["if TYPE_CHECKING:", "    from clientgo.apimachinery.api.resource import Quantity", ""]

    def _constants(self) -> Iterator[str]:
        types = self.package.facts["types"]
        for name, value in self.package.facts.get("untyped_constants", {}).items():
            yield f"{naming.constant(name)} = {_literal(value)}"
        # Constants of a type that is not the package's own are listed under that type's name.
        for name, facts in types.items():
            if facts["kind"] == "alias" and "underlying" not in facts:
                for constant, value in facts["constants"].items():
                    text = str(int(value, 8 if value.startswith("0") else 10)) if "int" in name else _literal(value)
                    yield f"{naming.constant(constant)} = {text}"
        for name, facts in types.items():
            if facts["kind"] != "alias" or facts.get("underlying") != "string":
                continue
            yield from ["", "", f"class {name}(str):"]
            yield f'    """The known values of {name}. A server may send others."""'
            yield from ["", "    __slots__ = ()"]
            if facts.get("constants"):
                yield ""
            for constant, value in facts.get("constants", {}).items():
                yield f"    {naming.constant(constant, name)} = {_literal(value)}"

    def _ordered(self) -> list[str]:
        """Return the structs in alphabetical order, but each after the structs that it inlines, since it inherits from
        them.
        """
        done: list[str] = []

        def visit(name: str) -> None:
            if name in done:
                return
            for base in self._bases(name):
                if base in self.package.facts["types"]:
                    visit(base)
            done.append(name)

        for name, facts in self.package.facts["types"].items():
            if facts["kind"] == "struct" and not self._skipped(name):
                visit(name)
        return done

    def _skipped(self, name: str) -> bool:
        return name in RAW_NAMES or (self.package.go == META and name in NOT_VIEWS)

    def _fields(self, name: str) -> list[dict[str, Any]]:
        return self.package.facts["types"][name].get("fields") or []

    def _bases(self, name: str) -> list[str]:
        bases = []
        for field in self._fields(name):
            if field.get("inline") and not field["type"].endswith("TypeMeta"):
                bases.append(self.resolve(field["type"], self.package.go).python)
        return bases

    def _role(self, name: str) -> str:
        """Return the runtime base class for the metadata that the struct embeds."""
        fields = {field["go"]: field for field in self._fields(name)}
        if "TypeMeta" not in fields:
            return "Struct"
        metadata = fields.get("ObjectMeta") or fields.get("ListMeta")
        if metadata is None:
            return "Object"
        if metadata["go"] == "ObjectMeta":
            return "ResourceObject"
        return "ListObject" if "Items" in fields else "ListMetaObject"

    def _struct(self, name: str) -> Iterator[str]:
        role = self._role(name)
        bases = self._bases(name)
        promotes = role == "Struct" and any(field["go"] == "ObjectMeta" for field in self._fields(name))
        role_class = "PromotedObjectMeta" if promotes else role
        if role_class != "Struct" or not bases:
            bases = [f"runtime.{role_class}", *bases]
        if self.package.go == META and name in METHODS:
            # They are derived from the role's class themselves.
            bases[0] = METHODS[name]
        yield from ["", "", f"class {name}({', '.join(bases)}):"]
        yield f'    """{self.package.group or "core"}/{self.package.version} {name}.'
        yield from ["", f"    {self.package.reference(name)}", '    """']
        yield from self._class_facts(name, role)
        fields = [line for field in self._fields(name) for line in self._field(name, field)]
        if fields:
            yield ""
            yield from fields

    def _class_facts(self, name: str, role: str) -> Iterator[str]:
        if role == "Struct":
            return
        self.uses.add("gvk")
        yield ""
        yield f'    GROUP_VERSION_KIND = schema.GroupVersionKind("{self.package.group}", "{self.package.version}", "{name}")'
        tags = self.package.facts["types"][name].get("genclient")
        if tags:
            yield f"    GENCLIENT = {self._genclient(name, tags)}"
        if role == "ListObject":
            item = next(field["type"] for field in self._fields(name) if field["go"] == "Items")
            resolved = self.resolve(item[2:], self.package.go)
            if resolved.notation != "raw":
                yield f"    ITEM = {resolved.python}"

    def _genclient(self, name: str, tags: list[str]) -> str:
        parts = [f'"{naming.plural(name)}"']
        if "+genclient:nonNamespaced" in tags:
            parts.append("namespaced=False")
        verbs = self._verbs(name, tags)
        if verbs is not None:
            parts.append(f"verbs={verbs!r}".replace("'", '"'))
        methods = [self._method(tag) for tag in tags if tag.startswith("+genclient:method=")]
        if methods:
            parts.append(f"methods=({', '.join(methods)},)")
        return f"runtime.Genclient({', '.join(parts)})"

    def _verbs(self, name: str, tags: list[str]) -> tuple[str, ...] | None:
        from clientgo.apimachinery.runtime.genclient import ALL_VERBS

        verbs = list(ALL_VERBS)
        if not any(field["go"] == "Status" for field in self._fields(name)) or "+genclient:noStatus" in tags:
            verbs.remove("updateStatus")
        for tag in tags:
            if tag == "+genclient:noVerbs":
                verbs = []
            elif tag.startswith("+genclient:onlyVerbs="):
                verbs = tag.split("=", 1)[1].split(",")
            elif tag.startswith("+genclient:skipVerbs="):
                verbs = [verb for verb in verbs if verb not in tag.split("=", 1)[1].split(",")]
        return None if tuple(verbs) == ALL_VERBS else tuple(verbs)

    def _method(self, tag: str) -> str:
        facts = dict(part.split("=", 1) for part in tag.removeprefix("+genclient:").split(","))
        parts = [f'"{facts["method"]}"', f'"{facts["verb"]}"', f'"{facts["subresource"]}"']
        parts += [f'{key}="{facts[key]}"' for key in ("input", "result") if key in facts]
        return f"runtime.ClientMethod({', '.join(parts)})"

    def _field(self, struct: str, facts: dict[str, Any]) -> Iterator[str]:
        if facts.get("inline") or facts["json"] == "-":
            return
        resolved = self.resolve(facts["type"], self.package.go)
        attr = "metadata" if facts["json"] == "metadata" else naming.snake(facts["go"])
        arguments = [f'"{facts["json"]}"', f'"{resolved.notation}"', f"default={resolved.default}"]
        if facts.get("omitempty"):
            arguments.append("omitempty=True")
        if facts.get("patchStrategy"):
            arguments.append(f'patch_strategy="{facts["patchStrategy"]}"')
        if facts.get("patchMergeKey"):
            arguments.append(f'patch_merge_key="{facts["patchMergeKey"]}"')
        optional = True if facts.get("optional") and not facts.get("omitempty") else None
        if optional:
            arguments.append("optional=True")
        if doc := self._doc(struct, facts["json"], resolved):
            arguments.append(f'doc="{doc}"')
        line = f"    {attr}: {resolved.python} = runtime.field({', '.join(arguments)})"
        if len(line) <= 120:
            yield line
        else:
            yield f"    {attr}: {resolved.python} = runtime.field("
            yield f"        {', '.join(arguments)}"
            yield "    )"
        # Editors show the text below a field; Python compiles it to nothing.
        omitempty = bool(facts.get("omitempty"))
        info = FieldInfo(attr, facts["json"], resolved.notation, None, omitempty, "", "", None, optional, doc)
        yield f'    """{info.describe()}"""'

    def _doc(self, struct: str, json_name: str, resolved: Resolved) -> str:
        """Return the facts of a field that its other arguments do not have."""
        found = [f"one of {resolved.values}"] if resolved.values else []
        default = field_defaults().get(f"{self.package.go} {struct}.{json_name}")
        if default is not None:
            found.append(f"default {str(default).lower() if isinstance(default, bool) else default}")
        return ", ".join(found)


def _literal(value: Any) -> str:
    text = repr(value)
    return '"' + text[1:-1].replace('"', '\\"') + '"' if text.startswith("'") else text


def render_register(package: Package) -> str:
    """Return the package's `register.py`: its group version, and its kinds for a Scheme."""
    module = TypesModule(package)
    kinds = [name for name in module._ordered() if module._role(name) != "Struct"]
    listed = "\n".join(f"    types.{name}," for name in sorted(kinds))
    imports = "\n".join(
        sorted(
            [
                "from clientgo.apimachinery import runtime",
                "from clientgo.apimachinery.apis.meta import v1 as metav1",
                "from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersion",
                f"from {package.module} import types",
            ],
            key=lambda line: line.split()[1],
        )
    )
    return f'''"""The group version {package.group or "core"}/{package.version} and its kinds. Mirrors register.go.

Generated by hack/update-codegen; do not edit."""

from __future__ import annotations

{imports}

GROUP_NAME = "{package.group}"
SCHEME_GROUP_VERSION = GroupVersion(GROUP_NAME, "{package.version}")

KNOWN_TYPES: tuple[type[runtime.Object], ...] = (
{listed}
)


def resource(name: str) -> GroupResource:
    """Return a resource of this group. Go: Resource."""
    return SCHEME_GROUP_VERSION.with_resource(name).group_resource()


def add_to_scheme(scheme: runtime.Scheme) -> None:
    """Register the kinds in `scheme`, with those of every group version (Status, ListOptions ...). Go: AddToScheme."""
    scheme.add_known_types(SCHEME_GROUP_VERSION, *KNOWN_TYPES)
    metav1.add_to_group_version(scheme, SCHEME_GROUP_VERSION)
'''


def render_init(package: Package, names: set[str]) -> str:
    """Return the package's front door. `names` are the public names of its types.py."""
    exported = naming.sort_exports({*names, "GROUP_NAME", "SCHEME_GROUP_VERSION", "add_to_scheme", "resource"})
    listed = "\n".join(f'    "{name}",' for name in exported)
    return f'''"""{package.group or "core"}/{package.version}: the API types of the Go package {package.go}.

Generated by hack/update-codegen; do not edit."""

from {package.module}.register import (
    GROUP_NAME,
    SCHEME_GROUP_VERSION,
    add_to_scheme,
    resource,
)
from {package.module}.types import *

__all__ = [
{listed}
]
'''
