"""Objects that are still the text they arrived in, until somebody reads them. No Go file: Go decodes all at once.

A controller caches tens of thousands of objects and reads a few fields of a few of them. As text an object takes a
fifth of the memory and the cyclic garbage collector has nothing to go through. What the informer machinery itself asks
of every object (name, version, labels ...) is taken out when it arrives, in the same pass that checks the text. An
object that is cached, and so read-only, stays text also when it is read: it is decoded anew each time, but for the few
that were read last.

This needs msgspec (`pip install clientgo[fast]`). Without it, or with CLIENTGO_LAZY_DECODING=false in the environment
when the library is imported, `read_event` and `read_list` answer None and everything is decoded where it arrives.

They also answer None for every text msgspec refuses or finds something unexpected in. So malformed JSON is found by
json.loads, and where it arrived: msgspec takes nothing that json.loads would not, with two exceptions that are looked
for here, text that is not UTF-8 and integers of more digits than Python converts.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Self, cast

from clientgo.apimachinery.runtime.text_readers import READ, Metadata
from clientgo.apimachinery.util.json import scan

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.object import Object, ResourceObject
    from clientgo.apimachinery.runtime.view import JSONObject


# Whether objects may be undecoded at all in this process.
AVAILABLE: Final = (
    os.environ.get("CLIENTGO_LAZY_DECODING", "true").lower() not in ("false", "0") and find_spec("msgspec") is not None
)

_NO_METADATA: Final[dict[str, Any]] = {}
_NO_LABELS: Final = b""


class Undecoded:
    """What stands in an object in place of its document. Thread-safe."""

    __slots__ = ()

    @property
    def api_version(self) -> str | None:
        """What the document will say; None when it says nothing."""
        raise NotImplementedError

    @property
    def kind(self) -> str | None:
        """What the document will say; None when it says nothing."""
        raise NotImplementedError

    def api_version_and_kind(self) -> tuple[str, str]:
        """Both, "" for nothing."""
        return self.api_version or "", self.kind or ""

    def name(self, api_version: str, kind: str) -> None:
        """Change what the document will say, "" for nothing. Decodes nothing."""
        raise NotImplementedError

    def document(self) -> JSONObject:
        """The document, the same dict for everybody. O(size) the first time."""
        raise NotImplementedError

    def meta(self, key: str) -> Any:
        """A field of the metadata as JSON; None when it is absent. Nothing that it shares must be changed."""
        raise NotImplementedError

    def metadata_of(self, obj: Object) -> Any:
        """What the metadata of `obj`, in which this stands, is read from: part of its document, or what stands in."""
        raise NotImplementedError

    def part(self, obj: Object, key: str) -> Any:
        """A field of the document of `obj`, in which this stands, or what stands in for it; None when it is absent."""
        if key == "metadata":
            return self.metadata_of(obj)
        return obj._document.get(key)

    def snapshot(self, obj: Object) -> JSONObject:
        """The document of `obj`, in which this stands, to be read and forgotten."""
        return cast("JSONObject", obj._document)

    def named(self, document: JSONObject) -> JSONObject:
        """The document, after it was given apiVersion and kind."""
        for key, value in (("kind", self.kind), ("apiVersion", self.api_version)):
            if value is None:
                document.pop(key, None)
            else:
                document[key] = value
        return document


def _names(api_version: str, kind: str) -> tuple[str | None, str | None]:
    """Both as `Undecoded` has them; interned, since a cache does this to all objects of a kind."""
    return sys.intern(api_version) or None, sys.intern(kind) or None


# Guards what objects were decoded into; not held while one is.
_DECODED: Final = threading.Lock()


class UndecodedObject(Undecoded):
    """One object that is not decoded.

    A cache has many of them, so that each attribute counts.
    """

    __slots__ = ("decoded",)

    # What the thread that decoded first has decoded it into; None until then.
    decoded: Any

    @property
    def object_name(self) -> str:
        """The name of the object, "" when it has none."""
        raise NotImplementedError

    @property
    def namespace(self) -> str:
        """The namespace of the object, "" when it has none."""
        raise NotImplementedError

    @property
    def version(self) -> str:
        """The resource version of the object, "" when it has none."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """What the object is cached under: "namespace/name", or "name" without a namespace."""
        raise NotImplementedError

    def decoded_once(self) -> Any:
        """What it is decoded into, the same for everybody."""
        if self.decoded is None:  # one look, so no lock
            decoded = self.decode()
            with _DECODED:
                if self.decoded is None:
                    self.decoded = decoded
        return self.decoded

    def decode(self) -> Any:
        """The same anew each time."""
        raise NotImplementedError

    def copy(self) -> Self:
        """Another of the same bytes, whose document is another. O(1)."""
        raise NotImplementedError

    def without(self, key: str) -> Self | None:
        """The same without a field of the metadata: another one, or itself; None when it must be decoded for that."""
        return None

    def says_the_same(self, other: Undecoded | None) -> bool:
        """Whether it can be told without decoding that the other is the same; if it cannot, they may still be equal."""
        return False


class _Recent:
    """The documents that were decoded last, or parts of them, of objects that stay text. Thread-safe.

    A document kept in its object would stay as long as that is cached, and the cyclic garbage collector would walk
    through all of them again and again. Whoever reads an object mostly reads a few of its fields, one after the other:
    a few documents are enough to decode it once for all of them.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # Guards the dict, but not a look into it, which is one step. Not held while a document is decoded.
        self._lock = threading.Lock()
        # By their texts the parts, "" for the whole.
        self._documents: dict[UndecodedText, dict[str, Any]] = {}

    def document_of(self, text: UndecodedText) -> JSONObject:
        """The document of a text, not to be changed; the same dict until so many others were asked for."""
        parts = self._parts_of(text)
        document: JSONObject | None = parts.get("")
        return parts.setdefault("", text.decode()) if document is None else document

    def part_of(self, text: UndecodedText, key: str, raw: Any) -> Any:
        """The same of the field of the document that has `raw` as its text."""
        parts = self._parts_of(text)
        if "" in parts:
            return parts[""].get(key)
        return parts[key] if key in parts else parts.setdefault(key, _parse(bytes(raw)))

    def _parts_of(self, text: UndecodedText) -> dict[str, Any]:
        parts = self._documents.get(text)
        if parts is None:
            with self._lock:
                parts = self._documents.setdefault(text, {})
                if len(self._documents) > self._most:
                    del self._documents[next(iter(self._documents))]
        return parts


