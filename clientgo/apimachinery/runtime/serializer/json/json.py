"""Objects as JSON. Mirrors runtime/serializer/json/json.go.

Differs: there is no pretty and no strict form, and a document's numbers stay Python numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from json import JSONDecodeError
from typing import Any

from clientgo.apimachinery.runtime.documents import document_of, replace_document
from clientgo.apimachinery.runtime.error import new_missing_kind_err, new_missing_version_err
from clientgo.apimachinery.runtime.field_types import go_name
from clientgo.apimachinery.runtime.object import ListObject, Object, ResourceObject
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind, parse_group_version
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.text_source import TextSource, read_list
from clientgo.apimachinery.runtime.types import CONTENT_TYPE_PROTOBUF
from clientgo.apimachinery.runtime.unknown_fields import UnknownFieldsError, has_unknown_fields, no_json
from clientgo.apimachinery.runtime.view import JSONObject
from clientgo.apimachinery.util.json import encode, unmarshal
from clientgo.golang.json import UnmarshalTypeError, kind_of, syntax_error

_INTERPRET = "couldn't get version/kind; json parse error"
# The struct that Go reads the two fields into.
_HEAD = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
_OPTION_KINDS = frozenset(
    {"ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions"}
)


def parse_json(data: bytes | str) -> Any:
    """Parse JSON in UTF-8; an invalid byte and an escaped lone surrogate become U+FFFD, as in Go.

    Raises ValueError, also for NaN, infinity and values nested deeper than 10,000 levels, as Go does.

    In a str, surrogates that stand for bytes stay (see golang.utf8).

    Nothing is done about the cyclic garbage collector here. Pausing it while a big list is parsed was measured: parsing
    10,000 pods then takes half the time, and the collections that were put off cost the same afterwards.
    """
    return unmarshal(data)


class JSONSerializer:
    """A serializer of the kinds of a scheme. Thread-safe.

    With `strip` decoded objects have no apiVersion and kind, as from Go's typed clients (WithoutVersionDecoder).
    `version` is the written version of objects that have several.
    """

    def __init__(
        self,
        scheme: Scheme,
        *,
        strip: bool = False,
        version: GroupVersion | None = None,
        expected: type[Object] | None = None,
    ) -> None:
        self._scheme = scheme
        self._strip = strip
        self._version = version
        self._expected = expected
        # Only grows; a race writes the same entry twice.
        self._classes: dict[tuple[str | None, str | None], type[Object]] = {}

    def decode(
        self, data: bytes, defaults: GroupVersionKind | None = None, into: Object | type[Object] | None = None
    ) -> tuple[Object, GroupVersionKind]:
        """See runtime.Decoder."""
        if defaults is None and isinstance(into, type) and issubclass(into, ListObject):
            listed = self._decode_list(data, into)
            if listed is not None:
                return listed
        try:
            document = parse_json(data)
        except ValueError as err:
            text = syntax_error(err) if isinstance(err, JSONDecodeError) else str(err)
            raise ValueError(f"{_INTERPRET}: {text}") from err
        return self._decode_value(document, data, defaults, into)

    def _decode_value(
        self, document: Any, data: bytes, defaults: GroupVersionKind | None, into: Object | type[Object] | None
    ) -> tuple[Object, GroupVersionKind]:
        """Return the object of a parsed text. `data` is the text, for messages."""
        if document is None:
            if into is None and defaults is None:
                raise new_missing_kind_err(_shown(data))
            document = {}
        if not isinstance(document, dict):
            raise ValueError(f"{_INTERPRET}: json: cannot unmarshal {kind_of(document)} into Go value of type {_HEAD}")
        if defaults is not None:
            api_version, kind = defaults.to_api_version_and_kind()
            document["apiVersion"] = document.get("apiVersion") or api_version
            document["kind"] = document.get("kind") or kind
        gvk = _kind_of(document, into)
        if not gvk.kind and into is None:
            raise new_missing_kind_err(_shown(data))
        if not gvk.version and self.needs_version(into):
            raise new_missing_version_err(_shown(data))
        return self.decode_document(document, into), gvk

    def needs_version(self, into: Object | type[Object] | None) -> bool:
        """Report whether a document must have an apiVersion: unless it is decoded into a class without a kind."""
        return into is None or into.GROUP_VERSION_KIND is not None

    def decode_document(self, document: JSONObject, into: Object | type[Object] | None = None) -> Object:
        """See runtime.Decoder."""
        if into is not None:
            return self._fill(document, into)
        cls = self._class_of(document)
        check_header(cls, document)
        if self._strip:
            document.pop("apiVersion", None)
            document.pop("kind", None)
        return cls.from_dict(document)

    @property
    def strips(self) -> bool:
        """True if decoded objects have no apiVersion and kind."""
        return self._strip

    def _class_of(self, document: JSONObject) -> type[Object]:
        api_version, kind = document.get("apiVersion"), document.get("kind")
        if type(api_version) is not str or type(kind) is not str:
            return self._class_for(document)
        return self._classes.get((api_version, kind)) or self._class_for(document)

    def decode_lazily(self, text: TextSource) -> Object | None:
        """See runtime.LazyDecoder. Has to agree with `decode_document`, also where a subclass overrides that."""
        cls = self._classes.get((text.api_version, text.kind))
        if cls is None or not issubclass(cls, ResourceObject):
            return None
        if self._strip:
            text.api_version = text.kind = None
        return cls.from_source(text)

    def _decode_list(self, data: bytes, into: type[ListObject]) -> tuple[Object, GroupVersionKind] | None:
        """Return a list that decodes its items when they are read, or None when everything must be decoded immediately.
        """
        item = into.ITEM
        found = read_list(data) if item is not None else None
        if item is None or found is None:
            return None
        document, texts = found
        if document.get("apiVersion", "") is None:
            return None  # The items would get it.
        try:
            gvk = _kind_of(document, into)
            self.name_items(document, texts)
            if type(self.decode_document(document, into)) is not into:
                return None
        except Exception:
            return None  # It will be raised again, with the items in the message.
        return into.of_items(document, [item.from_source(text) for text in texts]), gvk

    def name_items(self, document: JSONObject, items: Sequence[TextSource]) -> None:
        """Set the kind of the items before they become objects. Subclasses override this; here each item names its own
        kind.
        """

    def _class_for(self, document: JSONObject) -> type[Object]:
        gvk = _kind_of(document, None)
        if not gvk.kind:
            raise new_missing_kind_err(_shown(encode(document)))
        if not gvk.version:
            raise new_missing_version_err(_shown(encode(document)))
        cls = self._expected
        if cls is None or cls.GROUP_VERSION_KIND not in (gvk, None) or self._scheme.recognizes(gvk):
            cls = self._scheme.class_for(gvk)
        self._classes[document.get("apiVersion"), document.get("kind")] = cls
        return cls

    def _fill(self, document: JSONObject, into: Object | type[Object]) -> Object:
        """Give `into` the document when it is of its kind, otherwise return an object of the kind it is of.

        A class that the scheme does not know takes any kind that it does not know either.
        """
        own = into.GROUP_VERSION_KIND
        if own is not None:
            gvk = _kind_of(document, into)
            cls = into if isinstance(into, type) else type(into)
            is_own = gvk == own or gvk == self._scheme.unversioned_kind(cls)
            if not is_own and (self._scheme.recognizes(gvk) or self._scheme.recognizes(own)):
                # As in Go, the object's kind supplies what the document omits.
                document["apiVersion"], document["kind"] = gvk.to_api_version_and_kind()
                return self.decode_document(document)
            check_header(cls, document)
            if self._strip:
                document.pop("apiVersion", None)
                document.pop("kind", None)
        if isinstance(into, type):
            return into.from_dict(document)
        replace_document(into, document)
        return into

    def encode(self, obj: Object) -> bytes:
        """Return the object with apiVersion and kind, followed by a newline like the output of Go's encoder.

        Raises UnknownFieldsError when JSON would lose fields: those of an object that was read as protobuf from a newer
        server.
        """
        return encode(self.written_document(obj)).encode() + b"\n"

    def written_document(self, obj: Object) -> JSONObject:
        """Return the document that `encode` writes, which callers must not change. Raises UnknownFieldsError."""
        document = document_of(obj)
        if has_unknown_fields(document):
            raise UnknownFieldsError(
                f"{obj!r} has fields that this version does not know, which only protobuf can write: "
                f"the client's content type must be {CONTENT_TYPE_PROTOBUF}"
            )
        own = type(obj).GROUP_VERSION_KIND
        if own is None:
            return _unstructured_document(obj)
        written = self._scheme.unversioned_kind(type(obj)) or written_kind(own, self._version)
        api_version, kind = written.to_api_version_and_kind()
        return {"kind": kind, "apiVersion": api_version, **_without_type(document)}

    def identifier(self) -> str:
        """Return the text that identifies the encoding. Go: Identifier."""
        return f"json:{self._version or ''}"

    def stripping(self) -> JSONSerializer:
        """Return a decoder whose objects have no apiVersion and kind."""
        return type(self)(self._scheme, strip=True, version=self._version)

    def expecting(self, cls: type[Object]) -> JSONSerializer:
        """See runtime.Decoder."""
        return type(self)(self._scheme, strip=self._strip, version=self._version, expected=cls)

    def writing(self, version: GroupVersion | None) -> JSONSerializer:
        """Return an encoder for a client of `version`."""
        return type(self)(self._scheme, strip=self._strip, version=version)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._scheme!r}{', stripping' if self._strip else ''}>"


class YAMLSerializer(JSONSerializer):
    """Reads and writes the kinds of a scheme as YAML. Go: json.NewYAMLSerializer."""

    def decode(
        self, data: bytes, defaults: GroupVersionKind | None = None, into: Object | type[Object] | None = None
    ) -> tuple[Object, GroupVersionKind]:
        """See runtime.Decoder. Raises YAMLSyntaxError, a ValueError."""
        from clientgo.apimachinery.util import yaml  # Imported here, since few responses are YAML.

        return self._decode_value(yaml.unmarshal(data), data, defaults, into)

    def encode(self, obj: Object) -> bytes:
        """Return the object with apiVersion and kind. Raises UnknownFieldsError as JSONSerializer.encode does."""
        import yaml  # Imported here, since few clients write YAML.

        document = unmarshal(encode(self.written_document(obj)))
        text: str = yaml.safe_dump(document, allow_unicode=True, default_flow_style=False, width=math.inf)
        return text.encode()

    def identifier(self) -> str:
        """Return the text that identifies the encoding. Go: Identifier."""
        return f"yaml:{self._version or ''}"


# The characters of a document in a message.
_MAX_SHOWN = 1024


def _shown(data: bytes | str) -> str:
    text = data if isinstance(data, str) else data[:_MAX_SHOWN].decode("utf-8", "replace")
    return text[:_MAX_SHOWN]


def marshal_unstructured(obj: Object) -> bytes:
    """Return an object's document as it is, followed by a newline. A list without items gets an empty array.

    Raises UnknownFieldsError as JSONSerializer.encode does.
    """
    return encode(_unstructured_document(obj)).encode() + b"\n"


def _unstructured_document(obj: Object) -> JSONObject:
    document = document_of(obj)
    if has_unknown_fields(document):
        raise no_json(obj)
    if isinstance(obj, ListObject) and document.get("items") is None:
        document = {**document, "items": []}
    return document


def written_kind(own: GroupVersionKind, version: GroupVersion | None) -> GroupVersionKind:
    """Return the kind to write. Options are written in the client's version; every other kind has one version."""
    if version is not None and own.kind in _OPTION_KINDS and own.version == "v1":
        return version.with_kind(own.kind)
    return own


