"""Patches: what of an object was changed since a copy was made. Their bytes are checked by golden cases."""

from __future__ import annotations

import json

import pytest

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.types import PatchType
from clientgo.controller_runtime import client


def deployment() -> appsv1.Deployment:
    container = corev1.Container(name="c", image="i")
    return appsv1.Deployment(
        metadata=metav1.ObjectMeta(name="web", resource_version="12", labels={"a": "b"}),
        spec=appsv1.DeploymentSpec(
            replicas=1,
            selector=metav1.LabelSelector(match_labels={"app": "web"}),
            template=corev1.PodTemplateSpec(spec=corev1.PodSpec(containers=[container])),
        ),
    )


def changed() -> appsv1.Deployment:
    obj = deployment()
    obj.metadata.labels = {"a": "b", "c": "d"}
    obj.spec.template.spec.containers.append(corev1.Container(name="d", image="j"))
    return obj


def test_a_merge_patch_has_what_was_changed() -> None:
    """
    Go: client: Patch > MergeFrom > creates a merge patch with the modifications applied during the mutation
    """
    patch = client.merge_from(deployment())
    assert patch.type() == PatchType.MERGE
    containers = [{"name": name, "image": image} for name, image in (("c", "i"), ("d", "j"))]
    assert json.loads(patch.data(changed())) == {
        "metadata": {"labels": {"c": "d"}},
        "spec": {"template": {"spec": {"containers": containers}}},
    }


def test_a_strategic_patch_has_only_the_items_that_were_changed() -> None:
    """
    Go: client: Patch > StrategicMergeFrom > creates a strategic merge patch with the modifications applied during the
    ... mutation
    """
    patch = client.strategic_merge_from(deployment())
    assert patch.type() == PatchType.STRATEGIC_MERGE
    sent = json.loads(patch.data(changed()))
    pod = sent["spec"]["template"]["spec"]
    assert pod["containers"] == [{"name": "d", "image": "j"}]
    assert pod["$setElementOrder/containers"] == [{"name": "c"}, {"name": "d"}]
    assert sent["metadata"] == {"labels": {"c": "d"}}


@pytest.mark.parametrize("make", [client.merge_from_with_options, client.strategic_merge_from])
def test_with_an_optimistic_lock_the_version_must_still_be_that_of_the_copy(make: object) -> None:
    """
    Go: client: Patch > MergeFrom > creates a merge patch with the modifications applied during the mutation, using
    ... optimistic locking
    Go: client: Patch > StrategicMergeFrom > creates a strategic merge patch with the modifications applied during the
    ... mutation, using optimistic locking
    """
    patch = make(deployment(), client.MergeFromWithOptimisticLock())  # type: ignore[operator]
    obj = changed()
    obj.metadata.resource_version = "99"  # Not the version that the patch compares with.
    assert json.loads(patch.data(obj))["metadata"] == {"labels": {"c": "d"}, "resourceVersion": "12"}


def test_numbers_beyond_a_floats_precision_are_distinguished() -> None:
    """
    Go: client: MergeFrom > should successfully create a patch for two large and similar in64s
    """
    # 2**53 + 1 and its neighbour are one float.
    before = appsv1.Deployment(metadata=metav1.ObjectMeta(name="web", generation=9007199254740992))
    after = appsv1.Deployment(metadata=metav1.ObjectMeta(name="web", generation=9007199254740993))
    assert json.loads(client.merge_from(before).data(after)) == {"metadata": {"generation": 9007199254740993}}


def test_a_patch_without_changes_is_empty() -> None:
    assert client.merge_from(deployment()).data(deployment()) == b"{}"
    assert client.strategic_merge_from(deployment()).data(deployment()) == b"{}"


def test_a_raw_patch_is_sent_as_it_is() -> None:
    patch = client.raw_patch(PatchType.JSON, b'[{"op":"remove","path":"/a"}]')
    assert (patch.type(), patch.data(deployment())) == (PatchType.JSON, b'[{"op":"remove","path":"/a"}]')


def test_the_whole_object_can_be_a_patch() -> None:
    assert client.MERGE.type() == PatchType.MERGE
    assert json.loads(client.MERGE.data(changed()))["metadata"]["labels"] == {"a": "b", "c": "d"}
    assert client.APPLY.type() == PatchType.APPLY


def test_a_copy_made_for_a_patch_is_not_changed_by_it() -> None:
    before = deployment()
    client.merge_from_with_options(before, client.MergeFromWithOptimisticLock()).data(changed())
    assert before == deployment()
