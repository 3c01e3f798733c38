"""The errors of malformed and unacceptable CBOR, with the texts of Go's library (fxamacker/cbor). Has no Go file.

The end of the bytes within an item is golang.io.ErrUnexpectedEOF, and no bytes at all are EOFError, as in Go.
"""

from __future__ import annotations

from clientgo.golang.strconv import quote

__all__ = [
    "DupMapKeyError",
    "InadmissibleTagContentTypeError",
    "InvalidCBORError",
    "SemanticError",
    "UnacceptableDataItemError",
    "UnknownFieldError",
    "UnmarshalTypeError",
    "WellformednessError",
]


class InvalidCBORError(ValueError):
    """Base class of the errors about the bytes; the text begins with "cbor: "."""


class WellformednessError(InvalidCBORError):
    """The bytes are no CBOR, or exceed a limit. Go: SyntaxError, MaxNestedLevelError and others."""


class SemanticError(InvalidCBORError):
    """A text string that is not valid UTF-8. Go: SemanticError."""

    def __init__(self) -> None:
        super().__init__("cbor: invalid UTF-8 string")


class UnacceptableDataItemError(InvalidCBORError):
    """An item that Kubernetes does not accept, such as NaN. Go: UnacceptableDataItemError."""

    def __init__(self, cbor_type: str, message: str) -> None:
        super().__init__(f"cbor: data item of cbor type {cbor_type} is not accepted by protocol: {message}")


class UnmarshalTypeError(InvalidCBORError):
    """An item that the Go type cannot hold. Go: UnmarshalTypeError."""

    def __init__(self, cbor_type: str, go_type: str, message: str = "", field: str = "") -> None:
        into = f"Go struct field {field}" if field else "Go value"
        detail = f" ({message})" if message else ""
        super().__init__(f"cbor: cannot unmarshal {cbor_type} into {into} of type {go_type}{detail}")
        self.cbor_type = cbor_type
        self.go_type = go_type
        self.message = message


class DupMapKeyError(InvalidCBORError):
    """A key that is twice in a map; `index` is the position of the second one. Go: DupMapKeyError."""

    def __init__(self, key: str | int | None, index: int) -> None:
        shown = quote(key) if isinstance(key, str) else "<nil>" if key is None else key
        super().__init__(f"cbor: found duplicate map key {shown} at map element index {index}")
        self.key = key
        self.index = index


class UnknownFieldError(InvalidCBORError):
    """A key that is no field of the type; `index` is its position in its map. Go: UnknownFieldError."""

    def __init__(self, index: int) -> None:
        super().__init__(f"cbor: found unknown field at map element index {index}")
        self.index = index


class InadmissibleTagContentTypeError(InvalidCBORError):
    """A tag around an item of a wrong type. Go: InadmissibleTagContentTypeError."""

    def __init__(self, tag: int, expected: str, got: str) -> None:
        super().__init__(f"cbor: tag number {tag} must be followed by {expected}, got {got}")
