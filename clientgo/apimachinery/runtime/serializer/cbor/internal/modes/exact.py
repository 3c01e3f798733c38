"""A decoder that follows Go's step by step, for what `cbor2` decodes otherwise. Has no Go file.

Mirrors decode.go of Go's library with the options of modes.Decode: which of several errors is reported, tags that say
how bytes will be encoded later, times as RFC 3339 texts, keys that are null. The bytes are well-formed (`Scanner`).

The functions are generators that yield the generators of inner items: an item may be 10,000 levels deep, more than
Python's stack.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Generator, Iterator
from typing import Any, Final, TypeAlias

from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.errors import (
    DupMapKeyError,
    InadmissibleTagContentTypeError,
    InvalidCBORError,
    SemanticError,
    UnacceptableDataItemError,
    UnmarshalTypeError,
)
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.times import unix_time_text, with_go_form
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.wellformed import (
    ARRAY,
    BYTES,
    DIAGNOSTIC,
    MAP,
    NEGATIVE,
    PRIMITIVES,
    SELF_DESCRIBED,
    TAG,
    TEXT,
    TYPES,
    UNSIGNED,
    Scanner,
)
from clientgo.golang import utf8

__all__ = ["ExactDecoder", "Reader"]

_RFC3339, _EPOCH = 0, 1
_BASE64URL, _BASE64, _BASE16 = 21, 22, 23
_MAX_INT64: Final = 2**63 - 1
_FALSE, _TRUE, _NULL, _UNDEFINED = 20, 21, 22, 23
_FLOATS: Final = {25: struct.Struct(">e"), 26: struct.Struct(">f"), 27: struct.Struct(">d")}
_NULLS: Final = (0xF6, 0xF7)
_BREAK: Final = 0xFF

# A value or, if there is one, the error in its place.
_Outcome: TypeAlias = "tuple[Any, InvalidCBORError | None]"
_Step: TypeAlias = "Generator[Any, Any, _Outcome]"


class Reader:
    """A position in well-formed bytes. Not thread-safe."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def type(self) -> int:
        """Return the major type of the next item."""
        return self.data[self.at] >> 5

    def head(self) -> tuple[int, int]:
        """Read a head; return its additional information and its value."""
        info = self.data[self.at] & 31
        self.at += 1
        if info <= 23 or info > 27:
            return info, info
        end = self.at + (1 << (info - 24))
        value = int.from_bytes(self.data[self.at : end], "big")
        self.at = end
        return info, value

    def float(self, info: int) -> float:
        """Return the number whose head was just read."""
        form = _FLOATS[info]
        number: float = form.unpack_from(self.data, self.at - form.size)[0]
        return number

    def skip(self) -> None:
        """Move behind the next item."""
        scanner = Scanner(self.at, DIAGNOSTIC)
        scanner.scan(self.data)
        self.at = scanner.at

    def found_break(self) -> bool:
        """Move behind the end of a container of an indefinite length, if it is next."""
        if self.data[self.at] != _BREAK:
            return False
        self.at += 1
        return True

    def entries(self) -> Iterator[int]:
        """Read the head of an array or map, and yield the index of each of its items or pairs before it is read."""
        info, count = self.head()
        index = 0
        while (not self.found_break()) if info == 31 else index < count:
            yield index
            index += 1

    def chunks(self) -> Iterator[bytes]:
        """Read a string; yield its chunks, one if its length is definite."""
        info, size = self.head()
        if info != 31:
            self.at += size
            yield self.data[self.at - size : self.at]
            return
        while not self.found_break():
            size = self.head()[1]
            self.at += size
            yield self.data[self.at - size : self.at]

    def byte_string(self) -> bytes:
        """Read a byte string."""
        return b"".join(self.chunks())

    def text_string(self) -> tuple[str, SemanticError | None]:
        """Read a text string, and return it or its error."""
        parts, error = [], None
        for chunk in self.chunks():
            try:
                parts.append(chunk.decode())
            except UnicodeDecodeError:
                error = SemanticError()
        return "".join(parts), error


