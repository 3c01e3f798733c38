"""Values that are a number or a text (k8s.io/apimachinery/pkg/util/intstr)."""

from clientgo.apimachinery.util.intstr.intstr import (
    IntOrString,
    from_int32,
    from_string,
    get_scaled_value_from_int_or_percent,
    int_value,
    parse,
    value_or_default,
)

__all__ = [
    "IntOrString",
    "from_int32",
    "from_string",
    "get_scaled_value_from_int_or_percent",
    "int_value",
    "parse",
    "value_or_default",
]
