"""The CEL rules of a CRD's schema (x-kubernetes-validations), compiled and applied to custom resources.

Mirrors apiextensions-apiserver's pkg/apiserver/schema/cel/compilation.go and validation.go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clientgo import klog
from clientgo.golang import utf8
from clientgo.golang.strconv import quote
from clientgo.testing.apiserver.cel.checker import Environment
from clientgo.testing.apiserver.cel.common.types import BOOL, STRING, optional_of
from clientgo.testing.apiserver.cel.common.values import NONE, Optional, map_key
from clientgo.testing.apiserver.cel.declarations import Declaration, declare, escape, value_of
from clientgo.testing.apiserver.cel.estimate import estimate
from clientgo.testing.apiserver.cel.kept import Kept
from clientgo.testing.apiserver.cel.program import Program, Result
from clientgo.testing.apiserver.cel.source import CompileError
from clientgo.testing.apiserver.kinds.rule_paths import normalized_path
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_forbidden,
    field_invalid,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

RULES = "x-kubernetes-validations"
EMBEDDED = "x-kubernetes-embedded-resource"
# Cost limit of all rules for one object.
BUDGET = 10_000_000
_MAX_MESSAGE = 5 * 1024
_NO_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
_EXCEEDED = "no further validation rules will be run due to call cost exceeds limit for"


@dataclass(slots=True)
class Rule:
    """A compiled rule. Without a program, the rule is empty or has a compile `error`."""

    spec: Json
    program: Program | None = None
    error: str = ""
    cost: int = 0
    message: Program | None = None
    message_error: str = ""
    message_cost: int = 0
    # The path of errors, relative to the rule's value.
    path: str = ""

    @property
    def uses_old(self) -> bool:
        return self.program is not None and self.program.uses("oldSelf")

    @property
    def shown(self) -> str:
        """Return the text that identifies the rule in errors."""
        message: str = self.spec.get("message") or self.spec.get("rule") or ""
        return message.strip()


def compile_rules(schema: Json, declared: Declaration) -> list[Rule]:
    """Compile the rules of one level of a schema. A rule that does not compile has its error."""
    return [_compile(spec, schema, declared) for spec in schema.get(RULES) or ()]


def _compile(spec: Json, schema: Json, declared: Declaration) -> Rule:
    rule = Rule(spec)
    if not spec.get("rule", "").strip():
        return rule
    old = optional_of(declared.type) if spec.get("optionalOldSelf") else declared.type
    environment = Environment({"self": declared.type, "oldSelf": old})
    sizes = {"self": declared, "oldSelf": declared}
    try:
        program = Program(spec["rule"], environment)
    except CompileError as err:
        rule.error = f"compilation failed: {err}"
        return rule
    if program.output != BOOL:
        rule.error = "cel expression must evaluate to a bool"
        return rule
    rule.program = program
    rule.cost = estimate(program.checked, sizes)
    if spec.get("messageExpression"):
        _compile_message(rule, environment, sizes)
    if spec.get("fieldPath"):
        rule.path = normalized_path(spec["fieldPath"], schema) or ""
    return rule


def _compile_message(rule: Rule, environment: Environment, sizes: dict[str, Declaration]) -> None:
    try:
        message = Program(rule.spec["messageExpression"], environment)
    except CompileError as err:
        rule.message_error = f"messageExpression compilation failed: {err}"
        return
    if message.output != STRING:
        rule.message_error = "messageExpression must evaluate to a string"
        return
    rule.message = message
    rule.message_cost = estimate(message.checked, sizes)


# ---- validation


@dataclass(slots=True)
class Validator:
    """The rules of one level and those below it."""

    schema: Json
    declared: Declaration
    rules: list[Rule]
    items: Validator | None = None
    additional: Validator | None = None
    properties: dict[str, Validator] = field(default_factory=dict)
    all_of: list[Validator] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.rules or self.items or self.additional or self.properties or self.all_of)

    @property
    def needs_regex(self) -> bool:
        below = (self.items, self.additional, *self.properties.values(), *self.all_of)
        own = any(rule.program is not None and rule.program.needs_regex for rule in self.rules)
        return own or any(one.needs_regex for one in below if one is not None)


def _validator(schema: Json, node: Json, declared: Declaration | None) -> Validator | None:
    """Return the validator of a schema and of the schemas below, or None if they have no rules.

    `schema` has the rules and `node` has the types. They differ only below allOf.
    """
    if declared is None:
        return None
    made = Validator(node, declared, compile_rules({**node, RULES: schema.get(RULES)}, declared))
    for name, inner in (schema.get("properties") or {}).items():
        below = _child(inner, (node.get("properties") or {}).get(name), declared.fields.get(escape(name) or ""))
        if below is not None:
            made.properties[name] = below
    made.items = _child(schema.get("items"), node.get("items"), declared.item)
    more = _child(schema.get("additionalProperties"), node.get("additionalProperties"), declared.item)
    made.additional = more if declared.kind == "map" else None
    made.all_of = [one for inner in schema.get("allOf") or () if (one := _validator(inner, node, declared))]
    return None if made.is_empty else made


def _child(schema: Any, node: Any, declared: Declaration | None) -> Validator | None:
    if not isinstance(schema, dict) or not isinstance(node, dict):
        return None
    return _validator(schema, node, declared or declare(node, root=bool(node.get(EMBEDDED))))


class Rules:
    """All rules of a schema. Thread-safe: nothing changes once it is made."""

    def __init__(self, schema: Json) -> None:
        self._root = _validator(schema, schema, declare(schema, root=True))

    def __bool__(self) -> bool:
        return self._root is not None

    @property
    def needs_regex(self) -> bool:
        return self._root is not None and self._root.needs_regex

    def validate(self, obj: Json, old: Json | None) -> tuple[list[FieldError], list[str]]:
        """Return the violations, and as warnings the violations of unchanged values, which ratcheting allows."""
        check = _Check()
        if self._root is not None:
            check.level(self._root, "", obj, old, _Correlation(obj, old))
        return check.errors, check.warnings


_kept = Kept(Rules)


def of_schema(schema: Json | None) -> Rules | None:
    """Return the rules of a stored CRD's schema, or None without rules. The first call compiles them."""
    if not isinstance(schema, dict) or not has_rules(schema):
        return None
    return _kept.of(schema)


