"""The fields of the metadata as fields of the object: pod.name, deployment.labels.

No Go file: Go promotes the fields of embedded structs. An object's own field of the same name comes first, as in Go,
and the constructor does not take these, as Go's literals do not.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, MutableSequence
from datetime import datetime
from typing import TYPE_CHECKING

from clientgo.apimachinery.runtime.structs import Struct

if TYPE_CHECKING:
    from clientgo.apimachinery.apis.meta.v1.types import (
        ListMeta,
        ManagedFieldsEntry,
        ObjectMeta,
        OwnerReference,
        ShardInfo,
    )


class NoSuchFieldError(AttributeError):
    """An attribute that an object does not have; the text suggests a similar name."""

    def __init__(self, obj: Struct, name: str) -> None:
        super().__init__(f"{type(obj).__name__!r} object has no attribute {name!r}", name=name, obj=obj)
        self._wanted = name

    def __str__(self) -> str:
        """Return the message, with a suggestion. The search for it runs only here, since `hasattr` discards most
        errors.
        """
        import difflib  # Here, not above: it is for mistakes alone.

        fields = [attr for attr in dir(self.obj) if not attr.startswith("_")]
        wanted = self._wanted
        meant = "metadata" if wanted in ("ObjectMeta", "ListMeta") else _snake_case(wanted)
        found = [meant] if meant in fields else difflib.get_close_matches(meant, fields, n=1)
        hint = f"; did you mean {found[0]!r}?" if found and not wanted.startswith("_") else ""
        return f"{self.args[0]}{hint}"


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class PromotedObjectMeta(Struct):
    """Of a struct that embeds metav1.ObjectMeta, as all objects of resources do."""

    def _object_meta(self) -> ObjectMeta:
        return self.metadata  # type: ignore[attr-defined,no-any-return]  # Each class declares it.

    @property
    def name(self) -> str:
        return self._object_meta().name

    @name.setter
    def name(self, value: str) -> None:
        self._object_meta().name = value

    @property
    def generate_name(self) -> str:
        return self._object_meta().generate_name

    @generate_name.setter
    def generate_name(self, value: str) -> None:
        self._object_meta().generate_name = value

    @property
    def namespace(self) -> str:
        return self._object_meta().namespace

    @namespace.setter
    def namespace(self, value: str) -> None:
        self._object_meta().namespace = value

    @property
    def self_link(self) -> str:
        return self._object_meta().self_link

    @self_link.setter
    def self_link(self, value: str) -> None:
        self._object_meta().self_link = value

    @property
    def uid(self) -> str:
        return self._object_meta().uid

    @uid.setter
    def uid(self, value: str) -> None:
        self._object_meta().uid = value

    @property
    def resource_version(self) -> str:
        return self._object_meta().resource_version

    @resource_version.setter
    def resource_version(self, value: str) -> None:
        self._object_meta().resource_version = value

    @property
    def generation(self) -> int:
        return self._object_meta().generation

    @generation.setter
    def generation(self, value: int) -> None:
        self._object_meta().generation = value

    @property
    def creation_timestamp(self) -> datetime | None:
        return self._object_meta().creation_timestamp

    @creation_timestamp.setter
    def creation_timestamp(self, value: datetime | None) -> None:
        self._object_meta().creation_timestamp = value

    @property
    def deletion_timestamp(self) -> datetime | None:
        return self._object_meta().deletion_timestamp

    @deletion_timestamp.setter
    def deletion_timestamp(self, value: datetime | None) -> None:
        self._object_meta().deletion_timestamp = value

    @property
    def deletion_grace_period_seconds(self) -> int | None:
        return self._object_meta().deletion_grace_period_seconds

    @deletion_grace_period_seconds.setter
    def deletion_grace_period_seconds(self, value: int | None) -> None:
        self._object_meta().deletion_grace_period_seconds = value

    @property
    def labels(self) -> MutableMapping[str, str]:
        return self._object_meta().labels

    @labels.setter
    def labels(self, value: MutableMapping[str, str]) -> None:
        self._object_meta().labels = value

    @property
    def annotations(self) -> MutableMapping[str, str]:
        return self._object_meta().annotations

    @annotations.setter
    def annotations(self, value: MutableMapping[str, str]) -> None:
        self._object_meta().annotations = value

    @property
    def owner_references(self) -> MutableSequence[OwnerReference]:
        return self._object_meta().owner_references

    @owner_references.setter
    def owner_references(self, value: MutableSequence[OwnerReference]) -> None:
        self._object_meta().owner_references = value

    @property
    def finalizers(self) -> MutableSequence[str]:
        return self._object_meta().finalizers

    @finalizers.setter
    def finalizers(self, value: MutableSequence[str]) -> None:
        self._object_meta().finalizers = value

    @property
    def managed_fields(self) -> MutableSequence[ManagedFieldsEntry]:
        return self._object_meta().managed_fields

    @managed_fields.setter
    def managed_fields(self, value: MutableSequence[ManagedFieldsEntry]) -> None:
        self._object_meta().managed_fields = value


class PromotedListMeta(Struct):
    """Of a list, which embeds metav1.ListMeta."""

    def _list_meta(self) -> ListMeta:
        return self.metadata  # type: ignore[attr-defined,no-any-return]  # Each class declares it.

    @property
    def self_link(self) -> str:
        return self._list_meta().self_link

    @self_link.setter
    def self_link(self, value: str) -> None:
        self._list_meta().self_link = value

    @property
    def resource_version(self) -> str:
        return self._list_meta().resource_version

    @resource_version.setter
    def resource_version(self, value: str) -> None:
        self._list_meta().resource_version = value

    @property
    def continue_(self) -> str:
        return self._list_meta().continue_

    @continue_.setter
    def continue_(self, value: str) -> None:
        self._list_meta().continue_ = value

    @property
    def remaining_item_count(self) -> int | None:
        return self._list_meta().remaining_item_count

    @remaining_item_count.setter
    def remaining_item_count(self, value: int | None) -> None:
        self._list_meta().remaining_item_count = value

    @property
    def shard_info(self) -> ShardInfo | None:
        return self._list_meta().shard_info

    @shard_info.setter
    def shard_info(self, value: ShardInfo | None) -> None:
        self._list_meta().shard_info = value
