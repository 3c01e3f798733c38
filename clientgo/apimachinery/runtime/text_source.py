"""Objects that keep the JSON text that the server sent. No Go file: Go decodes an object when it arrives.

As text an object takes a fifth of the memory of its document, and the cyclic garbage collector has nothing to walk.
The fields that the informer machinery reads of every object (name, version, labels ...) are read when the object
arrives, in the pass that checks the text. Each read of a frozen object decodes it again, except for the last objects.

This needs msgspec (`pip install clientgo[fast]`). Without it, or with CLIENTGO_LAZY_DECODING=false in the environment
when the library is imported, `read_event` and `read_list` return None and everything is decoded when it arrives.

They also return None for every text that msgspec refuses and for unexpected content. So malformed JSON is found by
the json module, when it arrives: msgspec accepts nothing that the module refuses, with two exceptions that are checked
here, text that is not UTF-8 and integers of more digits than Python converts. A number that no float64 can hold, such
as 1e999, is the exception: outside of the metadata it is found when it is read, and that read raises ValueError. Go
rejects the object when it arrives.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from importlib.util import find_spec
from typing import Any, Final, Self

from clientgo.apimachinery.runtime.source import JSONObject, ObjectPart, ObjectSource, Part, interned_type
from clientgo.apimachinery.runtime.text_readers import READ, Metadata
from clientgo.apimachinery.util.json import scan

# Whether objects may stay JSON text in this process.
AVAILABLE: Final = (
    os.environ.get("CLIENTGO_LAZY_DECODING", "true").lower() not in ("false", "0") and find_spec("msgspec") is not None
)

_NO_METADATA: Final[dict[str, Any]] = {}
_NO_LABELS: Final = b""


class TextSource(ObjectSource):
    """The text of one object, which is valid to the last byte."""

    __slots__ = ("_deleted", "_labels", "_spec", "_status", "_text", "api_version", "kind", "uid", "version")

    # See ObjectSource.
    version: str

    def __init__(self, text: str | bytes, header: Any) -> None:
        """Keep a text in ASCII or UTF-8. No other form is as small, and msgspec reads both without a copy."""
        absent = READ.absent
        self.api_version = None if header.apiVersion is absent else header.apiVersion
        self.kind = None if header.kind is absent else header.kind
        self.state = None
        self._text = text
        # Slices of the text, not copied; None for an absent field.
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
        # None if there is no metadata.
        self._labels = _NO_LABELS if metadata.labels is absent else metadata.labels
        self._deleted = None if metadata.deletionTimestamp is absent else metadata.deletionTimestamp

    def set_type(self, api_version: str, kind: str) -> None:
        self.api_version, self.kind = interned_type(api_version, kind)

    def copy(self) -> Self:
        copied = object.__new__(type(self))
        copied.api_version, copied.kind, copied.state = self.api_version, self.kind, None
        copied._text, copied._spec, copied._status = self._text, self._spec, self._status
        copied.key, copied.namespace, copied.version, copied.uid = self.key, self.namespace, self.version, self.uid
        copied._labels, copied._deleted = self._labels, self._deleted
        return copied

    def begin(self, is_free: bool) -> _TextPart:
        return _TextPart(self.copy() if is_free else self, is_free)

    def snapshot(self) -> JSONObject:
        return super().snapshot() if self.state is None or isinstance(self.state, Part) else self.root().snapshot()

    @property
    def has_metadata(self) -> bool:
        return self._labels is not None

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
        """Decode the metadata alone; managedFields and unknown fields only if `every`."""
        try:
            document = self._read_metadata(every)
        except READ.refusals:  # A number too big in it.
            document = self.decode()
        metadata: JSONObject = document.get("metadata", _NO_METADATA)
        return metadata

    def section(self, key: str) -> Any:
        """Decode spec or status; None if it is absent."""
        raw = self._spec if key == "spec" else self._status
        return None if raw is None else self._checked(bytes(raw))

    def _read_metadata(self, every: bool) -> JSONObject:
        read = READ.object_all_metadata if every else READ.object_metadata
        document: JSONObject = read(self._text)
        return document

    def decode(self) -> JSONObject:
        return self.typed(self._parse())

    def _parse(self) -> JSONObject:
        document: JSONObject = self._checked(self._text)
        return document

    def _checked(self, text: str | bytes) -> Any:
        """Decode a part of the text. Raises ValueError, which names the object, for a number like 1e999."""
        try:
            return _parse(text)
        except ValueError as err:
            raise ValueError(f"object {self.key!r}: {err}") from None


# The fields of the metadata that have an attribute.
_KEPT: Final = {"name": "object_name", "namespace": "namespace", "resourceVersion": "version", "uid": "uid"}


class _TextPart(ObjectPart):
    """The whole object: metadata, spec and status are decoded by themselves, all else with the whole text."""

    __slots__ = ("_document", "_text")

    def __init__(self, text: TextSource, is_free: bool) -> None:
        """Create a part that reads from `text`. The text's state does not refer back to the part."""
        super().__init__(is_free)
        self._text = text
        # The whole document, of an object that is read-only.
        self._document: JSONObject | None = None

    def read(self, key: str) -> Any:
        text = self._text
        if key == "metadata":
            return self.keep(key, _TextMetadata(text, self.is_free)) if text.has_metadata else None
        document = self._document
        if document is None and key in ("spec", "status"):
            value = text.section(key)
        else:
            value = (self.decode() if document is None else document).get(key)
        return self.keep(key, value) if isinstance(value, (dict, list)) else value

    def decode(self) -> JSONObject:
        document = self._document
        if document is None:
            document = self._text.decode()
            if not self.is_free:
                self._document = document
        return document