def has_rules(schema: Any) -> bool:
    """Report whether a schema has CEL rules at any depth. A property with the name of the extension does not count."""
    if not isinstance(schema, dict):
        return False
    if schema.get(RULES):
        return True
    inner = [schema.get("items"), schema.get("additionalProperties"), *(schema.get("properties") or {}).values()]
    return any(map(has_rules, [*inner, *(schema.get("allOf") or ())]))


def needs_regex(schema: Any) -> bool:
    """Report whether a rule of a valid schema needs the extra `cel`, which is not installed."""
    made = of_schema(schema)
    return made is not None and made.needs_regex


class _Correlation:
    """A value and its old value before the update.

    If the old value is unknown, the nearest known value around it decides whether the value is unchanged.
    """

    __slots__ = ("_new", "_old", "_parent")

    def __init__(self, new: Any, old: Any, parent: _Correlation | None = None) -> None:
        self._new = new
        self._old = old
        self._parent = parent

    @property
    def is_unchanged(self) -> bool:
        if self._old is None:
            return self._parent is not None and self._parent.is_unchanged
        return bool(self._new == self._old)

    def child(self, new: Any, old: Any) -> _Correlation:
        return _Correlation(new, old, self)


class _OutOfBudget(Exception):
    """The end of the rules' evaluation, whose cost exceeded the budget. The check has recorded the error."""


