"""Warnings about parts of a CustomResourceDefinition that this server ignores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clientgo import klog
from clientgo.golang.strconv import quote
from clientgo.testing.apiserver.cel.library import regex
from clientgo.testing.apiserver.kinds import crd_internal, rules, schema_formats
from clientgo.testing.apiserver.wire.jsonio import Json


def of_definition(spec: Json) -> list[str]:
    """Return the warnings about a CRD's spec, in the order of its fields."""
    return list(_of_definition(spec))


def _of_definition(spec: Json) -> Iterator[str]:
    conversion = spec.get("conversion") or {}
    client = (conversion.get("webhook") or {}).get("clientConfig") or {}
    if conversion.get("strategy") == "Webhook" and client.get("service"):
        yield "spec.conversion.webhook.clientConfig.service: this server has no cluster network, every call will fail"
    for part in crd_internal.parts(spec, "schema"):
        yield from dict.fromkeys(_unknown_formats(part.value.get("openAPIV3Schema")))
    for i, version in enumerate(spec.get("versions") or ()):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if not regex.AVAILABLE and rules.needs_regex(schema):
            text = f"spec.versions[{i}].schema.openAPIV3Schema: {rules.RULES} with matches, find or findAll"
            klog.warning(f"{text} are stored, but not evaluated: {regex.MISSING}")
            yield f"{text} are stored, but not evaluated: {regex.MISSING}"


def _unknown_formats(schema: Any) -> Iterator[str]:
    """Yield a warning for every string format in a schema that the server does not know."""
    if not isinstance(schema, dict):
        return
    form = schema.get("format")
    if form and schema.get("type") == "string" and not schema_formats.is_known(form):
        yield f"unrecognized format {quote(form)}"
    for inner in (schema.get("items"), schema.get("additionalProperties"), *(schema.get("properties") or {}).values()):
        yield from _unknown_formats(inner)
