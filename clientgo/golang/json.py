"""What decoding JSON into the wrong Go type says. Go: encoding/json (decode.go), as sigs.k8s.io/json has it."""

from __future__ import annotations

from typing import Any

_KINDS = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}


class UnmarshalTypeError(ValueError):
    """A JSON value of a type that its Go field does not take. Go: json.UnmarshalTypeError.

    >>> print(UnmarshalTypeError(7, "string", "AuthInfo", "users.user.token"))
    json: cannot unmarshal number into Go struct field AuthInfo.users.user.token of type string
    """

    def __init__(self, value: Any, go_type: str, struct: str = "", field: str = "", *, within: str = "") -> None:
        """`struct` is the innermost struct, `field` the names from the outermost to the field, without indices.

        `within` names the object, for an error that comes long after the object.
        """
        self.value = kind_of(value)
        if go_type.lstrip("u").startswith("int") and self.value == "number":
            self.value = f"number {value}"
        self.type = go_type
        self.struct = struct
        self.field = field
        place = f"struct field {struct}.{field}" if struct or field else "value"
        text = f"json: cannot unmarshal {self.value} into Go {place} of type {go_type}"
        self.text = text
        super().__init__(f"{within}: {text}" if within else text)


def kind_of(value: Any) -> str:
    """What JSON calls the value: "object", "array", "string", "number", "bool" or "null".

    >>> kind_of([]), kind_of(True), kind_of(None)
    ('array', 'bool', 'null')
    """
    return _KINDS.get(type(value), "null")
