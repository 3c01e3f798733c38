"""Patches of objects. Mirrors pkg/client/patch.go.

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
    """A patch with fixed bytes."""

    patch_type: str
    patch_data: bytes

    def type(self) -> str:
        return self.patch_type

    def data(self, obj: Object) -> bytes:
        return self.patch_data


def raw_patch(patch_type: str, data: bytes) -> Patch:
    """Return a patch with the caller's bytes. Go: client.RawPatch."""
    return _Patch(patch_type, data)


class MergeFromWithOptimisticLock:
    """An option that lets the patch fail with a conflict if the object has changed since.

    The patch then works like an update that sends only the differences, so it does not drop fields that this program
    does not know. Go: client.MergeFromWithOptimisticLock.
    """

    def apply_to_merge_from(self, in_: MergeFromOptions) -> None:
        in_.optimistic_lock = True


class MergeFromOption(Protocol):
    """An option of a merge patch. Go: client.MergeFromOption."""

    def apply_to_merge_from(self, in_: MergeFromOptions, /) -> None: ...


@dataclass(kw_only=True)
class MergeFromOptions:
    """The options of a merge patch. Go: client.MergeFromOptions."""

    optimistic_lock: bool = False
    """Include the object's resourceVersion in the patch."""


@dataclass(frozen=True)
class _MergeFromPatch:
    """The patch that turns `original` into the patched object."""

    patch_type: str
    create_patch: Callable[[_JSONObject, _JSONObject, type[Object]], _JSONObject]
    original: Object
    opts: MergeFromOptions

    def type(self) -> str:
        return self.patch_type

    def data(self, obj: Object) -> bytes:
        """Return the patch's bytes.

        Raises ValueError for an optimistic lock without a resourceVersion. Also raises it when the object came as
        protobuf from a newer server and the patch cannot represent its unknown fields: in an element of a list that it
        replaces, or because they differ from those of `original`.
        """
        original, modified = _explicit_document(self.original), _explicit_document(obj)
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


def _explicit_document(obj: Object) -> _JSONObject:
    """Return the document with unknown fields as plain fields, so that a patch does not mention them."""
    document = copied_document_of(obj)
    return spell_out(document) if has_unknown_fields(document) else document


def _create_merge_patch(original: _JSONObject, modified: _JSONObject, cls: type[Object]) -> _JSONObject:
    patch: _JSONObject = jsonmergepatch.create_merge_patch(original, modified)
    return patch


def _create_strategic_merge_patch(original: _JSONObject, modified: _JSONObject, cls: type[Object]) -> _JSONObject:
    return strategicpatch.create_two_way_merge_map_patch(original, modified, cls)


def merge_from(obj: Object) -> Patch:
    """Return a JSON merge patch from `obj` to the object at the time of sending. A changed list is replaced as a whole.

    Copy the object before you change it, or pass the read-only one from the cache. Raises ValueError on sending if the
    patch would lose unknown fields in an element of such a list. Go: client.MergeFrom.
    """
    return merge_from_with_options(obj)


def merge_from_with_options(obj: Object, *opts: MergeFromOption) -> Patch:
    """Return a JSON merge patch, as `merge_from` does, with options. Go: client.MergeFromWithOptions."""
    return _MergeFromPatch(PatchType.MERGE, _create_merge_patch, obj, _options(opts))


def strategic_merge_from(obj: Object, *opts: MergeFromOption) -> Patch:
    """Return a strategic merge patch: lists merge as the kind declares. Not for custom resources.

    Raises ValueError like `merge_from`, but it replaces few lists as a whole. Go: client.StrategicMergeFrom.
    """
    return _MergeFromPatch(PatchType.STRATEGIC_MERGE, _create_strategic_merge_patch, obj, _options(opts))


def _options(opts: Iterable[MergeFromOption]) -> MergeFromOptions:
    options = MergeFromOptions()
    for opt in opts:
        opt.apply_to_merge_from(options)
    return options


@dataclass(frozen=True)
class _WholeObject:
    """A patch that consists of the whole object."""

    patch_type: str

    def type(self) -> str:
        return self.patch_type

    def data(self, obj: Object) -> bytes:
        """Return the object as JSON. Raises ValueError for an object that came as protobuf with unknown fields."""
        return marshal(_document_of(obj)).encode()


def _document_of(obj: Object) -> _JSONObject:
    """Return a copy of the object's document with apiVersion and kind, if the class declares them."""
    document = json_document_of(obj)
    own = type(obj).GROUP_VERSION_KIND
    if own is not None and own.kind != "PartialObjectMetadata":
        document["apiVersion"], document["kind"] = own.to_api_version_and_kind()
    return document


# Server-side apply by patch. Deprecated: use `Client.apply`. Go: client.Apply.
APPLY: Final[Patch] = _WholeObject(PatchType.APPLY)

# The whole object as a merge patch, without a comparison. Go: client.Merge.
MERGE: Final[Patch] = _WholeObject(PatchType.MERGE)