class _TextMetadata(ObjectPart):
    """The metadata of an object that is text: a field is decoded when it is read."""

    __slots__ = ("_text",)

    def __init__(self, text: TextSource, is_free: bool) -> None:
        super().__init__(is_free)
        self._text = text

    def read(self, key: str) -> Any:
        value = self._text.meta(key)
        return self.keep(key, value) if isinstance(value, (dict, list)) else value

    def decode(self) -> JSONObject:
        return self._text.metadata()


class _EventText(TextSource):
    """An object whose text is the event that brought it: to cut it out would take another pass."""

    __slots__ = ()

    def _read_metadata(self, every: bool) -> JSONObject:
        read = READ.event_all_metadata if every else READ.event_metadata
        document: JSONObject = read(self._text)["object"]
        return document

    def _parse(self) -> JSONObject:
        document: JSONObject = super()._parse()["object"]
        return document


def read_event(line: str) -> tuple[str, TextSource] | None:
    """Return the type and the object of a watch event; None if it must be decoded at once."""
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
    return event.type, _EventText(text, header)


def read_list(data: bytes) -> tuple[JSONObject, list[TextSource]] | None:
    """Return the document of a list, with `items` empty, and the items; None if it must be decoded at once."""
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


def _read_item(raw: Any) -> TextSource | None:
    line = str(raw, "utf-8")
    text = line if line.isascii() else bytes(raw)
    header = READ.object_header(text)
    _check_labels(header)
    if header.items is not READ.absent or _may_have_endless_integer(line):
        return None
    return TextSource(text, header)


def _check_labels(header: Any) -> None:
    """Raise one of `refusals` for labels that are no map of text."""
    absent, metadata = READ.absent, header.metadata
    if metadata is not absent and metadata.labels is not absent:
        READ.labels(metadata.labels)


_TEN_DIGITS = re.compile("[0-9]{10}").search


def _may_have_endless_integer(text: str) -> bool:
    """Report whether the text may have an integer that json.loads refuses for its length."""
    limit = sys.get_int_max_str_digits()
    return 0 < limit < len(text) and _TEN_DIGITS(text[:: limit // 10]) is not None


def _parse(text: str | bytes) -> Any:
    """Decode a text that was found valid, as json.loads does but in half the time."""
    try:
        return _parse_here(text)
    except RecursionError:
        return _parse_in_a_thread(text)


def _parse_here(text: str | bytes) -> Any:
    try:
        return READ.anything(text)
    except READ.malformed:
        # A number that no float64 can hold: `scan` raises the error of an eager decoder.
        decoded = text if isinstance(text, str) else text.decode()
        return scan(decoded.lstrip(" \t\r\n"), 0)[0]


def _parse_in_a_thread(text: str | bytes) -> Any:
    """Decode in a thread, for a reader with little stack left: a whole stack is enough for every text that arrived."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(_parse_here(text)), name="decode", daemon=True)
    thread.start()
    thread.join()
    return found[0]
