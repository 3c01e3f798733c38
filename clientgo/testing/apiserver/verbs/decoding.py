"""From the bytes of a request to an object in normal form: parsing, kinds, field validation, defaults, patches.

Every way in which a body can be wrong ends in an ApiError with the text of the real server.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clientgo.golang.json import kind_of
from clientgo.golang.strconv import quote
from clientgo.testing.apiserver import kinds
from clientgo.testing.apiserver.kinds import defaults, embedded, schema, structural
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.options import WriteOptions
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import (
    Json,
    ParseError,
    dumps_text,
    go_text,
    is_deep,
    loads,
    loads_yaml,
    may_repeat,
    sort_keys,
)
from clientgo.testing.apiserver.wire.negotiation import CBOR, PROTOBUF

BUILTIN_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
CUSTOM_TYPES = "application/json, application/yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
CBOR_APPLY_PATCH = "application/apply-patch+cbor"

CUSTOM_PATCH_TYPES = f"{JSON_PATCH}, {MERGE_PATCH}, {APPLY_PATCH}"

# In one JSON patch.
MAX_OPERATIONS = 10000
# Bytes that the copies of one JSON patch may add. Go: JSONPatchMaxCopyBytes.
MAX_COPIED = 3 * 1024 * 1024


def read_body(call: Call) -> Any:
    """Return the parsed body. Raises ApiError 415 or 400."""
    media = call.request.media_type("application/json")
    body = call.request.body
    resource = call.resource
    if media in ("application/json", ""):
        parse = loads
    elif media == "application/yaml":
        parse = loads_yaml
    elif media == PROTOBUF and not resource.custom:
        return read_protobuf(resource, body)
    elif media == CBOR and call.request.speaks_cbor:
        return read_cbor(resource, body)
    else:
        raise unsupported_body(call)
    try:
        doc = loads(body) if parse is loads else loads_yaml(body, call.duplicates)
    except ParseError as err:
        text = str(err).removeprefix("error converting YAML to JSON: ")
        prefix = "couldn't get version/kind; json parse error: " if parse is loads else ""
        raise _unrecognized(resource, f"{prefix}{text}", body) from None
    if doc is None:
        # Null is an object without fields.
        return {}
    if not isinstance(doc, dict):
        raise _unrecognized(resource, f"couldn't get version/kind; json parse error: {no_object(doc)}", body)
    return doc


def no_object(value: Any) -> str:
    """Return the message for a body that can have no kind and version."""
    return str(schema.mismatch(value, "", _HEAD))


_HEAD = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
_SHOWN = 30
_MAX_STRICT_PROBLEMS = 100


def _unrecognized(resource: Resource, text: str, body: bytes) -> ApiError:
    """Return the error for a body without a kind. It shows the body's start, as text if this looks like JSON."""
    shown = body[:_SHOWN].decode("utf-8", "replace") if body[:1] == b"{" else body[:_SHOWN].hex()
    if len(body) > _SHOWN:
        shown += " ..."
    head = f"the object provided is unrecognized (must be of type {resource.kind})"
    return errors.bad_request(f"{head}: {text} ({shown or '<empty>'})")


def read_protobuf(resource: Resource, body: bytes) -> Json:
    try:
        return kinds.protobuf.decode(body)
    except kinds.protobuf.WireError as err:
        raise _unrecognized(resource, str(err), body) from None


def read_cbor(resource: Resource, body: bytes) -> Json:
    from clientgo.testing.apiserver.wire import cborio  # Imported here: it needs the extra `cbor`.

    try:
        return cborio.loads(body)
    except ParseError as err:
        raise _unrecognized(resource, str(err), body) from None


def unsupported_body(call: Call) -> ApiError:
    """Return the error for a body of an unknown media type."""
    accepted = CUSTOM_TYPES if call.resource.custom else BUILTIN_TYPES
    return errors.unsupported_media_type(f"{accepted}, {CBOR}" if call.request.speaks_cbor else accepted)