class ExactDecoder(Reader):
    """A decoder of one well-formed item. Not thread-safe."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        # Tags 21 to 23 around the item that is read.
        self._encodings: list[int] = []
        # The tags before this position have content of the right type.
        self._checked_to = 0

    def value(self) -> Any:
        """Return the item as a JSON value. Raises InvalidCBORError."""
        value, error = _run(self._any())
        if error is not None:
            raise error
        return value

    def object(self) -> dict[str, Any] | None:
        """Return the item as a JSON object, or None for null. Raises InvalidCBORError."""
        value, error = _run(self._into("map[string]interface {}"))
        if error is not None:
            raise error
        found: dict[str, Any] | None = value
        return found

    def text_fields(self, struct_name: str, names: tuple[str, ...]) -> dict[str, str]:
        """Return fields of the map that is the item. Raises InvalidCBORError; ignores the other fields.

        Go: Unmarshal into a struct of strings.
        """
        found = dict.fromkeys(names, "")
        error = self._unwrap()
        while error is None and self.type() == TAG:
            self.head()
            error = self._unwrap()
        if error is None and self.type() == MAP:
            error = self._struct(struct_name, found)
        elif error is None and self.data[self.at] not in _NULLS[:1]:
            error = _run(self._into(struct_name))[1]
        if error is not None:
            raise error
        return found

    # Of each of the functions below, Go's name is in its docstring.

    def _any(self) -> _Step:
        """Go: parse."""
        error = self._unwrap()
        if error is not None:
            return None, error
        kind = self.type()
        outcome: _Outcome
        if kind in (UNSIGNED, NEGATIVE):
            value = self.head()[1]
            if value > _MAX_INT64:
                return None, _overflow(kind, value)
            return value if kind == UNSIGNED else -1 - value, None
        if kind == BYTES:
            return self._encoded(self.byte_string()), None
        if kind == TEXT:
            return self.text_string()
        if kind == ARRAY:
            outcome = yield self._array()
            return outcome
        if kind == MAP:
            outcome = yield self._map()
            return outcome
        if kind == TAG:
            tag = self.head()[1]
            if tag in (_RFC3339, _EPOCH):
                return self._time(tag)
            if tag in (_BASE64URL, _BASE64, _BASE16):
                self._encodings.append(tag)
                outcome = yield self._any()
                self._encodings.pop()
                return outcome
            while self.type() == TAG and not self._is_known_tag():
                self.head()
            outcome = yield self._any()
            return outcome
        return self._primitive()

    def _is_known_tag(self) -> bool:
        """Report whether the next tag has a meaning for the decoder."""
        start = self.at
        tag = self.head()[1]
        self.at = start
        return tag in (_RFC3339, _EPOCH, _BASE64URL, _BASE64, _BASE16)

    def _primitive(self) -> _Outcome:
        """Go: parse, its case of a primitive."""
        info, value = self.head()
        if info > 24:
            return self.float(info), None
        if value not in (_FALSE, _TRUE, _NULL):
            return None, _not_recognized(value)
        return None if value == _NULL else value == _TRUE, None

    def _array(self) -> _Step:
        """Go: parseArray."""
        found: list[Any] = []
        error = None
        for _ in self.entries():
            value, wrong = yield self._any()
            error = error or wrong
            found.append(value)
        return found, error

    def _map(self) -> _Step:
        """Go: parseMapToMap. Null as a key is the key before it, since Go reuses the variable."""
        found: dict[str, Any] = {}
        key = ""
        error: InvalidCBORError | None = None
        entries = self.entries()
        for index in entries:
            read, wrong = yield self._key()
            if wrong is not None:
                error = error or wrong
                self.skip()
                continue
            key = key if read is None else read
            value, wrong = yield self._any()
            if wrong is not None:
                error = error or wrong
                continue
            if key in found:
                self._skip_rest(entries)
                return found, DupMapKeyError(key, index)
            found[key] = value
        return found, error

    def _skip_rest(self, entries: Iterator[int]) -> None:
        for _ in entries:
            self.skip()
            self.skip()

    def _key(self) -> _Step:
        """Return a key; None leaves the variable. Go: parseToValue of a string."""
        return self._into("string")

    def _into(self, go_type: str) -> _Step:
        """Read a string, or a map if `go_type` is one. Go: parseToValue."""
        tags = len(self._encodings)
        outcome: _Outcome = yield self._read_into(go_type)
        del self._encodings[tags:]
        return outcome

    def _read_into(self, go_type: str) -> _Step:
        while True:
            error = self._unwrap()
            if error is not None:
                return None, error
            kind = self.type()
            if kind != TAG:
                break
            tag = self.head()[1]
            if tag in (_BASE64URL, _BASE64, _BASE16):
                self._encodings.append(tag)
        if kind == MAP and go_type.startswith("map"):
            outcome: _Outcome = yield self._map()
            return outcome
        if kind in (ARRAY, MAP):
            self.skip()
            is_struct = kind == ARRAY and "." in go_type
            detail = "cannot decode CBOR array to struct without toarray option" if is_struct else ""
            return None, UnmarshalTypeError(TYPES[kind], go_type, detail)
        if kind in (BYTES, TEXT):
            text: str
            wrong: InvalidCBORError | None
            text, wrong = (self._encoded(self.byte_string()), None) if kind == BYTES else self.text_string()
            if wrong is None and go_type != "string":
                wrong = UnmarshalTypeError(TYPES[kind], go_type)
            return text, wrong
        info, value = self.head()
        if kind == NEGATIVE and value > _MAX_INT64:
            return None, _overflow(kind, value, go_type)
        if kind == PRIMITIVES and info <= 24:
            if value not in (_FALSE, _TRUE, _NULL):
                return None, _not_recognized(value)
            if value == _NULL:
                return None, None
        return None, UnmarshalTypeError(TYPES[kind], go_type)

    def _struct(self, struct_name: str, found: dict[str, str]) -> InvalidCBORError | None:
        """Fill the fields from a map, and return the error. Go: parseMapToStruct."""
        error: InvalidCBORError | None = None
        seen: set[str] = set()
        others: set[Any] = set()
        entries = self.entries()
        for index in entries:
            kind = self.type()
            key: Any = None
            wrong: InvalidCBORError | None = None
            if kind in (BYTES, TEXT):
                key, wrong = (utf8.decode(self.byte_string()), None) if kind == BYTES else self.text_string()
                if wrong is not None:
                    error = error or wrong
                    self.skip()
                    continue
            elif kind in (UNSIGNED, NEGATIVE):
                value = self.head()[1]
                if kind == NEGATIVE and value > _MAX_INT64:
                    detail = f"-1-{value} overflows Go's int64"
                    error = error or UnmarshalTypeError(TYPES[kind], "int64", detail)
                    self.skip()
                    continue
                key = _as_int64(value) if kind == UNSIGNED else -1 - value
            else:
                detail = f"map key is of type {TYPES[kind]} and cannot be used to match struct field name"
                error = error or UnmarshalTypeError(TYPES[kind], "string", detail)
                key, wrong = _run(self._any())
                if wrong is not None or isinstance(key, dict | list):
                    self.skip()
                    continue
            if isinstance(key, str) and key in found:
                if key in seen:
                    self.skip()
                    self._skip_rest(entries)
                    return DupMapKeyError(key, index)
                seen.add(key)
                read, wrong = _run(self._into("string"))
                if isinstance(wrong, UnmarshalTypeError):
                    wrong = UnmarshalTypeError(wrong.cbor_type, wrong.go_type, wrong.message, f"{struct_name}.{key}")
                error = error or wrong
                found[key] = found[key] if read is None or wrong is not None else read
                continue
            identity = (type(key), key)
            self.skip()
            if identity in others:
                self._skip_rest(entries)
                return DupMapKeyError(key, index)
            others.add(identity)
        return error

    def _unwrap(self) -> InvalidCBORError | None:
        """Move behind self-described tags, check the content of the other tags, and return the error."""
        while self.type() == TAG:
            start = self.at
            if self.head()[1] != SELF_DESCRIBED:
                self.at = start
                break
        if self.at < self._checked_to:
            return None
        start = self.at
        while self.type() == TAG:
            tag = self.head()[1]
            error = _inadmissible(tag, self.data[self.at])
            if error is not None:
                self.skip()
                return error
        self._checked_to, self.at = self.at, start
        return None

    def _encoded(self, content: bytes) -> str:
        """Return a byte string as text. Go: applyByteStringTextConversion."""
        if not self._encodings:
            return utf8.decode(content)
        tag = self._encodings[-1]
        if tag == _BASE64URL:
            return base64.urlsafe_b64encode(content).decode().rstrip("=")
        return base64.b64encode(content).decode() if tag == _BASE64 else content.hex()

    def _time(self, tag: int) -> _Outcome:
        """Return a time as RFC 3339 text. Go: parseToTime, and time.Time's MarshalText."""
        if tag == _RFC3339:
            text, wrong = self.text_string()
            return (None, wrong) if wrong is not None else with_go_form(text)
        kind = self.type()
        info, value = self.head()
        if kind == PRIMITIVES:
            return unix_time_text(self.float(info))
        if value > _MAX_INT64:
            return None, _overflow(kind, value, "time.Time")
        return unix_time_text(value if kind == UNSIGNED else -1 - value)


