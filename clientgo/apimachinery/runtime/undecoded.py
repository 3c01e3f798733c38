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

import importlib
import os
import re
import sys
import threading
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Self, TypedDict, cast

from clientgo.apimachinery.util.json import scan

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.object import Object, ResourceObject
    from clientgo.apimachinery.runtime.view import JSONObject


# Whether objects may be undecoded at all in this process.
AVAILABLE: Final = (
    os.environ.get("CLIENTGO_LAZY_DECODING", "true").lower() not in ("false", "0") and find_spec("msgspec") is not None
)


class _Header(TypedDict, total=False):
    """The metadata that is kept beside the text: what store, queue, index and selectors ask of every object."""

    name: str
    namespace: str
    uid: str
    resourceVersion: str
    labels: dict[str, str]
    deletionTimestamp: str


class _Metadata(TypedDict, total=False):
    """The metadata that is read from the text each time it is asked for; all but the header and managedFields."""

    annotations: Any
    creationTimestamp: Any
    deletionGracePeriodSeconds: Any
    finalizers: Any
    generateName: Any
    generation: Any
    ownerReferences: Any
    selfLink: Any


class _ObjectHeader(TypedDict, total=False):
    apiVersion: str
    kind: str
    metadata: _Header
    # Only lists have them.
    items: Any


class _EventHeader(TypedDict):
    type: str
    object: _ObjectHeader


class _ObjectMetadata(TypedDict, total=False):
    metadata: _Metadata


class _EventMetadata(TypedDict):
    object: _ObjectMetadata


class _ObjectAllMetadata(TypedDict, total=False):
    metadata: dict[str, Any]


class _EventAllMetadata(TypedDict):
    object: _ObjectAllMetadata


class _Readers:
    """What reads texts, made when the first comes: msgspec takes a twentieth of a program's start."""

    @cached_property
    def _msgspec(self) -> Any:
        return importlib.import_module("msgspec")

    def _reader(self, type: Any) -> Callable[[str | bytes], Any]:
        decode: Callable[[str | bytes], Any] = self._msgspec.json.Decoder(type).decode
        return decode

    @cached_property
    def refusals(self) -> tuple[type[Exception], ...]:
        """What msgspec raises for what it does not take."""
        return (self._msgspec.DecodeError, UnicodeDecodeError, RecursionError)

    @cached_property
    def malformed(self) -> type[Exception]:
        """What it raises for what is no JSON."""
        error: type[Exception] = self._msgspec.DecodeError
        return error

    @cached_property
    def shape(self) -> Callable[[str | bytes], Any]:
        """Arrays at the top are cut into their items and not decoded."""
        raw = self._msgspec.Raw
        return self._reader(dict[str, list[raw] | dict[str, Any] | str | bool | None])  # type: ignore[valid-type]

    anything = cached_property(lambda self: self._reader(Any))
    object_header = cached_property(lambda self: self._reader(_ObjectHeader))
    event_header = cached_property(lambda self: self._reader(_EventHeader))
    object_metadata = cached_property(lambda self: self._reader(_ObjectMetadata))
    event_metadata = cached_property(lambda self: self._reader(_EventMetadata))
    object_all_metadata = cached_property(lambda self: self._reader(_ObjectAllMetadata))
    event_all_metadata = cached_property(lambda self: self._reader(_EventAllMetadata))


_READ: Final = _Readers()

_NO_METADATA: Final[dict[str, Any]] = {}


class Undecoded:
    """What stands in an object in place of its document. Thread-safe."""

    __slots__ = ("api_version", "kind")

    # What the document will say; None when it says nothing. The one who makes an object of it may change them.
    api_version: str | None
    kind: str | None

    def name(self, api_version: str, kind: str) -> None:
        """Change what the document will say, "" for nothing. Decodes nothing."""
        # Interned, since a cache does this to all objects of a kind.
        self.api_version, self.kind = sys.intern(api_version) or None, sys.intern(kind) or None

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

    def says_the_same(self, other: Undecoded | None) -> bool:
        """Whether it can be told without decoding that the other is the same; if it cannot, they may still be equal."""
        return False


