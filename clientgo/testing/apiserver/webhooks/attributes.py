"""The attributes of a write, for webhooks. Mirrors apiserver's pkg/admission/attributes.go."""

from __future__ import annotations

from typing import NamedTuple

from clientgo.testing.apiserver.access.users import MASTERS, User
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.options import DeleteOptions, WriteOptions
from clientgo.testing.apiserver.wire.jsonio import Json

CREATE, UPDATE, DELETE = "CREATE", "UPDATE", "DELETE"

# Who writes when the server does so itself.
_ITSELF = User("system:apiserver", "", (MASTERS,))
_NAMESPACES = "/namespaces"


class Attributes(NamedTuple):
    """One write, as admission sees it. Objects are in the version of the request and belong to others."""

    operation: str
    call: Call
    name: str
    obj: Json | None
    old: Json | None
    dry_run: bool
    options: Json

    @property
    def resource(self) -> Resource:
        return self.call.resource

    @property
    def subresource(self) -> str:
        return self.call.subresource

    @property
    def namespace(self) -> str:
        """Return the namespace of the object; for a namespace, its own name."""
        return self.name if self.resource.storage == _NAMESPACES else self.call.namespace

    @property
    def user(self) -> User:
        user = self.call.request.user
        return user if isinstance(user, User) else _ITSELF

    @property
    def group_version_kind(self) -> Json:
        """Return the kind of the request's body. Some subresources have another kind than the resource."""
        resource = self.resource
        shown = resource.subresources.get(self.subresource)
        entry = shown.entry if shown is not None else resource.entry
        return {
            "group": entry.get("group", resource.group) if "version" in entry else resource.group,
            "version": entry.get("version", resource.version),
            "kind": entry["kind"],
        }

    def of(self, obj: Json) -> Attributes:
        """Return these attributes with another object."""
        return self._replace(obj=obj)


def of_write(operation: str, call: Call, obj: Json, old: Json | None, options: WriteOptions) -> Attributes:
    """Return the attributes of a create or update."""
    name = call.name or obj["metadata"].get("name", "")
    patch = call.request.method == "PATCH" and operation == UPDATE
    kind = "CreateOptions" if operation == CREATE else "PatchOptions" if patch else "UpdateOptions"
    shown: Json = {"kind": kind, "apiVersion": "meta.k8s.io/v1", **_dry(options.dry_run)}
    if patch and options.force:
        shown["force"] = True
    shown["fieldManager"] = options.manager
    if options.validation_given:
        shown["fieldValidation"] = options.validation
    return Attributes(operation, call, name, obj, old, options.dry_run, shown)


def of_delete(call: Call, old: Json, options: DeleteOptions) -> Attributes:
    """Return the attributes of deleting one object, which may be part of a collection."""
    shown: Json = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
    if options.grace is not None:
        shown["gracePeriodSeconds"] = options.grace
    preconditions = {"uid": options.uid, "resourceVersion": options.version}
    given = {name: value for name, value in preconditions.items() if value is not None}
    if given:
        shown["preconditions"] = given
    if options.policy:
        shown["propagationPolicy"] = options.policy
    shown.update(_dry(options.dry_run))
    return Attributes(DELETE, call, old["metadata"]["name"], None, old, options.dry_run, shown)


def _dry(dry_run: bool) -> Json:
    return {"dryRun": ["All"]} if dry_run else {}
