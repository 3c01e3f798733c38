"""Validation of admission policies, their bindings, and match conditions of webhooks.

Mirrors the parts with expressions of Kubernetes' pkg/apis/admissionregistration/validation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from clientgo.apimachinery.api.validate import content
from clientgo.testing.apiserver.cel import admission
from clientgo.testing.apiserver.cel.checker import Environment
from clientgo.testing.apiserver.cel.common.types import BOOL, NULL, STRING, Type
from clientgo.testing.apiserver.cel.mutation import OBJECT, PATCHES
from clientgo.testing.apiserver.cel.source import CompileError
from clientgo.testing.apiserver.kinds.expression_texts import check_expression_texts
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_invalid,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

_FAILURE_POLICIES = ["Fail", "Ignore"]
_ACTIONS = ["Audit", "Deny", "Warn"]
_REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"]
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_CONDITIONS = 64
_MOST_ANNOTATIONS = 20
_NOTHING = "validations or auditAnnotations must contain at least one item"
_TWICE = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)


def check(kind: str, obj: Json) -> list[FieldError]:
    """Validate an object of the group."""
    field = "webhooks" if kind.endswith("WebhookConfiguration") else "spec"
    too_much = check_expression_texts(obj.get(field), field)
    if too_much:
        return too_much
    if field == "webhooks":
        return _webhooks(obj.get("webhooks") or ())
    spec = obj.get("spec") or {}
    if kind == "ValidatingAdmissionPolicy":
        return _validating_policy(spec)
    if kind == "MutatingAdmissionPolicy":
        return _mutating_policy(spec)
    return _binding(spec) + (_actions(spec) if kind == "ValidatingAdmissionPolicyBinding" else [])


def _webhooks(webhooks: Iterable[Json]) -> list[FieldError]:
    errors: list[FieldError] = []
    for i, webhook in enumerate(webhooks):
        conditions = webhook.get("matchConditions") or []
        errors += check_conditions(conditions, f"webhooks[{i}].matchConditions", admission.environment())
    return errors


def check_conditions(conditions: list[Json], path: str, known: Environment) -> list[FieldError]:
    """Validate match conditions."""
    errors: list[FieldError] = []
    if len(conditions) > _MOST_CONDITIONS:
        text = f"Too many: {len(conditions)}: must have at most {_MOST_CONDITIONS} items"
        errors.append(FieldError("FieldValueTooMany", path, text))
    seen: set[str] = set()
    for i, condition in enumerate(conditions):
        at, name = f"{path}[{i}]", condition.get("name") or ""
        errors += _expression(condition.get("expression") or "", f"{at}.expression", known, BOOL)
        if not name:
            errors.append(field_required(f"{at}.name"))
            continue
        errors += [field_invalid(f"{at}.name", name, text) for text in content.is_label_key(name)]
        if name in seen:
            errors.append(field_duplicate(f"{at}.name", name))
        seen.add(name)
    return errors


def _expression(source: str, path: str, known: Environment, *outputs: Type, missing: str = "") -> list[FieldError]:
    if not source.strip():
        return [field_required(path, missing)]
    try:
        admission.compiled(source, known, *outputs)
    except CompileError as err:
        return [field_invalid(path, source, str(err))]
    return []


# ---- policies


def _validating_policy(spec: Json) -> list[FieldError]:
    errors = check_head(spec)
    params = bool(spec.get("paramKind"))
    known = admission.environment(params=params)
    errors += check_conditions(spec.get("matchConditions") or [], "spec.matchConditions", known)
    types, wrong = check_variables(spec, params=params)
    errors += wrong
    known = admission.environment(params=params, variables=types)
    message_environment = admission.environment(params=params, variables=types, authorizer=False)
    validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not annotations:
        return [*errors, *(field_required(f"spec.{name}", _NOTHING) for name in ("validations", "auditAnnotations"))]
    for i, validation in enumerate(validations):
        errors += _validation(validation, f"spec.validations[{i}]", known, message_environment)
    return errors + _annotations(annotations, known)


def _mutating_policy(spec: Json) -> list[FieldError]:
    errors = check_head(spec)
    params = bool(spec.get("paramKind"))
    known = admission.environment(params=params)
    errors += check_conditions(spec.get("matchConditions") or [], "spec.matchConditions", known)
    types, wrong = check_variables(spec, params=params, mutation=True)
    errors += wrong
    known = admission.environment(params=params, variables=types, mutation=True)
    mutations = spec.get("mutations") or []
    if not mutations:
        errors.append(field_required("spec.mutations", "mutations must contain at least one item"))
    for i, mutation in enumerate(mutations):
        errors += _mutation(mutation, f"spec.mutations[{i}]", known)
    policy = spec.get("reinvocationPolicy")
    if not policy:
        errors.append(field_required("spec.reinvocationPolicy"))
    elif policy not in ("IfNeeded", "Never"):
        errors.append(field_not_supported("spec.reinvocationPolicy", policy, ["IfNeeded", "Never"]))
    return errors


_PATCHES = {"ApplyConfiguration": ("applyConfiguration", OBJECT), "JSONPatch": ("jsonPatch", PATCHES)}


def _mutation(mutation: Json, path: str, known: Environment) -> list[FieldError]:
    kind = mutation.get("patchType") or ""
    if not kind:
        return [field_required(f"{path}.patchType")]
    if kind not in _PATCHES:
        return [field_not_supported(f"{path}.patchType", kind, sorted(_PATCHES))]
    place, output = _PATCHES[kind]
    if mutation.get(place) is None:
        return [field_required(f"{path}.{place}", f"must be specified when patchType is {kind}")]
    source = mutation[place].get("expression") or ""
    return _expression(source, f"{path}.{place}.expression", known, output, missing="expression is not specified")


def check_head(spec: Json) -> list[FieldError]:
    """Validate failurePolicy, paramKind and matchConstraints."""
    errors = []
    policy = spec.get("failurePolicy")
    if policy is not None and policy not in _FAILURE_POLICIES:
        errors.append(field_not_supported("spec.failurePolicy", policy, _FAILURE_POLICIES))
    kind = spec.get("paramKind")
    if kind is not None:
        errors += [field_required(f"spec.paramKind.{name}") for name in ("apiVersion", "kind") if not kind.get(name)]
    constraints = spec.get("matchConstraints")
    if constraints is None:
        errors.append(field_required("spec.matchConstraints"))
    elif not constraints.get("resourceRules"):
        errors.append(field_required("spec.matchConstraints.resourceRules"))
    return errors


def check_variables(spec: Json, *, params: bool, mutation: bool = False) -> tuple[dict[str, Type], list[FieldError]]:
    """Return the types of a policy's variables, and the errors in their names and expressions."""
    types: dict[str, Type] = {}
    errors: list[FieldError] = []
    for i, variable in enumerate(spec.get("variables") or ()):
        at, name, source = f"spec.variables[{i}]", variable.get("name") or "", variable.get("expression") or ""
        if not name.strip():
            errors.append(field_required(f"{at}.name", "name is not specified"))
        elif not _IDENTIFIER.fullmatch(name):
            errors.append(field_invalid(f"{at}.name", name, "name is not a valid CEL identifier"))
        elif name in types:
            errors.append(field_duplicate(f"{at}.name", name))
        if not source.strip():
            errors.append(field_required(f"{at}.expression", "expression is not specified"))
            continue
        known = admission.environment(params=params, variables=types, mutation=mutation)
        try:
            types[name] = admission.compiled(source, known).output
        except CompileError as err:
            errors.append(field_invalid(f"{at}.expression", source, str(err)))
    return types, errors


