"""Subresources of another type than the resource: what typed clients make of the server's answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clientgo import context, kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.types import PatchType
from clientgo.kubernetes import fake
from clientgo.kubernetes.typed.apps.v1 import DeploymentInterface
from clientgo.testing.apiserver import Environment

CTX = context.background()
APPLY = metav1.ApplyOptions(field_manager="test", force=True)


def web() -> appsv1.Deployment:
    labels = {"app": "web"}
    template = corev1.PodTemplateSpec(
        metadata=metav1.ObjectMeta(labels=labels),
        spec=corev1.PodSpec(containers=[corev1.Container(name="c", image="i")]),
    )
    return appsv1.Deployment(
        metadata=metav1.ObjectMeta(name="web", namespace="default"),
        spec=appsv1.DeploymentSpec(replicas=1, selector=metav1.LabelSelector(match_labels=labels), template=template),
    )


def scale(replicas: int) -> autoscalingv1.Scale:
    return autoscalingv1.Scale(
        metadata=metav1.ObjectMeta(name="web", namespace="default"),
        spec=autoscalingv1.ScaleSpec(replicas=replicas),
    )


@pytest.fixture
def deployments() -> Iterator[DeploymentInterface]:
    with Environment() as environment:
        clientset = kubernetes.new_for_config(environment.config)
        deployments = clientset.apps_v1().deployments("default")
        deployments.create(CTX, web())
        yield deployments
        clientset.close()


def test_a_patch_of_the_scale_is_applied_and_fills_nothing(deployments: DeploymentInterface) -> None:
    answer = deployments.patch(CTX, "web", PatchType.MERGE, b'{"spec":{"replicas":4}}', None, "scale")

    assert answer == appsv1.Deployment()
    assert deployments.get(CTX, "web").spec.replicas == 4


def test_a_patch_of_the_status_gives_the_object(deployments: DeploymentInterface) -> None:
    answer = deployments.patch(CTX, "web", PatchType.MERGE, b'{"status":{"replicas":4}}', None, "status")

    assert (answer.name, answer.status.replicas) == ("web", 4)


def test_a_scale_is_applied(deployments: DeploymentInterface) -> None:
    answer = deployments.apply_scale(CTX, "web", scale(5), APPLY)

    assert (type(answer), answer.spec.replicas) == (autoscalingv1.Scale, 5)
    assert deployments.get(CTX, "web").spec.replicas == 5
    assert deployments.apply_scale(CTX, "web", {"spec": {"replicas": 6}}, APPLY).spec.replicas == 6
    assert deployments.get_scale(CTX, "web").spec.replicas == 6


def test_a_scale_of_nothing_is_refused(deployments: DeploymentInterface) -> None:
    with pytest.raises(apierrors.StatusError) as raised:
        deployments.apply_scale(CTX, "none", {"metadata": {"name": "none"}, "spec": {"replicas": 1}}, APPLY)
    assert apierrors.is_not_found(raised.value)
    with pytest.raises(ValueError, match="scale provided to ApplyScale must not be nil"):
        deployments.apply_scale(CTX, "web", None, APPLY)  # type: ignore[arg-type]


def test_a_fake_client_is_asked_the_same() -> None:
    client = fake.new_clientset(web())
    client.prepend_reactor("patch", "deployments", lambda action: (True, scale(7)))
    deployments = client.apps_v1().deployments("default")

    assert deployments.apply_scale(CTX, "web", scale(7), APPLY).spec.replicas == 7
    assert [(action.get_verb(), action.get_subresource()) for action in client.actions()] == [("patch", "scale")]
