"""Changing label selectors (k8s.io/apimachinery/pkg/apis/meta/v1/labels.go)."""

from __future__ import annotations

from clientgo.apimachinery.apis.meta.v1.types import LabelSelector


def clone_selector_and_add_label(selector: LabelSelector, label_key: str, label_value: str) -> LabelSelector:
    """A copy that demands one more label; the selector itself when the key is "". Go: CloneSelectorAndAddLabel."""
    if not label_key:
        return selector
    return add_label_to_selector(selector.deep_copy(), label_key, label_value)


def add_label_to_selector(selector: LabelSelector, label_key: str, label_value: str) -> LabelSelector:
    """Make the selector demand one more label, unless the key is "". Go: metav1.AddLabelToSelector."""
    if label_key:
        selector.match_labels[label_key] = label_value
    return selector


def selector_has_label(selector: LabelSelector, label_key: str) -> bool:
    """Whether the selector demands a value, not "", of the label. Go: metav1.SelectorHasLabel."""
    return bool(selector.match_labels.get(label_key))
