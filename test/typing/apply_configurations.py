"""Type checkers see the fields of objects to apply, and the types of extracted ones. mypy --strict checks this file."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.applyconfigurations import explicit, extract
from clientgo.applyconfigurations.apps.v1 import extract_deployment

if TYPE_CHECKING:
    assert_type(explicit(corev1.PodSpec)(host_network=False), corev1.PodSpec)
    assert_type(extract(appsv1.Deployment(), "me"), appsv1.Deployment)
    assert_type(extract(Unstructured(), "me", "status"), Unstructured)
    explicit(corev1.PodSpec)(host_network="no")  # type: ignore[arg-type]
    explicit(corev1.PodSpec)(hostNetwork=False)  # type: ignore[call-arg]
    explicit(dict)  # type: ignore[type-var]
    assert_type(extract_deployment(appsv1.Deployment(), "me", "scale"), appsv1.Deployment)
    extract_deployment(appsv1.DaemonSet(), "me")  # type: ignore[arg-type]
    extract_deployment(appsv1.Deployment())  # type: ignore[call-arg]
    extract("x", "me")  # type: ignore[type-var]
    extract(corev1.PodSpec(), "me")  # type: ignore[type-var]
