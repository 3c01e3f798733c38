"""Validation of the CEL rules in a CRD's schema. The server rejects the CRD if a rule is invalid.

Mirrors the part about x-kubernetes-validations of apiextensions-apiserver's pkg/apis/apiextensions/validation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clientgo.testing.apiserver.cel.declarations import MAX_REQUEST, Declaration, declare
from clientgo.testing.apiserver.kinds.crd_internal import shown_rule
from clientgo.testing.apiserver.kinds.rule_paths import normalized_path
from clientgo.testing.apiserver.kinds.rules import EMBEDDED, RULES, Rule, compile_rules, has_rules
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

_REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"]
_EXPRESSION_LIMIT = 10_000_000
_SCHEMA_LIMIT = 100_000_000
_MOST_EXPENSIVE = 4
_MAX_COST = (1 << 64) - 1
# The number of values without a limit in the schema.
_UNBOUNDED = None


def check_texts(schema: Json, path: str) -> list[FieldError]:
    """Validate the rules of one level, without their expressions."""
    errors: list[FieldError] = []
    for i, rule in enumerate(schema.get(RULES) or ()):
        if isinstance(rule, dict):
            _check_text(rule, f"{path}.{RULES}[{i}]", schema, errors)
    return errors


def _check_text(rule: Json, path: str, schema: Json, errors: list[FieldError]) -> None:
    text, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
    if not text:
        errors.append(field_required(f"{path}.rule", "rule is not specified"))
    elif message and not message.strip():
        errors.append(field_invalid(f"{path}.message", message, "must be non-empty if specified"))
    elif "\n" in message.strip():
        errors.append(field_invalid(f"{path}.message", message, "must not contain line breaks"))
    elif "\n" in text and not message:
        errors.append(field_required(f"{path}.message", "message must be specified if rule contains line breaks"))
    expression = rule.get("messageExpression") or ""
    if expression and not expression.strip():
        text = "messageExpression must be non-empty if specified"
        errors.append(field_required(f"{path}.messageExpression", text))
    if rule.get("reason") is not None and rule["reason"] not in _REASONS:
        errors.append(field_not_supported(f"{path}.reason", rule["reason"], _REASONS))
    field_path = rule.get("fieldPath") or ""
    if field_path and not field_path.strip():
        errors.append(field_invalid(f"{path}.fieldPath", field_path, "must be non-empty if specified"))
    if "\n" in field_path:
        errors.append(field_invalid(f"{path}.fieldPath", field_path, "must not contain line breaks"))
    if field_path and normalized_path(field_path, schema) is None:
        errors.append(field_invalid(f"{path}.fieldPath", field_path, "must be a valid path"))


@dataclass(slots=True)
class _Total:
    """The total cost of a schema's rules."""

    cost: int = 0
    expensive: list[tuple[int, str]] = field(default_factory=list)

    def observe(self, path: str, cost: int) -> None:
        self.cost = min(_MAX_COST, self.cost + cost)
        if cost >= _SCHEMA_LIMIT // 100:
            self.expensive.append((cost, path))
            self.expensive = sorted(self.expensive, key=lambda one: -one[0])[:_MOST_EXPENSIVE]


def check_rules(schema: Json, path: str, found: list[FieldError]) -> list[FieldError]:
    """Validate the expressions of a structural schema. Skips levels with other errors."""
    if not has_rules(schema):
        return []
    checker = _Checker({error.field for error in found})
    checker.level(schema, path, declare(schema, root=True), 1, "")
    total = checker.total
    if total.cost > _SCHEMA_LIMIT:
        text = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        checker.errors += [field_forbidden(where, text) for _, where in total.expensive]
        name = f"{RULES} estimated rule cost total for entire OpenAPIv3 schema"
        checker.errors.append(field_forbidden(path, _cost_text(name, total.cost, _SCHEMA_LIMIT)))
    return checker.errors


