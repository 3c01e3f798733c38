"""A search for the workloads whose selector matches an object. No Go file: Go repeats it in every lister's expansion.
"""

from __future__ import annotations

from typing import Any, TypeVar

from clientgo.apimachinery import labels, runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.listers.generic_helpers import ResourceIndexer

T = TypeVar("T", bound=runtime.ResourceObject)


def all_selecting(
    lister: ResourceIndexer[T],
    obj: runtime.ResourceObject,
    *,
    missing: str,
    none: str = "",
    empty_matches: bool = False,
) -> list[T]:
    """Return the workloads in the object's namespace whose `spec.selector` matches the object's labels.

    An empty selector matches nothing, unless `empty_matches` is set; a missing or invalid one never matches. Raises
    LookupError with the text "`missing` x in namespace ..." if nothing matches, and, if `none` is set, with the text
    "`none` x because it has no labels" for an object without labels. O(n) in the workloads of the namespace.
    """
    own = labels.Set(obj.get_labels())
    name, namespace = obj.get_name(), obj.get_namespace()
    if none and not own:
        raise LookupError(f"{none} {name} because it has no labels")
    workloads: ResourceIndexer[T] = ResourceIndexer(lister.indexer, lister.resource, namespace)
    found = []
    for workload in workloads.list(labels.everything()):
        selector = _selector_of(workload)
        if selector is None or (selector.empty() and not empty_matches):
            continue
        if workload.get_namespace() == namespace and selector.matches(own):
            found.append(workload)
    if not found:
        pairs = " ".join(f"{key}:{own[key]}" for key in sorted(own))
        raise LookupError(f"{missing} {name} in namespace {namespace} with labels: map[{pairs}]")
    return found


def _selector_of(workload: Any) -> labels.Selector | None:
    """Return the selector of a workload, or None if it is invalid."""
    selector = workload.spec.selector
    if selector is not None and not isinstance(selector, metav1.LabelSelector):
        return labels.Set(selector).as_selector_pre_validated()
    try:
        return metav1.label_selector_as_selector(selector)
    except ValueError:
        return None
