"""The single demands a field selector is made of (k8s.io/apimachinery/pkg/fields/requirements.go)."""

from __future__ import annotations

from dataclasses import dataclass

from clientgo.apimachinery.selection.operator import Operator


class Requirements(list["Requirement"]):
    """Requirements that must all hold. Go: fields.Requirements."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One field, and the value it must or must not have. Go: fields.Requirement."""

    operator: Operator
    field: str
    value: str
