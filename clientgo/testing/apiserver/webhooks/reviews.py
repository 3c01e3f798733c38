"""One question to a webhook, and what its answer means. Mirrors apiserver's plugin/webhook/request and errors."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clientgo import klog
from clientgo.golang.strconv import quote
from clientgo.testing.apiserver.access.rbac import Authorizer
from clientgo.testing.apiserver.cel.kept import Kept
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.webhooks.attributes import Attributes
from clientgo.testing.apiserver.webhooks.conditions import Conditions, ExpressionError, names_of
from clientgo.testing.apiserver.webhooks.matching import Hook
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.webhooks import CallError, ClientError, WebhookClients

if TYPE_CHECKING:
    from clientgo.api.admission.v1 import AdmissionResponse

_KNOWN_VERSIONS = ("v1", "v1beta1")
_DEFAULT_TIMEOUT = 10
_HARMLESS = ("None", "NoneOnDryRun")
# The largest status of an HTTP response.
_MAX_STATUS = 999


class HookError(Exception):
    """A webhook that could not be asked, or whose answer is none. The failure policy says what follows."""


@dataclass(frozen=True, slots=True)
class WebhookCall:
    """A write and a webhook that wants to be asked about it, in a version of its own."""

    hook: Hook
    attributes: Attributes
    shape: Resource
    mutating: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """A webhook's answer, decoded in full, so that fields of a wrong type are found."""

    uid: str
    allowed: bool
    code: int
    reason: str
    message: str
    status: Json
    patch: bytes
    patch_type: str | None
    warnings: list[str]


_conditions = Kept(lambda spec: Conditions(spec.get("matchConditions") or ()), most=256)


def is_wanted(hook: Hook, attributes: Attributes, shape: Resource, authorizer: Authorizer | None) -> bool:
    """Report whether a webhook's match conditions hold.

    Raises ApiError if they cannot be evaluated and it fails closed.
    """
    if not hook.spec.get("matchConditions"):
        return True
    resource = attributes.resource
    obj, old = in_shape(attributes.obj, resource, shape), in_shape(attributes.old, resource, shape)
    try:
        return _conditions.of(hook.spec).hold(names_of(attributes, shape, obj, old, authorizer))
    except ExpressionError as err:
        if hook.is_ignorable:
            return False
        klog.warning(f"Failed evaluating match conditions, failing closed {hook.name}: {err}")
        raise errors.forbidden(resource.group, resource.plural, attributes.name, str(err)) from None


def call_webhook(clients: WebhookClients, call: WebhookCall) -> Answer | None:
    """Call a webhook and block until it has answered. Returns its answer if it allows the write.

    Returns None if the call fails and the webhook's failurePolicy is Ignore. Raises ApiError if the webhook denies the
    write, if the call fails otherwise, and for a dry run if the webhook has side effects.
    """
    hook, attributes = call.hook, call.attributes
    if attributes.dry_run and hook.spec.get("sideEffects") not in _HARMLESS:
        raise errors.bad_request(f"admission webhook {quote(hook.name)} does not support dry run")
    try:
        response = _answer(clients, call)
    except HookError as err:
        text = f"failed calling webhook {quote(hook.name)}: {err}"
        if hook.is_ignorable:
            klog.warning(f"Failed calling webhook, failing open {hook.name}: {text}")
            return None
        klog.warning(f"Failed calling webhook, failing closed {hook.name}: {text}")
        raise errors.internal_error(text) from None
    attributes.call.warnings += response.warnings
    if not response.allowed:
        raise _denial(hook.name, response)
    return response


def _answer(clients: WebhookClients, call: WebhookCall) -> Answer:
    from clientgo.api.admission.v1 import AdmissionReview  # Here, as below: most servers ask no webhook.

    spec = call.hook.spec
    accepted = spec.get("admissionReviewVersions") or ()
    version = next((one for one in accepted if one in _KNOWN_VERSIONS), None)
    if version is None:
        raise HookError("could not create admission objects: webhook does not accept known AdmissionReview versions")
    kind: Json = {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}"}
    uid = str(uuid.uuid4())
    timeout = spec.get("timeoutSeconds") or _DEFAULT_TIMEOUT
    review = {**kind, "request": _request(call, uid)}
    try:
        answer = clients.review(spec.get("clientConfig") or {}, review, timeout)
        response = _read(AdmissionReview.from_dict(answer).response)
    except ClientError as err:
        raise HookError(f"could not get REST client: {err}") from None
    except (CallError, ValueError, TypeError) as err:
        raise HookError(f"failed to call webhook: {err}") from None
    wrong = _wrong(answer, response, kind, uid, call.mutating)
    if wrong or response is None:
        raise HookError(f"received invalid webhook response: {wrong}")
    return response