def check_kind(call: Call, doc: Json) -> None:
    resource = call.resource
    kind, api_version = doc.get("kind"), doc.get("apiVersion")
    for name, value in (("kind", kind), ("apiVersion", api_version)):
        if value is not None and not isinstance(value, str):
            raise errors.bad_request(
                f"couldn't get version/kind; json parse error: json: cannot unmarshal {kind_of(value)} into "
                f"Go struct field .{name} of type string"
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
    """Return the error for an object of another kind, which is decoded as its own kind and cannot be converted."""
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
        assert struct is not None
        return errors.bad_request(f"{head}: {_reported(call, struct, doc) or err}")
    # The package of the server's own types has the first part of the group's name.
    own = resource.group.partition(".")[0] or "core"
    text = f"converting ({version}.{kind}) to ({own}.{resource.kind}): unknown conversion"
    return errors.bad_request(f"{head}: {text}")


def decode(call: Call, doc: Json, options: WriteOptions | None, raw: bytes = b"") -> Json:
    """Return the object in normal form with defaults. The options decide about warnings or errors for unknown fields.

    Defaults follow the given fields. The caller restores the type's order of fields after admission, which sets more
    fields. Raises ApiError 400.
    """
    check_kind(call, doc)
    resource = call.resource
    head = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
    unknown: list[str] = []
    try:
        obj = normal_form(resource, doc, unknown)
    except schema.DecodeError as err:
        reported = None if resource.struct is None else _reported(call, resource.struct, doc)
        raise errors.bad_request(f"{head}: {_text_of(call, reported or err)}") from None
    if call.request.media_type() == CBOR:
        strict = _strict_problems(call, options, unknown, b"", doc, is_cbor=not resource.custom)
    elif resource.custom or _is_yaml(call):
        strict = _strict_problems(call, options, unknown if resource.custom else _sorted(doc, unknown), raw, doc)
    else:
        strict = _strict_problems(call, options, unknown, raw, doc, struct=resource.struct)
    if strict:
        raise errors.bad_request(f"{head}: {strict}")
    return obj


def _reported(call: Call, struct: schema.Struct, doc: Json) -> schema.DecodeError | None:
    """Return the error that Go reports for a document, or None if there is none.

    It depends on the order of the body's keys, and shows numbers as the body has them. YAML becomes JSON first, which
    sorts the keys.
    """
    media, body = call.request.media_type("application/json"), call.request.body
    if media == CBOR:
        return _error_of_go(struct, doc)
    exact = _with_literals(body) if media in ("application/json", "") and body else None
    return _error_of_go(struct, sort_keys(doc) if exact is None else exact)


def _error_of_go(struct: schema.Struct, value: Any, path: str = "", field: str = "") -> schema.DecodeError | None:
    from clientgo.testing.apiserver.kinds.reported_errors import reported_error  # Here: for errors only.

    return reported_error(struct, value, path, field)


def _with_literals(body: bytes) -> Any:
    """Return the value of JSON that `loads` has accepted; its numbers with fractions keep their texts."""
    from clientgo.apimachinery.util.json import unmarshal_literals  # Here: for errors only.

    return unmarshal_literals(body)


def _text_of(call: Call, err: schema.DecodeError) -> str:
    """Return the error's text in the words of the decoder for the body's format."""
    resource = call.resource
    if call.request.media_type() != CBOR or resource.custom:
        return str(err)
    from clientgo.testing.apiserver.wire import cborio  # Imported here: it needs the extra `cbor`.

    return cborio.mistyped(str(err), err.value, err.go_type, f"{resource.version}.{resource.kind}")


def _is_yaml(call: Call) -> bool:
    return call.request.media_type("application/json") == "application/yaml"


def _sorted(doc: Json, paths: list[str]) -> list[str]:
    """Return the paths of fields in the order of the document with sorted keys, which Go decodes."""
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

    walk(sort_keys(doc), "")
    return sorted(paths, key=lambda path: met.get(path, len(met)))


def decode_as(group_version: str, kind: str, doc: Json, call: Call | None = None) -> Json:
    """Return a document posted to a subresource, in the normal form of its own kind. Raises ApiError 400.

    `call` is given if the document is its body.
    """
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
        reported = _error_of_go(struct, sort_keys(doc)) if call is None else _reported(call, struct, doc)
        text = f'{kind} in version "{version}" cannot be handled as a {kind}: {reported or err}'
        raise errors.bad_request(text) from None
    return out


def decode_posted(group_version: str, kind: str, call: Call) -> Json:
    """Return the body of a POST to a subresource, in the normal form of its own kind. Raises ApiError 400.

    Its namespace is that of the request, and may be omitted in the body.
    """
    doc = decode_as(group_version, kind, read_body(call), call)
    set_namespace(call, doc["metadata"])
    return doc


def set_namespace(call: Call, metadata: Json) -> None:
    """Set the namespace of the request. Raises ApiError 400 if the object names another one.

    Go: rest.EnsureObjectNamespaceMatchesRequestNamespace.
    """
    given = metadata.get("namespace", "")
    if given and given != call.namespace:
        text = "the namespace of the provided object does not match the namespace sent on the request"
        raise errors.bad_request(text)
    metadata["namespace"] = call.namespace


def decode_delete_options(call: Call, doc: Json) -> Json:
    """Return DeleteOptions of any version, the call's body, in normal form. Raises ApiError 400."""
    struct = schema.structure(schema.META_V1, "DeleteOptions")
    try:
        out: Json = struct.decode(doc, schema.Context(), "", "")
    except schema.DecodeError as err:
        reported = _reported(call, struct, doc) or err
        text = f'DeleteOptions in version "v1" cannot be handled as a DeleteOptions: {reported}'
        raise errors.bad_request(text) from None
    return out


def decode_patched(call: Call, live: Json, doc: Json, body: Any, media: str, options: WriteOptions) -> Json:
    """Decode a patched object, the result `doc` of the patch `body` to `live`. Its errors name the patch as the cause.
    """
    if media != STRATEGIC_PATCH:
        # A strategic patch is merged into the type itself, whatever kind the result says it is.
        _check_patched_kind(call, doc, body, media)
    unknown: list[str] = []
    try:
        if media == STRATEGIC_PATCH:
            _check_type_texts(doc)
        obj = normal_form(call.resource, doc, unknown, whole_floats=media == STRATEGIC_PATCH)
    except schema.DecodeError as err:
        from clientgo.testing.apiserver.kinds import patchrules  # Here, as in `patched`.

        if media == STRATEGIC_PATCH:
            text = patchrules.conversion_text(err)
        else:
            struct = call.resource.struct
            text = str(err if struct is None else reported_of_patch(call, struct, live, media) or err)
        raise invalid_patch(doc, body, media, text) from None
    if not call.resource.custom:
        unknown = sorted(unknown) if media == STRATEGIC_PATCH else _sorted(doc, unknown)
    raw = b"" if media == JSON_PATCH else call.request.body
    strict = _strict_problems(call, options, unknown, raw, body, _unknown_in_steps(body) if media == JSON_PATCH else ())
    if strict:
        raise invalid_patch(doc, body, media, strict)
    return obj


def reported_of_patch(call: Call, struct: schema.Struct, live: Json, media: str) -> schema.DecodeError | None:
    """Return the error that Go reports for the result of a JSON patch or a JSON merge patch, or None."""
    from clientgo.apimachinery.util import jsonpatch  # Here, as in `patched`.

    body = _with_literals(call.request.body)
    steps = body or () if media == JSON_PATCH else ()
    return _error_of_go(struct, jsonpatch.in_order_of_go(patched(media, live, body or [], struct), steps))


def _check_type_texts(doc: Json) -> None:
    """Raise DecodeError if the kind or the version is no text. `normal_form` writes its own."""
    for name in ("kind", "apiVersion"):
        if not isinstance(doc.get(name), str | None):
            raise schema.mismatch(doc[name], name, "string")


def _check_patched_kind(call: Call, doc: Json, body: Any, media: str) -> None:
    if call.resource.custom:
        check_kind(call, doc)
        return
    if not doc.get("apiVersion") and doc.get("kind"):
        # Such an object is of no version, and so has nothing that one could know.
        raise errors.bad_request(
            f"the name of the object ({call.name} based on URL) was undeterminable: name must be provided"
        )
    try:
        check_kind(call, doc)
    except ApiError as err:
        raise invalid_patch(doc, body, media, err.message.partition(": ")[2] or err.message) from None


def invalid_patch(doc: Json, body: Any, media: str, text: str) -> ApiError:
    shown = go_text(body) if media == STRATEGIC_PATCH else dumps_text(doc)
    return errors.invalid("", "", "", [errors.field_invalid("patch", shown, text)])


def normal_form(resource: Resource, doc: Json, unknown: list[str], *, whole_floats: bool = False) -> Json:
    """Return the document in normal form. Raises DecodeError, or ApiError if it is nested too deeply.

    `whole_floats` is passed to the decoding of a built-in kind, see schema.Context.
    """
    if is_deep(doc):
        raise errors.bad_request("exceeded max depth")
    if resource.custom:
        obj = _decode_custom(resource, doc, unknown)
    else:
        obj = _decode_builtin(resource, doc, unknown, whole_floats=whole_floats)
    metadata = doc.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") == []:
        # No list of managers is not the same as an empty one, which clears them.
        obj["metadata"]["managedFields"] = [{}]
    return obj


def _strict_problems(
    call: Call,
    options: WriteOptions | None,
    unknown: list[str],
    raw: bytes,
    parsed: Any,
    of_patch: Iterable[str] = (),
    *,
    is_cbor: bool = False,
    struct: schema.Struct | None = None,
) -> str:
    """Return the problems that strict field validation rejects, as one text. Other modes warn or ignore them.

    With a struct, unknown and repeated fields come in the order of `raw`; otherwise the repeated ones come first. Go's
    decoder of CBOR reports only the first unknown field of a typed object, by its position in its map.
    """
    if options is None or options.validation == "Ignore":
        return ""
    if is_cbor and unknown:
        from clientgo.testing.apiserver.wire import cborio  # Imported here: it needs the extra `cbor`.

        texts = [cborio.unknown_field(parsed, unknown)]
    else:
        texts = [*of_patch, *(f"unknown field {quote(path)}" for path in unknown)]
    if raw and not call.duplicates and (may_repeat(raw, parsed) or (unknown and struct is not None)):
        from clientgo.testing.apiserver.kinds.strict_fields import strict_problems  # Here: for problems only.

        found = strict_problems(raw, struct)
        texts = (found or texts) if struct is not None else found + texts
    # Go: decodeState.saveStrictError.
    del texts[_MAX_STRICT_PROBLEMS:]
    if options.validation != "Strict":
        call.warnings += [*call.duplicates, *texts]
        return ""
    if call.duplicates:
        texts = ["\n  ".join(["yaml: unmarshal errors:", *call.duplicates]), *texts]
    return f"strict decoding error: {', '.join(texts)}" if texts else ""


def _decode_builtin(resource: Resource, doc: Json, unknown: list[str], *, whole_floats: bool) -> Json:
    full = {**doc, "kind": resource.kind, "apiVersion": resource.group_version}
    if resource.struct is None:
        full["metadata"] = _decode_metadata(doc, unknown)
        return {name: full[name] for name in ("kind", "apiVersion", "metadata", *full)}
    ctx = schema.Context(whole_floats=whole_floats)
    obj: Json = resource.struct.decode(full, ctx, "", "")
    fill = defaults.for_kind(resource.group_version, resource.kind)
    if fill is not None:
        fill(obj)
    unknown += ctx.unknown
    return obj


def _decode_custom(resource: Resource, doc: Json, unknown: list[str]) -> Json:
    of_metadata: list[str] = []
    metadata = _decode_metadata(doc, of_metadata)
    unknown += _sorted(doc, of_metadata)
    obj, dropped = structural.prune({**doc, "metadata": metadata}, resource.structural)
    unknown += sorted(dropped)
    try:
        obj, dropped = embedded.coerce(structural.without_nulls(obj, resource.structural), resource.structural)
    except embedded.CoerceError as err:
        raise schema.DecodeError(str(err)) from None
    unknown += sorted(dropped)
    out: Json = sort_keys(structural.default(obj, resource.structural))
    return out


def _decode_metadata(doc: Json, unknown: list[str]) -> Json:
    ctx = schema.Context()
    struct = schema.structure(schema.META_V1, "ObjectMeta")
    metadata, place = doc.get("metadata"), ("metadata", "ObjectMeta.metadata")
    try:
        out: Json = struct.decode(metadata, ctx, *place)
    except schema.DecodeError as err:
        # Go writes the metadata as JSON first, and decodes it then.
        raise _error_of_go(struct, sort_keys(metadata), *place) or err from None
    unknown += ctx.unknown
    return out


def is_apply(call: Call, media: str) -> bool:
    """Report whether a PATCH with a body of this type is a server-side apply; in CBOR behind the server's gate only."""
    return media == APPLY_PATCH or (media == CBOR_APPLY_PATCH and call.request.speaks_cbor)


def check_patch_type(call: Call, media: str) -> None:
    """Raise ApiError 415 for an unknown patch type, or one that the resource does not support."""
    known = media in (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)
    strategic = not call.resource.custom and call.resource.struct is not None
    if not known and not (call.resource.custom and media.endswith("+json")):
        raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    if not known or (media == STRATEGIC_PATCH and not strategic):
        accepted = CUSTOM_PATCH_TYPES
        if call.request.speaks_cbor:
            accepted += f", {CBOR_APPLY_PATCH}"
        raise errors.unsupported_media_type(accepted)


def parse_patch(call: Call, media: str) -> Any:
    """Decode the request's patch.

    Raises ApiError 400 if it does not fit its media type, or 413 for too many operations.
    """
    head = "" if media == STRATEGIC_PATCH else "error decoding patch: "
    try:
        body = loads(call.request.body)
    except ParseError as err:
        raise errors.bad_request(f"{head}{err}") from None
    if media == JSON_PATCH:
        return _operations(body)
    if body is None and media == STRATEGIC_PATCH:
        return {}
    if body is None:
        raise errors.bad_request("Invalid JSON Patch")
    if not isinstance(body, dict):
        raise errors.bad_request(f"{head}{schema.mismatch(body, '', 'map[string]interface {}')}")
    return body


def _operations(body: Any) -> list[Any]:
    """Return the operations of a JSON patch. A patch of null has none."""
    if body is None:
        return []
    if not isinstance(body, list):
        raise errors.bad_request(f"error decoding patch: {schema.mismatch(body, '', '[]handlers.jsonPatchOp')}")
    for step in body:
        if not isinstance(step, dict):
            raise errors.bad_request(f"error decoding patch: {schema.mismatch(step, '', 'handlers.jsonPatchOp')}")
    if len(body) > MAX_OPERATIONS:
        raise errors.too_large(f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(body)}")
    return body


_STEP_FIELDS = ("op", "path", "from", "value")


def _unknown_in_steps(steps: list[Json]) -> list[str]:
    """Return the problems of strict validation in a JSON patch itself."""
    unknown = (f"[{i}].{name}" for i, step in enumerate(steps) for name in step if name not in _STEP_FIELDS)
    return [f"json patch unknown field {quote(path)}" for path in unknown]


def patched(media: str, live: Json, body: Any, struct: schema.Struct | None) -> Json:
    """Return the patched document. Raises ApiError if the patch does not fit."""
    # Here, not above: what merges comes with the first patch.
    from clientgo.apimachinery.util import jsonmergepatch, jsonpatch
    from clientgo.testing.apiserver.kinds import patchrules

    try:
        if media == JSON_PATCH:
            doc = jsonpatch.apply(live, body, accumulated_copy_size_limit=MAX_COPIED)
        elif media == MERGE_PATCH:
            doc = jsonmergepatch.merge_patch(live, body)
        else:
            doc = patchrules.strategic_patch(live, body, struct)
    except jsonpatch.PatchError:
        raise errors.unprocessable() from None
    if not isinstance(doc, dict):
        raise errors.unprocessable()
    return doc
