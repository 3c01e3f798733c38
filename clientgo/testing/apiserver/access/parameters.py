"""The check that a user may read the parameters that an admission policy or its binding refers to.

The server reads parameters with its own rights, and their content shows in the policy's messages. Mirrors authz.go of
pkg/registry/admissionregistration. Differs: kinds are looked up in the registry, not through discovery.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from clientgo.testing.apiserver.access.rbac import Attributes
from clientgo.testing.apiserver.access.users import User
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire.errors import FieldError, field_forbidden
from clientgo.testing.apiserver.wire.jsonio import Json

_GROUP: Final = "admissionregistration.k8s.io"
_POLICIES: Final = ("validatingadmissionpolicies", "mutatingadmissionpolicies")
# The policies that the bindings of a resource name.
_POLICIES_OF: Final = {
    "validatingadmissionpolicybindings": "validatingadmissionpolicies",
    "mutatingadmissionpolicybindings": "mutatingadmissionpolicies",
}
_NEEDED: Final = "for all groups, versions and resources"

Allowed = Callable[[User, Attributes], tuple[bool, str]]


def check(
    allowed: Allowed,
    store: Store,
    registry: Registry,
    user: User | None,
    resource: Resource,
    obj: Json,
    old: Json | None,
) -> FieldError | None:
    """Return an error if a valid policy or binding refers to objects that its writer may not read.

    The resource is one of admissionregistration.k8s.io. An update that does not change the reference is allowed.
    """
    if user is None or user.master:
        return None
    if resource.plural in _POLICIES:
        return _check_kind(allowed, registry, user, obj, old)
    if resource.plural in _POLICIES_OF:
        return _check_reference(allowed, store, registry, user, resource, obj, old)
    return None


def _check_kind(allowed: Allowed, registry: Registry, user: User, obj: Json, old: Json | None) -> FieldError | None:
    kind = obj["spec"].get("paramKind")
    if kind is None or (old is not None and old["spec"].get("paramKind") == kind):
        return None
    group, version, plural = _resource(registry, kind)
    wanted = Attributes("get", group=group, version=version, resource=plural or "*", namespace="*", name="*")
    if allowed(user, wanted)[0]:
        return None
    which = f"(kind={kind.get('kind', '')}, apiVersion={kind.get('apiVersion', '')})"
    why = f'user {_shown(user)} must have "get" permission on all objects of the referenced paramKind {which}'
    return field_forbidden("spec.paramKind", why)


def _check_reference(
    allowed: Allowed, store: Store, registry: Registry, user: User, resource: Resource, obj: Json, old: Json | None
) -> FieldError | None:
    spec = obj["spec"]
    reference, policy_name = spec.get("paramRef"), spec.get("policyName", "")
    if reference is None:
        return None
    if old is not None and all(old["spec"].get(name) == spec.get(name) for name in ("paramRef", "policyName")):
        return None
    policy = store.get(f"{_GROUP}/{_POLICIES_OF[resource.plural]}", policy_name)
    kind = policy.obj["spec"].get("paramKind") if policy is not None else None
    group, version, plural = _resource(registry, kind) if kind is not None else ("*", "*", "*")
    name = reference.get("name", "")
    verb = "get" if name else "list"
    wanted = Attributes(
        verb,
        group=group,
        version=version,
        resource=plural or "*",
        namespace=reference.get("namespace", ""),
        name=name,
    )
    if allowed(user, wanted)[0]:
        return None
    who = f'user {_shown(user)} does not have "{verb}" permission'
    what = ""
    if policy is None:
        what = f"get policy {policy_name}"
    elif kind is not None and not plural:
        shown = f"&{{{kind.get('apiVersion', '')} {kind.get('kind', '')}}}"
        what = f"{'parse' if group == '*' else 'resolve'} paramKind {shown}"
    if what:
        return field_forbidden(
            "spec.paramRef", f"unable to {what} to determine minimum required permissions and {who} {_NEEDED}"
        )
    return field_forbidden("spec.paramRef", f"{who} on the object referenced by paramRef")


def _resource(registry: Registry, kind: Json) -> tuple[str, str, str]:
    """Return the group, version and plural of a kind: "*" for a malformed group and version, "" for no such kind."""
    text = kind.get("apiVersion", "")
    if text.count("/") > 1:
        return "*", "*", ""
    group, _, version = text.rpartition("/")
    found = registry.by_kind(text, kind.get("kind", ""))
    return group, version, found.plural if found is not None else ""


def _shown(user: User) -> str:
    """Return the user as Go prints a pointer to user.DefaultInfo."""
    extra = " ".join(f"{name}:[{' '.join(values)}]" for name, values in sorted(user.extra.items()))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"
