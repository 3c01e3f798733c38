"""Identity, approval and signing of CertificateSigningRequests. Mirrors the registry of certificates.k8s.io.

This server has no signer. An approved request waits for one, as in a cluster without a signer.
"""

from __future__ import annotations

from collections.abc import Callable

from clientgo.testing.apiserver.access.rbac import Attributes
from clientgo.testing.apiserver.access.users import User
from clientgo.testing.apiserver.kinds.certificates import DECISIONS
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json

_GROUP = "certificates.k8s.io"
_PLURAL = "certificatesigningrequests"


def set_requester(obj: Json, user: User | None) -> None:
    """Write the user's identity into a new request, in place of the identity that the request claims."""
    spec = obj["spec"]
    for name in ("username", "uid", "groups", "extra"):
        spec.pop(name, None)
    if user is not None:
        spec.update(user.info())


def check_rights(
    authorize: Callable[[User, Attributes], None], user: User, subresource: str, obj: Json, old: Json
) -> None:
    """Raise ApiError 403 when the user may not approve or sign requests of the old object's signer.

    Go: the admission plugins CertificateApproval and CertificateSigning.
    """
    if subresource == "approval":
        verb = "approve"
    elif subresource == "status" and _signs(obj.get("status") or {}, old.get("status") or {}):
        verb = "sign"
    else:
        return
    signer = old["spec"].get("signerName", "")
    if _may(authorize, user, verb, signer) or _may(authorize, user, verb, f"{signer.partition('/')[0]}/*"):
        return
    why = f'user not permitted to {verb} requests with signerName "{signer}"'
    raise errors.forbidden(_GROUP, _PLURAL, old["metadata"]["name"], why)


def _signs(status: Json, before: Json) -> bool:
    return any((status.get(name) or None) != (before.get(name) or None) for name in ("certificate", "conditions"))


def _may(authorize: Callable[[User, Attributes], None], user: User, verb: str, signer: str) -> bool:
    try:
        authorize(user, Attributes(verb, group=_GROUP, version="*", resource="signers", name=signer))
    except ApiError:
        return False
    return True


def decided(obj: Json, old: Json, now: str) -> Json:
    """Return the request after a write to `approval`: its decision is new, everything else is old."""
    before = (old.get("status") or {}).get("conditions") or []
    others = [condition for condition in before if condition.get("type") not in DECISIONS]
    decisions = [
        _with_times(condition, before, now)
        for condition in (obj.get("status") or {}).get("conditions") or ()
        if condition.get("type") in DECISIONS
    ]
    return {
        **old,
        "metadata": obj["metadata"],
        "status": {**(old.get("status") or {}), "conditions": others + decisions},
    }


def issued(obj: Json, old: Json, now: str) -> Json:
    """Return the request after a write to `status`: its conditions have times, and its decision is the old one.

    Go: the status strategy's PrepareForUpdate.
    """
    before = (old.get("status") or {}).get("conditions") or []
    conditions = [*((obj.get("status") or {}).get("conditions") or ())]
    if not conditions:
        return obj
    for kind in DECISIONS:
        known = [condition for condition in before if condition.get("type") == kind]
        indexes = [i for i, condition in enumerate(conditions) if condition.get("type") == kind]
        # If the write adds conditions of this type, validation reports this.
        if len(indexes) <= len(known):
            for place, condition in zip(indexes, known, strict=False):
                conditions[place] = condition
    timed = [_with_times(condition, before, now) for condition in conditions]
    return {**obj, "status": {**obj["status"], "conditions": timed}}


def _with_times(condition: Json, before: list[Json], now: str) -> Json:
    since = next(
        (
            known["lastTransitionTime"]
            for known in before
            if all(known.get(name) == condition.get(name) for name in ("type", "status"))
            and known.get("lastTransitionTime")
        ),
        now,
    )
    return {
        **condition,
        "lastUpdateTime": condition.get("lastUpdateTime") or now,
        "lastTransitionTime": condition.get("lastTransitionTime") or since,
    }
