"""Subresources that are neither part of an object nor a view of it: the binding of a pod, tokens of accounts."""

from __future__ import annotations

from clientgo.apimachinery.util import managedfields
from clientgo.applyconfigurations import internal
from clientgo.testing.apiserver.access.auth import Authenticator
from clientgo.testing.apiserver.access.tokens import API_AUDIENCES, BOUND_KINDS
from clientgo.testing.apiserver.kinds import schema, validation
from clientgo.testing.apiserver.store.storage import Stored
from clientgo.testing.apiserver.verbs import decoding
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.core import Verb
from clientgo.testing.apiserver.verbs.options import WriteOptions
from clientgo.testing.apiserver.verbs.writing import Writer
from clientgo.testing.apiserver.views.documents import render
from clientgo.testing.apiserver.wire import errors, http
from clientgo.testing.apiserver.wire.jsonio import Json, copy

# ---- pods and namespaces


def binding(writer: Writer, call: Call) -> http.Response:
    """Handle POST pods/NAME/binding and POST bindings."""
    doc = decoding.decode_posted("v1", "Binding", call)
    options = WriteOptions(call.request, "CreateOptions")
    # A webhook may write what a client may not, so the checks come after it.
    doc = writer.webhooks.mutate(call, {**doc, "kind": "Binding", "apiVersion": "v1"}, None, options)
    given = doc["metadata"].get("name", "")
    if call.name and given != call.name:
        raise errors.bad_request("name in URL does not match name in Binding object")
    name = call.name or given
    found = _binding_problems(doc.get("target") or {})
    if found:
        # Untyped, as the real server has it.
        text = ", ".join(map(str, found))
        raise errors.internal_text(text if len(found) == 1 else f"[{text}]")
    pods = writer.registry.find("", "v1", "pods")
    assert pods is not None
    pod_call = Call(call.request, pods, call.namespace, name, "", call.form)
    writer.webhooks.validate(call, doc, None, options)
    node = doc["target"]["name"]

    def attempt(current: Stored | None) -> tuple[Stored, bool]:
        if current is None:
            raise pod_call.not_found()
        _check_bindable(current.obj, doc["metadata"])
        if options.dry_run:
            return current, False
        obj = copy(current.obj)
        obj["spec"]["nodeName"] = node
        for part, wins in (("annotations", True), ("labels", False)):
            given, known = doc["metadata"].get(part) or {}, obj["metadata"].get(part) or {}
            if given:
                obj["metadata"][part] = {**known, **given} if wins else {**given, **known}
        conditions = obj["status"].setdefault("conditions", []) or []
        now = writer.times.now_text()
        scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
        obj["status"]["conditions"] = [c for c in conditions if c.get("type") != "PodScheduled"] + [scheduled]
        obj = pods.struct.decode(obj, schema.Context(), "", "") if pods.struct is not None else obj
        new = writer.store.update(pods.storage, current.key, obj, current.rv)
        writer.committed("MODIFIED", pods, new, current)
        return new, False

    writer.retry(pod_call, attempt)
    return render(
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, call.form, 201
    )


def _check_bindable(pod: Json, binding: Json) -> None:
    """Raise ApiError 409 if the pod has another identity than the binding says, or cannot be bound.

    `binding` is the binding's metadata. Go: BindingREST.setPodNodeAndMetadata.
    """
    metadata, spec = pod["metadata"], pod["spec"]
    name = metadata["name"]
    for label, field in (("UID", "uid"), ("ResourceVersion", "resourceVersion")):
        wanted, found = binding.get(field), metadata[field]
        if wanted and wanted != found:
            key = f"/registry/pods/{metadata['namespace']}/{name}"
            why = f"Precondition failed: {label} in precondition: {wanted}, {label} in object meta: {found}"
            head = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
            raise errors.conflict("", "pods", name, head + why)
    why = ""
    if metadata.get("deletionTimestamp"):
        why = f"pod {name} is being deleted, cannot be assigned to a host"
    elif spec.get("nodeName"):
        why = f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    elif spec.get("schedulingGates"):
        why = f"pod {name} has non-empty .spec.schedulingGates"
    if why:
        raise errors.conflict("", "pods/binding", name, why)


def _binding_problems(target: Json) -> list[errors.FieldError]:
    """Go: validation.ValidatePodBinding."""
    found = []
    if target.get("kind", "") not in ("", "Node"):
        found.append(errors.field_not_supported("target.kind", target["kind"], ["Node", ""]))
    if not target.get("name"):
        found.append(errors.field_required("target.name"))
    return found


# ---- service account tokens


_SHORTEST_TOKEN, _LONGEST_TOKEN = 600, 2**32
_TOKEN_GROUP = "authentication.k8s.io"
_TOKEN_VERSION = f"{_TOKEN_GROUP}/v1"