def _read(response: AdmissionResponse | None) -> Answer | None:
    """Read a response. Raises ValueError for a field of the wrong type."""
    from clientgo.apimachinery.apis.meta.v1 import Status  # Here, as above.

    if response is None:
        return None
    result = response.result or Status()
    return Answer(
        response.uid,
        response.allowed,
        result.code,
        result.reason,
        result.message,
        result.to_dict(),
        response.patch,
        response.patch_type,
        list(response.warnings),
    )


def _request(call: WebhookCall, uid: str) -> Json:
    attributes, shape = call.attributes, call.shape
    resource = attributes.resource
    kind = attributes.group_version_kind
    own = (kind["group"], kind["kind"]) == (resource.group, resource.kind)
    request: Json = {
        "uid": uid,
        "kind": {"group": shape.group, "version": shape.version, "kind": shape.kind} if own else kind,
        "resource": {"group": shape.group, "version": shape.version, "resource": shape.plural},
        "requestKind": kind,
        "requestResource": {"group": resource.group, "version": resource.version, "resource": resource.plural},
        "operation": attributes.operation,
        "userInfo": attributes.user.info(),
        "object": in_shape(attributes.obj, resource, shape),
        "oldObject": in_shape(attributes.old, resource, shape),
        "dryRun": attributes.dry_run,
        "options": attributes.options,
    }
    for field, value in (("name", attributes.name), ("namespace", attributes.namespace)):
        if value:
            request[field] = value
    if attributes.subresource:
        request["subResource"] = request["requestSubResource"] = attributes.subresource
    return request


def in_shape(obj: Json | None, given: Resource, wanted: Resource) -> Json | None:
    """Return an object of one version in another version. An object of another kind is unchanged."""
    if obj is None or given is wanted or obj.get("kind") != given.kind:
        return obj
    return wanted.from_storage(given.to_storage(obj))


def _wrong(answer: Json, response: Answer | None, kind: Json, uid: str, mutating: bool) -> str:
    """Return the reason why an answer is invalid, or "" for a valid one."""
    from clientgo.api.admission.v1 import PatchType  # Here, as above.

    if response is None:
        return "webhook response was absent"
    is_old = kind["apiVersion"].endswith("v1beta1")
    if not is_old:
        given = (answer.get("apiVersion") or "", answer.get("kind") or "")
        if given != (kind["apiVersion"], kind["kind"]):
            wanted = f"{kind['apiVersion']}, Kind={kind['kind']}"
            return f"expected webhook response of {wanted}, got {given[0] or '/'}, Kind={given[1]}"
        if response.uid != uid:
            return f"expected response.uid={quote(uid)}, got {quote(response.uid)}"
    if not mutating:
        if response.patch:
            return "validating webhook may not return response.patch"
        return "validating webhook may not return response.patchType" if response.patch_type is not None else ""
    patch_type = response.patch_type
    if response.patch and patch_type is None and not is_old:
        return "webhook returned response.patch but not response.patchType"
    if patch_type is not None and not is_old:
        if not response.patch:
            return "webhook returned response.patchType but not response.patch"
        if patch_type != PatchType.JSON_PATCH:
            return f"webhook returned invalid response.patchType of {quote(patch_type)}"
    return ""


def _denial(name: str, answer: Answer) -> ApiError:
    """Return the error with the webhook's own status, prefixed with the webhook's name."""
    by = f"admission webhook {quote(name)} denied the request"
    why = answer.message or answer.reason
    text = f"{by}: {why}" if why else f"{by} without explanation"
    if answer.code > _MAX_STATUS:
        # Go's server panics, and answers with 500.
        return errors.internal_error(f"invalid WriteHeader code {answer.code}")
    details, metadata = answer.status.get("details"), answer.status.get("metadata")
    return ApiError(max(answer.code, 400), answer.reason or None, text, details, metadata=metadata)
