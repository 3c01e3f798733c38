"""Small conversions between query parameters and option fields. Mirrors runtime/conversion.go."""

from __future__ import annotations

from collections.abc import Sequence

from clientgo.golang.strconv import parse_int


def default_meta_v1_field_selector_conversion(label: str, value: str) -> tuple[str, str]:
    """Accept the two field labels every kind has; raises ValueError for others.

    Go: DefaultMetaV1FieldSelectorConversion.
    """
    if label in ("metadata.name", "metadata.namespace"):
        return label, value
    raise ValueError(f'"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"')


def convert_slice_string_to_string(values: Sequence[str]) -> str:
    """Return the first value, or "" when there is none. Go: Convert_Slice_string_To_string."""
    return values[0] if values else ""


def convert_slice_string_to_int(values: Sequence[str]) -> int:
    """Return the first value as a number, or 0 when there is none. Raises ValueError. Go: Convert_Slice_string_To_int.
    """
    return parse_int(values[0]) if values else 0


def convert_slice_string_to_bool(values: Sequence[str]) -> bool:
    """Return False for no value, "0" and "false" in any case; True otherwise. Go: Convert_Slice_string_To_bool."""
    if not values:
        return False
    return values[0].lower() not in ("0", "false")


def convert_slice_string_to_pointer_bool(values: Sequence[str]) -> bool | None:
    """Return the same as `convert_slice_string_to_bool`. Go: Convert_Slice_string_To_Pointer_bool."""
    return convert_slice_string_to_bool(values)


def convert_string_to_int64(value: str) -> int:
    """Return the text's number. Raises ValueError when the text is not a number. Go: Convert_string_To_int64."""
    return parse_int(value)


def convert_slice_string_to_int64(values: Sequence[str]) -> int:
    """Return the first value of a query parameter as an integer, 0 without one. Go: Convert_Slice_string_To_int64."""
    return parse_int(values[0]) if values else 0


def convert_string_to_pointer_int64(value: str) -> int | None:
    """Return a text as an integer. Go: Convert_string_To_Pointer_int64."""
    return parse_int(value)


def convert_slice_string_to_pointer_int64(values: Sequence[str]) -> int | None:
    """Return the first value of a query parameter as an integer. Go: Convert_Slice_string_To_Pointer_int64."""
    return parse_int(values[0]) if values else None
