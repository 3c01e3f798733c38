"""The configuration of a server-side apply, checked against the type only, without defaults and zero values.

Mirrors the applyPatcher of apiserver's endpoints/handlers/patch.go, and the checks of managedfields before it merges.
"""

from __future__ import annotations

from clientgo.apimachinery.util import managedfields
from clientgo.testing.apiserver.kinds import ownership, schema
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.verbs import decoding
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.options import WriteOptions
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json, ParseError, loads_yaml


def read(call: Call) -> Json:
    """Return the document of the request, YAML or CBOR. Raises ApiError 400."""
    if call.request.media_type() == decoding.CBOR_APPLY_PATCH:
        return _read_cbor(call)
    try:
        doc = loads_yaml(call.request.body, call.duplicates)
    except ParseError as err:
        raise errors.bad_request(f"error decoding YAML: {err}") from None
    if doc is None:
        return {}
    if not isinstance(doc, dict):
        text = str(schema.mismatch(doc, "", "map[string]interface {}"))
        raise errors.bad_request(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {text}")
    return doc


def _read_cbor(call: Call) -> Json:
    from clientgo.testing.apiserver.wire import cborio  # Imported here: it needs the extra `cbor`.

    try:
        doc = cborio.loads_patch(call.request.body)
    except ParseError as err:
        raise errors.bad_request(f"error decoding patch: {err}") from None
    if doc is None:
        return {}
    if not isinstance(doc, dict):
        text = "cbor: cannot unmarshal into Go value of type map[string]interface {}"
        raise errors.bad_request(f"error decoding CBOR: {text}")
    return doc


def check(doc: Json, node: managedfields.Node, api_version: str, kind: str) -> None:
    """Check the type of a document and its fields.

    Raises ApiError for another type, or for a field that does not fit.
    """
    if doc.get("apiVersion") != api_version or doc.get("kind") != kind:
        raise errors.bad_request(f"invalid object type: {_type_text(doc)}")
    metadata = doc.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise errors.bad_request("metadata.managedFields must be nil")
    wrong = managedfields.problems(node, doc)
    if wrong:
        text = wrong[0] if len(wrong) == 1 else "\n  ".join(["errors:", *wrong])
        # The real server says 500 too, a bug it has not mended.
        raise errors.internal_text(f"failed to create typed patch object ({_object_text(doc)}): {text}")


def _type_text(doc: Json) -> str:
    """Go: schema.GroupVersionKind.String."""
    group, _, version = str(doc.get("apiVersion") or "").rpartition("/")
    return f"{group}/{version}, Kind={doc.get('kind') or ''}"


def _object_text(doc: Json) -> str:
    metadata = doc["metadata"] if isinstance(doc.get("metadata"), dict) else {}
    return f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}; {_type_text(doc)}"


def decode_merged(call: Call, merged: Json, config: Json, options: WriteOptions) -> Json:
    """Return the object that an apply of `config` makes, in normal form. Raises ApiError."""
    resource = call.resource
    try:
        obj = decoding.normal_form(resource, merged, [])
    except schema.DecodeError as err:
        raise _not_of_type(resource, config, err) from None
    if options.validation != "Ignore":
        _report_duplicates(call, options)
    return obj


def _not_of_type(resource: Resource, config: Json, err: schema.DecodeError) -> ApiError:
    kind = _type_text({"apiVersion": resource.group_version, "kind": resource.kind}).removeprefix("/")
    text = f"unable to convert unstructured object to {kind}: {err}"
    return errors.internal_text(f"failed to convert new object ({_object_text(config)}) to proper version: {text}")


def _report_duplicates(call: Call, options: WriteOptions) -> None:
    if not call.duplicates:
        return
    if options.validation == "Strict":
        text = "\n  ".join(["yaml: unmarshal errors:", *call.duplicates])
        raise errors.bad_request(f"error strict decoding YAML: error converting YAML to JSON: {text}")
    call.warnings += call.duplicates


def of_resource(call: Call) -> Json:
    """Return the configuration of an object of the call's resource. Raises ApiError."""
    doc = read(call)
    resource = call.resource
    check(doc, ownership.merge_node(resource), resource.group_version, resource.kind)
    return doc
