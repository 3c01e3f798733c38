"""Tokens of service accounts. Mirrors pkg/serviceaccount of Kubernetes.

The server signs them with its own key, so a token is valid as long as the server keeps this key.
"""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final

from clientgo.golang import utf8
from clientgo.testing.apiserver.access.users import AUTHENTICATED, User, service_account_groups
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times

ISSUER: Final = "https://kubernetes.default.svc"
API_AUDIENCES: Final = (ISSUER,)
"""The audiences of the API server itself: those of --api-audiences, by default the issuer."""

# Kinds that a token can be bound to: the storage, the plural and whether they have a namespace.
BOUND_KINDS: Final = {
    "Pod": ("/pods", "pods", True),
    "Secret": ("/secrets", "secrets", True),
    "Node": ("/nodes", "nodes", False),
}

# Clocks may differ by this much: seconds after its end until a token is refused. Go: jwt.DefaultLeeway.
_LEEWAY = 60.0

_MISMATCH = "{0} UID ({1}) does not match service account {0} ref claim ({2})"
_EXTRA = "authentication.kubernetes.io/"

Lookup = Callable[[str, str], "Json | None"]
"""Returns the object of a storage and a key, or None: `lookup("/pods", "default/web")`."""


class InvalidTokenError(Exception):
    """A token of this server that is not valid, or not for this audience. The text says why."""


class ServiceAccountTokens:
    """Issues tokens of service accounts and validates them. Safe for concurrent use: it keeps no state."""

    def __init__(self, key: bytes, times: Times, lookup: Lookup, new_uid: Callable[[], str]) -> None:
        self._key = key
        self._times = times
        self._lookup = lookup
        self._new_uid = new_uid

    def __repr__(self) -> str:
        return "<ServiceAccountTokens>"

    def issue(
        self, account: Json, seconds: int, audiences: Sequence[str], bound: tuple[str, Json] | None = None
    ) -> tuple[str, float]:
        """Return a token for the service account and the time of its end.

        `bound` is the kind and the object that the token ends with.
        """
        now, metadata = int(self._times.clock.now()), account["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        private: Json = {"namespace": namespace, "serviceaccount": {"name": name, "uid": metadata["uid"]}}
        if bound is not None:
            kind, obj = bound
            private[kind.lower()] = _reference(obj)
            private |= self._node_of(obj) if kind == "Pod" else {}
        claims: Json = {
            "aud": list(audiences),
            "exp": now + seconds,
            "iat": now,
            "iss": ISSUER,
            "jti": self._new_uid(),
            "kubernetes.io": private,
            "nbf": now,
            "sub": f"system:serviceaccount:{namespace}:{name}",
        }
        body = f"{_encode_json({'alg': 'HS256', 'typ': 'JWT'})}.{_encode_json(claims)}"
        return f"{body}.{self._signature(body)}", float(claims["exp"])

    def _node_of(self, pod: Json) -> Json:
        """Return the node that the pod runs on. It is only information and does not bind the token."""
        node_name = (pod.get("spec") or {}).get("nodeName")
        node = self._lookup("/nodes", node_name) if node_name else None
        if node is not None:
            return {"node": _reference(node)}
        return {"node": {"name": node_name}} if node_name else {}

    def authenticate(self, token: str, audiences: Sequence[str]) -> tuple[User, list[str]] | None:
        """Return the user and those of `audiences` that the token is for; None if this server did not sign the token.

        Raises InvalidTokenError.
        """
        claims = self._claims(token)
        if claims is None:
            return None
        wanted = frozenset(audiences)
        valid_for = [each for each in claims.get("aud") or () if each in wanted]
        if not valid_for:
            shown = _go_list(claims.get("aud") or ()), _go_list(audiences)
            raise InvalidTokenError("token audiences {} is invalid for the target audiences {}".format(*shown))
        self._check_time(claims)
        private = claims["kubernetes.io"]
        self._check_account(private)
        self._check_bound(private)
        groups = (*service_account_groups(private["namespace"]), AUTHENTICATED)
        return User(claims["sub"], private["serviceaccount"]["uid"], groups, _extra(claims)), valid_for

    def _claims(self, token: str) -> Json | None:
        body, _, signature = token.rpartition(".")
        if not body or not hmac.compare_digest(utf8.encode(signature), self._signature(body).encode()):
            return None
        claims: Json = json.loads(_decode(body.partition(".")[2]))
        return claims if claims.get("iss") == ISSUER else None

    def _signature(self, body: str) -> str:
        return _encode(hmac.new(self._key, utf8.encode(body), sha256).digest())

    def _check_time(self, claims: Json) -> None:
        now = self._times.clock.now()
        if now - _LEEWAY > claims["exp"]:
            raise InvalidTokenError("service account token has expired")
        if now + _LEEWAY < claims["nbf"]:
            raise InvalidTokenError("service account token is not valid yet")

    def _check_account(self, private: Json) -> None:
        namespace, name, uid = private["namespace"], private["serviceaccount"]["name"], private["serviceaccount"]["uid"]
        account = self._lookup("/serviceaccounts", f"{namespace}/{name}")
        if account is None:
            raise InvalidTokenError(f'serviceaccounts "{name}" not found')
        if self._is_deleted(account):
            raise InvalidTokenError(f"service account {namespace}/{name} has been deleted")
        if account["metadata"]["uid"] != uid:
            found = account["metadata"]["uid"]
            raise InvalidTokenError(f"service account UID ({found}) does not match claim ({uid})")

    def _check_bound(self, private: Json) -> None:
        """Raise InvalidTokenError if an object that the token is bound to is gone.

        A new object with the same name has another uid and does not count.
        """
        for kind, (storage, _, namespaced) in BOUND_KINDS.items():
            reference = private.get(kind.lower())
            if reference is None or (kind == "Node" and "pod" in private):
                continue
            name = reference["name"]
            obj = self._lookup(storage, f"{private['namespace']}/{name}" if namespaced else name)
            if obj is None or self._is_deleted(obj):
                raise InvalidTokenError("service account token has been invalidated")
            if obj["metadata"]["uid"] != reference["uid"]:
                uids = obj["metadata"]["uid"], reference["uid"]
                raise InvalidTokenError(_MISMATCH.format(kind.lower(), *uids))

    def _is_deleted(self, obj: Json) -> bool:
        return self._times.since(obj["metadata"].get("deletionTimestamp")) > _LEEWAY


def _reference(obj: Json) -> Json:
    return {"name": obj["metadata"]["name"], "uid": obj["metadata"]["uid"]}


def _extra(claims: Json) -> dict[str, list[str]]:
    """Return the user's `extra` that describes the token. Go: ServiceAccountInfo.UserInfo."""
    private = claims["kubernetes.io"]
    found = {f"{_EXTRA}credential-id": [f"JTI={claims['jti']}"]}
    for kind in ("node", "pod"):
        for name, value in (private.get(kind) or {}).items():
            found[f"{_EXTRA}{kind}-{name}"] = [value]
    return found


def _go_list(texts: Sequence[str]) -> str:
    return f"[{' '.join(json.dumps(text) for text in texts)}]"


def _encode_json(value: Any) -> str:
    return _encode(json.dumps(value, separators=(",", ":")).encode())


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
