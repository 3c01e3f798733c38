"""OpenAPI v2 and v3 documents from the type facts and the CRDs: what kubectl explain, apply and validation read.

Pure functions of the registry; the server caches their results until a CRD changes.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

from clientgo.api import facts
from clientgo.testing.apiserver.kinds import schema
from clientgo.testing.apiserver.kinds.registry import Registry, Resource, release
from clientgo.testing.apiserver.kinds.schema import META_V1
from clientgo.testing.apiserver.wire.jsonio import Json, dumps

_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_ACTIONS = {"create": "post", "get": "get", "list": "list", "update": "put", "patch": "patch", "delete": "delete"}
_PATCH_TYPES = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"]
_STRATEGIC = "application/strategic-merge-patch+json"
_SCALARS: dict[str, Json] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "int": {"type": "integer", "format": "int32"},
    "uint32": {"type": "integer", "format": "int64"},
    "byte": {"type": "integer", "format": "byte"},
    "float64": {"type": "number", "format": "double"},
    "time.Duration": {"type": "integer", "format": "int64"},
    "interface{}": {},
}
_SPECIAL: dict[str, Json] = {
    f"{_META}.Time": {"type": "string", "format": "date-time"},
    f"{_META}.MicroTime": {"type": "string", "format": "date-time"},
    f"{_META}.Duration": {"type": "string"},
    f"{_META}.FieldsV1": {"type": "object"},
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": "string", "format": "int-or-string"},
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {"type": "object"},
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": {},
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": {},
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": {},
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": {},
}
_SPECIAL_V3: dict[str, Json] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "oneOf": [{"type": "integer"}, {"type": "string"}],
        "format": "int-or-string",
    },
}
_PLAIN_TYPES = {"k8s.io/apimachinery/pkg/types.UID", "k8s.io/apimachinery/pkg/types.NodeName"}


class Builder:
    """Collects definitions reachable from the types asked for."""

    def __init__(self, v3: bool) -> None:
        self._v3 = v3
        self._prefix = "#/components/schemas/" if v3 else "#/definitions/"
        self.definitions: dict[str, Json] = {}

    def __repr__(self) -> str:
        return f"<Builder v{3 if self._v3 else 2} {len(self.definitions)} definitions>"

    def reference(self, package: str, name: str) -> str:
        """Make sure the definition of a type is there; its name."""
        full = facts.definition_name(package, name)
        if full in self.definitions:
            return full
        if full in _SPECIAL:
            special = _SPECIAL_V3.get(full) if self._v3 else None
            self.definitions[full] = dict(special or _SPECIAL[full])
            return full
        self.definitions[full] = {}
        self.definitions[full] = self._struct(schema.structure(package, name))
        return full

    def _struct(self, struct: schema.Struct) -> Json:
        properties: Json = {}
        required = []
        merge = facts.merge_facts(struct.definition)
        for field in struct.fields.values():
            properties[field.json] = self._field(field, struct.package, merge.get(field.json))
            if not field.omitempty and not field.optional:
                required.append(field.json)
        out: Json = {"type": "object"}
        if required:
            out["required"] = sorted(required)
        if properties:
            out["properties"] = properties
        if merge.get("") == "atomic":
            out["x-kubernetes-map-type"] = "atomic"
        return out

    def _field(self, field: schema.Field, package: str, fact: Any) -> Json:
        out = self._type(field.type, package)
        if fact == "atomic":
            out["x-kubernetes-map-type" if out.get("type") == "object" else "x-kubernetes-list-type"] = "atomic"
        elif fact == "set":
            out["x-kubernetes-list-type"] = "set"
        elif isinstance(fact, list):
            out["x-kubernetes-list-type"] = "map"
            out["x-kubernetes-list-map-keys"] = fact
        elif out.get("type") == "array":
            out["x-kubernetes-list-type"] = "atomic"
        if field.merge_strategy:
            out["x-kubernetes-patch-strategy"] = field.merge_strategy
        if field.merge_key:
            out["x-kubernetes-patch-merge-key"] = field.merge_key
        return out

    def _type(self, go_type: str, package: str) -> Json:
        go_type = go_type.lstrip("*")
        if go_type == "[]byte":
            return {"type": "string", "format": "byte"}
        if go_type.startswith("[]"):
            return {"type": "array", "items": self._item(go_type[2:], package)}
        if go_type.startswith("map["):
            return {"type": "object", "additionalProperties": self._item(go_type.partition("]")[2], package)}
        if go_type in _SCALARS:
            return dict(_SCALARS[go_type])
        if go_type in _PLAIN_TYPES:
            return {"type": "string"}
        owner, name = facts.resolve(go_type, package)
        full = facts.definition_name(owner, name)
        if full in _SPECIAL:
            return self.ref(self.reference(owner, name))
        fact = facts.types_of(owner).get(name)
        if isinstance(fact, str):
            return self._type(fact, owner) if fact != name else {"type": "string"}
        if fact is None:
            return {"type": "object"}
        out = self.ref(self.reference(owner, name))
        if self._v3:
            out["default"] = {}
        return out

    def _item(self, go_type: str, package: str) -> Json:
        out = self._type(go_type, package)
        if self._v3 and out.get("type") == "string" and "format" not in out:
            out["default"] = ""
        return out

    def ref(self, name: str) -> Json:
        """Return a reference to a definition. In v3, a reference with siblings must be inside allOf."""
        target = {"$ref": self._prefix + name}
        return {"allOf": [target]} if self._v3 else target

    # ---- kinds

    def kind(self, resource: Resource) -> str:
        """Return the name of a served kind's definition.

        Marks the definitions of the kind and its list with their GVKs.
        """
        if resource.custom:
            return self._custom_kind(resource)
        gv = resource.group_version
        package = facts.packages_by_group_version().get(gv)
        if package is None or resource.struct is None:
            return self._untyped(resource)
        name = self.reference(package, resource.kind)
        self._mark(name, resource.group, resource.version, resource.kind)
        if facts.is_struct(package, resource.list_kind):
            listed = self.reference(package, resource.list_kind)
            self._mark(listed, resource.group, resource.version, resource.list_kind)
        return name

    def _mark(self, name: str, group: str, version: str, kind: str) -> None:
        gvk = {"group": group, "version": version, "kind": kind}
        known = self.definitions[name].setdefault("x-kubernetes-group-version-kind", [])
        if gvk not in known:
            known.append(gvk)

    def _untyped(self, resource: Resource) -> str:
        group = ".".join(reversed(resource.group.split(".")))
        name = f"{group}.{resource.version}.{resource.kind}"
        meta = self.ref(self.reference(META_V1, "ObjectMeta"))
        text = {"type": "string"}
        self.definitions[name] = {
            "type": "object",
            "properties": {"apiVersion": text, "kind": text, "metadata": meta},
            "x-kubernetes-preserve-unknown-fields": True,
        }
        self._mark(name, resource.group, resource.version, resource.kind)
        return name

    def _custom_kind(self, resource: Resource) -> str:
        group = ".".join(reversed(resource.group.split(".")))
        name = f"{group}.{resource.version}.{resource.kind}"
        if name in self.definitions:
            return name
        meta = self.ref(self.reference(META_V1, "ObjectMeta"))
        structural = resource.structural or {}
        out = structural_to_openapi(structural, self._v3)
        if structural.get("properties") or not structural.get("x-kubernetes-preserve-unknown-fields"):
            properties = dict(out.get("properties") or {})
            properties.update(apiVersion=_STRING("apiVersion"), kind=_STRING("kind"), metadata=meta)
            out["properties"] = properties
        out["type"] = "object"
        self.definitions[name] = out
        self._mark(name, resource.group, resource.version, resource.kind)
        if selectable := resource.crd_version.get("selectableFields"):
            paths = [{"fieldPath": field["jsonPath"].removeprefix(".")} for field in selectable]
            out["x-kubernetes-selectable-fields"] = paths
        listed = f"{group}.{resource.version}.{resource.list_kind}"
        self.definitions[listed] = {
            "type": "object",
            "required": ["items"],
            "properties": {
                "apiVersion": _STRING("apiVersion"),
                "kind": _STRING("kind"),
                "metadata": self.ref(self.reference(META_V1, "ListMeta")),
                "items": {"type": "array", "items": self.ref(name)},
            },
        }
        self._mark(listed, resource.group, resource.version, resource.list_kind)
        return name


_TEXTS = {
    "apiVersion": "APIVersion defines the versioned schema of this representation of an object.",
    "kind": "Kind is a string value representing the REST resource this object represents.",
}


def _STRING(name: str) -> Json:
    return {"type": "string", "description": _TEXTS[name]}


_V2_DROPPED = ("oneOf", "anyOf", "allOf", "not", "nullable", "default")


def structural_to_openapi(node: Json, v3: bool) -> Json:
    """Return a CRD schema as published. Version 2 omits the parts that it cannot express."""
    out: Json = {}
    for name, value in node.items():
        if (not v3 and name in _V2_DROPPED) or (name in ("x-kubernetes-validations",) and not v3):
            continue
        if name == "properties":
            out[name] = {key: structural_to_openapi(inner, v3) for key, inner in value.items()}
        elif name in ("items", "additionalProperties") and isinstance(value, dict):
            out[name] = structural_to_openapi(value, v3)
        else:
            out[name] = value
    if not v3 and (node.get("x-kubernetes-int-or-string") or node.get("x-kubernetes-preserve-unknown-fields")):
        out.pop("type", None)
        out.pop("properties", None)
    return out


# ---- paths


def _parameter(name: str, where: str, kind: str, text: str, v3: bool, required: bool = False) -> Json:
    head: Json = {"name": name, "in": where, "description": text}
    if required:
        head["required"] = True
    head.update({"schema": {"type": kind, "uniqueItems": True}} if v3 else {"type": kind, "uniqueItems": True})
    return head


_WRITE = (
    ("dryRun", "string", "When present, indicates that modifications should not be persisted."),
    ("fieldManager", "string", "The name of the actor that is making these changes."),
    ("fieldValidation", "string", "What to do with unknown or duplicate fields: Ignore, Warn or Strict."),
)
_LIST = (
    ("allowWatchBookmarks", "boolean", "Send events with type BOOKMARK."),
    ("continue", "string", "The continue token of the page before."),
    ("fieldSelector", "string", "Restrict the list by fields."),
    ("labelSelector", "string", "Restrict the list by labels."),
    ("limit", "integer", "The most items to return."),
    ("resourceVersion", "string", "What versions a request may be served from."),
    ("resourceVersionMatch", "string", "How resourceVersion is applied."),
    ("sendInitialEvents", "boolean", "Begin a watch with the current state."),
    ("shardSelector", "string", "Restrict the list to a shard (feature gate ShardedListAndWatch)."),
    ("timeoutSeconds", "integer", "How long the request may take."),
    ("watch", "boolean", "Watch for changes."),
)


def paths_of(resource: Resource, builder: Builder, v3: bool) -> dict[str, Json]:
    """Return the collection and object paths of a resource with their operations."""
    name = builder.kind(resource)
    base = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    scope = "/namespaces/{namespace}" if resource.namespaced else ""
    path = f"{base}{scope}/{resource.plural}"
    gvk = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    verbs = resource.verbs
    shared = [_parameter("pretty", "query", "string", "Pretty printed output.", v3)]
    if resource.namespaced:
        shared = [_parameter("namespace", "path", "string", "The namespace.", v3, True), *shared]
    collection: Json = {"parameters": shared}
    one: Json = {
        "parameters": [_parameter("name", "path", "string", f"Name of the {resource.kind}.", v3, True), *shared]
    }
    if "list" in verbs:
        collection["get"] = _operation(resource, "list", gvk, name, v3, _LIST)
    if "create" in verbs:
        collection["post"] = _operation(resource, "create", gvk, name, v3, _WRITE)
    for verb, method in (("get", "get"), ("update", "put"), ("patch", "patch"), ("delete", "delete")):
        if verb in verbs:
            more = _WRITE if verb in ("update", "patch") else ()
            if verb == "patch":
                more = (*more, ("force", "boolean", "Force is going to force Apply requests."))
            one[method] = _operation(resource, verb, gvk, name, v3, more)
    out = {path: collection}
    if len(one) > 1:
        out[f"{path}/{{name}}"] = one
    if resource.namespaced and "list" in verbs:
        out[f"{base}/{resource.plural}"] = {"get": _operation(resource, "list", gvk, name, v3, _LIST)}
    for sub in resource.subresources.values():
        methods = {"get": "get", "update": "put", "patch": "patch", "create": "post"}
        item: Json = {"parameters": one["parameters"]}
        for verb in sub.verbs:
            if verb in methods:
                item[methods[verb]] = _operation(
                    resource, verb, gvk, name, v3, _WRITE if verb != "get" else (), sub.name
                )
        out[f"{path}/{{name}}/{sub.name}"] = item
    return out


def _operation(
    resource: Resource, verb: str, gvk: Json, name: str, v3: bool, parameters: Any, subresource: str = ""
) -> Json:
    group = "".join(part.capitalize() for part in (resource.group or "core").partition(".")[0].split("-"))
    scope = "Namespaced" if resource.namespaced else ""
    verb_word = {"update": "replace", "get": "read"}.get(verb, verb)
    operation = f"{verb_word}{group}{resource.version.capitalize()}{scope}{resource.kind}{subresource.capitalize()}"
    out: Json = {
        "operationId": operation,
        "tags": [f"{group.lower()}_{resource.version}"],
        "parameters": [_parameter(n, "query", k, text, v3) for n, k, text in parameters],
        "x-kubernetes-action": _ACTIONS.get(verb, verb),
        "x-kubernetes-group-version-kind": gvk,
    }
    prefix = "#/components/schemas/" if v3 else "#/definitions/"
    body = {"$ref": prefix + name}
    if verb == "patch":
        types = _PATCH_TYPES if resource.custom else [*_PATCH_TYPES, _STRATEGIC]
        patch = {"$ref": f"{prefix}{_META}.Patch"}
        if v3:
            out["requestBody"] = {"content": {media: {"schema": patch} for media in types}, "required": True}
        else:
            out["consumes"] = types
            out["parameters"].append({"name": "body", "in": "body", "required": True, "schema": patch})
    elif verb in ("create", "update"):
        if v3:
            out["requestBody"] = {"content": {"*/*": {"schema": body}}, "required": True}
        else:
            out["consumes"] = ["*/*"]
            out["parameters"].append({"name": "body", "in": "body", "required": True, "schema": body})
    answer: Json = {"description": "OK"}
    if v3:
        answer["content"] = {"application/json": {"schema": body}}
    else:
        answer["schema"] = body
        out["produces"] = ["application/json", "application/yaml"]
    out["responses"] = {"200": answer, "401": {"description": "Unauthorized"}}
    return out


# ---- documents

def _info() -> Json:
    return {"title": "Kubernetes", "version": f"v{release()}"}


def _with_common(builder: Builder) -> None:
    name = f"{_META}.Patch"
    builder.definitions[name] = {
        "type": "object",
        "description": "Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.",
    }
    for common in ("Status", "DeleteOptions"):
        builder.reference(META_V1, common)


def v3_document(registry: Registry, group: str, version: str) -> Json | None:
    """Return the document of one group version, or None if the server does not serve it."""
    known = registry.group(group)
    if known is None or version not in known.resources:
        return None
    if registry.is_builtin(group):
        return _builtin_v3(group, version, id(known), registry)
    return _v3(registry, group, version)


_V3_CACHE: dict[tuple[str, str], Json] = {}


def _builtin_v3(group: str, version: str, _: int, registry: Registry) -> Json:
    key = (group, version)
    if key not in _V3_CACHE:
        _V3_CACHE[key] = _v3(registry, group, version)
    return _V3_CACHE[key]


def _v3(registry: Registry, group: str, version: str) -> Json:
    builder = Builder(True)
    _with_common(builder)
    paths: dict[str, Json] = {}
    known = registry.group(group)
    assert known is not None
    for resource in known.resources[version].values():
        paths.update(paths_of(resource, builder, True))
    return {
        "openapi": "3.0.0",
        "info": _info(),
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": dict(sorted(builder.definitions.items()))},
    }


def v3_index(registry: Registry) -> Json:
    """Return the index of the documents. A hash changes with the resources of its group version."""
    paths: Json = {}
    for group in registry.groups():
        for version in group.versions:
            name = f"apis/{group.name}/{version}" if group.name else f"api/{version}"
            schemas = [r.crd_version for r in group.resources[version].values()]
            digest = hashlib.sha512(dumps([group.entries[version], schemas])).hexdigest().upper()
            paths[name] = {"serverRelativeURL": f"/openapi/v3/{name}?hash={digest}"}
    return {"paths": dict(sorted(paths.items()))}


@cache
def _builtin_v2() -> tuple[dict[str, Json], dict[str, Json]]:
    return _collect_v2(Registry().all())


def _collect_v2(resources: list[Resource]) -> tuple[dict[str, Json], dict[str, Json]]:
    builder = Builder(False)
    _with_common(builder)
    paths: dict[str, Json] = {}
    for resource in resources:
        paths.update(paths_of(resource, builder, False))
    return paths, builder.definitions


def v2_document(registry: Registry) -> Json:
    paths, definitions = _builtin_v2()
    custom = [resource for resource in registry.all() if resource.custom]
    more_paths, more_definitions = _collect_v2(custom) if custom else ({}, {})
    return {
        "swagger": "2.0",
        "info": _info(),
        "paths": dict(sorted({**paths, **more_paths}.items())),
        "definitions": dict(sorted({**more_definitions, **definitions}.items())),
    }
