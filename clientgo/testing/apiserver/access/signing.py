"""CertificateSigningRequests: who asked, and who approved. Mirrors the registry of certificates.k8s.io.

Nothing here signs; an approved request waits for a signer, as in a cluster without one.
"""

from __future__ import annotations

from clientgo.testing.apiserver.access.auth import User
from clientgo.testing.apiserver.wire.jsonio import Json

STORAGE = "certificates.k8s.io/certificatesigningrequests"
_DECISIONS = ("Approved", "Denied")


def asked_by(obj: Json, user: User | None) -> None:
    """Write into a new request who makes it, whatever it says itself."""
    spec = obj["spec"]
    for name in ("username", "uid", "groups", "extra"):
        spec.pop(name, None)
    if user is not None:
        spec.update(user.info())


def decided(obj: Json, old: Json, now: str) -> Json:
    """The request after a write to its approval: the decision is new, everything else is old."""
    before = (old.get("status") or {}).get("conditions") or []
    others = [condition for condition in before if condition.get("type") not in _DECISIONS]
    decisions = [
        _with_times(condition, before, now)
        for condition in (obj.get("status") or {}).get("conditions") or ()
        if condition.get("type") in _DECISIONS
    ]
    return {
        **old,
        "metadata": obj["metadata"],
        "status": {**(old.get("status") or {}), "conditions": others + decisions},
    }


def _with_times(condition: Json, before: list[Json], now: str) -> Json:
    known: Json = next((c for c in before if c.get("type") == condition.get("type")), {})
    moved = known.get("status") != condition.get("status")
    since = now if moved else known.get("lastTransitionTime") or now
    return {
        **condition,
        "lastUpdateTime": condition.get("lastUpdateTime") or now,
        "lastTransitionTime": condition.get("lastTransitionTime") or since,
    }
