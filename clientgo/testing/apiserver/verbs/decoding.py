"""From the bytes of a request to an object in normal form: parsing, kinds, field validation, defaults, patches.

Every way in which a body can be wrong ends in an ApiError with the text of the real server.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.util import jsonmergepatch, jsonpatch, managedfields
from clientgo.golang.strconv import quote
from clientgo.testing.apiserver.kinds import defaults, embedded, ownership, patchrules, protobuf, schema, structural
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.options import WriteOptions
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import (
    Json,
    ParseError,
    copy,
    dumps_text,
    duplicate_fields,
    go_text,
    is_deep,
    loads,
    loads_yaml,
    sort_keys,
)
from clientgo.testing.apiserver.wire.negotiation import PROTOBUF

BUILTIN_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
CUSTOM_TYPES = "application/json, application/yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

CUSTOM_PATCH_TYPES = f"{JSON_PATCH}, {MERGE_PATCH}, {APPLY_PATCH}"

# In one JSON patch.
MAX_OPERATIONS = 10000

_BEGINNING = {"[": "array", '"': "string", "t": "bool", "f": "bool"}


def read_body(call: Call) -> Any:
    """The parsed body. Raises ApiError 415 or 400."""
    media = call.request.header("content-type", "application/json").partition(";")[0].strip().lower()
    body = call.request.body
    resource = call.resource
    if media in ("application/json", ""):
        parse = loads
    elif media == "application/yaml":
        parse = loads_yaml
    elif media == PROTOBUF and not resource.custom:
        return read_protobuf(resource, body)
    else:
        raise errors.unsupported_media_type(CUSTOM_TYPES if resource.custom else BUILTIN_TYPES)
    try:
        doc = parse(body)
    except ParseError as err:
        text = str(err).removeprefix("error converting YAML to JSON: ")
        what = "couldn't get version/kind; json parse error: " if parse is loads else ""
        raise _unrecognized(resource, f"{what}{text}", body) from None
    if not isinstance(doc, dict):
        kind = _BEGINNING.get(body.lstrip()[:1].decode("latin-1"), "number")
        text = f"json: cannot unmarshal {kind} into Go value of type {_HEAD}"
        raise _unrecognized(resource, f"couldn't get version/kind; json parse error: {text}", body)
    return doc


_HEAD = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
_SHOWN = 30


def _unrecognized(resource: Resource, text: str, body: bytes) -> ApiError:
    """What cannot be told to be an object at all is shown, if it is not too long and looks like JSON."""
    shown = body[:_SHOWN].decode("utf-8", "replace") if body[:1] == b"{" else body[:_SHOWN].hex()
    if len(body) > _SHOWN:
        shown += " ..."
    head = f"the object provided is unrecognized (must be of type {resource.kind})"
    return errors.bad_request(f"{head}: {text} ({shown or '<empty>'})")


def read_protobuf(resource: Resource, body: bytes) -> Json:
    try:
        return protobuf.decode(body)
    except protobuf.WireError as err:
        raise _unrecognized(resource, str(err), body) from None


def check_kind(call: Call, doc: Json) -> None:
    resource = call.resource
    kind, api_version = doc.get("kind"), doc.get("apiVersion")
    for name, value in (("kind", kind), ("apiVersion", api_version)):
        if value is not None and not isinstance(value, str):
            raise errors.bad_request(
                f"couldn't get version/kind; json parse error: json: cannot unmarshal into Go struct field "
                f".{name} of type string"
            )
    if resource.custom:
        if not kind:
            raw = call.request.body.decode("utf-8", "replace")
            if call.request.method in ("POST", "PUT") and raw:
                raise _unrecognized(resource, f"Object 'Kind' is missing in '{raw}'", call.request.body)
            raise errors.bad_request(f"Object 'Kind' is missing in '{dumps_text(doc)}'")
        if api_version != resource.group_version:
            raise errors.bad_request(
                f"the API version in the data ({api_version or ''}) does not match the expected API version "
                f"({resource.group_version})"
            )
        if kind != resource.kind:
            error = errors.field_invalid("kind", kind, f"must be {resource.kind}")
            name = doc.get("metadata", {}).get("name", "") if isinstance(doc.get("metadata"), dict) else ""
            raise errors.invalid(resource.group, kind, str(name), [error])
        return
    kind = kind or resource.kind
    api_version = api_version or resource.group_version
    if kind != resource.kind or api_version != resource.group_version:
        raise _other_kind(call, doc, kind, api_version)


def _other_kind(call: Call, doc: Json, kind: str, api_version: str) -> ApiError:
    """Why an object of another kind is not taken: it is read as what it says it is, and nothing makes it another."""
    resource, version = call.resource, api_version.rpartition("/")[2]
    if api_version.count("/") > 1:
        return _unrecognized(resource, f"unexpected GroupVersion string: {api_version}", call.request.body)
    head = f'{kind} in version "{version}" cannot be handled as a {resource.kind}'
    struct = schema.kind_struct(api_version, kind)
    listed = kind == "List" or schema.kind_struct(api_version, kind.removesuffix("List")) is not None
    if struct is None and not listed:
        scheme = 'in scheme "pkg/api/legacyscheme/scheme.go:30"'
        return errors.bad_request(f'{head}: no kind "{kind}" is registered for version "{api_version}" {scheme}')
    try:
        if struct is not None:
            struct.decode(doc, schema.Context(), "", "")
    except schema.DecodeError as err:
        return errors.bad_request(f"{head}: {err}")
    # The server's own types stand in a package of the group's first name.
    own = resource.group.partition(".")[0] or "core"
    text = f"converting ({version}.{kind}) to ({own}.{resource.kind}): unknown conversion"
    return errors.bad_request(f"{head}: {text}")


def decode(call: Call, doc: Json, options: WriteOptions | None, raw: bytes = b"") -> Json:
    """The object in normal form, defaulted; unknown fields warned about or refused as the options say."""
    check_kind(call, doc)
    resource = call.resource
    head = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
    unknown: list[str] = []
    try:
        obj = _normal_form(resource, doc, unknown)
    except schema.DecodeError as err:
        raise errors.bad_request(f"{head}: {err}") from None
    strict = _strict_problems(call, options, _in_document_order(doc, unknown), raw)
    if strict:
        raise errors.bad_request(f"{head}: {strict}")
    return obj


def _in_document_order(doc: Json, paths: list[str]) -> list[str]:
    """Paths of fields as a reader from the top meets them."""
    if len(paths) < 2:
        return paths
    met: dict[str, int] = {}

    def walk(value: Any, path: str) -> None:
        met[path] = len(met)
        if isinstance(value, dict):
            for name, item in value.items():
                walk(item, f"{path}.{name}" if path else name)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                walk(item, f"{path}[{i}]")

    walk(doc, "")
    return sorted(paths, key=lambda path: met.get(path, len(met)))


def decode_as(group_version: str, kind: str, doc: Json) -> Json:
    """A document that is posted to a subresource, in the normal form of its own kind. Raises ApiError 400."""
    struct = schema.kind_struct(group_version, kind)
    assert struct is not None
    given = doc.get("kind") or kind
    version = group_version.rpartition("/")[2]
    if given != kind:
        text = f'{given} in version "{version}" cannot be handled as a {kind}: no kind "{given}" is registered'
        raise errors.bad_request(text)
    try:
        out: Json = struct.decode(doc, schema.Context(), "", "")
    except schema.DecodeError as err:
        raise errors.bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {err}') from None
    return out


def decode_delete_options(doc: Json) -> Json:
    """DeleteOptions in normal form, whatever version they name. Raises ApiError 400."""
    try:
        out: Json = schema.structure(schema.META_V1, "DeleteOptions").decode(doc, schema.Context(), "", "")
    except schema.DecodeError as err:
        text = f'DeleteOptions in version "v1" cannot be handled as a DeleteOptions: {err}'
        raise errors.bad_request(text) from None
    return out


def decode_patched(call: Call, doc: Json, body: Any, media: str, options: WriteOptions) -> Json:
    """As decode, for an object after a patch: what is wrong with it is put down to the patch."""
    check_kind(call, doc)
    unknown: list[str] = []
    try:
        obj = _normal_form(call.resource, doc, unknown)
    except schema.DecodeError as err:
        text = patchrules.conversion_text(err) if media == STRATEGIC_PATCH else str(err)
        raise _invalid_patch(doc, body, media, text) from None
    strict = _strict_problems(call, options, unknown, b"" if media == JSON_PATCH else call.request.body)
    if strict:
        raise _invalid_patch(doc, body, media, strict)
    return obj


def _invalid_patch(doc: Json, body: Any, media: str, text: str) -> ApiError:
    shown = go_text(body) if media == STRATEGIC_PATCH else dumps_text(doc)
    return errors.invalid("", "", "", [errors.field_invalid("patch", shown, text)])


def _normal_form(resource: Resource, doc: Json, unknown: list[str]) -> Json:
    """Raises DecodeError, or ApiError for what is too deep: by patches, an object could grow level by level."""
    if is_deep(doc):
        raise errors.bad_request("exceeded max depth")
    return _decode_custom(resource, doc, unknown) if resource.custom else _decode_builtin(resource, doc, unknown)


def _strict_problems(call: Call, options: WriteOptions | None, unknown: list[str], raw: bytes) -> str:
    """What strict field validation refuses, as one text; milder ones warn or say nothing."""
    if options is None or options.validation == "Ignore":
        return ""
    texts = [f"unknown field {quote(path)}" for path in unknown]
    if raw and options.validation_given:
        # What is unknown is skipped, however often it comes.
        repeated = [path for path in duplicate_fields(raw) if path not in unknown]
        texts = [f"duplicate field {quote(path)}" for path in repeated] + texts
    if texts and options.validation == "Strict":
        return f"strict decoding error: {', '.join(texts)}"
    call.warnings += texts
    return ""


def _decode_builtin(resource: Resource, doc: Json, unknown: list[str]) -> Json:
    whole = {**doc, "kind": resource.kind, "apiVersion": resource.group_version}
    if resource.struct is None:
        whole["metadata"] = _decode_metadata(doc, unknown)
        return {name: whole[name] for name in ("kind", "apiVersion", "metadata", *whole)}
    ctx = schema.Context()
    obj: Json = resource.struct.decode(whole, ctx, "", "")
    fill = defaults.for_kind(resource.group_version, resource.kind)
    if fill is not None:
        fill(obj)
        obj = resource.struct.decode(obj, schema.Context(), "", "")
    unknown += ctx.unknown
    return obj


def _decode_custom(resource: Resource, doc: Json, unknown: list[str]) -> Json:
    metadata = _decode_metadata(doc, unknown)
    obj, dropped = structural.prune({**doc, "metadata": metadata}, resource.structural)
    unknown += dropped
    try:
        obj, dropped = embedded.coerce(structural.without_nulls(obj, resource.structural), resource.structural)
    except embedded.CoerceError as err:
        raise schema.DecodeError(str(err)) from None
    unknown += dropped
    out: Json = sort_keys(structural.default(obj, resource.structural))
    return out


def _decode_metadata(doc: Json, unknown: list[str]) -> Json:
    ctx = schema.Context()
    struct = schema.structure(schema.META_V1, "ObjectMeta")
    out: Json = struct.decode(doc.get("metadata"), ctx, "metadata", "ObjectMeta.metadata")
    unknown += ctx.unknown
    return out


def parse_patch(call: Call, media: str) -> Any:
    try:
        body = loads(call.request.body)
    except ParseError as err:
        if media == JSON_PATCH:
            raise errors.bad_request(f"error decoding patch: {err}") from None
        raise errors.bad_request(f"error decoding patch: {err}" if media == MERGE_PATCH else str(err)) from None
    if media == JSON_PATCH:
        if not isinstance(body, list):
            kind = "object" if isinstance(body, dict) else "string" if isinstance(body, str) else "value"
            raise errors.bad_request(
                f"error decoding patch: json: cannot unmarshal {kind} into Go value of type jsonpatch.Patch"
            )
        if len(body) > MAX_OPERATIONS:
            text = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(body)}"
            raise ApiError(413, "RequestEntityTooLarge", text, {})
    elif not isinstance(body, dict):
        text = str(schema.mismatch(body, "", "map[string]interface {}"))
        raise errors.bad_request(f"error decoding patch: {text}" if media == MERGE_PATCH else text)
    return body


def patched(media: str, live: Json, body: Any, struct: schema.Struct | None) -> Json:
    """The patched document. Raises ApiError when the patch does not fit."""
    try:
        if media == JSON_PATCH:
            doc = jsonpatch.apply(live, body)
        elif media == MERGE_PATCH:
            doc = jsonmergepatch.merge_patch(live, body)
        else:
            doc = patchrules.strategic_patch(live, body, struct)
    except jsonpatch.PatchError as err:
        if media == STRATEGIC_PATCH:
            raise ApiError(400, "BadRequest", str(err)) from None
        raise errors.unprocessable() from None
    if not isinstance(doc, dict):
        raise errors.unprocessable()
    return doc


def patched_scale(media: str, live: Json, body: Any) -> Json:
    """A Scale after a patch or an apply. Raises ApiError."""
    struct = schema.kind_struct("autoscaling/v1", "Scale")
    assert struct is not None
    doc = patched(MERGE_PATCH if media == APPLY_PATCH else media, live, body, struct)
    try:
        struct.decode(doc, schema.Context(), "", "")
    except schema.DecodeError as err:
        raise _invalid_patch(doc, body, media, str(err)) from None
    return doc


def configuration(call: Call, doc: Json, options: WriteOptions) -> Json:
    """The configuration without defaults and zero values, but checked against the type."""
    metadata = doc.get("metadata")
    if not doc.get("apiVersion") or not doc.get("kind"):
        missing = "Kind" if not doc.get("kind") else "apiVersion"
        raise errors.bad_request(f"Object '{missing}' is missing in '{dumps_text(doc)}'")
    if not isinstance(metadata, dict):
        raise errors.bad_request("metadata must be an object")
    if metadata.get("managedFields") is not None:
        raise errors.bad_request("metadata.managedFields must be nil")
    if doc.get("apiVersion") != call.resource.group_version and not call.resource.custom:
        raise errors.bad_request(
            f"Incorrect version specified in apply patch. Specified patch version: {doc.get('apiVersion')}, "
            f"expected: "
            f"{call.resource.group_version}"
        )
    _check_types(call.resource, doc)
    decode(call, copy(doc), options)
    if metadata.get("name") and metadata["name"] != call.name:
        raise errors.bad_request(
            f"the name of the object ({metadata['name']}) does not match the name on the URL ({call.name})"
        )
    config: Json = _without_nulls(doc)
    if call.resource.struct is not None:
        config = _known_only(config, call.resource.struct)
    elif call.resource.custom:
        config = structural.prune(config, call.resource.structural)[0]
    config["metadata"] = dict(config.get("metadata") or {})
    config["metadata"]["name"] = call.name
    if call.resource.namespaced:
        config["metadata"]["namespace"] = call.namespace
    return config


def _check_types(resource: Resource, doc: Json) -> None:
    """Raises ApiError for what does not fit the type; the real server answers 500 too, a bug it has not mended."""
    wrong = managedfields.problems(ownership.merge_node(resource), doc)
    if not wrong:
        return
    metadata = doc["metadata"]
    kind = f"{resource.group}/{resource.version}, Kind={resource.kind}"
    what = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}; {kind}"
    text = wrong[0] if len(wrong) == 1 else "\n  ".join(["errors:", *wrong])
    raise errors.internal_text(f"failed to create typed patch object ({what}): {text}")


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _known_only(value: Any, struct: schema.Struct | None, package: str = "") -> Any:
    """The configuration without fields the built-in type does not have."""
    if struct is None or not isinstance(value, dict):
        return value
    out: Json = {}
    for name, item in value.items():
        field = struct.fields.get(name)
        if field is None:
            continue
        inner = field.struct
        if inner is not None:
            out[name] = _known_only(item, inner)
            continue
        elem = schema.element(field.type, struct.package)
        if elem is None or elem.struct is None:
            out[name] = item
        elif isinstance(item, list):
            out[name] = [_known_only(each, elem.struct) for each in item]
        elif isinstance(item, dict):
            out[name] = {key: _known_only(each, elem.struct) for key, each in item.items()}
        else:
            out[name] = item
    return out
