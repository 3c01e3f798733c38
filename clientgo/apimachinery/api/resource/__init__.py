"""Amounts of resources (k8s.io/apimachinery/pkg/api/resource)."""

from clientgo.apimachinery.api.resource.quantity import (
    ErrFormatWrong,
    ErrNumeric,
    ErrSuffix,
    Quantity,
    must_parse,
    new_milli_quantity,
    new_quantity,
    new_scaled_quantity,
    parse_quantity,
)
from clientgo.apimachinery.api.resource.suffix import Format

__all__ = [
    "ErrFormatWrong",
    "ErrNumeric",
    "ErrSuffix",
    "Format",
    "Quantity",
    "must_parse",
    "new_milli_quantity",
    "new_quantity",
    "new_scaled_quantity",
    "parse_quantity",
]