def check_header(cls: type[Object], document: JSONObject) -> None:
    """Raise UnmarshalTypeError if a field that the machinery reads of every object has a wrong type, as in Go.

    Other fields are checked when they are read. `text_source` accepts the same objects.
    """
    if issubclass(cls, ResourceObject):
        _check_metadata(document.get("metadata"), cls, "metadata")
    elif issubclass(cls, ListObject):
        _check_list(cls, document)


def _check_list(cls: type[ListObject], document: JSONObject) -> None:
    metadata, items, item = document.get("metadata"), document.get("items"), cls.ITEM
    if metadata is not None:
        if type(metadata) is not dict:
            raise UnmarshalTypeError(metadata, "v1.ListMeta", cls.__name__, "metadata")
        for key in ("resourceVersion", "continue", "selfLink"):
            if type(metadata.get(key, "")) is not str and metadata[key] is not None:
                raise UnmarshalTypeError(metadata[key], "string", "ListMeta", f"metadata.{key}")
    if item is None or items is None:
        return
    if type(items) is not list:
        raise UnmarshalTypeError(items, f"[]{go_name(item)}", cls.__name__, "items")
    for index, one in enumerate(items):
        if isinstance(one, dict):  # Perhaps one with fields of a newer server.
            _check_metadata(one.get("metadata"), item, "items.metadata")
        elif one is None:  # As Go has it.
            items[index] = {}
        else:
            raise UnmarshalTypeError(one, go_name(item), cls.__name__, "items")


