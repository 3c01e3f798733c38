"""Reviews: virtual resources that answer a question and store nothing.

Mirrors kube-apiserver's registries of authorization.k8s.io and authentication.k8s.io, and their validation.
"""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver.access.auth import Authenticator
from clientgo.testing.apiserver.access.rbac import Attributes, Authorizer
from clientgo.testing.apiserver.access.tokens import API_AUDIENCES
from clientgo.testing.apiserver.access.users import User
from clientgo.testing.apiserver.kinds import ownership, schema
from clientgo.testing.apiserver.verbs import decoding
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.options import WriteOptions
from clientgo.testing.apiserver.verbs.writing import Writer
from clientgo.testing.apiserver.views.documents import render
from clientgo.testing.apiserver.wire import errors, http
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid
from clientgo.testing.apiserver.wire.jsonio import Json


def review(
    writer: Writer, authenticator: Authenticator, authorizer: Authorizer, call: Call, user: User
) -> http.Response:
    """Handle POST of any review. Like created objects, reviews have managedFields."""
    doc = decoding.read_body(call)
    options = WriteOptions(call.request, "CreateOptions")
    obj = decoding.decode(call, doc, options)
    if call.namespace:
        decoding.set_namespace(call, obj["metadata"])
    ownership.set_managed(obj, writer.managed_create(call.resource, obj, options.manager))
    plural = call.resource.plural
    spec = obj.get("spec") or {}
    if plural == "tokenreviews":
        obj["status"] = _token_status(authenticator, spec)
    elif plural == "selfsubjectreviews":
        obj["metadata"]["creationTimestamp"] = writer.times.now_text()
        obj["status"] = {"userInfo": user.info()}
    elif plural == "selfsubjectrulesreviews":
        obj["status"] = _rules(authorizer, user, spec.get("namespace", ""))
    else:
        found = _problems(plural, obj, spec)
        if found:
            raise errors.invalid(call.resource.group, "", "", found)
        if plural != "selfsubjectaccessreviews":
            # Exactly the given groups: the review does not add those that authentication would.
            user = User(spec.get("user", ""), spec.get("uid", ""), tuple(spec.get("groups") or ()))
        allowed, reason = authorizer.allowed(user, _attributes(spec))
        from clientgo.testing.apiserver.kinds.validation import authorization  # Here, as in `_problems`.

        texts = {"reason": reason, "evaluationError": authorization.evaluation_error(spec.get("resourceAttributes"))}
        obj["status"] = {"allowed": allowed, **{name: text for name, text in texts.items() if text}}
    if call.resource.struct is not None:
        obj = call.resource.struct.decode(obj, schema.Context(), "", "")
    return render(obj, call.form, 201)


def _token_status(authenticator: Authenticator, spec: Json) -> Json:
    token = spec.get("token", "")
    if not token:
        raise errors.bad_request("token is required for TokenReview in authentication")
    user, audiences, why = authenticator.review(token, spec.get("audiences") or API_AUDIENCES)
    if user is None:
        return {"user": {}, **({"error": why} if why else {})}
    return {"authenticated": True, "user": user.info(), "audiences": audiences}


def _problems(plural: str, obj: Json, spec: Json) -> list[FieldError]:
    """Validate a review of access. Go: authorization/validation."""
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    found: list[FieldError] = []
    if resource is not None and path is not None:
        text = "cannot be specified in combination with resourceAttributes"
        found.append(field_invalid("spec.nonResourceAttributes", _shown(path), text))
    if resource is None and path is None:
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        found.append(field_invalid("spec.resourceAttributes", None, text))
    if plural != "selfsubjectaccessreviews" and not spec.get("user") and not spec.get("groups"):
        found.append(field_invalid("spec.user", "", "at least one of user or group must be specified"))
    from clientgo.testing.apiserver.kinds.validation import authorization  # Here, not above: only reviews need it.

    found += authorization.resource_attributes(resource, "spec.resourceAttributes")
    local = plural == "localsubjectaccessreviews"
    found += _metadata_problems(obj["metadata"], local)
    if local and resource is not None and resource.get("namespace", "") != obj["metadata"].get("namespace", ""):
        namespace = resource.get("namespace", "")
        found.append(field_invalid("spec.resourceAttributes.namespace", namespace, "must match metadata.namespace"))
    if local and path is not None:
        found.append(field_invalid("spec.nonResourceAttributes", _shown(path), "disallowed on this kind of request"))
    return found


def _metadata_problems(metadata: Json, local: bool) -> list[FieldError]:
    allowed = ("managedFields", "namespace") if local else ("managedFields",)
    if not any(value for name, value in metadata.items() if name not in allowed):
        return []
    text = "must be empty except for namespace" if local else "must be empty"
    return [field_invalid("metadata", metadata, text)]


def _shown(path: Json) -> Json:
    """Return the path as the server's own type prints it, which has no JSON names."""
    return {"Path": path.get("path", ""), "Verb": path.get("verb", "")}


def _attributes(spec: Json) -> Attributes:
    path: Any = spec.get("nonResourceAttributes")
    if path is not None:
        return Attributes(path.get("verb", ""), path=path.get("path", "") or "/")
    resource = spec["resourceAttributes"]
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