def token(verb: Verb, authenticator: Authenticator, call: Call) -> http.Response:
    """Handle POST serviceaccounts/NAME/token. Policies and webhooks are asked as for every creation."""
    current = verb.current(call)
    doc = decoding.decode_posted(_TOKEN_VERSION, "TokenRequest", call)
    options = WriteOptions(call.request, "CreateOptions")
    _set_seconds(doc)
    doc = verb.webhooks.mutate(call, {**doc, "kind": "TokenRequest", "apiVersion": _TOKEN_VERSION}, None, options)
    uid = current.obj["metadata"]["uid"]
    _check_account(call, doc["metadata"], uid)
    spec = _set_seconds(doc)
    managed = _token_owner(verb, spec, options.manager)
    spec["audiences"] = spec.get("audiences") or [*API_AUDIENCES]
    identity = {"name": call.name, "namespace": call.namespace, "uid": uid}
    doc["metadata"] |= {**identity, "creationTimestamp": verb.times.now_text()}
    seconds = spec["expirationSeconds"]
    if not _SHORTEST_TOKEN <= seconds <= _LONGEST_TOKEN:
        limit = "larger than 2^32 seconds" if seconds > _LONGEST_TOKEN else "less than 10 minutes"
        found = errors.field_invalid("spec.expirationSeconds", seconds, f"may not specify a duration {limit}")
        raise errors.invalid(_TOKEN_GROUP, "TokenRequest", "", [found])
    verb.webhooks.validate(call, doc, None, options)
    bound = _bound(verb, call, spec.get("boundObjectRef"))
    text, expires = authenticator.accounts.issue(current.obj, seconds, spec["audiences"], bound)
    created = doc["metadata"]["creationTimestamp"]
    out = {
        "kind": "TokenRequest",
        "apiVersion": _TOKEN_VERSION,
        "metadata": {**identity, "creationTimestamp": created, "managedFields": managed},
        "spec": {name: spec.get(name) for name in ("audiences", "expirationSeconds", "boundObjectRef")},
        "status": {"token": text, "expirationTimestamp": verb.times.text(expires)},
    }
    return render(out, call.form, 201)


def _set_seconds(doc: Json) -> Json:
    """Return the spec of a request, with the default of its seconds. Zero seconds are given, and too few."""
    spec: Json = doc.setdefault("spec", {})
    if spec.get("expirationSeconds") is None:
        spec["expirationSeconds"] = 3600
    return spec


def _check_account(call: Call, metadata: Json, uid: str) -> None:
    """Raise ApiError if the metadata of a request names another service account than the request's path."""
    for field, wanted in (("name", call.name), ("namespace", call.namespace)):
        given = metadata.get(field, "")
        if given and given != wanted:
            text = f"must match the service account {field} if specified"
            wrong = errors.field_invalid(f"metadata.{field}", given, text)
            raise errors.invalid(_TOKEN_GROUP, "TokenRequest", call.name, [wrong])
    requested = metadata.get("uid", "")
    if requested and requested != uid:
        text = f"the UID in the token request ({requested}) does not match the UID of the service account ({uid})"
        raise errors.conflict(_TOKEN_GROUP, "TokenRequest", call.name, text)


def _token_owner(verb: Verb, spec: Json, manager: str) -> list[Json]:
    """Return the managedFields of a TokenRequest, which exists only in the response."""
    writer = managedfields.Writer(manager, _TOKEN_VERSION, "token")
    node = internal.of_type("k8s.io/api/authentication/v1", "TokenRequest")
    requested = {name: value for name, value in spec.items() if value}
    empty = {"audiences": None, "boundObjectRef": None}
    now = verb.times.now_text()
    return managedfields.updated(node, {"spec": empty}, {"spec": {**empty, **requested}}, (), writer, now)


def _bound(verb: Verb, call: Call, reference: Json | None) -> tuple[str, Json] | None:
    """Return the kind and the object that a token is bound to. Raises ApiError if it is missing or another one."""
    if reference is None:
        return None
    version, kind, name = reference.get("apiVersion", ""), reference.get("kind", ""), reference.get("name", "")
    group, _, version = version.rpartition("/")
    # As in Go, any version of the core group will do.
    if group or kind not in BOUND_KINDS:
        raise errors.bad_request(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
    if not name:
        raise errors.bad_request("Name parameter required.")
    if wrong := validation.path_segment(name):
        raise errors.bad_request(f'Name parameter invalid: "{name}": {";".join(wrong)}')
    bucket, plural, namespaced = BOUND_KINDS[kind]
    stored = verb.store.get(bucket, f"{call.namespace}/{name}" if namespaced else name)
    if stored is None:
        raise errors.not_found("", plural, name)
    uid, requested = stored.obj["metadata"]["uid"], reference.get("uid", "")
    if requested and requested != uid:
        text = f"the UID in the bound object reference ({requested}) does not match the UID in record. "
        raise errors.conflict("", plural, name, f"{text}The object might have been deleted and then recreated")
    if kind == "Pod" and stored.obj["spec"].get("serviceAccountName", "") != call.name:
        text = f'cannot bind token for serviceaccount "{call.name}" to pod running with different serviceaccount name.'
        raise errors.bad_request(text)
    return kind, stored.obj