# With more of them some are still there when the collector next looks for what is old.
_RECENT: Final = _Recent(4)


class UndecodedText(UndecodedObject):
    """The text of one object, which is valid to the last byte.

    An object that is frozen stays text, whatever is read of it.
    """

    __slots__ = (
        "_deleted",
        "_labels",
        "_spec",
        "_status",
        "_text",
        "api_version",
        "key",
        "kind",
        "namespace",
        "uid",
        "version",
    )

    # See Undecoded. The one who makes an object of it may change them.
    api_version: str | None
    kind: str | None
    # See UndecodedObject. The name is the end of the key, which is the one that a store has it under.
    key: str
    namespace: str
    version: str

    def __init__(self, text: str | bytes, header: Any) -> None:
        """`text` is ASCII or UTF-8: nothing else is as small, and msgspec reads it without a copy."""
        absent = READ.absent
        self.api_version = None if header.apiVersion is absent else header.apiVersion
        self.kind = None if header.kind is absent else header.kind
        self.decoded = None
        self._text = text
        # Parts of the text, not copied; None for what it does not have.
        self._spec = None if header.spec is absent else header.spec
        self._status = None if header.status is absent else header.status
        self._take(header.metadata)

    def _take(self, metadata: Any) -> None:
        absent = READ.absent
        if metadata is absent:
            self.key = self.namespace = self.version = self.uid = ""
            self._labels = self._deleted = None
            return
        name = "" if metadata.name is absent else metadata.name
        # Interned, since many objects have the same.
        self.namespace = namespace = "" if metadata.namespace is absent else sys.intern(metadata.namespace)
        self.key = f"{namespace}/{name}" if namespace else name
        self.version = "" if metadata.resourceVersion is absent else metadata.resourceVersion
        self.uid = "" if metadata.uid is absent else metadata.uid
        # None says that there is no metadata.
        self._labels = _NO_LABELS if metadata.labels is absent else metadata.labels
        self._deleted = None if metadata.deletionTimestamp is absent else metadata.deletionTimestamp

    @property
    def object_name(self) -> str:
        return self.key[len(self.namespace) + 1 :] if self.namespace else self.key

    def name(self, api_version: str, kind: str) -> None:
        self.api_version, self.kind = _names(api_version, kind)

    def copy(self) -> Self:
        copied = object.__new__(type(self))
        copied.api_version, copied.kind, copied.decoded = self.api_version, self.kind, None
        copied._text, copied._spec, copied._status = self._text, self._spec, self._status
        copied.key, copied.namespace, copied.version, copied.uid = self.key, self.namespace, self.version, self.uid
        copied._labels, copied._deleted = self._labels, self._deleted
        return copied

    def document(self) -> JSONObject:
        document: JSONObject = self.decoded_once()
        return document

    def meta(self, key: str) -> Any:
        if key == "labels":
            labels = self._labels
            return None if labels is None or labels is _NO_LABELS else READ.labels(labels)
        if key == "deletionTimestamp":
            return self._deleted
        attribute = _KEPT.get(key)
        if attribute is not None:
            return getattr(self, attribute) or None
        return self.metadata(every=key not in Metadata.__annotations__).get(key)

    def metadata(self, *, every: bool = True) -> JSONObject:
        """The metadata alone, decoded anew each time; with managedFields and what is unknown only if `every`."""
        try:
            document = self._read_metadata(every)
        except READ.refusals:  # A number too big in it.
            document = self.decode()
        metadata: JSONObject = document.get("metadata", _NO_METADATA)
        return metadata

    def metadata_of(self, obj: Object) -> Mapping[str, Any] | None:
        return None if self._labels is None else UndecodedMetadata(obj)

    def part(self, obj: Object, key: str) -> Any:
        if key == "metadata" or not obj.frozen:
            return super().part(obj, key)
        if key not in ("spec", "status"):
            return _RECENT.document_of(self).get(key)
        raw = self._spec if key == "spec" else self._status
        return None if raw is None else _RECENT.part_of(self, key, raw)

    def snapshot(self, obj: Object) -> JSONObject:
        return _RECENT.document_of(self) if obj.frozen else super().snapshot(obj)

    def _read_metadata(self, every: bool) -> JSONObject:
        read = READ.object_all_metadata if every else READ.object_metadata
        document: JSONObject = read(self._text)
        return document

    def decode(self) -> JSONObject:
        return self.named(self._parse())

    def _parse(self) -> JSONObject:
        document: JSONObject = _parse(self._text)
        return document


