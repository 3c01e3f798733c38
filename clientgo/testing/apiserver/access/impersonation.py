"""Impersonation of another user. Mirrors apiserver's endpoints/filters/impersonation."""

from __future__ import annotations

from urllib.parse import unquote

from clientgo.apimachinery.util import validation
from clientgo.golang.strconv import quote
from clientgo.testing.apiserver.access.rbac import Attributes, Authorizer
from clientgo.testing.apiserver.access.users import (
    ANONYMOUS,
    AUTHENTICATED,
    UNAUTHENTICATED,
    User,
    service_account_groups,
)
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.http import Request

_GROUP = "authentication.k8s.io"
_PREFIX = "impersonate-"
_EXTRA = "impersonate-extra-"
_ACCOUNT = "system:serviceaccount:"


def impersonated(authorizer: Authorizer, request: Request, user: User) -> User:
    """Return the user that the request acts as.

    Each part of the other identity needs its own permission: a service account in its namespace, any other user, each
    group, the uid, each value of an extra. Raises ApiError 403 for a part without permission, and 400 for parts
    without a user name.
    """
    if _PREFIX not in "\n".join(request.headers):
        return user
    wanted = _wanted(request)
    if not wanted.name:
        if wanted.uid or wanted.groups or wanted.extra:
            raise errors.bad_request(f"requested {_go_syntax(wanted)} without impersonating a user name")
        return user
    account = _service_account(wanted.name)
    if account is not None:
        namespace, name = account
        checks = [Attributes("impersonate", version="v1", resource="serviceaccounts", namespace=namespace, name=name)]
    else:
        checks = [Attributes("impersonate", version="v1", resource="users", name=wanted.name)]
    checks += [Attributes("impersonate", version="v1", resource="groups", name=group) for group in wanted.groups]
    checks += [
        Attributes("impersonate", group=_GROUP, version="v1", resource="userextras", subresource=key, name=value)
        for key, values in wanted.extra.items()
        for value in values
    ]
    if wanted.uid:
        checks.append(Attributes("impersonate", group=_GROUP, version="v1", resource="uids", name=wanted.uid))
    for attributes in checks:
        authorizer.check(user, attributes)
    groups = wanted.groups
    if account is not None and not groups:
        groups = service_account_groups(account[0])
    return User(wanted.name, wanted.uid, _with_everybody(wanted.name, groups), wanted.extra)


def _wanted(request: Request) -> User:
    extra: dict[str, list[str]] = {}
    for name in request.headers:
        if name.startswith(_EXTRA):
            extra.setdefault(unquote(name.removeprefix(_EXTRA)), []).extend(request.header_values(name))
    # A comma is a part of a group's name; several groups are several headers.
    groups = tuple(request.header_values("impersonate-group"))
    return User(request.header("impersonate-user"), request.header("impersonate-uid"), groups, extra)


def _service_account(name: str) -> tuple[str, str] | None:
    """Return namespace and name of a service account, or None for another user."""
    if not name.startswith(_ACCOUNT):
        return None
    namespace, colon, account = name.removeprefix(_ACCOUNT).partition(":")
    if not colon or validation.is_dns1123_label(namespace) or validation.is_dns1123_subdomain(account):
        return None
    return namespace, account


def _with_everybody(name: str, groups: tuple[str, ...]) -> tuple[str, ...]:
    """Return the groups with system:authenticated, or system:unauthenticated for the anonymous user."""
    if name == ANONYMOUS.name:
        return groups if UNAUTHENTICATED in groups else (*groups, UNAUTHENTICATED)
    return groups if AUTHENTICATED in groups or UNAUTHENTICATED in groups else (*groups, AUTHENTICATED)


def _go_syntax(user: User) -> str:
    """Return the user as Go's fmt prints it with %#v."""

    def texts(values: tuple[str, ...] | list[str]) -> str:
        return f"[]string{{{', '.join(map(quote, values))}}}"

    groups = texts(user.groups) if user.groups else "[]string(nil)"
    pairs = ", ".join(f"{quote(key)}:{texts(values)}" for key, values in sorted(user.extra.items()))
    extra = f"map[string][]string{{{pairs}}}" if user.extra else "map[string][]string(nil)"
    return f"&user.DefaultInfo{{Name:{quote(user.name)}, UID:{quote(user.uid)}, Groups:{groups}, Extra:{extra}}}"