class _Checker:
    def __init__(self, wrong: set[str]) -> None:
        self.errors: list[FieldError] = []
        self.total = _Total()
        self._wrong = wrong

    def level(
        self, schema: Any, path: str, declared: Declaration | None, count: int | None, uncorrelatable: str
    ) -> None:
        """Validate the rules of a schema and of all schemas below.

        `count` is the maximum number of values that the schema describes, or None if it has no bound. `uncorrelatable`
        is the path of the innermost list around the schema whose items an update cannot match to the old ones, or "".
        """
        if not isinstance(schema, dict) or not has_rules(schema):
            return
        properties = schema.get("properties") or {}
        for name, inner in properties.items():
            self.level(inner, f"{path}.properties[{name}]", _declared(inner), count, uncorrelatable)
        items, more = schema.get("items"), schema.get("additionalProperties")
        if isinstance(items, dict):
            fixed = schema.get("x-kubernetes-list-type") == "map"
            below = _times(count, schema.get("maxItems"))
            self.level(items, f"{path}.items", _declared(items), below, uncorrelatable if fixed else path)
        if isinstance(more, dict):
            below = _times(count, schema.get("maxProperties"))
            self.level(more, f"{path}.additionalProperties", _declared(more), below, uncorrelatable)
        if schema.get(RULES) and not any(_is_within(where, path) for where in self._wrong):
            self._rules(schema, path, declared, count, uncorrelatable)

    def _rules(
        self, schema: Json, path: str, declared: Declaration | None, count: int | None, uncorrelatable: str
    ) -> None:
        if declared is None:
            text = "failed to construct type information for x-kubernetes-validations rules"
            why = f"Internal error: internal error: {text}: unable to convert structural schema to CEL declarations"
            self.errors.append(FieldError("InternalError", f"{path}.{RULES}", why))
            return
        for i, rule in enumerate(compile_rules(schema, declared)):
            self._rule(rule, f"{path}.{RULES}[{i}]", declared, count, uncorrelatable)

    def _rule(self, rule: Rule, path: str, declared: Declaration, count: int | None, uncorrelatable: str) -> None:
        times = MAX_REQUEST // (declared.min_size + 1) if count is None else count
        cost = min(_MAX_COST, rule.cost * times)
        if cost > _EXPRESSION_LIMIT:
            text = _cost_text("estimated rule cost", cost, _EXPRESSION_LIMIT)
            self.errors.append(field_forbidden(f"{path}.rule", text))
        self.total.observe(f"{path}.rule", cost)
        if rule.error:
            self.errors.append(field_invalid(f"{path}.rule", shown_rule(rule.spec), rule.error))
        if rule.message_error:
            self.errors.append(field_invalid(f"{path}.messageExpression", shown_rule(rule.spec), rule.message_error))
        elif rule.message is not None:
            if rule.message_cost > _EXPRESSION_LIMIT:
                text = _cost_text("estimated messageExpression cost", rule.message_cost, _EXPRESSION_LIMIT)
                self.errors.append(field_forbidden(f"{path}.messageExpression", text))
            self.total.observe(f"{path}.messageExpression", rule.message_cost)
        self._check_old(rule, path, uncorrelatable)

    def _check_old(self, rule: Rule, path: str, uncorrelatable: str) -> None:
        if rule.uses_old:
            if uncorrelatable:
                text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelatable}"
                self.errors.append(field_invalid(f"{path}.rule", rule.spec["rule"], text))
        elif rule.spec.get("optionalOldSelf") is not None:
            text = "may not be set if oldSelf is not used in rule"
            self.errors.append(field_invalid(f"{path}.optionalOldSelf", rule.spec["optionalOldSelf"], text))


def _declared(schema: Any) -> Declaration | None:
    return declare(schema, root=isinstance(schema, dict) and bool(schema.get(EMBEDDED)))


def _times(count: int | None, most: int | None) -> int | None:
    return _UNBOUNDED if count is None or most is None else count * most


def _is_within(where: str, path: str) -> bool:
    return where == path or where.startswith((f"{path}.", f"{path}["))


def _cost_text(name: str, cost: int, limit: int) -> str:
    factor = cost / limit
    shown = "more than 100" if factor > 100 else f"{factor:f}" if factor < 1.5 else f"{factor:.1f}"
    return (
        f"{name} exceeds budget by factor of {shown}x (try simplifying the rule, or adding maxItems, maxProperties, "
        "and maxLength where arrays, maps, and strings are declared)"
    )
