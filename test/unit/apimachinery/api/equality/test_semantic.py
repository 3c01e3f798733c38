"""Objects that mean the same are equal, however they say it."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api.equality import SEMANTIC
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured


def pod(**document: Any) -> corev1.Pod:
    return corev1.Pod.from_dict(document)


def limits(memory: str) -> corev1.Pod:
    return pod(spec={"containers": [{"name": "c", "resources": {"limits": {"memory": memory}}}]})


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (pod(), pod(metadata={"labels": {}, "finalizers": []}, spec={"nodeName": ""}), True),
        (pod(metadata={"name": "a"}), pod(metadata={"name": "b"}), False),
        (pod(metadata={"labels": {"a": "b"}}), pod(), False),
        (limits("1Gi"), limits("1024Mi"), True),
        (limits("1Gi"), limits("1G"), False),
        (
            pod(metadata={"creationTimestamp": "2026-01-02T03:04:05Z"}),
            pod(metadata={"creationTimestamp": "2026-01-02T04:04:05+01:00"}),
            True,
        ),
        (pod(spec={"containers": [{"name": "a"}, {"name": "b"}]}), pod(spec={"containers": [{"name": "b"}]}), False),
        (pod(spec={"unknown": 1}), pod(spec={"unknown": 2}), False),
        (pod(), appsv1.Deployment(), False),
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, True),
        ({"a": 1}, {"b": 1}, False),
        ("ab", ["a", "b"], False),
        (None, pod(), False),
        (Unstructured({"a": 1}), Unstructured({"a": 1}), True),
        (Unstructured({"a": 1}), Unstructured({"a": 2}), False),
    ],
)
def test_equality_is_of_what_is_meant(one: Any, other: Any, expected: bool) -> None:
    assert SEMANTIC.deep_equal(one, other) is expected
    assert SEMANTIC.deep_equal(other, one) is expected
