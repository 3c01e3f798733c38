"""The selectors of a cache's lists and watches. Mirrors pkg/cache/internal/selector.go."""

from __future__ import annotations

from dataclasses import dataclass

from clientgo.apimachinery import fields, labels
from clientgo.apimachinery.apis.meta import v1 as metav1


@dataclass(frozen=True, kw_only=True)
class Selector:
    """A label selector and a field selector, both optional. Go: internal.Selector."""

    label: labels.Selector | None = None
    field: fields.Selector | None = None

    def apply_to_list(self, options: metav1.ListOptions) -> None:
        """Copy the selectors into the options. Go: ApplyToList."""
        if self.label is not None:
            options.label_selector = str(self.label)
        if self.field is not None:
            options.field_selector = str(self.field)
