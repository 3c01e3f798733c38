"""The users of the embedded API server. Mirrors k8s.io/apiserver/pkg/authentication/user."""

from __future__ import annotations

from clientgo.testing.apiserver.wire.jsonio import Json

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


class User:
    """An authenticated identity."""

    __slots__ = ("_group_names", "extra", "groups", "name", "uid")

    def __init__(
        self, name: str, uid: str = "", groups: tuple[str, ...] = (), extra: dict[str, list[str]] | None = None
    ) -> None:
        self.name = name
        self.uid = uid
        self.groups = groups
        self.extra = extra or {}
        # A review may ask about a hundred thousand groups, which are compared with each binding.
        self._group_names = frozenset(groups)

    @property
    def master(self) -> bool:
        return self.is_in(MASTERS)

    def is_in(self, group: str) -> bool:
        return group in self._group_names

    def __repr__(self) -> str:
        return f"<User {self.name} {list(self.groups)}>"

    def info(self) -> Json:
        """Return the user as UserInfo of authentication.k8s.io."""
        out: Json = {"username": self.name}
        if self.uid:
            out["uid"] = self.uid
        out["groups"] = list(self.groups)
        if self.extra:
            out["extra"] = self.extra
        return out


def service_account_groups(namespace: str) -> tuple[str, ...]:
    """Return the groups of every service account in a namespace."""
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")


ANONYMOUS = User("system:anonymous", "", (UNAUTHENTICATED,))
