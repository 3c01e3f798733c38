"""Validation of CertificateSigningRequests. Mirrors pkg/apis/certificates/validation of Kubernetes."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import NamedTuple

from clientgo.testing.apiserver.wire.errors import FieldError, field_forbidden, field_invalid, field_required
from clientgo.testing.apiserver.wire.jsonio import Json

STORAGE = "certificates.k8s.io/certificatesigningrequests"
DECISIONS = ("Approved", "Denied")

_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,64})-----([A-Za-z0-9+/=\s]*)-----END \1-----")
# The object identifier 2.5.4.10, organizationName, in DER.
_ORGANIZATION = bytes([0x55, 0x04, 0x0A])
_SEQUENCE, _SET, _INTEGER, _OBJECT_IDENTIFIER = 0x30, 0x31, 0x02, 0x06
_BMP_STRING = 0x1E


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


def organizations(request: str) -> list[str]:
    """Return the organizations of the subject, which become groups; `request` is the base64 of PEM. O(len(request)).

    Raises ValueError for a text that is not a certificate request.
    """
    try:
        text = base64.b64decode(request, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        text = ""
    found = _PEM.search(text)
    if found is None or found[1] != "CERTIFICATE REQUEST":
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    return list(_organizations(base64.b64decode("".join(found[2].split()))))


class _Element(NamedTuple):
    """An element of DER."""

    tag: int
    body: bytes
    rest: bytes
    """The bytes after the element."""


def _element(data: bytes) -> _Element:
    if len(data) < 2:
        raise ValueError("asn1: syntax error: data truncated")
    length, start = data[1], 2
    if length & 0x80:
        start += length & 0x7F
        if length in (0x80, 0xFF) or start > 6:
            raise ValueError("asn1: structure error: length too large")
        length = int.from_bytes(data[2:start], "big")
    if start + length > len(data):
        raise ValueError("asn1: syntax error: data truncated")
    return _Element(data[0], data[start : start + length], data[start + length :])


def _expect(data: bytes, tag: int) -> _Element:
    element = _element(data)
    if element.tag != tag:
        raise ValueError("asn1: structure error: tags don't match")
    return element


def _organizations(der: bytes) -> Iterator[str]:
    """Yield the organizations of a request of PKCS #10, which are in any set of its subject."""
    outer = _expect(der, _SEQUENCE)
    if outer.rest:
        raise ValueError("asn1: syntax error: trailing data")
    version = _expect(_expect(outer.body, _SEQUENCE).body, _INTEGER)
    names = _expect(version.rest, _SEQUENCE).body
    while names:
        one = _expect(names, _SET)
        names = one.rest
        pairs = one.body
        while pairs:
            pair = _expect(pairs, _SEQUENCE)
            pairs = pair.rest
            kind = _expect(pair.body, _OBJECT_IDENTIFIER)
            value = _element(kind.rest)
            if kind.body == _ORGANIZATION:
                yield value.body.decode("utf-16-be" if value.tag == _BMP_STRING else "utf-8", "replace")


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
