"""MutatingAdmissionPolicy. Mirrors apiserver's plugin/policy/mutating/dispatcher.go and patch.

Differs: a policy that wants to be asked again is asked once more, after the webhooks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clientgo.apimachinery.util import jsonpatch
from clientgo.apimachinery.util.managedfields import Node
from clientgo.apimachinery.util.managedfields.typed import merge
from clientgo.testing.apiserver.access.rbac import Authorizer
from clientgo.testing.apiserver.cel import admission, mutation
from clientgo.testing.apiserver.cel.kept import Kept
from clientgo.testing.apiserver.cel.mutation import MutationError
from clientgo.testing.apiserver.kinds import ownership
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.policies.finding import Finder
from clientgo.testing.apiserver.policies.params import ParamError, Params
from clientgo.testing.apiserver.policies.policy import Policy
from clientgo.testing.apiserver.policies.validating import write_names
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.verbs import decoding
from clientgo.testing.apiserver.webhooks.attributes import Attributes
from clientgo.testing.apiserver.webhooks.conditions import Budget, ExpressionError, failure
from clientgo.testing.apiserver.webhooks.matching import Matcher
from clientgo.testing.apiserver.webhooks.mutating import reshaped
from clientgo.testing.apiserver.webhooks.reviews import in_shape
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json

_policies = Kept(Policy, most=256)


class MutatingPolicies:
    """The mutating policies, asked in order: each sees the changes of those before it. Thread-safe."""

    def __init__(self, store: Store, registry: Registry, authorizer: Authorizer) -> None:
        self._store = store
        self._authorizer = authorizer
        self._params = Params(store, registry)
        kinds = ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings")
        self._finder = Finder(store, Matcher(store, registry), *kinds)

    def __repr__(self) -> str:
        return f"<MutatingPolicies {self._finder!r}>"

    def admit(self, attributes: Attributes, only: set[str] | None = None) -> tuple[Attributes, set[str]]:
        """Return the write after the policies, and the names of the policies to run again.

        The write is `attributes` itself if no policy changes it. `only` limits the policies that run. Raises ApiError
        if a policy cannot be evaluated and fails closed.
        """
        wrong: list[tuple[str, str]] = []
        again: set[str] = set()
        for obj, shape, bindings in self._finder.find(attributes):
            policy = _policies.of(obj)
            if only is not None and policy.name not in only:
                continue
            for binding in bindings:
                try:
                    attributes = self._bound(policy, obj, binding, attributes, shape)
                except (ParamError, ExpressionError, MutationError) as err:
                    text = f"failed to configure binding: {err}" if isinstance(err, ParamError) else str(err)
                    name = binding["metadata"]["name"]
                    if policy.fails:
                        head = f"policy '{policy.name}' with binding '{name}' denied request"
                        wrong.append((f"{head}: {text}", "" if isinstance(err, ParamError) else "Invalid"))
            if obj["spec"].get("reinvocationPolicy") == "IfNeeded":
                again.add(policy.name)
        if wrong:
            raise _refusal(attributes, wrong)
        return attributes, again

    def _bound(self, policy: Policy, obj: Json, binding: Json, attributes: Attributes, shape: Resource) -> Attributes:
        for param in self._params.collect(obj, binding, attributes.namespace):
            if policy.error:
                raise ExpressionError(policy.error)
            names = {**write_names(self._store, attributes, shape, self._authorizer), "params": param}
            if not policy.conditions.hold(names):
                continue
            for kind, program in policy.mutations:
                if attributes.obj is None:
                    continue
                shown = in_shape(attributes.obj, attributes.resource, shape)
                given = policy.names({**names, "object": shown})
                result = Budget(admission.BUDGET).evaluate(program, given)
                if result.error is not None:
                    raise ExpressionError(failure(program, result))
                changed = _PATCHERS[kind](shown or {}, result.value, shape)
                if changed != shown:
                    attributes = reshaped(attributes, changed, shape)
        return attributes


def _applied(shown: Json, value: Any, shape: Resource) -> Json:
    """Return the object with a configuration merged into it, as in server-side apply. Raises MutationError."""
    given = mutation.configuration(value)
    node = ownership.merge_node(shape)
    atomic = list(_atomics(node, given, ""))
    if atomic:
        text = "may not mutate atomic arrays, maps or structs"
        raise MutationError(f"error applying patch: invalid ApplyConfiguration: {text}: {', '.join(atomic)}")
    merged: Json = merge(node, shown, given)
    return _checked(merged)


def _atomics(node: Node, value: Any, path: str) -> list[str]:
    """Return the paths at which a configuration would replace part of an atomic value."""
    if isinstance(value, dict):
        if node.kind == "leaf":
            return [path]
        return [one for name, item in value.items() for one in _atomics(node.child(name), item, f"{path}.{name}")]
    if isinstance(value, list):
        if node.kind not in ("assoc", "set"):
            return [path]
        inner = node.elem
        if inner is None:
            return []
        return [one for i, item in enumerate(value) for one in _atomics(inner, item, f"{path}[{i}]")]
    return []


def _patched(shown: Json, value: Any, shape: Resource) -> Json:
    """Return the object after a JSON patch, or the given object if a test in the patch fails. Raises MutationError."""
    operations = mutation.operations(value)
    if len(operations) > decoding.MAX_OPERATIONS:
        raise MutationError(f"JSON Patch: the patch has more than {decoding.MAX_OPERATIONS} operations")
    try:
        changed = jsonpatch.apply(shown, operations, accumulated_copy_size_limit=decoding.MAX_COPIED)
    except jsonpatch.FailedTestError:
        return shown
    except jsonpatch.PatchError as err:
        raise MutationError(f"JSON Patch: {err}") from None
    return _checked(changed)


def _checked(changed: Any) -> Json:
    if isinstance(changed, dict) and isinstance(changed.get("metadata"), dict):
        return changed
    raise MutationError("the patched object is no object with metadata")


_PATCHERS: dict[str, Callable[[Json, Any, Resource], Json]] = {"ApplyConfiguration": _applied, "JSONPatch": _patched}


def _refusal(attributes: Attributes, wrong: list[tuple[str, str]]) -> ApiError:
    resource = attributes.resource
    causes = [{"message": text} for text, _ in wrong]
    error = errors.forbidden(resource.group, resource.plural, attributes.name, "", causes=causes)
    error.message, reason = wrong[0]
    error.reason = reason or error.reason
    return error
