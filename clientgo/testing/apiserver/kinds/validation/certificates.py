"""Validation of CertificateSigningRequests. Mirrors pkg/apis/certificates/validation of Kubernetes."""

from __future__ import annotations

from collections.abc import Callable

from clientgo.apimachinery.util import validation
from clientgo.golang.strconv import quote
from clientgo.testing.apiserver.kinds.certificates import DECISIONS, check_certificate, organizations
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
    field_too_long,
)
from clientgo.testing.apiserver.wire.jsonio import Json

_USAGES = frozenset(
    {
        "any",
        "cert sign",
        "client auth",
        "code signing",
        "content commitment",
        "crl sign",
        "data encipherment",
        "decipher only",
        "digital signature",
        "email protection",
        "encipher only",
        "ipsec end system",
        "ipsec tunnel",
        "ipsec user",
        "key agreement",
        "key encipherment",
        "microsoft sgc",
        "netscape sgc",
        "ocsp signing",
        "s/mime",
        "server auth",
        "signing",
        "timestamping",
    }
)
_LEGACY_SIGNER = "kubernetes.io/legacy-unknown"
_SHORTEST_SECONDS = 600
_MAX_DOMAIN = validation.DNS1123_SUBDOMAIN_MAX_LENGTH
# The last segment has room for a label, a dot and a subdomain.
_MAX_SIGNER = 2 * _MAX_DOMAIN + validation.DNS1123_LABEL_MAX_LENGTH + 2


def signing_request(obj: Json) -> list[FieldError]:
    """Validate a new request."""
    spec = obj["spec"]
    found = []
    try:
        organizations(spec.get("request") or "")
    except ValueError as err:
        found.append(field_invalid("spec.request", spec.get("request") or "", str(err)))
    found += _usages(spec.get("usages") or [])
    signer = spec.get("signerName") or ""
    if signer == _LEGACY_SIGNER:
        text = "the legacy signerName is not allowed via this API version"
        found.append(field_invalid("spec.signerName", signer, text))
    else:
        found += _signer(signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _SHORTEST_SECONDS:
        text = f"may not specify a duration less than {_SHORTEST_SECONDS} seconds (10 minutes)"
        found.append(field_invalid("spec.expirationSeconds", seconds, text))
    return found


def _usages(usages: list[str]) -> list[FieldError]:
    found = [] if usages else [field_required("spec.usages")]
    seen: set[str] = set()
    for i, usage in enumerate(usages):
        if usage not in _USAGES:
            found.append(field_not_supported(f"spec.usages[{i}]", usage, sorted(_USAGES)))
        if usage in seen:
            found.append(field_duplicate(f"spec.usages[{i}]", usage))
        seen.add(usage)
    return found


def _signer(name: str) -> list[FieldError]:
    """Validate the name of a signer. Go: ValidateSignerName."""
    field = "spec.signerName"
    if not name:
        return [field_required(field)]
    domain, slash, path = name.partition("/")
    if not slash or "/" in path:
        text = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        return [field_invalid(field, name, text)]
    found = [field_too_long(field, _MAX_DOMAIN)] if len(domain) > _MAX_DOMAIN else []
    labels = domain.split(".")
    found += _labels(field, domain, labels, validation.is_dns1123_label)
    if len(labels) < 2:
        found.append(field_invalid(field, domain, "should be a domain with at least two segments separated by dots"))
    found += _labels(field, path, path.split("."), validation.is_dns1123_subdomain)
    if len(name) > _MAX_SIGNER:
        found.append(field_too_long(field, _MAX_SIGNER))
    return found


def _labels(field: str, part: str, labels: list[str], check: Callable[[str], list[str]]) -> list[FieldError]:
    """Return the problems of the first label that has any."""
    for label in labels:
        if problems := check(label):
            return [field_invalid(field, part, f"validating label {quote(label)}: {text}") for text in problems]
    return []


def status_update(obj: Json, old: Json) -> list[FieldError]:
    """Validate a write to `status`, which issues a certificate and cannot approve or deny."""
    found = _decisions(obj, old)
    issued, before = (_status(each).get("certificate") for each in (obj, old))
    if before and issued != before:
        found.append(field_forbidden("status.certificate", "updates may not modify existing certificate content"))
    if issued and issued != before:
        try:
            check_certificate(issued)
        except ValueError as err:
            found.append(field_invalid("status.certificate", "<certificate data>", str(err)))
    return found + _lost(obj, old, ("Failed",)) + _conditions(obj, old)


def approval_update(obj: Json, old: Json) -> list[FieldError]:
    """Validate a write to `approval`. A decision is final."""
    return _lost(obj, old, DECISIONS) + _conditions(obj, old)


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


def _conditions(obj: Json, old: Json) -> list[FieldError]:
    """Validate the conditions. What the old object has already is no error, since older servers allowed it."""
    before = [each.get("type") or "" for each in _status(old).get("conditions") or ()]
    may_repeat, may_decide_twice = len(before) > len(set(before)), set(before).issuperset(DECISIONS)
    found: list[FieldError] = []
    seen: set[str] = set()
    for i, condition in enumerate(_status(obj).get("conditions") or ()):
        field, kind, status = f"status.conditions[{i}]", condition.get("type") or "", condition.get("status")
        if not kind and "" not in before:
            found.append(field_required(f"{field}.type"))
        allowed = ["True"] if kind in (*DECISIONS, "Failed") else ["False", "True", "Unknown"]
        if not status:
            found.append(field_required(f"{field}.status"))
        elif status not in allowed:
            found.append(field_not_supported(f"{field}.status", status, allowed))
        others = {each for each in DECISIONS if each != kind}
        if kind in DECISIONS and others & seen and not may_decide_twice:
            text = "Approved and Denied conditions are mutually exclusive"
            found.append(field_invalid(f"{field}.type", kind, text))
        if kind in seen and not may_repeat:
            found.append(field_duplicate(f"{field}.type", kind))
        seen.add(kind)
    return found
