"""Changes to objects. Mirrors pkg/client/patch.go.

original = deployment.deep_copy()
deployment.spec.replicas = 3
client.patch(ctx, deployment, merge_from(original))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from clientgo.apimachinery.runtime.documents import copied_document_of, json_document_of
from clientgo.apimachinery.runtime.unknown_fields import has_unknown_fields, no_json, spell_out, spells_out
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util import jsonmergepatch, strategicpatch
from clientgo.apimachinery.util.json import marshal
from clientgo.controller_runtime.client.interfaces import Patch
from clientgo.controller_runtime.client.object import Object

_JSONObject = dict[str, Any]


@dataclass(frozen=True)
class _Patch:
    """A patch that is there already."""

    patch_type: str
    patch_data: bytes

    def type(self) -> str:
        return self.patch_type

    def data(self, obj: Object) -> bytes:
        return self.patch_data


def raw_patch(patch_type: str, data: bytes) -> Patch:
    """A patch whose bytes the caller has made. Go: client.RawPatch."""
    return _Patch(patch_type, data)


class MergeFromWithOptimisticLock:
    """Let the patch fail with a conflict when the object has changed since. Go: client.MergeFromWithOptimisticLock.

    It is then like an update that sends only what changed, and so loses no fields this program does not know.
    """

    def apply_to_merge_from(self, in_: MergeFromOptions) -> None:
        in_.optimistic_lock = True


class MergeFromOption(Protocol):
    """Changes how the patch is made. Go: client.MergeFromOption."""

    def apply_to_merge_from(self, in_: MergeFromOptions) -> None: ...


@dataclass(kw_only=True)
class MergeFromOptions:
    """How the patch is made. Go: client.MergeFromOptions."""

    optimistic_lock: bool = False
    """Whether the patch says which resourceVersion it is for."""


@dataclass(frozen=True)
class _MergeFromPatch:
    """What turns `original` into the object that is patched."""

    patch_type: str
    create_patch: Callable[[_JSONObject, _JSONObject, type[Object]], _JSONObject]
    original: Object
    opts: MergeFromOptions

    def type(self) -> str:
        return self.patch_type

    def data(self, obj: Object) -> bytes:
        """Raises ValueError for an optimistic lock without a resourceVersion.

        And for what the patch cannot say of an object that came as protobuf from a newer server: a list it replaces has
        an element with fields that nobody knows here, or they are not those of `original`.
        """
        original, modified = _spelled_out(self.original), _spelled_out(obj)
        if self.opts.optimistic_lock:
            version = self.original.get_resource_version()
            if not version:
                raise ValueError(
                    f'cannot use OptimisticLock, object "{self.original!r}" does not have any resource version '
                    "we can use"
                )
            original["metadata"].pop("resourceVersion")
            modified.setdefault("metadata", {})["resourceVersion"] = version
        patch = self.create_patch(original, modified, type(obj))
        if spells_out(patch):
            raise no_json(obj)
        return marshal(patch).encode()


def _spelled_out(obj: Object) -> _JSONObject:
    """The document, in which unknown fields are fields as any other: a patch may not mention them."""
    document = copied_document_of(obj)
    return spell_out(document) if has_unknown_fields(document) else document


def _create_merge_patch(original: _JSONObject, modified: _JSONObject, cls: type[Object]) -> _JSONObject:
    patch: _JSONObject = jsonmergepatch.create_merge_patch(original, modified)
    return patch


def _create_strategic_merge_patch(original: _JSONObject, modified: _JSONObject, cls: type[Object]) -> _JSONObject:
    return strategicpatch.create_two_way_merge_map_patch(original, modified, cls)


def merge_from(obj: Object) -> Patch:
    """A JSON merge patch from `obj`, as it is when the patch is sent; a changed list is replaced as a whole.

    Take a copy before changing the object, or give the read-only one from the cache. Raises ValueError, when it is
    sent, where it would lose what a newer server has said in an element of such a list. Go: client.MergeFrom.
    """
    return merge_from_with_options(obj)


def merge_from_with_options(obj: Object, *opts: MergeFromOption) -> Patch:
    """The same with options. Go: client.MergeFromWithOptions."""
    return _MergeFromPatch(PatchType.MERGE, _create_merge_patch, obj, _options(opts))


def strategic_merge_from(obj: Object, *opts: MergeFromOption) -> Patch:
    """A strategic merge patch: lists are merged as the kind declares. Not for custom resources.

    Raises ValueError as that of merge_from does, but it replaces few lists whole.
    Go: client.StrategicMergeFrom.
    """
    return _MergeFromPatch(PatchType.STRATEGIC_MERGE, _create_strategic_merge_patch, obj, _options(opts))


def _options(opts: Iterable[MergeFromOption]) -> MergeFromOptions:
    options = MergeFromOptions()
    for opt in opts:
        opt.apply_to_merge_from(options)
    return options


@dataclass(frozen=True)
class _WholeObject:
    """The object itself is the patch."""

    patch_type: str

    def type(self) -> str:
        return self.patch_type

    def data(self, obj: Object) -> bytes:
        """Raises ValueError for an object that came as protobuf with fields that nobody knows here."""
        return marshal(_document_of(obj)).encode()


def _document_of(obj: Object) -> _JSONObject:
    """A copy of the object's document that says its apiVersion and kind, where the class knows them."""
    document = json_document_of(obj)
    own = type(obj).GROUP_VERSION_KIND
    if own is not None and own.kind != "PartialObjectMetadata":
        document["apiVersion"], document["kind"] = own.to_api_version_and_kind()
    return document


# Server-side apply by patch; `Client.apply` is the better way. Deprecated. Go: client.Apply.
APPLY: Final[Patch] = _WholeObject(PatchType.APPLY)

# The object as a merge patch, without looking for what changed. Go: client.Merge.
MERGE: Final[Patch] = _WholeObject(PatchType.MERGE)
