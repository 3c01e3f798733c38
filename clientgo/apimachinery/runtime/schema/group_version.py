"""Names of API groups, versions, kinds and resources: small immutable values, usable as dict keys.

Mirrors k8s.io/apimachinery/pkg/runtime/schema/group_version.go. Differs in nothing a caller can see, except that
`parse_group_version` raises where Go returns an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


def parse_resource_arg(arg: str) -> tuple[GroupVersionResource | None, GroupResource]:
    """Read `resource.group.com` or `resource.version.group.com`; both readings are returned, the caller decides.

    The first value is None when the text has fewer than two dots. Go: schema.ParseResourceArg.

    >>> parse_resource_arg("deployments.v1.apps")[0]
    GroupVersionResource(group='apps', version='v1', resource='deployments')
    """
    gvr = None
    parts = arg.split(".", 2)
    if len(parts) == 3:
        gvr = GroupVersionResource(group=parts[2], version=parts[1], resource=parts[0])
    return gvr, parse_group_resource(arg)


def parse_kind_arg(arg: str) -> tuple[GroupVersionKind | None, GroupKind]:
    """Read `Kind.group.com` or `Kind.version.group.com`; see parse_resource_arg. Go: schema.ParseKindArg."""
    gvk = None
    parts = arg.split(".", 2)
    if len(parts) == 3:
        gvk = GroupVersionKind(group=parts[2], version=parts[1], kind=parts[0])
    return gvk, parse_group_kind(arg)


@dataclass(frozen=True, slots=True)
class GroupResource:
    """A resource in a group, in no particular version. Go: schema.GroupResource."""

    group: str = ""
    resource: str = ""

    def with_version(self, version: str) -> GroupVersionResource:
        """Return the resource in one version. Go: GroupResource.WithVersion."""
        return GroupVersionResource(self.group, version, self.resource)

    def empty(self) -> bool:
        """Report whether both fields are empty. Go: GroupResource.Empty."""
        return not self.group and not self.resource

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


def parse_group_kind(gk: str) -> GroupKind:
    """Split `Kind.group` at the first dot; no dot means the core group. Go: schema.ParseGroupKind."""
    kind, _, group = gk.partition(".")
    return GroupKind(group=group, kind=kind)


def parse_group_resource(gr: str) -> GroupResource:
    """Split `resource.group` at the first dot; either part may be empty. Go: schema.ParseGroupResource."""
    resource, _, group = gr.partition(".")
    return GroupResource(group=group, resource=resource)


@dataclass(frozen=True, slots=True)
class GroupVersionResource:
    """A resource, fully named. Go: schema.GroupVersionResource."""

    group: str = ""
    version: str = ""
    resource: str = ""

    def empty(self) -> bool:
        """Report whether all fields are empty. Go: GroupVersionResource.Empty."""
        return not self.group and not self.version and not self.resource

    def group_resource(self) -> GroupResource:
        """Return the resource without its version. Go: GroupVersionResource.GroupResource."""
        return GroupResource(self.group, self.resource)

    def group_version(self) -> GroupVersion:
        """Return the resource's group and version. Go: GroupVersionResource.GroupVersion."""
        return GroupVersion(self.group, self.version)

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Resource={self.resource}"


@dataclass(frozen=True, slots=True)
class GroupKind:
    """A kind in a group, in no particular version. Go: schema.GroupKind."""

    group: str = ""
    kind: str = ""

    def empty(self) -> bool:
        """Report whether both fields are empty. Go: GroupKind.Empty."""
        return not self.group and not self.kind

    def with_version(self, version: str) -> GroupVersionKind:
        """Return the kind in one version. Go: GroupKind.WithVersion."""
        return GroupVersionKind(self.group, version, self.kind)

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


