"""Subresources and virtual resources: scale, binding, eviction, tokens, access reviews, approval, finalize, logs."""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.util import managedfields
from clientgo.applyconfigurations import internal
from clientgo.testing.apiserver.access.auth import AUTHENTICATED, Authenticator, User
from clientgo.testing.apiserver.access.rbac import Attributes, Authorizer
from clientgo.testing.apiserver.kinds import ownership, schema
from clientgo.testing.apiserver.store.storage import Stored
from clientgo.testing.apiserver.verbs import decoding
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.core import Verb
from clientgo.testing.apiserver.verbs.decoding import APPLY_PATCH
from clientgo.testing.apiserver.verbs.options import WriteOptions
from clientgo.testing.apiserver.verbs.writing import Writer
from clientgo.testing.apiserver.views import table
from clientgo.testing.apiserver.views.documents import render
from clientgo.testing.apiserver.views.printers import selector_text
from clientgo.testing.apiserver.wire import errors, http
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json, copy

# ---- scale


def _at(obj: Json, path: str) -> Any:
    value: Any = obj
    for name in path.lstrip(".").split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _with(obj: Json, path: str, new: Any) -> Json:
    names = path.lstrip(".").split(".")
    out = dict(obj)
    node = out
    for name in names[:-1]:
        node[name] = dict(node.get(name) or {})
        node = node[name]
    node[names[-1]] = new
    return out


def _paths(call: Call) -> tuple[str, str, str]:
    """JSON paths of spec.replicas, status.replicas and the selector."""
    if call.resource.custom:
        scale = (call.resource.crd_version.get("subresources") or {}).get("scale") or {}
        return (
            scale.get("specReplicasPath", ""),
            scale.get("statusReplicasPath", ""),
            scale.get("labelSelectorPath", ""),
        )
    return ".spec.replicas", ".status.replicas", ".spec.selector"


def scale_of(call: Call, obj: Json) -> Json:
    """The autoscaling/v1 Scale of an object."""
    spec_path, status_path, selector_path = _paths(call)
    metadata = {
        name: obj["metadata"][name]
        for name in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        if obj["metadata"].get(name)
    }
    replicas = _at(obj, spec_path) or 0
    status: Json = {"replicas": _at(obj, status_path) or 0}
    selector = _at(obj, selector_path) if selector_path else None
    if isinstance(selector, dict):
        text = selector_text(
            selector if call.resource.storage != "/replicationcontrollers" else {"matchLabels": selector}
        )
        selector = "" if text == "<none>" else text
    if selector:
        status["selector"] = selector
    spec = {"replicas": replicas} if replicas else {}
    return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status}


def scale(writer: Writer, call: Call) -> http.Response:
    """GET, PUT and PATCH of scale."""
    method = call.request.method
    if method in ("GET", "HEAD"):
        obj = writer.documents.view(call.resource, writer.current(call))
        path = _paths(call)[0]
        if call.resource.custom and _at(obj, path) is None:
            raise errors.internal_error(f'the spec replicas field "{path}" does not exist')
        shown = scale_of(call, obj)
        if call.form.kind == "Table":
            shown = table.of_scale(shown, writer.times, call.request.param("includeObject"), call.form.version)
        return render(shown, call.form)
    options_kind = "UpdateOptions"
    body: Any = None
    media = call.request.header("content-type").partition(";")[0].strip().lower()
    if method == "PATCH":
        options_kind = "ApplyOptions" if media == APPLY_PATCH else "PatchOptions"
        if media == APPLY_PATCH:
            body = decoding.read_body(_as_yaml(call))
        elif media == decoding.STRATEGIC_PATCH and call.resource.custom:
            raise errors.unsupported_media_type(decoding.CUSTOM_PATCH_TYPES)
        elif media.endswith("patch+json"):
            body = decoding.parse_patch(call, media)
        else:
            raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    else:
        body = decoding.read_body(call)
    options = WriteOptions(call.request, options_kind)

    def attempt(current: Stored | None) -> tuple[Stored, bool]:
        if current is None:
            raise call.not_found()
        live = writer.documents.view(call.resource, current)
        wanted = body
        if method == "PATCH":
            wanted = decoding.patched_scale(media, scale_of(call, live), body)
        wanted = _admitted(writer, call, decoding.decode_as("autoscaling/v1", "Scale", wanted), live, options)
        replicas, version = _checked_scale(call, wanted)
        if version not in ("", str(current.rv)):
            raise call.conflict()
        path = _paths(call)[0]
        obj = copy(_with(live, path, replicas))
        base = live["metadata"].get("managedFields")
        managed = base or []
        if replicas != _at(live, path):
            owner = managedfields.Writer(options.manager, call.resource.group_version, "scale")
            managed = ownership.scaled(managed, owner, path)
        main = Call(call.request, call.resource, call.namespace, call.name, "", call.form)
        # A webhook that is asked about scales is not asked about what they scale.
        main.admitted = True
        return writer.finish_update(main, obj, live, current, options, base, managed), False

    stored, _ = writer.retry(call, attempt)
    return render(scale_of(call, writer.documents.view(call.resource, stored)), call.form)


