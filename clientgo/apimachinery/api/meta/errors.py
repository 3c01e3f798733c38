"""The errors of looking up kinds and resources.

Mirrors k8s.io/apimachinery/pkg/api/meta/errors.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.util.errors import is_error
from clientgo.golang.strconv import quote
from clientgo.klog.exceptions import operational_error


def _list(values: Sequence[object]) -> str:
    """Return a list as Go prints it."""
    return f"[{' '.join(str(value) for value in values)}]"


def _ambiguous(partial: object, resources: Sequence[GroupVersionResource], kinds: Sequence[GroupVersionKind]) -> str:
    if kinds and resources:
        return f"{partial} matches multiple resources {_list(resources)} and kinds {_list(kinds)}"
    if kinds:
        return f"{partial} matches multiple kinds {_list(kinds)}"
    if resources:
        return f"{partial} matches multiple resources {_list(resources)}"
    return f"{partial} matches multiple resources or kinds"


@operational_error
class _MatchError(Exception):
    """A base class whose instances match each other in errors.Is."""

    def is_(self, target: object) -> bool:
        """Report whether `target` is this class or an instance of it. Go: the Is method of each."""
        return target is type(self) or type(target) is type(self)


class AmbiguousResourceError(_MatchError):
    """Raised if a partial resource matches several. Go: meta.AmbiguousResourceError."""

    def __init__(
        self,
        partial_resource: GroupVersionResource,
        matching_resources: Sequence[GroupVersionResource] = (),
        matching_kinds: Sequence[GroupVersionKind] = (),
    ) -> None:
        super().__init__(partial_resource, matching_resources, matching_kinds)
        self.partial_resource = partial_resource
        self.matching_resources = list(matching_resources)
        self.matching_kinds = list(matching_kinds)

    def __str__(self) -> str:
        return _ambiguous(self.partial_resource, self.matching_resources, self.matching_kinds)


class AmbiguousKindError(_MatchError):
    """Raised if a partial kind matches several. Go: meta.AmbiguousKindError."""

    def __init__(
        self,
        partial_kind: GroupVersionKind,
        matching_resources: Sequence[GroupVersionResource] = (),
        matching_kinds: Sequence[GroupVersionKind] = (),
    ) -> None:
        super().__init__(partial_kind, matching_resources, matching_kinds)
        self.partial_kind = partial_kind
        self.matching_resources = list(matching_resources)
        self.matching_kinds = list(matching_kinds)

    def __str__(self) -> str:
        return _ambiguous(self.partial_kind, self.matching_resources, self.matching_kinds)


def is_ambiguous_error(err: BaseException | None) -> bool:
    """Report whether the error says that several resources or kinds match. Go: meta.IsAmbiguousError."""
    return is_error(err, AmbiguousResourceError) or is_error(err, AmbiguousKindError)


class NoResourceMatchError(_MatchError):
    """Raised if no resource matches. Go: meta.NoResourceMatchError."""

    def __init__(self, partial_resource: GroupVersionResource) -> None:
        super().__init__(partial_resource)
        self.partial_resource = partial_resource

    def __str__(self) -> str:
        return f"no matches for {self.partial_resource}"


class NoKindMatchError(_MatchError):
    """Raised if no kind matches. Go: meta.NoKindMatchError."""

    def __init__(self, group_kind: GroupKind, searched_versions: Sequence[str] = ()) -> None:
        super().__init__(group_kind, searched_versions)
        self.group_kind = group_kind
        self.searched_versions = list(searched_versions)

    def __str__(self) -> str:
        kind, group = quote(self.group_kind.kind), self.group_kind.group
        versions = sorted({str(GroupVersion(group, version)) for version in self.searched_versions})
        if not versions:
            return f"no matches for kind {kind} in group {quote(group)}"
        if len(versions) == 1:
            return f"no matches for kind {kind} in version {quote(versions[0])}"
        return f"no matches for kind {kind} in versions {_list([quote(version) for version in versions])}"


def is_no_match_error(err: BaseException | None) -> bool:
    """Report whether the error says that no resource or kind matches. Go: meta.IsNoMatchError."""
    return is_error(err, NoKindMatchError) or is_error(err, NoResourceMatchError)
