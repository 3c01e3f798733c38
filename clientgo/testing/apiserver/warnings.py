"""What an answer warns of: versions that are deprecated, and objects that are stored but have no effect here.

kubectl and client-go show Warning headers to the user. Mirrors apiserver's endpoints/deprecation package for the first
half; the second half is this server's own, so that a rule that nobody checks does not pass for one that holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clientgo.testing.apiserver.registry import Resource

Json = dict[str, Any]

_DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions"
_RULES = "x-kubernetes-validations"
_ADMISSION_GROUP = "admissionregistration.k8s.io"
# The deprecated kinds among the built-in ones: since when, and what to use.
_DEPRECATED = {
    "/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
    "/endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}


def of_resource(resource: Resource) -> list[str]:
    """What every request on a deprecated version is told."""
    if not resource.custom:
        text = _DEPRECATED.get(resource.storage)
        return [text] if text else []
    version = resource.crd_version
    if not version.get("deprecated"):
        return []
    given: str | None = version.get("deprecationWarning")
    return [f"{resource.group_version} {resource.kind} is deprecated" if given is None else given]


def of_object(resource: Resource, obj: Json) -> list[str]:
    """What the writer of an object should know that this server leaves undone."""
    if resource.storage == _DEFINITIONS:
        return list(_of_definition(obj.get("spec") or {}))
    if resource.group == _ADMISSION_GROUP:
        return [f"{resource.kind} is stored, but this server calls no webhooks and evaluates no admission policies"]
    return []


def _of_definition(spec: Json) -> Iterator[str]:
    if (spec.get("conversion") or {}).get("strategy") == "Webhook":
        yield "spec.conversion: conversion webhooks are not called; objects change their apiVersion only"
    for i, version in enumerate(spec.get("versions") or ()):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if _has_rules(schema):
            yield f"spec.versions[{i}].schema.openAPIV3Schema: {_RULES} (CEL) are stored, but not evaluated"


def _has_rules(schema: Any) -> bool:
    """Whether a schema has CEL rules at any depth; a property of that name is none."""
    if not isinstance(schema, dict):
        return False
    if schema.get(_RULES):
        return True
    inner = [schema.get("items"), schema.get("additionalProperties"), *(schema.get("properties") or {}).values()]
    return any(map(_has_rules, inner))