def _admitted(writer: Writer, call: Call, wanted: Json, live: Json, options: WriteOptions) -> Json:
    """The scale that is asked for, after all webhooks."""
    given = {**wanted, "kind": "Scale", "apiVersion": "autoscaling/v1"}
    before = scale_of(call, live)
    made = writer.webhooks.mutate(call, given, before, options)
    writer.webhooks.validate(call, made, before, options)
    return made


def _as_yaml(call: Call) -> Call:
    call.request.headers["content-type"] = "application/yaml"
    return call


def _checked_scale(call: Call, doc: Json) -> tuple[int, str]:
    obj = decoding.decode_as("autoscaling/v1", "Scale", doc)
    name = obj["metadata"].get("name", "")
    if name and name != call.name:
        raise errors.bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    replicas: int = obj["spec"].get("replicas", 0)
    if replicas < 0 and call.resource.custom:
        found = errors.field_invalid(_paths(call)[0], replicas, "should be a non-negative integer")
        raise errors.invalid(call.resource.group, call.resource.kind, call.name, [found])
    if replicas < 0:
        found = errors.field_invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise errors.invalid("autoscaling", "Scale", call.name, [found])
    return replicas, obj["metadata"].get("resourceVersion", "")


# ---- pods and namespaces


def binding(writer: Writer, call: Call) -> http.Response:
    """POST pods/NAME/binding, and POST bindings."""
    doc = decoding.decode_as("v1", "Binding", decoding.read_body(call))
    name = call.name or doc["metadata"].get("name", "")
    node = doc["target"].get("name", "")
    if not node:
        raise errors.invalid("", "Binding", name, [errors.field_required("target.name")])
    pods = writer.registry.find("", "v1", "pods")
    assert pods is not None
    pod_call = Call(call.request, pods, call.namespace, name, "", call.form)
    options = WriteOptions(call.request, "CreateOptions")
    doc = writer.webhooks.mutate(call, {**doc, "kind": "Binding", "apiVersion": "v1"}, None, options)
    writer.webhooks.validate(call, doc, None, options)
    node = (doc.get("target") or {}).get("name", "")

    def attempt(current: Stored | None) -> tuple[Stored, bool]:
        if current is None:
            raise pod_call.not_found()
        bound = current.obj["spec"].get("nodeName")
        if bound:
            raise pod_call.conflict(f'pod {name} is already assigned to node "{bound}"')
        obj = copy(current.obj)
        obj["spec"]["nodeName"] = node
        conditions = obj["status"].setdefault("conditions", []) or []
        now = writer.times.now_text()
        scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
        obj["status"]["conditions"] = [c for c in conditions if c.get("type") != "PodScheduled"] + [scheduled]
        obj = pods.struct.decode(obj, schema.Context(), "", "") if pods.struct is not None else obj
        new = writer.store.update(pods.storage, current.key, obj, current.rv)
        writer.committed("MODIFIED", pods, new, current)
        return new, False

    if not options.dry_run:
        writer.retry(pod_call, attempt)
    return render(
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, call.form, 201
    )


# ---- service account tokens


_SHORTEST_TOKEN, _LONGEST_TOKEN = 600, 2**32


def token(verb: Verb, authenticator: Authenticator, call: Call) -> http.Response:
    """POST serviceaccounts/NAME/token."""
    current = verb.current(call)
    doc = decoding.decode_as("authentication.k8s.io/v1", "TokenRequest", decoding.read_body(call))
    options = WriteOptions(call.request, "CreateOptions")
    spec = doc["spec"]
    spec["expirationSeconds"] = spec.get("expirationSeconds") or 3600
    seconds = spec["expirationSeconds"]
    if not _SHORTEST_TOKEN <= seconds <= _LONGEST_TOKEN:
        limit = "larger than 2^32 seconds" if seconds > _LONGEST_TOKEN else "less than 10 minutes"
        found = errors.field_invalid("spec.expirationSeconds", seconds, f"may not specify a duration {limit}")
        raise errors.invalid("authentication.k8s.io", "TokenRequest", "", [found])
    managed = _token_owner(verb, spec, options.manager)
    _check_bound(verb, call, spec.get("boundObjectRef"))
    audiences = spec.get("audiences") or ["https://kubernetes.default.svc"]
    uid = current.obj["metadata"]["uid"]
    text, expires = authenticator.issue(call.namespace, call.name, uid, seconds, audiences)
    out = {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": call.name,
            "namespace": call.namespace,
            "uid": uid,
            "creationTimestamp": verb.times.now_text(),
            "managedFields": managed,
        },
        "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": spec.get("boundObjectRef")},
        "status": {"token": text, "expirationTimestamp": verb.times.text(expires)},
    }
    return render(out, call.form, 201)


