"""Mutating webhooks, one after the other; each sees the changes of earlier ones. Mirrors plugin/webhook/mutating.

A webhook with a reinvocation policy is called once more if a later one has changed the object.
"""

from __future__ import annotations

from typing import Any, cast

from clientgo.apimachinery.util import jsonpatch
from clientgo.golang.json import kind_of
from clientgo.testing.apiserver.access.rbac import Authorizer
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.verbs import decoding
from clientgo.testing.apiserver.verbs.call import internal_call
from clientgo.testing.apiserver.webhooks import matching
from clientgo.testing.apiserver.webhooks.attributes import Attributes
from clientgo.testing.apiserver.webhooks.matching import Hook, Matcher
from clientgo.testing.apiserver.webhooks.reviews import WebhookCall, call_webhook, in_shape, is_wanted
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json, ParseError, loads
from clientgo.testing.apiserver.wire.webhooks import WebhookClients

_INVALID = 422


class Mutating:
    """The mutating webhooks. Thread-safe."""

    def __init__(self, clients: WebhookClients, matcher: Matcher, authorizer: Authorizer | None) -> None:
        self._clients = clients
        self._matcher = matcher
        self._authorizer = authorizer

    def __repr__(self) -> str:
        return f"<Mutating {self._clients!r}>"

    def admit(self, attributes: Attributes) -> Attributes:
        """Return the write after the webhooks; `attributes` itself if none changes it.

        Blocks for the calls. Raises ApiError.
        """
        hooks = self._matcher.hooks(matching.MUTATING, attributes)
        # The webhooks to call again if another one changes the object, and those that have to be called again.
        reinvocable: set[str] = set()
        due: set[str] = set()
        for hook in hooks:
            before = attributes
            attributes = self._call(hook, attributes, reinvocable)
            if attributes is not before:
                due |= reinvocable - {hook.uid}
        if due:
            for hook in hooks:
                if hook.uid in due:
                    attributes = self._call(hook, attributes, reinvocable)
        return attributes

    def _call(self, hook: Hook, attributes: Attributes, reinvocable: set[str]) -> Attributes:
        shape = self._matcher.match(hook, attributes)
        if shape is None or not is_wanted(hook, attributes, shape, self._authorizer):
            return attributes
        response = call_webhook(self._clients, WebhookCall(hook, attributes, shape, mutating=True))
        if hook.spec.get("reinvocationPolicy") == "IfNeeded":
            reinvocable.add(hook.uid)
        if response is None or not response.patch:
            return attributes
        if attributes.obj is None:
            text = f'admission webhook "{hook.name}" attempted to modify the object, which is not supported for this'
            raise errors.internal_error(f"{text} operation")
        resource = attributes.resource
        shown = in_shape(attributes.obj, resource, shape)
        changed = _patched(shown, response.patch)
        return attributes if changed == shown else reshaped(attributes, changed, shape)


def _patched(obj: Any, patch: bytes) -> Json:
    """Return the patched object. Raises ApiError 500 for an invalid patch, or a patch that does not fit."""
    try:
        operations = loads(patch)
        if operations is None:
            return cast(Json, obj)
        if not isinstance(operations, list):
            text = f"json: cannot unmarshal {kind_of(operations)} into Go value of type jsonpatch.Patch"
            raise errors.internal_error(text)
        if len(operations) > decoding.MAX_OPERATIONS:
            raise errors.internal_error(f"the patch has more than {decoding.MAX_OPERATIONS} operations")
        changed = jsonpatch.apply(obj, operations, accumulated_copy_size_limit=decoding.MAX_COPIED)
    except (ParseError, jsonpatch.PatchError) as err:
        raise errors.internal_error(str(err)) from None
    if not isinstance(changed, dict):
        raise errors.internal_error("the patched object is no object")
    return changed


def reshaped(attributes: Attributes, changed: Json, shape: Resource) -> Attributes:
    """Return the write with a changed object, which is in the version of `shape`.

    The object is decoded as a body of the request would be, so that it stays an object of its kind. Raises ApiError.
    """
    kind, resource = attributes.group_version_kind, attributes.resource
    try:
        if (kind["group"], kind["kind"]) != (resource.group, resource.kind):
            version = f"{kind['group']}/{kind['version']}" if kind["group"] else kind["version"]
            obj = decoding.decode_as(version, kind["kind"], changed)
        else:
            obj = _decoded(attributes, changed, shape)
            if shape is not resource:
                obj = _decoded(attributes, in_shape(obj, shape, resource) or {}, resource)
    except ApiError as err:
        raise _fault(err) from None
    obj.setdefault("metadata", {})
    return attributes.of(obj)


def _decoded(attributes: Attributes, doc: Json, resource: Resource) -> Json:
    """Return an object of a resource in normal form with defaults. Raises ApiError."""
    call = attributes.call
    return decoding.decode(internal_call("PATCH", "", resource, call.namespace, call.name), doc, None)


def _fault(err: ApiError) -> ApiError:
    """Return the error for an object that its kind refuses: the fault is the webhook's, not the user's."""
    if err.code == _INVALID:
        return err
    text = err.message.partition(" cannot be handled as a ")[2].partition(": ")[2] or err.message
    return errors.internal_text(text) if text.startswith("converting (") else errors.internal_error(text)
