"""ValidatingAdmissionPolicy. Mirrors apiserver's plugin/policy/validating/dispatcher.go and validator.go.

There is no audit log: Go's audit annotations are logged at -v 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clientgo import klog
from clientgo.testing.apiserver.access.rbac import Authorizer
from clientgo.testing.apiserver.cel import admission
from clientgo.testing.apiserver.cel.kept import Kept
from clientgo.testing.apiserver.cel.program import Program
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.kinds.rules import message_of
from clientgo.testing.apiserver.policies.finding import Finder
from clientgo.testing.apiserver.policies.params import ParamError, Params
from clientgo.testing.apiserver.policies.policy import Policy, Validation
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.webhooks.attributes import Attributes
from clientgo.testing.apiserver.webhooks.conditions import (
    Budget,
    ExpressionError,
    failure,
    names_of,
    namespace_value,
)
from clientgo.testing.apiserver.webhooks.matching import Matcher
from clientgo.testing.apiserver.webhooks.reviews import in_shape
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json

_CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413, "Invalid": 422}
_NAMESPACES = "/namespaces"
_policies = Kept(Policy, most=256)


@dataclass(frozen=True, slots=True)
class Denial:
    """One policy's objection to a write."""

    policy: str
    binding: str
    message: str
    reason: str = "Invalid"


def write_names(store: Store, attributes: Attributes, shape: Resource, authorizer: Authorizer) -> dict[str, Any]:
    """Return the variables of policy expressions, without parameters and the policy's own variables."""
    asked = attributes.resource
    obj, old = in_shape(attributes.obj, asked, shape), in_shape(attributes.old, asked, shape)
    names = names_of(attributes, shape, obj, old, authorizer)
    if attributes.namespace and asked.storage != _NAMESPACES:
        stored = store.get(_NAMESPACES, attributes.namespace)
        names["namespaceObject"] = namespace_value(stored.obj) if stored is not None else None
    return names


class ValidatingPolicies:
    """The validating policies. Thread-safe."""

    def __init__(self, store: Store, registry: Registry, authorizer: Authorizer) -> None:
        self._store = store
        self._authorizer = authorizer
        self._params = Params(store, registry)
        kinds = ("validatingadmissionpolicies", "validatingadmissionpolicybindings")
        self._finder = Finder(store, Matcher(store, registry), *kinds)

    def __repr__(self) -> str:
        return f"<ValidatingPolicies {self._finder!r}>"

    def validate(self, attributes: Attributes) -> None:
        """Evaluate the policies. Raises the ApiError of the first policy that denies the write."""
        denials: list[Denial] = []
        for obj, shape, bindings in self._finder.find(attributes):
            policy = _policies.of(obj)
            names = write_names(self._store, attributes, shape, self._authorizer) if bindings else {}
            for binding in bindings:
                denials += self._bound(policy, obj, binding, attributes, names)
        if denials:
            raise _refusal(attributes, denials[0])

    def _bound(
        self, policy: Policy, obj: Json, binding: Json, attributes: Attributes, names: dict[str, Any]
    ) -> list[Denial]:
        name = binding["metadata"]["name"]
        try:
            params = self._params.collect(obj, binding, attributes.namespace)
        except ParamError as err:
            text = f"failed to configure binding: {err}"
            return [Denial(policy.name, name, text)] if policy.fails else []
        denials: list[Denial] = []
        for param in params:
            found = _Evaluation(policy, name, {**names, "params": param})
            for denial in found.denials():
                denials += _acted_on(denial, binding, attributes)
            denials += found.audited()
        return denials


class _Evaluation:
    """One policy about one write, with one parameter."""

    def __init__(self, policy: Policy, binding: str, names: dict[str, Any]) -> None:
        self._policy = policy
        self._binding = binding
        self._given = names
        self._applies = True

    def denials(self) -> list[Denial]:
        """Return the validations that fail and, if the policy fails closed, those that cannot be evaluated."""
        policy = self._policy
        if policy.error:
            return self._failed(policy.error)
        try:
            self._applies = policy.conditions.hold(self._given)
            if not self._applies:
                return []
            budget = Budget(admission.BUDGET)
            names = policy.names(self._given)
            return [denial for one in policy.validations for denial in self._one(one, names, budget)]
        except ExpressionError as err:
            self._applies = False
            return self._failed(str(err))

    def _failed(self, text: str) -> list[Denial]:
        return [Denial(self._policy.name, self._binding, text)] if self._policy.fails else []

    def _one(self, validation: Validation, names: dict[str, Any], budget: Budget) -> list[Denial]:
        result = budget.evaluate(validation.program, names)
        if result.error is not None:
            return self._failed(failure(validation.program, result))
        if result.value is True:
            return []
        message = ""
        if validation.message is not None:
            made = budget.evaluate(validation.message, names)
            message = message_of(made)
            if made.error is not None:
                klog.v(2).info_s("error while evaluating messageExpression", "err", str(made.error))
        spec = validation.spec
        message = message or (spec.get("message") or "").strip()
        text = message or f"failed expression: {spec.get('expression', '').strip()}"
        return [Denial(self._policy.name, self._binding, text, spec.get("reason") or "Invalid")]

    def audited(self) -> list[Denial]:
        """Evaluate and log the audit annotations.

        Returns a denial for each annotation that cannot be evaluated, if the policy fails closed.
        """
        if not self._applies or not self._policy.audit or self._policy.error:
            return []
        names, budget = self._policy.names(self._given), Budget(admission.BUDGET)
        denials = []
        for key, program in self._policy.audit:
            denials += self._annotated(key, program, names, budget)
        return denials

    def _annotated(self, key: str, program: Program, names: dict[str, Any], budget: Budget) -> list[Denial]:
        try:
            result = budget.evaluate(program, names)
        except ExpressionError as err:
            return self._failed(str(err))
        if result.error is not None:
            return self._failed(failure(program, result))
        value = result.value.strip() if isinstance(result.value, str) else ""
        if value:
            klog.v(2).info_s("audit annotation", "key", f"{self._policy.name}/{key}", "value", value)
        return []


def _acted_on(denial: Denial, binding: Json, attributes: Attributes) -> list[Denial]:
    """Carry out the binding's actions: deny, warn or audit. Returns the denials."""
    head = f"for ValidatingAdmissionPolicy '{denial.policy}' with binding '{denial.binding}': {denial.message}"
    refused = []
    for action in binding["spec"].get("validationActions") or ():
        if action == "Deny":
            refused.append(denial)
        elif action == "Warn":
            attributes.call.warnings.append(f"Validation failed {head}")
        elif action == "Audit":
            klog.v(2).info_s("validation failure", "policy", denial.policy, "binding", denial.binding,
                             "message", denial.message)  # fmt: skip
    return refused


def _refusal(attributes: Attributes, denial: Denial) -> ApiError:
    by = f"ValidatingAdmissionPolicy '{denial.policy}' with binding '{denial.binding}' denied request"
    text = f"{by}: {denial.message}"
    resource = attributes.resource
    error = errors.forbidden(resource.group, resource.plural, attributes.name, text, causes=[{"message": text}])
    error.reason = denial.reason
    error.code = _CODES.get(denial.reason, 422)
    return error