class _Check:
    """The validation of one object."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []
        self.warnings: list[str] = []
        self._budget = BUDGET

    def level(self, validator: Validator, path: str, obj: Any, old: Any, correlation: _Correlation) -> None:
        try:
            self._level(validator, path, obj, old, correlation)
        except _OutOfBudget:
            return

    def _level(self, validator: Validator, path: str, obj: Any, old: Any, correlation: _Correlation) -> None:
        if obj is None:
            return
        if validator.rules:
            self._rules(validator, path, obj, old, correlation)
        for one in validator.all_of:
            self._level(one, path, obj, old, correlation.child(obj, None))
        if isinstance(obj, list) and validator.items is not None:
            self._items(validator, validator.items, path, obj, old, correlation)
        elif isinstance(obj, dict):
            self._fields(validator, path, obj, old, correlation)

    def _fields(self, validator: Validator, path: str, obj: Json, old: Any, correlation: _Correlation) -> None:
        before = old if isinstance(old, dict) else {}
        for name in sorted(obj):
            value, was = obj[name], before.get(name)
            if validator.additional is not None:
                where = f"{path}[{name}]"
                self._level(validator.additional, where, value, was, correlation.child(value, was))
            below = validator.properties.get(name)
            if below is not None:
                where = f"{path}.{name}" if path else name
                self._level(below, where, value, was, correlation.child(value, was))

    def _items(
        self, validator: Validator, below: Validator, path: str, items: list[Any], old: Any, correlation: _Correlation
    ) -> None:
        """Validate the items of a list. Only a keyed list's items are matched to their old values."""
        keys = tuple(validator.schema.get("x-kubernetes-list-map-keys") or ())
        known = {}
        if keys and isinstance(old, list):
            known = {map_key(item, keys): item for item in old if isinstance(item, dict)}
        for i, item in enumerate(items):
            was = known.get(map_key(item, keys)) if isinstance(item, dict) and known else None
            self._level(below, f"{path}[{i}]", item, was, correlation.child(item, was))

    # ---- the rules of one value

    def _rules(self, validator: Validator, path: str, obj: Any, old: Any, correlation: _Correlation) -> None:
        kind = validator.schema.get("type") or ("object" if not path else "")
        where = path or "<nil>"
        self_value = value_of(obj, validator.declared)
        old_value = value_of(old, validator.declared) if any(rule.uses_old for rule in validator.rules) else None
        for rule in validator.rules:
            if rule.error:
                self.errors.append(field_invalid(where, kind, f"rule compile error: {rule.error}"))
            optional = bool(rule.spec.get("optionalOldSelf"))
            if rule.program is None or (rule.uses_old and old is None and not optional):
                continue
            if rule.program.needs_regex:
                continue  # the writer of the CRD was warned
            names = {"self": self_value, "oldSelf": old_value}
            if optional:
                names["oldSelf"] = NONE if old is None else Optional(True, old_value)
            self._rule(rule, path, kind, obj, names, correlation)

    def _rule(self, rule: Rule, path: str, kind: str, obj: Any, names: Json, correlation: _Correlation) -> None:
        assert rule.program is not None
        where = path or "<nil>"
        if self._budget <= 0:
            self._give_up(field_invalid(where, kind, _NO_BUDGET))
        result = rule.program.evaluate(names)
        self._pay(result, field_invalid(where, kind, _NO_BUDGET))
        if result.exceeded:
            self._give_up(field_invalid(where, kind, f"'{result.error}': {_EXCEEDED} rule: {rule.shown}"))
        if result.error is not None:
            self.errors.append(field_invalid(where, kind, _failure(result, rule)))
            return
        if result.value is True:
            return
        below = rule.path if not path or rule.path.startswith("[") else f".{rule.path}"
        where = f"{path}{below}" if rule.path else where
        detail = self._message(rule, where, kind, names)
        error = _false(where, kind, obj, detail, rule.spec.get("reason"))
        if not rule.uses_old and correlation.is_unchanged:
            self.warnings.append(str(error))
        else:
            self.errors.append(error)

    def _message(self, rule: Rule, where: str, kind: str, names: Json) -> str:
        if rule.message is not None:
            shown = quote(rule.spec["messageExpression"])
            result = rule.message.evaluate(names)
            text = "messageExpression evaluation failed due to running out of cost budget, no further validation rules"
            self._pay(result, field_invalid(where, kind, f"{text} will be run"))
            if result.exceeded:
                self._give_up(field_invalid(where, kind, f"{_EXCEEDED} messageExpression: {shown}"))
            made = message_of(result)
            if made:
                return made
            klog.v(2).info_s("messageExpression evaluation failed", "messageExpression", rule.spec["messageExpression"])
        message: str = (rule.spec.get("message") or "").strip()
        return message or f"failed rule: {rule.shown}"

    def _pay(self, result: Result, otherwise: FieldError) -> None:
        if result.cost > self._budget:
            self._give_up(otherwise)
        self._budget -= result.cost

    def _give_up(self, error: FieldError) -> None:
        self.errors.append(error)
        raise _OutOfBudget


def message_of(result: Result) -> str:
    """Return the result of a message expression, or "" if it cannot be a message."""
    if result.error is not None or not isinstance(result.value, str):
        return ""
    text = result.value.strip()
    return "" if "\n" in text or len(utf8.encode(text)) > _MAX_MESSAGE else text


def _failure(result: Result, rule: Rule) -> str:
    text = str(result.error)
    if text.startswith("no such overload"):
        why = "call arguments did not match a supported operator, function or macro signature for rule"
        return f"'{text}': {why}: {rule.shown}"
    return f"{text} evaluating rule: {rule.shown}"


def _false(where: str, kind: str, obj: Any, detail: str, reason: str | None) -> FieldError:
    """Return the error of a rule that evaluates to false. Its text does not print objects and arrays."""
    hidden = kind in ("object", "array")
    if reason == "FieldValueForbidden":
        return field_forbidden(where, detail)
    if reason == "FieldValueRequired":
        return field_required(where, detail)
    if reason == "FieldValueDuplicate":
        shown = field_invalid(where, obj, "").body.removeprefix("Invalid value: ").removesuffix(": ")
        return FieldError(reason, where, "Duplicate value" if hidden else f"Duplicate value: {shown}")
    if hidden:
        return FieldError("FieldValueInvalid", where, f"Invalid value: {detail}")
    return field_invalid(where, obj, detail)
