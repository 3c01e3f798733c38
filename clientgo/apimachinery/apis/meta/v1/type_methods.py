"""Base classes of the generated types with their methods.

Mirrors Go's hand-written code next to types.go: the methods of apis/meta/v1/group_version.go and of ApplyOptions. The
accessors of ObjectMeta and ListMeta are in `runtime.ObjectMetaAccessors` and `runtime.ListMetaAccessors`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from clientgo.apimachinery.runtime.documents import document_of, writable_document_of
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.golang import utf8

if TYPE_CHECKING:
    from clientgo.apimachinery.apis.meta.v1.types import PatchOptions


class _NameMethods(Struct):
    """A struct whose fields are all texts."""

    def _text(self, key: str) -> str:
        text: str = document_of(self).get(key) or ""
        return text


class GroupResourceMethods(_NameMethods):
    """Methods of GroupResource. Go: metav1.GroupResource."""

    def __str__(self) -> str:
        """Return a text such as deployments.apps, or pods for the core group."""
        return ".".join(filter(None, (self._text("resource"), self._text("group"))))


class GroupVersionResourceMethods(_NameMethods):
    """Methods of GroupVersionResource. Go: metav1.GroupVersionResource."""

    def __str__(self) -> str:
        return f"{self._text('group')}/{self._text('version')}, Resource={self._text('resource')}"


class GroupKindMethods(_NameMethods):
    """Methods of GroupKind. Go: metav1.GroupKind."""

    def __str__(self) -> str:
        """Return a text such as Deployment.apps, or Pod for the core group."""
        return ".".join(filter(None, (self._text("kind"), self._text("group"))))


class GroupVersionKindMethods(_NameMethods):
    """Methods of GroupVersionKind. Go: metav1.GroupVersionKind."""

    def __str__(self) -> str:
        return f"{self._text('group')}/{self._text('version')}, Kind={self._text('kind')}"


class GroupVersionMethods(_NameMethods):
    """A group and version. Its JSON form is the text of apiVersion: apps/v1, or v1 for the core group.

    Go: metav1.GroupVersion.
    """

    def empty(self) -> bool:
        """Report whether neither is set. Go: Empty."""
        return not self._text("group") and not self._text("version")

    def __str__(self) -> str:
        group, version = self._text("group"), self._text("version")
        return f"{group}/{version}" if group else version

    def marshal_json(self) -> bytes:
        """Return the JSON form. Raises ValueError if the text has more than one slash. Go: MarshalJSON."""
        text = str(self)
        if text.count("/") > 1:
            raise ValueError(f"illegal GroupVersion {text}: contains more than one /")
        return utf8.to_valid(json.dumps(text, ensure_ascii=False)).encode()

    def unmarshal_json(self, value: bytes) -> None:
        """Parse the JSON form. Raises ValueError. Go: UnmarshalJSON."""
        from clientgo.apimachinery.runtime.schema import parse_group_version

        text = json.loads(value)
        if not isinstance(text, str):
            raise ValueError(f"json: cannot unmarshal {value.decode()} into a GroupVersion")
        parsed = parse_group_version(text)
        writable_document_of(self).update(group=parsed.group, version=parsed.version)

    def unmarshal_text(self, value: bytes) -> None:
        """Parse the JSON form, as `unmarshal_json` does. Go: UnmarshalText."""
        self.unmarshal_json(value)


class ApplyOptionsMethods(Object):
    """Methods of ApplyOptions. Go: metav1.ApplyOptions."""

    def to_patch_options(self) -> PatchOptions:
        """Return the equivalent options of a patch. Go: ToPatchOptions."""
        from clientgo.apimachinery.apis.meta.v1.types import PatchOptions

        return PatchOptions(
            dry_run=document_of(self).get("dryRun") or [],
            force=bool(document_of(self).get("force")),
            field_manager=document_of(self).get("fieldManager") or "",
        )
