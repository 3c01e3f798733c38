"""Who is asking: static bearer tokens, service account tokens, anonymous."""

from __future__ import annotations

import base64
import csv
import hmac
import json
from collections.abc import Callable
from hashlib import sha256

from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.http import Request
from clientgo.testing.apiserver.wire.jsonio import Json

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


class User:
    """An authenticated identity."""

    __slots__ = ("extra", "groups", "name", "uid")

    def __init__(
        self, name: str, uid: str = "", groups: tuple[str, ...] = (), extra: dict[str, list[str]] | None = None
    ) -> None:
        self.name = name
        self.uid = uid
        self.groups = groups
        self.extra = extra or {}

    @property
    def master(self) -> bool:
        return MASTERS in self.groups

    def __repr__(self) -> str:
        return f"<User {self.name} {list(self.groups)}>"

    def info(self) -> Json:
        """authentication.k8s.io UserInfo."""
        out: Json = {"username": self.name}
        if self.uid:
            out["uid"] = self.uid
        out["groups"] = list(self.groups)
        if self.extra:
            out["extra"] = self.extra
        return out


def service_account_groups(namespace: str) -> tuple[str, ...]:
    """The groups that each service account of a namespace is in."""
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")


ANONYMOUS = User("system:anonymous", "", (UNAUTHENTICATED,))


def read_token_file(path: str) -> dict[str, User]:
    """kube-apiserver's CSV: token,user,uid[,"group1,group2"]. Raises ValueError naming the line that is wrong."""
    try:
        return _read_tokens(path)
    except (UnicodeDecodeError, csv.Error) as err:
        raise ValueError(f"{path}: {err}") from None


def _read_tokens(path: str) -> dict[str, User]:
    out: dict[str, User] = {}
    with open(path, newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.reader(file, skipinitialspace=True), 1):
            if not row or row[0].startswith("#"):
                continue
            if len(row) < 3:
                raise ValueError(
                    f"{path}:{number}: token file must have at least 3 columns (token, user name, user uid)"
                )
            if not row[0]:
                raise ValueError(f"{path}:{number}: empty token")
            groups = tuple(g.strip() for g in row[3].split(",") if g.strip()) if len(row) > 3 else ()
            out[row[0]] = User(row[1], row[2], (*groups, AUTHENTICATED))
    return out


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Authenticator:
    """Maps a request to a user. Tokens are compared by digest and never logged."""

    def __init__(
        self,
        tokens: dict[str, User],
        now: Callable[[], float],
        signing_key: bytes,
        account_uid: Callable[[str, str], str],
    ) -> None:
        """`account_uid(namespace, name)` is the uid of a service account that exists, else empty."""
        self._users = {sha256(token.encode()).digest(): user for token, user in tokens.items()}
        self._secret = signing_key
        self._now = now
        self._account_uid = account_uid

    def __repr__(self) -> str:
        return f"<Authenticator {len(self._users)} tokens>"

    def authenticate(self, request: Request) -> User:
        """Raises ApiError 401 for a token that is not known; without a token the user is anonymous."""
        value = request.headers.get("authorization")
        if not value:
            return ANONYMOUS
        scheme, _, token = value.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return ANONYMOUS
        user = self.user_of(token.strip())
        if user is None:
            raise errors.unauthorized()
        return user

    def user_of(self, token: str) -> User | None:
        known = self._users.get(sha256(token.encode()).digest())
        return known if known is not None else self._service_account(token)

    # ---- service account tokens: signed here, valid as long as the server keeps its key

    def issue(self, namespace: str, name: str, uid: str, seconds: int, audiences: list[str]) -> tuple[str, float]:
        """A token for a service account and when it ends."""
        now = self._now()
        claims: Json = {
            "aud": audiences,
            "exp": int(now) + seconds,
            "iat": int(now),
            "iss": "https://kubernetes.default.svc.cluster.local",
            "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": name, "uid": uid}},
            "sub": f"system:serviceaccount:{namespace}:{name}",
        }
        head = _encode(json.dumps({"alg": "HS256", "typ": "JWT"}, separators=(",", ":")).encode())
        body = f"{head}.{_encode(json.dumps(claims, separators=(',', ':')).encode())}"
        return f"{body}.{self._sign(body)}", float(claims["exp"])

    def _sign(self, body: str) -> str:
        return _encode(hmac.new(self._secret, body.encode(), sha256).digest())

    def _service_account(self, token: str) -> User | None:
        body, _, signature = token.rpartition(".")
        if not body or not hmac.compare_digest(signature.encode(), self._sign(body).encode()):
            return None
        try:
            claims = json.loads(_decode(body.partition(".")[2]))
            if claims["exp"] < self._now():
                return None
            account = claims["kubernetes.io"]
            namespace, name = account["namespace"], account["serviceaccount"]["name"]
            uid = account["serviceaccount"]["uid"]
        except (ValueError, KeyError, TypeError):
            return None
        # A token dies with its account; another account of the same name has another uid.
        if self._account_uid(namespace, name) != uid:
            return None
        return User(claims["sub"], uid, (*service_account_groups(namespace), AUTHENTICATED))