def _run(step: _Step) -> _Outcome:
    """Run a generator and the ones that it yields."""
    stack = [step]
    outcome: Any = None
    while stack:
        try:
            stack.append(stack[-1].send(outcome))
            outcome = None
        except StopIteration as done:
            stack.pop()
            outcome = done.value
    result: _Outcome = outcome
    return result


def _inadmissible(tag: int, content: int) -> InadmissibleTagContentTypeError | None:
    """Return the error for a tag whose content begins with the byte `content`. Go: validBuiltinTag."""
    kind = content >> 5
    if tag == _RFC3339 and kind != TEXT:
        return InadmissibleTagContentTypeError(tag, "text string", TYPES[kind])
    if tag == _EPOCH and kind not in (UNSIGNED, NEGATIVE) and not 0xF9 <= content <= 0xFB:
        return InadmissibleTagContentTypeError(tag, "integer or floating-point number", TYPES[kind])
    return None


def _overflow(kind: int, value: int, go_type: str = "int64") -> UnmarshalTypeError:
    number = value if kind == UNSIGNED else -1 - value
    return UnmarshalTypeError(TYPES[kind], go_type, f"{number} overflows Go's int64")


def _not_recognized(value: int) -> UnacceptableDataItemError:
    return UnacceptableDataItemError("primitives", f"simple value {value} is not recognized")


def _as_int64(value: int) -> int:
    return value - 2**64 if value > _MAX_INT64 else value
