"""Fake clientsets with and without field managers. Go: kubernetes/fake/clientset_generated_test.go."""

from __future__ import annotations

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes import fake

CTX = context.background()


def test_pods_of_a_simple_clientset_are_created_evicted_and_listed() -> None:
    """Go: TestNewSimpleClientset."""
    pods = fake.new_simple_clientset().core_v1().pods("default")
    for name in ("pod-1", "pod-2"):
        pods.create(CTX, corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="default")))

    pods.evict_v1(CTX, policyv1.Eviction(metadata=metav1.ObjectMeta(name="pod-2")))

    assert [pod.metadata.name for pod in pods.list(CTX).items] == ["pod-1", "pod-2"]


def test_managers_of_a_clientset_own_the_fields_that_they_applied() -> None:
    """Go: TestManagedFieldClientset."""
    maps = fake.new_clientset().core_v1().config_maps("default")
    meta = metav1.ObjectMeta(name="pod-1", namespace="default")

    def apply(manager: str, force: bool = False, **data: str) -> dict[str, str]:
        options = metav1.ApplyOptions(field_manager=manager, force=force)
        return dict(maps.apply(CTX, corev1.ConfigMap(metadata=meta, data=data), options).data)

    made = corev1.ConfigMap(metadata=meta, data={"k0": "v0"})
    maps.create(CTX, made, metav1.CreateOptions(field_manager="test-manager-0"))
    assert apply("test-manager-1", k1="v1") == {"k0": "v0", "k1": "v1"}
    with pytest.raises(errors.StatusError) as conflict:
        apply("test-manager-2", k1="xyz")
    assert 'Apply failed with 1 conflict: conflict with "test-manager-1": .data.k1' in str(conflict.value)
    assert apply("test-manager-2", k2="v2") == {"k0": "v0", "k1": "v1", "k2": "v2"}
    assert apply("test-manager-1", k1="v101") == {"k0": "v0", "k1": "v101", "k2": "v2"}
    assert apply("test-manager-2", force=True, k1="v202") == {"k0": "v0", "k1": "v202"}

    replaced = corev1.ConfigMap(metadata=meta, data={"k99": "v99"})
    updated = maps.update(CTX, replaced, metav1.UpdateOptions(field_manager="test-manager-0"))
    assert dict(updated.data) == {"k99": "v99"}