# What has an attribute of its own.
_KEPT: Final = {"name": "object_name", "namespace": "namespace", "resourceVersion": "version", "uid": "uid"}


class _UndecodedEventObject(UndecodedText):
    """One whose text is the event it came in: cutting it out would take another pass."""

    __slots__ = ()

    def _read_metadata(self, every: bool) -> JSONObject:
        read = READ.event_all_metadata if every else READ.event_metadata
        document: JSONObject = read(self._text)["object"]
        return document

    def _parse(self) -> JSONObject:
        document: JSONObject = super()._parse()["object"]
        return document


class UndecodedSource:
    """What can be read of an object without decoding it, in place of its document."""

    __slots__ = ("_object", "_pending")

    def __init__(self, obj: Object, pending: Undecoded) -> None:
        self._object = obj
        self._pending = pending

    def get(self, key: str) -> Any:
        if key == "metadata":
            return self._pending.metadata_of(self._object)
        return self._pending.kind if key == "kind" else self._pending.api_version


class UndecodedMetadata(Mapping[str, Any]):
    """The metadata of an object that is text, in place of the document of a view: decodes what is asked for.

    After the object was decoded it says what the document says, which may have been written to.
    """

    __slots__ = ("_object",)

    def __init__(self, obj: Object) -> None:
        self._object = obj

    def get(self, key: str, default: Any = None) -> Any:
        pending = self._object._undecoded
        if isinstance(pending, UndecodedText):
            value = pending.meta(key)
            # Through a list or a map one writes into the document, if one may write at all.
            if not isinstance(value, (dict, list)) or self._object.frozen:
                return default if value is None else value
        return self._of_document().get(key, default)

    def _of_document(self) -> JSONObject:
        metadata: JSONObject = self._object._document.get("metadata") or _NO_METADATA
        return metadata

    def whole(self) -> JSONObject:
        """All of it as one dict, not to be changed."""
        pending = self._object._undecoded
        return pending.metadata() if isinstance(pending, UndecodedText) else self._of_document()

    def __getitem__(self, key: str) -> Any:
        return self.whole()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole())

    def __len__(self) -> int:
        return len(self.whole())

    def items(self) -> ItemsView[str, Any]:
        return self.whole().items()


