"""Changes of label selectors (k8s.io/apimachinery/pkg/apis/meta/v1/labels.go)."""

from __future__ import annotations

from clientgo.apimachinery.apis.meta.v1.types import LabelSelector


def clone_selector_and_add_label(selector: LabelSelector, label_key: str, label_value: str) -> LabelSelector:
    """Return a copy that requires one more label, or the selector itself if the key is "".

    Go: CloneSelectorAndAddLabel.
    """
    if not label_key:
        return selector
    return add_label_to_selector(selector.deep_copy(), label_key, label_value)


def add_label_to_selector(selector: LabelSelector, label_key: str, label_value: str) -> LabelSelector:
    """Require one more label, unless the key is "". Go: metav1.AddLabelToSelector."""
    if label_key:
        selector.match_labels[label_key] = label_value
    return selector


def selector_has_label(selector: LabelSelector, label_key: str) -> bool:
    """Report whether the selector requires a non-empty value of the label. Go: metav1.SelectorHasLabel."""
    return bool(selector.match_labels.get(label_key))
