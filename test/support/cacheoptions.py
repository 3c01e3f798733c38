"""The options of a cache as the golden cases write them."""

from __future__ import annotations

from typing import Any

from goldenruntime import kind_of, mapper

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import fields, labels
from clientgo.controller_runtime import cache

KINDS: dict[str, Any] = {
    "ConfigMap": corev1.ConfigMap,
    "Pod": corev1.Pod,
    "Node": corev1.Node,
    "Widget": kind_of("example.com/v1", "Widget"),
}


def transform_of(mark: str | None) -> Any:
    """Return a transform that marks the objects."""
    if mark is None:
        return None

    def transform(obj: Any) -> Any:
        annotations = obj.get_annotations()
        obj.set_annotations({**annotations, "transformed-by": mark})
        return obj

    return transform


def config_of(given: dict[str, Any]) -> cache.Config:
    label, field = given.get("label_selector"), given.get("field_selector")
    return cache.Config(
        label_selector=None if label is None else labels.parse(label),
        field_selector=None if field is None else fields.parse_selector(field),
        transform=transform_of(given.get("transform")),
        unsafe_disable_deep_copy=given.get("unsafe_disable_deep_copy"),
        enable_watch_bookmarks=given.get("enable_watch_bookmarks"),
        sync_period=given.get("sync_period_seconds"),
    )


def _namespaces(given: dict[str, Any] | None) -> dict[str, cache.Config] | None:
    return None if given is None else {namespace: config_of(each) for namespace, each in given.items()}


def _by_object(given: dict[str, Any]) -> cache.ByObject:
    config = config_of(given)
    return cache.ByObject(
        namespaces=_namespaces(given.get("namespaces")),
        label=config.label_selector,
        field=config.field_selector,
        transform=config.transform,
        unsafe_disable_deep_copy=config.unsafe_disable_deep_copy,
        enable_watch_bookmarks=config.enable_watch_bookmarks,
        sync_period=config.sync_period,
    )


def options_of(given: dict[str, Any]) -> cache.Options:
    default = config_of(given.get("default") or {})
    return cache.Options(
        mapper=mapper(widget=True),
        sync_period=default.sync_period,
        reader_fail_on_missing_informer=given.get("reader_fail_on_missing_informer", False),
        default_namespaces=_namespaces(given.get("default_namespaces")),
        default_label_selector=default.label_selector,
        default_field_selector=default.field_selector,
        default_transform=default.transform,
        default_unsafe_disable_deep_copy=default.unsafe_disable_deep_copy,
        default_enable_watch_bookmarks=default.enable_watch_bookmarks,
        by_object={KINDS[kind]: _by_object(each) for kind, each in (given.get("by_object") or {}).items()},
    )
