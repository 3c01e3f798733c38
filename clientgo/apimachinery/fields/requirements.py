"""The requirements of a field selector (k8s.io/apimachinery/pkg/fields/requirements.go)."""

from __future__ import annotations

from typing import NamedTuple

from clientgo.apimachinery.selection.operator import Operator


class Requirements(list["Requirement"]):
    """A list of requirements that must all be met. Go: fields.Requirements."""


class Requirement(NamedTuple):
    """A field, and the value that it must or must not have. Go: fields.Requirement."""

    operator: Operator
    field: str
    value: str
