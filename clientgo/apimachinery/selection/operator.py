"""The operators of label and field selectors (k8s.io/apimachinery/pkg/selection/operator.go)."""

from __future__ import annotations

from enum import StrEnum


class Operator(StrEnum):
    """The comparison of a requirement. Go: selection.Operator."""

    DOES_NOT_EXIST = "!"
    EQUALS = "="
    DOUBLE_EQUALS = "=="
    IN = "in"
    NOT_EQUALS = "!="
    NOT_IN = "notin"
    EXISTS = "exists"
    GREATER_THAN = "gt"
    LESS_THAN = "lt"
