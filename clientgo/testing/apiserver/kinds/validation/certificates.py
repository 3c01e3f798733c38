"""Validation of CertificateSigningRequests. Mirrors pkg/apis/certificates/validation of Kubernetes."""

from __future__ import annotations

from clientgo.testing.apiserver.kinds.certificates import DECISIONS, organizations
from clientgo.testing.apiserver.wire.errors import FieldError, field_forbidden, field_invalid, field_required
from clientgo.testing.apiserver.wire.jsonio import Json


def signing_request(obj: Json) -> list[FieldError]:
    """Validate a new request."""
    spec = obj["spec"]
    found = []
    try:
        organizations(spec.get("request") or "")
    except ValueError as err:
        found.append(field_invalid("spec.request", spec.get("request") or "", str(err)))
    if not spec.get("usages"):
        found.append(field_required("spec.usages"))
    return found


def status_update(obj: Json, old: Json) -> list[FieldError]:
    """Validate a write to `status`, which issues a certificate and decides nothing."""
    found = _decisions(obj, old)
    issued, before = (_status(each).get("certificate") for each in (obj, old))
    if before and issued != before:
        found.append(field_forbidden("status.certificate", "updates may not modify existing certificate content"))
    return found + _lost(obj, old, ("Failed",)) + _conditions(obj)


def approval_update(obj: Json, old: Json) -> list[FieldError]:
    """Validate a write to `approval`, which decides once and for all."""
    return _lost(obj, old, DECISIONS) + _conditions(obj)


def _status(obj: Json) -> Json:
    status: Json = obj.get("status") or {}
    return status


def _of_type(obj: Json, kind: str) -> list[Json]:
    return [each for each in _status(obj).get("conditions") or () if each.get("type") == kind]


def _lost(obj: Json, old: Json, kinds: tuple[str, ...]) -> list[FieldError]:
    return [
        field_forbidden("status.conditions", f'updates may not remove a condition of type "{kind}"')
        for kind in kinds
        if len(_of_type(obj, kind)) < len(_of_type(old, kind))
    ]


def _decisions(obj: Json, old: Json) -> list[FieldError]:
    found = []
    for kind in DECISIONS:
        after, before = _of_type(obj, kind), _of_type(old, kind)
        if after != before:
            verb = "add" if len(after) > len(before) else "modify"
            found.append(field_forbidden("status.conditions", f'updates may not {verb} a condition of type "{kind}"'))
    return found


def _conditions(obj: Json) -> list[FieldError]:
    found, seen = [], set()
    for i, condition in enumerate(_status(obj).get("conditions") or ()):
        field, kind = f"status.conditions[{i}]", condition.get("type")
        if not kind:
            found.append(field_required(f"{field}.type"))
        if not condition.get("status"):
            found.append(field_required(f"{field}.status"))
        elif kind in (*DECISIONS, "Failed") and condition["status"] != "True":
            found.append(field_invalid(f"{field}.status", condition["status"], "must be True"))
        seen.add(kind)
    if seen.issuperset(DECISIONS):
        text = "Approved and Denied conditions are mutually exclusive"
        found.append(field_invalid("status.conditions", "Denied", text))
    return found