_HEADER = ("name", "namespace", "uid", "resourceVersion", "deletionTimestamp")


def _check_metadata(metadata: Any, cls: type[Object], path: str) -> None:
    if metadata is None:
        return
    if type(metadata) is not dict:
        raise UnmarshalTypeError(metadata, "v1.ObjectMeta", cls.__name__, path)
    for key in _HEADER:
        if type(metadata.get(key, "")) is not str and metadata[key] is not None:
            name = "types.UID" if key == "uid" else "string"
            raise UnmarshalTypeError(metadata[key], name, "ObjectMeta", f"{path}.{key}")
    labels = metadata.get("labels")
    if labels is None:
        return
    if type(labels) is not dict:
        raise UnmarshalTypeError(labels, "map[string]string", "ObjectMeta", f"{path}.labels")
    for key, value in labels.items():
        if value is None:  # As Go has it.
            labels[key] = ""
        elif type(value) is not str:
            raise UnmarshalTypeError(value, "string", "ObjectMeta", f"{path}.labels")


def _kind_of(document: JSONObject, into: Object | type[Object] | None) -> GroupVersionKind:
    api_version, kind = document.get("apiVersion") or "", document.get("kind") or ""
    if not isinstance(api_version, str):
        raise ValueError(f"{_INTERPRET}: {UnmarshalTypeError(api_version, 'string', '', 'apiVersion')}")
    if not isinstance(kind, str):
        raise ValueError(f"{_INTERPRET}: {UnmarshalTypeError(kind, 'string', '', 'kind')}")
    own = into.GROUP_VERSION_KIND if into is not None else None
    if own is None:
        return parse_group_version(api_version).with_kind(kind)
    version = parse_group_version(api_version) if api_version else own.group_version()
    return version.with_kind(kind or own.kind)


def _without_type(document: JSONObject) -> JSONObject:
    if "kind" not in document and "apiVersion" not in document:
        return document
    return {key: value for key, value in document.items() if key not in ("kind", "apiVersion")}


class _LineFramer:
    """One JSON document a line. The reader is the body itself: clientgo.rest.watch cuts it into lines."""

    def new_frame_reader(self, reader: Any) -> Any:
        return reader

    def new_frame_writer(self, writer: Any) -> Any:
        return writer


LINE_FRAMER = _LineFramer()
