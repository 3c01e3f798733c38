"""Sets of labels and functions on them.

Mirrors k8s.io/apimachinery/pkg/labels/labels.go. Readers accept any mapping of texts (a plain dict, an object's
`metadata.labels`); `Set` only adds Go's methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from clientgo.apimachinery.util.validation import field

if TYPE_CHECKING:
    from clientgo.apimachinery.labels.selector import Selector


@runtime_checkable
class Labels(Protocol):
    """A source of label values. Go: labels.Labels."""

    def has(self, label: str, /) -> bool:
        """Report whether the label exists."""
        ...

    def get(self, label: str, /) -> str:
        """Return the label's value, or "" if it does not exist."""
        ...

    def lookup(self, label: str, /) -> tuple[str, bool]:
        """Return the label's value, and whether it exists."""
        ...


class Set(dict[str, str]):
    """The labels of an object: a dict whose `get` returns "" by default. Go: labels.Set.

    >>> str(Set(b="2", a="1"))
    'a=1,b=2'
    """

    __slots__ = ()

    def __str__(self) -> str:
        return ",".join(sorted(f"{key}={value}" for key, value in self.items()))

    def has(self, label: str) -> bool:
        """Report whether the label exists. Go: Set.Has."""
        return label in self

    def get(self, label: str, default: Any = "") -> Any:
        """Return the label's value, or "" if it does not exist. Go: Set.Get."""
        return super().get(label, default)

    def lookup(self, label: str) -> tuple[str, bool]:
        """Return the label's value, and whether it exists. Go: Set.Lookup."""
        if label in self:
            return self[label], True
        return "", False

    def as_selector(self) -> Selector:
        """Return a selector for objects with all these labels, without validation. Go: Set.AsSelector."""
        from clientgo.apimachinery.labels.selector import selector_from_set

        return selector_from_set(self)

    def as_validated_selector(self) -> Selector:
        """Return a selector for objects with all these labels. Raises an error for an invalid key or value.

        Go: Set.AsValidatedSelector.
        """
        from clientgo.apimachinery.labels.selector import validated_selector_from_set

        return validated_selector_from_set(self)

    def as_selector_pre_validated(self) -> Selector:
        """Return a selector for objects with all these labels, which must be valid. Go: Set.AsSelectorPreValidated."""
        from clientgo.apimachinery.labels.selector import selector_from_validated_set

        return selector_from_validated_set(self)


def format_labels(label_map: Mapping[str, str]) -> str:
    """Return the labels as kubectl prints them, or "<none>". Go: labels.FormatLabels."""
    return str(Set(label_map)) or "<none>"


def conflicts(labels1: Mapping[str, str], labels2: Mapping[str, str]) -> bool:
    """Report whether a label has different values in both. Go: labels.Conflicts."""
    small, big = (labels2, labels1) if len(labels2) < len(labels1) else (labels1, labels2)
    return any(key in big and big[key] != value for key, value in small.items())


def merge(labels1: Mapping[str, str], labels2: Mapping[str, str]) -> Set:
    """Return the labels of both; the second one's values take precedence. Go: labels.Merge."""
    return Set({**labels1, **labels2})


def equals(labels1: Mapping[str, str], labels2: Mapping[str, str]) -> bool:
    """Report whether both hold the same labels. Go: labels.Equals."""
    return dict(labels1) == dict(labels2)


def convert_selector_to_labels_map(selector: str, *opts: field.PathOption) -> Set:
    """Parse `a=1,b=2`, which may contain only exact matches. Raises ValueError or field.Error.

    Go: labels.ConvertSelectorToLabelsMap.
    """
    from clientgo.apimachinery.labels.selector import _validate_label_key, _validate_label_value

    labels_map = Set()
    if not selector:
        return labels_map
    path = field.to_path(*opts)
    for label in selector.split(","):
        parts = label.split("=")
        if len(parts) != 2:
            raise ValueError(f"invalid selector: [{' '.join(parts)}]")
        key, value = parts[0].strip(), parts[1].strip()
        _validate_label_key(key, path)
        _validate_label_value(key, value, path)
        labels_map[key] = value
    return labels_map