class UndecodedList(Undecoded):
    """A list whose items are objects already, decoded or not, and not yet the documents of a list."""

    __slots__ = (
        "_documents",
        "_is_own",
        "_items",
        "_metadata",
        "_read_only",
        "_rest",
        "_taken",
        "api_version",
        "kind",
    )

    # See Undecoded.
    api_version: str | None
    kind: str | None

    def __init__(self, document: JSONObject, items: Sequence[ResourceObject]) -> None:
        """`document` is the list's, with anything in place of the items."""
        self.api_version, self.kind = document.get("apiVersion"), document.get("kind")
        self._metadata = document.get("metadata") or _NO_METADATA
        self._rest = document
        # What the thread that decodes first has decoded: the items, and the whole. `setdefault` is one
        # step with and without a GIL, since the keys are strings.
        self._documents: dict[str, Any] = {}
        self._items = items
        # Known to be, which they stay.
        self._read_only = False
        # Whom the items belong to: to the one who took them, or to the list, which hands them out.
        self._taken = False
        self._is_own = False

    def name(self, api_version: str, kind: str) -> None:
        self.api_version, self.kind = _names(api_version, kind)

    def take_items(self) -> list[ResourceObject] | None:
        """The items for the first who asks; None for others, whose items must be objects of their own."""
        if self._taken or self._is_own:
            return None
        self._taken = True
        return [*self._items]

    def own_items(self) -> Sequence[ResourceObject] | None:
        """The items, which go on being the list's; None when somebody took them, or one of them is read-only."""
        if not self._is_own and (self._taken or any(item.frozen for item in self._items)):
            return None
        self._is_own = True
        return self._items

    def freeze(self) -> None:
        """Called when its list becomes read-only, and with it what was handed out."""
        if self._is_own:
            for item in self._items:
                item.freeze()

    def read_only_items(self) -> Sequence[ResourceObject] | None:
        """The items, which others have too; None when one of them may be written to."""
        self._read_only = self._read_only or all(item.frozen for item in self._items)
        return self._items if self._read_only else None

    def meta(self, key: str) -> Any:
        return self._metadata.get(key)

    def metadata_of(self, obj: Object) -> Mapping[str, Any] | None:
        metadata: JSONObject | None = self._rest.get("metadata")
        return metadata

    def item_documents(self) -> list[JSONObject]:
        """The array of the items that the document begins with, the same list for everybody."""
        documents: list[JSONObject] = self._documents.setdefault("items", [item._document for item in self._items])
        return documents

    def document(self) -> JSONObject:
        document: JSONObject = self._documents.setdefault(
            "", self.named({**self._rest, "items": self.item_documents()})
        )
        return document


def read_event(line: str) -> tuple[str, UndecodedText] | None:
    """The type and the object of a watch event; None when it must be decoded at once."""
    if not AVAILABLE:
        return None
    text = line if line.isascii() else line.encode()
    try:
        event = READ.event_header(text)
        header = event.object
        _check_labels(header)
    except READ.refusals:
        return None
    if header.items is not READ.absent or _may_have_endless_integer(line):
        return None
    return event.type, _UndecodedEventObject(text, header)


def read_list(data: bytes) -> tuple[JSONObject, list[UndecodedText]] | None:
    """The document of a list, with `items` empty, and the items; None when it must be decoded at once."""
    if not AVAILABLE:
        return None
    try:
        document: JSONObject = READ.shape(data)
        items, document["items"] = document.get("items"), []
        if any(value for value in document.values() if type(value) is list) or type(items) is not list:
            return None
        texts = [_read_item(item) for item in items]
    except READ.refusals:
        return None
    return (document, [text for text in texts if text is not None]) if None not in texts else None


def _read_item(raw: Any) -> UndecodedText | None:
    line = str(raw, "utf-8")
    text = line if line.isascii() else bytes(raw)
    header = READ.object_header(text)
    _check_labels(header)
    if header.items is not READ.absent or _may_have_endless_integer(line):
        return None
    return UndecodedText(text, header)


def _check_labels(header: Any) -> None:
    """Raises one of `refusals` for labels that are no map of text."""
    absent, metadata = READ.absent, header.metadata
    if metadata is not absent and metadata.labels is not absent:
        READ.labels(metadata.labels)


_TEN_DIGITS = re.compile("[0-9]{10}").search


def _may_have_endless_integer(text: str) -> bool:
    """Whether the text has an integer that json.loads refuses for its length, or something that looks like one."""
    limit = sys.get_int_max_str_digits()
    return 0 < limit < len(text) and _TEN_DIGITS(text[:: limit // 10]) is not None


def _parse(text: str | bytes) -> Any:
    """What json.loads gives for a text that was found valid, in half the time."""
    try:
        return _parse_here(text)
    except RecursionError:
        return _parse_in_a_thread(text)


def _parse_here(text: str | bytes) -> Any:
    try:
        return READ.anything(text)
    except READ.malformed:
        # A number beyond a double's range, which is infinite for json.loads.
        decoded = text if isinstance(text, str) else text.decode()
        return scan(decoded.lstrip(" \t\r\n"), 0)[0]


def _parse_in_a_thread(text: str | bytes) -> Any:
    """For a reader that has little stack left: the text is nested no deeper than what a thread's whole stack allows."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(_parse_here(text)), name="decode", daemon=True)
    thread.start()
    thread.join()
    return found[0]
