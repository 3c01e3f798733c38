"""Subresources and virtual resources: scale, binding, eviction, tokens, access reviews, approval, finalize, logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clientgo.testing.apiserver import decoding, errors, http, schema, table
from clientgo.testing.apiserver.auth import AUTHENTICATED, User
from clientgo.testing.apiserver.call import Call
from clientgo.testing.apiserver.decoding import APPLY_PATCH
from clientgo.testing.apiserver.documents import render
from clientgo.testing.apiserver.errors import ApiError
from clientgo.testing.apiserver.jsonio import copy
from clientgo.testing.apiserver.options import WriteOptions
from clientgo.testing.apiserver.printers import selector_text
from clientgo.testing.apiserver.rbac import Attributes
from clientgo.testing.apiserver.storage import Stored

if TYPE_CHECKING:
    from clientgo.testing.apiserver.server import Server

Json = dict[str, Any]


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


def scale(server: Server, call: Call) -> http.Response:
    rest = server.rest
    method = call.request.method
    if method in ("GET", "HEAD"):
        current = rest.store.get(call.resource.storage, call.key)
        if current is None:
            raise call.not_found()
        shown = scale_of(call, rest.documents.view(call.resource, current))
        if call.form.kind == "Table":
            shown = table.of_scale(shown, server.times, call.request.param("includeObject"), call.form.version)
        return render(shown, call.form)
    options_kind = "UpdateOptions"
    body: Any = None
    media = call.request.header("content-type").partition(";")[0].strip().lower()
    if method == "PATCH":
        options_kind = "ApplyOptions" if media == APPLY_PATCH else "PatchOptions"
        if media == APPLY_PATCH:
            body = decoding.read_body(_as_yaml(call))
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
        live = rest.documents.view(call.resource, current)
        wanted = body
        if method == "PATCH":
            struct = schema.kind_struct("autoscaling/v1", "Scale")
            kind = "application/merge-patch+json" if media == APPLY_PATCH else media
            wanted = decoding.patched(kind, scale_of(call, live), body, struct)
        replicas, version = _checked_scale(call, wanted)
        if version not in ("", str(current.rv)):
            raise call.conflict()
        obj = copy(_with(live, _paths(call)[0], replicas))
        base = live["metadata"].get("managedFields")
        main = Call(call.request, call.resource, call.namespace, call.name, "", call.form)
        return rest.finish_update(main, obj, live, current, options, base), False

    stored, _ = rest.retry(call, attempt, options)
    return render(scale_of(call, rest.documents.view(call.resource, stored)), call.form)


def _as_yaml(call: Call) -> Call:
    call.request.headers["content-type"] = "application/yaml"
    return call


def _checked_scale(call: Call, doc: Json) -> tuple[int, str]:
    kind = doc.get("kind") or "Scale"
    if kind != "Scale":
        raise errors.bad_request(f'{kind} in version "v1" cannot be handled as a Scale: no kind "{kind}" is registered')
    metadata = doc.get("metadata") or {}
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    if name and name != call.name:
        raise errors.bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    replicas = (doc.get("spec") or {}).get("replicas") or 0
    if type(replicas) is not int:
        raise errors.bad_request(
            'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal into Go struct field '
            "ScaleSpec.spec.replicas of "
            "type int32"
        )
    if replicas < 0:
        found = errors.field_invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise errors.invalid("autoscaling", "Scale", call.name, [found])
    return replicas, str(metadata.get("resourceVersion") or "")


# ---- pods and namespaces


def binding(server: Server, call: Call) -> http.Response:
    """POST pods/NAME/binding, and POST bindings."""
    rest = server.rest
    doc = decoding.read_body(call)
    name = call.name or (doc.get("metadata") or {}).get("name", "")
    node = (doc.get("target") or {}).get("name", "")
    if not node:
        raise errors.invalid("", "Binding", name, [errors.field_required("target.name")])
    pods = server.registry.find("", "v1", "pods")
    assert pods is not None
    pod_call = Call(call.request, pods, call.namespace, name, "", call.form)
    options = WriteOptions(call.request, "CreateOptions")

    def attempt(current: Stored | None) -> tuple[Stored, bool]:
        if current is None:
            raise pod_call.not_found()
        bound = current.obj["spec"].get("nodeName")
        if bound:
            raise pod_call.conflict(f'pod {name} is already assigned to node "{bound}"')
        obj = copy(current.obj)
        obj["spec"]["nodeName"] = node
        conditions = obj["status"].setdefault("conditions", []) or []
        now = rest.times.now_text()
        scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
        obj["status"]["conditions"] = [c for c in conditions if c.get("type") != "PodScheduled"] + [scheduled]
        obj = pods.struct.decode(obj, schema.Context(), "", "") if pods.struct is not None else obj
        new = rest.store.update(pods.storage, current.key, obj, current.rv)
        rest.committed("MODIFIED", pods, new, current)
        return new, False

    if not options.dry_run:
        rest.retry(pod_call, attempt, options)
    return render(
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, call.form, 201
    )


def pod_streams(server: Server, call: Call) -> http.Response:
    """log, exec, attach, portforward, proxy: there is no kubelet, and the answer says so."""
    current = server.rest.store.get(call.resource.storage, call.key)
    if current is None:
        raise call.not_found()
    if call.resource.storage == "/pods" and not (current.obj.get("spec") or {}).get("nodeName"):
        raise errors.bad_request(f"pod {call.name} does not have a host assigned")
    raise ApiError(
        501,
        "NotImplemented",
        f"the embedded API server runs no containers: {call.resource.plural}/{call.subresource} is not available",
        {},
    )


# ---- service account tokens


_SHORTEST_TOKEN, _LONGEST_TOKEN = 600, 2**32


def token(server: Server, call: Call) -> http.Response:
    """POST serviceaccounts/NAME/token."""
    current = server.rest.store.get(call.resource.storage, call.key)
    if current is None:
        raise call.not_found()
    doc = decoding.read_body(call)
    spec = doc.get("spec") or {}
    seconds = spec.get("expirationSeconds") or 3600
    if type(seconds) is not int or not _SHORTEST_TOKEN <= seconds <= _LONGEST_TOKEN:
        too_long = type(seconds) is int and seconds > _LONGEST_TOKEN
        limit = "larger than 2^32 seconds" if too_long else "less than 10 minutes"
        found = errors.field_invalid("spec.expirationSeconds", seconds, f"may not specify a duration {limit}")
        raise errors.invalid("authentication.k8s.io", "TokenRequest", "", [found])
    audiences = spec.get("audiences") or ["https://kubernetes.default.svc.cluster.local"]
    uid = current.obj["metadata"]["uid"]
    text, expires = server.authenticator.issue(call.namespace, call.name, uid, seconds, audiences)
    out = {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": call.name,
            "namespace": call.namespace,
            "creationTimestamp": server.times.now_text(),
        },
        "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": spec.get("boundObjectRef")},
        "status": {"token": text, "expirationTimestamp": server.times.text(expires)},
    }
    return render(out, call.form, 201)


# ---- reviews


def review(server: Server, call: Call, user: User) -> http.Response:
    """Virtual resources that answer a question and store nothing."""
    doc = decoding.read_body(call)
    obj = decoding.decode(call, doc, WriteOptions(call.request, "CreateOptions"))
    plural = call.resource.plural
    spec = obj.get("spec") or {}
    if plural == "tokenreviews":
        found = server.authenticator.user_of(spec.get("token", ""))
        obj["status"] = {"authenticated": True, "user": found.info()} if found else {"user": {}}
    elif plural == "selfsubjectreviews":
        obj["status"] = {"userInfo": user.info()}
    elif plural == "selfsubjectrulesreviews":
        obj["status"] = _rules(server, user, spec.get("namespace", ""))
    else:
        if plural != "selfsubjectaccessreviews":
            groups = tuple(spec.get("groups") or ())
            user = User(spec.get("user", ""), spec.get("uid", ""), groups or (AUTHENTICATED,))
        allowed, reason = server.authorizer.allowed(user, _attributes(call, spec))
        obj["status"] = {"allowed": allowed, **({"reason": reason} if reason else {})}
    return render(obj, call.form, 201)


def _attributes(call: Call, spec: Json) -> Attributes:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if (resource is None) == (path is None):
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        found = errors.field_invalid("spec.resourceAttributes", resource, text)
        raise errors.invalid(call.resource.group, call.resource.kind, "", [found])
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


def _rules(server: Server, user: User, namespace: str) -> Json:
    if user.master:
        everything: Json = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        paths = [{"verbs": ["*"], "nonResourceURLs": ["*"]}]
        return {"resourceRules": [everything], "nonResourceRules": paths, "incomplete": False}
    rules = [rule for rule, _ in server.authorizer.rules(user, namespace)]
    return {
        "resourceRules": [rule for rule in rules if rule.get("resources")],
        "nonResourceRules": [rule for rule in rules if rule.get("nonResourceURLs")],
        "incomplete": False,
    }