@dataclass(frozen=True, slots=True)
class GroupVersionKind:
    """A kind, fully named. Go: schema.GroupVersionKind."""

    group: str = ""
    version: str = ""
    kind: str = ""

    def empty(self) -> bool:
        """Report whether all fields are empty. Go: GroupVersionKind.Empty."""
        return not self.group and not self.version and not self.kind

    def group_kind(self) -> GroupKind:
        """Return the kind without its version. Go: GroupVersionKind.GroupKind."""
        return GroupKind(self.group, self.kind)

    def group_version(self) -> GroupVersion:
        """Return the kind's group and version. Go: GroupVersionKind.GroupVersion."""
        return GroupVersion(self.group, self.version)

    def to_api_version_and_kind(self) -> tuple[str, str]:
        """Return the (apiVersion, kind) pair that an object carries, or ("", "") when empty. Go: ToAPIVersionAndKind.
        """
        if self.empty():
            return "", ""
        return str(self.group_version()), self.kind

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Kind={self.kind}"


@dataclass(frozen=True, slots=True)
class GroupVersion:
    """A version of an API group; str() gives the `apiVersion` text. Go: schema.GroupVersion.

    >>> str(GroupVersion("apps", "v1")), str(GroupVersion("", "v1"))
    ('apps/v1', 'v1')
    """

    group: str = ""
    version: str = ""

    def empty(self) -> bool:
        """Report whether both fields are empty. Go: GroupVersion.Empty."""
        return not self.group and not self.version

    def __str__(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def identifier(self) -> str:
        """Return the text that identifies this runtime.GroupVersioner. Go: GroupVersion.Identifier."""
        return str(self)

    def kind_for_group_version_kinds(self, kinds: Iterable[GroupVersionKind]) -> tuple[GroupVersionKind, bool]:
        """Choose the kind of this very version, else one of the group, carried over to this version.

        Gives (kind, found). Go: GroupVersion.KindForGroupVersionKinds.
        """
        kinds = list(kinds)
        for gvk in kinds:
            if gvk.group == self.group and gvk.version == self.version:
                return gvk, True
        for gvk in kinds:
            if gvk.group == self.group:
                return self.with_kind(gvk.kind), True
        return GroupVersionKind(), False

    def with_kind(self, kind: str) -> GroupVersionKind:
        """Return a kind of this group and version. Go: GroupVersion.WithKind."""
        return GroupVersionKind(self.group, self.version, kind)

    def with_resource(self, resource: str) -> GroupVersionResource:
        """Return a resource of this group and version. Go: GroupVersion.WithResource."""
        return GroupVersionResource(self.group, self.version, resource)


def parse_group_version(gv: str) -> GroupVersion:
    """Read an `apiVersion` text. Raises ValueError when it has more than one slash. Go: schema.ParseGroupVersion."""
    # "/" is how the internal version of the legacy group once was written.
    if gv in ("", "/"):
        return GroupVersion()
    group, slash, version = gv.partition("/")
    if not slash:
        return GroupVersion("", gv)
    if "/" in version:
        raise ValueError(f"unexpected GroupVersion string: {gv}")
    return GroupVersion(group, version)


class GroupVersions(list[GroupVersion]):
    """Group versions in order of preference. Go: schema.GroupVersions."""

    def identifier(self) -> str:
        """Return the text that identifies this runtime.GroupVersioner. Go: GroupVersions.Identifier."""
        return f"[{','.join(str(gv) for gv in self)}]"

    def kind_for_group_version_kinds(self, kinds: Iterable[GroupVersionKind]) -> tuple[GroupVersionKind, bool]:
        """Choose among the members' choices, an exact match before a carried-over one. Gives (kind, found).

        Go: GroupVersions.KindForGroupVersionKinds.
        """
        kinds = list(kinds)
        choices = [gv.kind_for_group_version_kinds(kinds) for gv in self]
        targets = [target for target, found in choices if found]
        if not targets:
            return GroupVersionKind(), False
        return _best_match(kinds, targets), True


def _best_match(kinds: list[GroupVersionKind], targets: list[GroupVersionKind]) -> GroupVersionKind:
    """Return the first target that is among the kinds, or else the first target. Go: schema.bestMatch."""
    return next((target for target in targets if target in kinds), targets[0])


def from_api_version_and_kind(api_version: str, kind: str) -> GroupVersionKind:
    """Return the kind named by an object's apiVersion and kind. An unreadable apiVersion leaves group and version
    empty.

    Go: schema.FromAPIVersionAndKind.
    """
    try:
        return parse_group_version(api_version).with_kind(kind)
    except ValueError:
        return GroupVersionKind(kind=kind)