def _validation(validation: Json, path: str, known: Environment, message_environment: Environment) -> list[FieldError]:
    expression, message = validation.get("expression") or "", validation.get("message") or ""
    errors = _expression(expression, f"{path}.expression", known, BOOL, missing="expression is not specified")
    if message and not message.strip():
        errors.append(field_invalid(f"{path}.message", message, "message must be non-empty if specified"))
    elif "\n" in message.strip():
        errors.append(field_invalid(f"{path}.message", message, "message must not contain line breaks"))
    elif "\n" in expression.strip() and not message:
        text = "message must be specified if expression contains line breaks"
        errors.append(field_required(f"{path}.message", text))
    if validation.get("messageExpression"):
        errors += _expression(validation["messageExpression"], f"{path}.messageExpression", message_environment, STRING)
    reason = validation.get("reason")
    if reason is not None and reason not in _REASONS:
        errors.append(field_not_supported(f"{path}.reason", reason, _REASONS))
    return errors


def _annotations(annotations: list[Json], known: Environment) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(annotations) > _MOST_ANNOTATIONS:
        text = f"must not have more than {_MOST_ANNOTATIONS} auditAnnotations"
        errors.append(field_invalid("spec.auditAnnotations", len(annotations), text))
    seen: set[str] = set()
    for i, annotation in enumerate(annotations):
        at, key = f"spec.auditAnnotations[{i}]", annotation.get("key") or ""
        if not key:
            errors.append(field_required(f"{at}.key"))
        elif key in seen:
            errors.append(field_duplicate(f"{at}.key", key))
        seen.add(key)
        source = annotation.get("valueExpression") or ""
        missing = "valueExpression is not specified"
        errors += _expression(source, f"{at}.valueExpression", known, STRING, NULL, missing=missing)
    return errors


# ---- bindings


def _binding(spec: Json) -> list[FieldError]:
    errors = []
    if not spec.get("policyName"):
        errors.append(field_required("spec.policyName"))
    reference = spec.get("paramRef")
    if reference is None:
        return errors
    name, selector = reference.get("name"), reference.get("selector")
    if name and selector is not None:
        text = "name and selector are mutually exclusive"
        errors += [FieldError("FieldValueForbidden", f"spec.paramRef.{one}", f"Forbidden: {text}")
                   for one in ("name", "selector")]  # fmt: skip
    if not name and selector is None:
        errors.append(field_required("spec.paramRef", "one of name or selector must be specified"))
    action = reference.get("parameterNotFoundAction")
    if not action:
        errors.append(field_required("spec.paramRef.parameterNotFoundAction"))
    elif action not in ("Allow", "Deny"):
        errors.append(field_not_supported("spec.paramRef.parameterNotFoundAction", action, ["Deny", "Allow"]))
    return errors


def _actions(spec: Json) -> list[FieldError]:
    actions = spec.get("validationActions") or []
    if not actions:
        return [field_required("spec.validationActions")]
    errors = []
    for i, action in enumerate(actions):
        if action not in _ACTIONS:
            errors.append(field_not_supported(f"spec.validationActions[{i}]", action, _ACTIONS))
        if action in actions[:i]:
            errors.append(field_duplicate(f"spec.validationActions[{i}]", action))
    if "Deny" in actions and "Warn" in actions:
        errors.append(field_invalid("spec.validationActions", actions, _TWICE))
    return errors
