"""The authorizer that expressions can ask. Mirrors Kubernetes' pkg/cel/library/authz.go.

Left out: checks by field and label selectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from clientgo.testing.apiserver.cel.common.types import BOOL, STRING, Type
from clientgo.testing.apiserver.cel.common.values import EvalError
from clientgo.testing.apiserver.cel.library.declare import Function, no_overload

_PREFIX = "kubernetes.authorization."
AUTHORIZER = Type(f"{_PREFIX}Authorizer")
RESOURCE_CHECK = Type(f"{_PREFIX}ResourceCheck")
_PATH_CHECK = Type(f"{_PREFIX}PathCheck")
_GROUP_CHECK = Type(f"{_PREFIX}GroupCheck")
_DECISION = Type(f"{_PREFIX}Decision")


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of an authorization check, with its reason."""

    cel_type = _DECISION.name
    allowed: bool
    reason: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A question to the authorizer, which an expression builds step by step.

    `service_account` is (namespace, name); None asks about the user of the request.
    """

    cel_type = AUTHORIZER.name
    decide: Callable[[Check, str], Decision]
    service_account: tuple[str, str] | None = None
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


def _restricted(name: str, field: str) -> Callable[..., Check]:
    def body(check: Any, value: Any) -> Check:
        if not isinstance(check, Check) or not isinstance(value, str):
            raise no_overload(name, check, value)
        changes: dict[str, Any] = {field: value}
        return replace(check, **changes)

    return body


def _path(check: Any, path: Any) -> Check:
    if not path:
        raise EvalError("path must not be empty")
    return _restricted("path", "path")(check, path)


def _service_account(check: Any, namespace: Any, name: Any) -> Check:
    if not isinstance(check, Check) or not isinstance(namespace, str) or not isinstance(name, str):
        raise no_overload("serviceAccount", check, namespace, name)
    return replace(check, service_account=(namespace, name))


def _decide(check: Any, verb: Any) -> Decision:
    if not isinstance(check, Check) or not isinstance(verb, str):
        raise no_overload("check", check, verb)
    return check.decide(check, verb)


def _of_decision(name: str, function: Callable[[Decision], Any], to: Type) -> Function:
    def body(decision: Any) -> Any:
        if not isinstance(decision, Decision):
            raise no_overload(name, decision)
        return function(decision)

    return Function(name, body).method(_DECISION, to=to)


FUNCTIONS = [
    Function("path", _path).method(AUTHORIZER, STRING, to=_PATH_CHECK),
    Function("group", _restricted("group", "group")).method(AUTHORIZER, STRING, to=_GROUP_CHECK),
    Function("serviceAccount", _service_account).method(AUTHORIZER, STRING, STRING, to=AUTHORIZER),
    Function("resource", _restricted("resource", "resource")).method(_GROUP_CHECK, STRING, to=RESOURCE_CHECK),
    *(
        Function(name, _restricted(name, name)).method(RESOURCE_CHECK, STRING, to=RESOURCE_CHECK)
        for name in ("subresource", "namespace", "name")
    ),
    Function("check", _decide).method(_PATH_CHECK, STRING, to=_DECISION).method(RESOURCE_CHECK, STRING, to=_DECISION),
    _of_decision("allowed", lambda decision: decision.allowed, BOOL),
    _of_decision("reason", lambda decision: decision.reason, STRING),
    _of_decision("errored", lambda decision: bool(decision.error), BOOL),
    _of_decision("error", lambda decision: decision.error, STRING),
]
