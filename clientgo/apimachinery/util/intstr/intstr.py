"""Values that are a number or a text: ports, and amounts such as 25%.

Mirrors k8s.io/apimachinery/pkg/util/intstr/intstr.go. Documents, fields and these functions use a plain int or str;
IntOrString is only the name of that union.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from clientgo.golang.strconv import parse_int, quote

IntOrString: TypeAlias = int | str
"""Go: intstr.IntOrString."""


def from_int32(val: int) -> IntOrString:
    """Return a number as an IntOrString. Go: intstr.FromInt32."""
    return val


def from_string(val: str) -> IntOrString:
    """Return a text as an IntOrString. Go: intstr.FromString."""
    return val


def parse(val: str) -> IntOrString:
    """Return the number if the text is a 32-bit integer, otherwise the text. Go: intstr.Parse.

    >>> parse("8080"), parse("http")
    (8080, 'http')
    """
    try:
        return parse_int(val, 32)
    except ValueError:
        return val


def int_value(value: IntOrString) -> int:
    """Return the number, or the number in the text, or 0. Go: IntOrString.IntValue."""
    if isinstance(value, int):
        return value
    try:
        return parse_int(value)
    except ValueError:
        return 0


def value_or_default(int_or_percent: IntOrString | None, default_value: IntOrString) -> IntOrString:
    """Return the value, or the default for None. Go: intstr.ValueOrDefault."""
    return default_value if int_or_percent is None else int_or_percent


def get_scaled_value_from_int_or_percent(int_or_percent: IntOrString | None, total: int, round_up: bool) -> int:
    """Return a number unchanged, and a percentage as that part of `total`. Raises ValueError. Go:
    GetScaledValueFromIntOrPercent.

    >>> get_scaled_value_from_int_or_percent("25%", 10, round_up=True)
    3
    """
    if int_or_percent is None:
        raise ValueError("nil value for IntOrString")
    if isinstance(int_or_percent, int):
        return int_or_percent
    percent = int_or_percent.removesuffix("%")
    if percent == int_or_percent:
        raise ValueError("invalid value for IntOrString: invalid type: string is not a percentage")
    try:
        part = parse_int(percent) * total / 100
    except ValueError as err:
        raise ValueError(
            f"invalid value for IntOrString: invalid value {quote(int_or_percent)}: "
            f"{str(err).replace('ParseInt', 'Atoi')}"
        ) from err
    return math.ceil(part) if round_up else math.floor(part)