def _token_owner(verb: Verb, spec: Json, manager: str) -> list[Json]:
    """Who owns the fields of a TokenRequest, which is nobody's for longer than an answer."""
    api_version = "authentication.k8s.io/v1"
    writer = managedfields.Writer(manager, api_version, "token")
    node = internal.of_type("k8s.io/api/authentication/v1", "TokenRequest")
    asked = {name: value for name, value in spec.items() if value}
    empty = {"audiences": None, "boundObjectRef": None}
    return managedfields.updated(node, {"spec": empty}, {"spec": {**empty, **asked}}, (), writer, verb.times.now_text())


_BOUND = {"Pod": ("/pods", "pods", True), "Secret": ("/secrets", "secrets", True), "Node": ("/nodes", "nodes", False)}


def _check_bound(verb: Verb, call: Call, reference: Json | None) -> None:
    """The object that a token shall end with is there, and the one that is meant."""
    if reference is None:
        return
    version, kind, name = reference.get("apiVersion", ""), reference.get("kind", ""), reference.get("name", "")
    if version != "v1" or kind not in _BOUND:
        group, _, version = version.rpartition("/")
        raise errors.bad_request(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
    bucket, plural, namespaced = _BOUND[kind]
    stored = verb.store.get(bucket, f"{call.namespace}/{name}" if namespaced else name)
    if stored is None:
        raise errors.not_found("", plural, name)
    uid, asked = stored.obj["metadata"]["uid"], reference.get("uid", "")
    if asked and asked != uid:
        text = f"the UID in the bound object reference ({asked}) does not match the UID in record. "
        raise errors.conflict("", plural, name, f"{text}The object might have been deleted and then recreated")
    if kind == "Pod" and stored.obj["spec"].get("serviceAccountName", "") != call.name:
        text = f'cannot bind token for serviceaccount "{call.name}" to pod running with different serviceaccount name.'
        raise errors.bad_request(text)


# ---- reviews


def review(
    writer: Writer, authenticator: Authenticator, authorizer: Authorizer, call: Call, user: User
) -> http.Response:
    """Virtual resources that answer a question and store nothing; as created objects they have an owner of fields."""
    doc = decoding.read_body(call)
    options = WriteOptions(call.request, "CreateOptions")
    obj = decoding.decode(call, doc, options)
    if call.namespace:
        obj["metadata"]["namespace"] = call.namespace
    ownership.set_managed(obj, writer.managed_create(call.resource, obj, options.manager))
    plural = call.resource.plural
    spec = obj.get("spec") or {}
    if plural == "tokenreviews":
        found = authenticator.user_of(spec.get("token", ""))
        obj["status"] = {"authenticated": True, "user": found.info()} if found else {"user": {}}
    elif plural == "selfsubjectreviews":
        obj["metadata"]["creationTimestamp"] = writer.times.now_text()
        obj["status"] = {"userInfo": user.info()}
    elif plural == "selfsubjectrulesreviews":
        obj["status"] = _rules(authorizer, user, spec.get("namespace", ""))
    else:
        if plural != "selfsubjectaccessreviews":
            groups = tuple(spec.get("groups") or ())
            user = User(spec.get("user", ""), spec.get("uid", ""), groups or (AUTHENTICATED,))
        allowed, reason = authorizer.allowed(user, _attributes(call, spec))
        obj["status"] = {"allowed": allowed, **({"reason": reason} if reason else {})}
    if call.resource.struct is not None:
        obj = call.resource.struct.decode(obj, schema.Context(), "", "")
    return render(obj, call.form, 201)


def _attributes(call: Call, spec: Json) -> Attributes:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if (resource is None) == (path is None):
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        found = errors.field_invalid("spec.resourceAttributes", resource, text)
        raise errors.invalid(call.resource.group, "", "", [found])
    if path is not None:
        return Attributes(path.get("verb", ""), path=path.get("path", "") or "/")
    resource = resource or {}
    return Attributes(
        resource.get("verb", ""),
        group=resource.get("group", ""),
        version=resource.get("version", ""),
        resource=resource.get("resource", ""),
        subresource=resource.get("subresource", ""),
        namespace=resource.get("namespace", ""),
        name=resource.get("name", ""),
    )


def _rules(authorizer: Authorizer, user: User, namespace: str) -> Json:
    if user.master:
        everything: Json = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        paths = [{"verbs": ["*"], "nonResourceURLs": ["*"]}]
        return {"resourceRules": [everything], "nonResourceRules": paths, "incomplete": False}
    rules = [rule for rule, _ in authorizer.rules(user, namespace)]
    return {
        "resourceRules": [rule for rule in rules if rule.get("resources")],
        "nonResourceRules": [rule for rule in rules if rule.get("nonResourceURLs")],
        "incomplete": False,
    }
