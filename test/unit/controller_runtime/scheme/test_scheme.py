"""Builders of schemes: a package says once which kinds it has, and every scheme can be given them."""

from __future__ import annotations

import pytest

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.controller_runtime.scheme import Builder

CORE = GroupVersion("", "v1")
APPS = GroupVersion("apps", "v1")


def test_the_scheme_knows_the_kinds_and_how_to_list_and_watch_them() -> None:
    """
    Go: scheme: Scheme > Builder > should provide a Scheme with the types registered
    """
    scheme = Builder(group_version=CORE).register(corev1.Pod, corev1.PodList).build()
    assert scheme.object_kinds(corev1.Pod())[0] == [CORE.with_kind("Pod")]
    assert scheme.recognizes(CORE.with_kind("PodList"))
    # What every group version needs.
    assert scheme.recognizes(CORE.with_kind("ListOptions"))
    assert scheme.recognizes(CORE.with_kind("DeleteOptions"))
    assert not scheme.recognizes(CORE.with_kind("Service"))


def test_a_builder_can_have_the_kinds_of_others() -> None:
    """
    Go: scheme: Scheme > Builder > should be able to add types from other Builders
    """
    apps = Builder(group_version=APPS).register(appsv1.Deployment)
    both = Builder(group_version=CORE).register(corev1.Pod).register_all(apps)
    scheme = both.build()
    assert scheme.recognizes(CORE.with_kind("Pod"))
    assert scheme.recognizes(APPS.with_kind("Deployment"))
    assert not apps.build().recognizes(CORE.with_kind("Pod"))


def test_a_scheme_that_is_there_gets_the_kinds_too() -> None:
    scheme = Scheme()
    Builder(group_version=APPS).register(appsv1.Deployment).add_to_scheme(scheme)
    assert isinstance(scheme.new(APPS.with_kind("Deployment")), appsv1.Deployment)


def test_a_kind_can_be_taken_by_one_class_only() -> None:
    class Pod(corev1.Pod):
        pass

    with pytest.raises(ValueError, match="Pod"):
        Builder(group_version=CORE).register(corev1.Pod).register(Pod).build()