class _Recent:
    """The documents that were decoded last, of objects that stay text. Thread-safe.

    A document kept in its object would stay as long as that is cached, and the cyclic garbage collector would walk
    through all of them again and again. Whoever reads an object mostly reads a few of its fields, one after the other:
    a few documents are enough to decode it once for all of them.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # Guards the dict, but not a look into it, which is one step. Not held while a document is decoded.
        self._lock = threading.Lock()
        self._documents: dict[UndecodedText, JSONObject] = {}

    def document_of(self, text: UndecodedText) -> JSONObject:
        """The document of a text, not to be changed; the same dict until so many others were asked for."""
        document = self._documents.get(text)
        if document is not None:
            return document
        document = text.decode()
        with self._lock:
            document = self._documents.setdefault(text, document)
            if len(self._documents) > self._most:
                del self._documents[next(iter(self._documents))]
        return document


# With more of them some are still there when the collector next looks for what is old.
_RECENT: Final = _Recent(4)


class UndecodedText(UndecodedObject):
    """The text of one object, which is valid to the last byte.

    An object that is frozen stays text, whatever is read of it.
    """

    __slots__ = ("_header", "_text")

    def __init__(self, text: str | bytes, header: _ObjectHeader) -> None:
        """`text` is ASCII or UTF-8: nothing else is as small, and msgspec reads it without a copy."""
        self.api_version, self.kind = header.get("apiVersion"), header.get("kind")
        self.decoded = None
        # Some of the metadata, never changed.
        self._header: Mapping[str, Any] = header.get("metadata", _NO_METADATA)
        self._text = text

    @property
    def object_name(self) -> str:
        name: str = self._header.get("name", "")
        return name

    @property
    def namespace(self) -> str:
        namespace: str = self._header.get("namespace", "")
        return namespace

    @property
    def version(self) -> str:
        version: str = self._header.get("resourceVersion", "")
        return version

    @property
    def key(self) -> str:
        namespace, name = self._header.get("namespace"), self._header.get("name", "")
        return f"{namespace}/{name}" if namespace else name

    def copy(self) -> Self:
        copied = object.__new__(type(self))
        copied.api_version, copied.kind, copied._header = self.api_version, self.kind, self._header
        copied._text = self._text
        copied.decoded = None
        return copied

    def document(self) -> JSONObject:
        document: JSONObject = self.decoded_once()
        return document

    def meta(self, key: str) -> Any:
        value = self._header.get(key)
        if value is not None or key in _Header.__annotations__:
            return value
        return self.metadata(every=key not in _Metadata.__annotations__).get(key)

    def metadata(self, *, every: bool = True) -> JSONObject:
        """The metadata alone, decoded anew each time; with managedFields and what is unknown only if `every`."""
        try:
            document = self._read_metadata(every)
        except _READ.refusals:  # A number too big in it.
            document = self.decode()
        metadata: JSONObject = document.get("metadata", _NO_METADATA)
        return metadata

    def metadata_of(self, obj: Object) -> Mapping[str, Any] | None:
        return None if self._header is _NO_METADATA else UndecodedMetadata(obj)

    def part(self, obj: Object, key: str) -> Any:
        if key == "metadata" or not obj.frozen:
            return super().part(obj, key)
        return _RECENT.document_of(self).get(key)

    def snapshot(self, obj: Object) -> JSONObject:
        return _RECENT.document_of(self) if obj.frozen else super().snapshot(obj)

    def _read_metadata(self, every: bool) -> JSONObject:
        read = _READ.object_all_metadata if every else _READ.object_metadata
        document: JSONObject = read(self._text)
        return document

    def decode(self) -> JSONObject:
        return self.named(self._parse())

    def _parse(self) -> JSONObject:
        document: JSONObject = _parse(self._text)
        return document


class _UndecodedEventObject(UndecodedText):
    """One whose text is the event it came in: cutting it out would take another pass."""

    __slots__ = ()

    def _read_metadata(self, every: bool) -> JSONObject:
        read = _READ.event_all_metadata if every else _READ.event_metadata
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

    __slots__ = ("_documents", "_is_own", "_items", "_metadata", "_read_only", "_rest", "_taken")

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
        event: _EventHeader = _READ.event_header(text)
    except _READ.refusals:
        return None
    header = event["object"]
    if "items" in header or _may_have_endless_integer(line):
        return None
    return event["type"], _UndecodedEventObject(text, header)


def read_list(data: bytes) -> tuple[JSONObject, list[UndecodedText]] | None:
    """The document of a list, with `items` empty, and the items; None when it must be decoded at once."""
    if not AVAILABLE:
        return None
    try:
        document: JSONObject = _READ.shape(data)
        items, document["items"] = document.get("items"), []
        if any(value for value in document.values() if type(value) is list) or type(items) is not list:
            return None
        texts = [_read_item(item) for item in items]
    except _READ.refusals:
        return None
    return (document, [text for text in texts if text is not None]) if None not in texts else None


def _read_item(raw: Any) -> UndecodedText | None:
    line = str(raw, "utf-8")
    text = line if line.isascii() else bytes(raw)
    header: _ObjectHeader = _READ.object_header(text)
    if "items" in header or _may_have_endless_integer(line):
        return None
    return UndecodedText(text, header)


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
        return _READ.anything(text)
    except _READ.malformed:
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
