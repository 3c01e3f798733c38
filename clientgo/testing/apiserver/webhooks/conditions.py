"""Match conditions: expressions that must all hold for a webhook or policy to be asked.

Mirrors apiserver's plugin/webhook/matchconditions and plugin/cel, as far as both need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from clientgo.testing.apiserver.access.rbac import Attributes as AccessAttributes
from clientgo.testing.apiserver.access.rbac import Authorizer
from clientgo.testing.apiserver.access.users import AUTHENTICATED, User, service_account_groups
from clientgo.testing.apiserver.cel import admission
from clientgo.testing.apiserver.cel.common.types import BOOL
from clientgo.testing.apiserver.cel.library.authz import Check, Decision
from clientgo.testing.apiserver.cel.library.standard import to_timestamp
from clientgo.testing.apiserver.cel.program import PER_CALL_LIMIT, Program, Result
from clientgo.testing.apiserver.cel.source import CompileError
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.webhooks.attributes import Attributes
from clientgo.testing.apiserver.wire.jsonio import Json


class ExpressionError(Exception):
    """An expression that could not be evaluated. The failure policy says what follows."""


class Conditions:
    """The compiled match conditions of one webhook or policy."""

    def __init__(self, specs: Iterable[Json], *, params: bool = False) -> None:
        """Compile the conditions. Never raises: a condition that does not compile is an error in every evaluation."""
        known = admission.environment(params=params)
        self._programs: list[Program | str] = []
        for spec in specs:
            try:
                self._programs.append(admission.compiled(spec.get("expression") or "", known, BOOL))
            except CompileError as err:
                self._programs.append(str(err))

    def __bool__(self) -> bool:
        return bool(self._programs)

    def hold(self, names: Json) -> bool:
        """Report whether all conditions hold.

        A condition that is false decides, even if others fail. Raises ExpressionError.
        """
        budget = Budget(admission.CONDITIONS_BUDGET)
        wrong = []
        for program in self._programs:
            if isinstance(program, str):
                wrong.append(program)
                continue
            result = budget.evaluate(program, names)
            if result.error is not None:
                wrong.append(failure(program, result))
            elif result.value is not True:
                return False
        if wrong:
            texts = list(dict.fromkeys(wrong))
            raise ExpressionError(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
        return True


class Budget:
    """The remaining cost of the expressions of one write."""

    def __init__(self, units: int) -> None:
        self._left = units

    def evaluate(self, program: Program, names: Json) -> Result:
        """Evaluate a program. Raises ExpressionError when the budget is spent."""
        result = program.evaluate(names, min(PER_CALL_LIMIT, self._left))
        self._left -= result.cost
        if self._left < 0:
            raise ExpressionError(admission.NO_BUDGET)
        return result


def failure(program: Program, result: Result) -> str:
    return f"expression '{program.source}' resulted in error: {result.error}"


# ---- the variables of the expressions


def names_of(
    attributes: Attributes, shape: Resource, obj: Json | None, old: Json | None, authorizer: Authorizer | None
) -> dict[str, Any]:
    """Return the variables for one write, in the version in which the webhook or policy sees it."""
    names: dict[str, Any] = {
        "object": obj,
        "oldObject": old,
        "request": _request(attributes, shape),
        "namespaceObject": None,
    }
    if authorizer is not None:
        decide = _decider(authorizer, attributes.user)
        names["authorizer"] = Check(decide)
        names["authorizer.requestResource"] = Check(
            decide,
            group=attributes.resource.group,
            resource=attributes.resource.plural,
            subresource=attributes.subresource,
            namespace=attributes.namespace,
            name=attributes.name,
        )
    return names


def _request(attributes: Attributes, shape: Resource) -> Json:
    resource, kind = attributes.resource, attributes.group_version_kind
    own = (kind["group"], kind["kind"]) == (resource.group, resource.kind)
    user = attributes.user.info()
    return {
        "kind": {"group": shape.group, "version": shape.version, "kind": shape.kind} if own else kind,
        "resource": {"group": shape.group, "version": shape.version, "resource": shape.plural},
        "subResource": attributes.subresource,
        "requestKind": kind,
        "requestResource": {"group": resource.group, "version": resource.version, "resource": resource.plural},
        "requestSubResource": attributes.subresource,
        "name": attributes.name,
        "namespace": attributes.namespace,
        "operation": attributes.operation,
        "userInfo": {"username": "", "uid": "", "groups": [], "extra": {}, **user},
        "dryRun": attributes.dry_run,
        "options": attributes.options,
    }


def namespace_value(obj: Json | None) -> Json | None:
    """Return a namespace as expressions see it: a subset of its fields, as CEL values."""
    if obj is None:
        return None
    metadata = obj.get("metadata") or {}
    shown = {name: metadata[name] for name in ("name", "labels", "annotations", "resourceVersion") if name in metadata}
    if metadata.get("uid"):
        shown["UID"] = metadata["uid"]
    if metadata.get("creationTimestamp"):
        shown["creationTimestamp"] = to_timestamp(metadata["creationTimestamp"])
    return {"metadata": shown, "spec": obj.get("spec") or {}, "status": obj.get("status") or {}}


def _decider(authorizer: Authorizer, user: User) -> Callable[[Check, str], Decision]:
    def decide(check: Check, verb: str) -> Decision:
        subject = user
        if check.service_account is not None:
            namespace, name = check.service_account
            groups = (*service_account_groups(namespace), AUTHENTICATED)
            subject = User(f"system:serviceaccount:{namespace}:{name}", "", groups)
        if check.path:
            wanted = AccessAttributes(verb, path=check.path)
        else:
            wanted = AccessAttributes(
                verb,
                group=check.group,
                resource=check.resource,
                subresource=check.subresource,
                namespace=check.namespace,
                name=check.name,
            )
        allowed, reason = authorizer.allowed(subject, wanted)
        return Decision(allowed, reason)

    return decide


