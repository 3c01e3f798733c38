"""wait_for and wait_for_deletion: with a fake client in virtual time, and once with an API server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from clientgo import context, dynamic, kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersionResource
from clientgo.apimachinery.util import wait
from clientgo.kubernetes import fake
from clientgo.kubernetes.typed.apps.v1 import DeploymentInterface
from clientgo.testing import synctest
from clientgo.testing.apiserver import Environment
from clientgo.tools import watch
from clientgo.utils.clock import REAL_CLOCK

CTX = context.background()


def web(status: str = "", *, uid: str = "1", generation: int = 1, observed: int = 1, name: str = "web") -> Any:
    """Return a Deployment with the condition Available of this status."""
    condition = appsv1.DeploymentCondition(type="Available", status=status, reason="Why", message="because")
    return appsv1.Deployment(
        metadata=metav1.ObjectMeta(
            name=name, namespace="default", uid=uid, generation=generation, resource_version="7"
        ),
        status=appsv1.DeploymentStatus(observed_generation=observed, conditions=[condition] if status else []),
    )


class Cluster:
    """A fake clientset in a bubble, and actions that threads of their own do later."""

    def __init__(self, *objects: Any) -> None:
        self.clientset = fake.new_clientset(*objects)
        self.deployments: DeploymentInterface = self.clientset.apps_v1().deployments("default")
        self._threads: list[threading.Thread] = []

    def after(self, seconds: float, do: Callable[[], object]) -> None:
        def later() -> None:
            context.sleep(CTX, seconds)
            do()

        thread = threading.Thread(target=later, name=f"after-{seconds}")
        thread.start()
        self._threads.append(thread)

    def verbs(self) -> list[str]:
        return [action.get_verb() for action in self.clientset.actions()]

    def elapsed(self, do: Callable[[], object]) -> float:
        started = REAL_CLOCK.now()
        do()
        return REAL_CLOCK.now() - started

    def join(self) -> None:
        for thread in self._threads:
            thread.join()


@contextmanager
def cluster(*objects: Any) -> Iterator[Cluster]:
    with synctest.bubble():
        made = Cluster(*objects)
        yield made
        made.join()


@pytest.mark.parametrize("condition", ["Available", "available", "Available=True", "available=true"])
def test_a_condition_that_is_met_takes_one_request(condition: str) -> None:
    with cluster(web("True")) as made:
        found = watch.wait_for(CTX, made.deployments, "web", condition, 60.0)
        assert found.get_name() == "web"
        assert made.verbs() == ["get"]


def test_a_condition_that_is_met_later() -> None:
    with cluster(web("False")) as made:
        made.after(20.0, lambda: made.deployments.update(CTX, web("True")))
        made.after(10.0, lambda: made.deployments.create(CTX, web("True", name="other")))

        def wait_for() -> None:
            found = watch.wait_for(CTX, made.deployments, "web", "Available", 60.0)
            found.metadata.labels["changed"] = "by the caller"  # a copy, not the informer's object
            assert found.status.conditions[0].status == "True"

        assert made.elapsed(wait_for) == pytest.approx(20.0, abs=1.0)


def test_another_status_can_be_expected() -> None:
    with cluster(web("True")) as made:
        made.after(20.0, lambda: made.deployments.update(CTX, web("False")))
        assert (
            watch.wait_for(CTX, made.deployments, "web", "Available=False", 60.0).status.conditions[0].status == "False"
        )


def test_a_condition_of_an_older_generation_does_not_count() -> None:
    with cluster(web("True", generation=2, observed=1)) as made:
        with pytest.raises(watch.NotMetError, match=r"Available=True \(Why: because\), of an older generation$"):
            watch.wait_for(CTX, made.deployments, "web", "Available", 5.0)
        made.deployments.update(CTX, web("True", generation=2, observed=2))
        assert watch.wait_for(CTX, made.deployments, "web", "Available", 5.0)


def test_an_absent_object_is_waited_for_also_after_its_deletion() -> None:
    with cluster() as made:
        made.after(10.0, lambda: made.deployments.create(CTX, web("False")))
        made.after(20.0, lambda: made.deployments.delete(CTX, "web"))
        made.after(30.0, lambda: made.deployments.create(CTX, web("True", uid="2")))
        assert watch.wait_for(CTX, made.deployments, "web", "Available", 60.0).get_uid() == "2"


def test_a_function_sees_the_object() -> None:
    with cluster(web()) as made:
        made.after(20.0, lambda: made.deployments.update(CTX, web("Unknown")))
        found = watch.wait_for(CTX, made.deployments, "web", lambda obj: obj.status.conditions, 60.0)
        assert found.status.conditions[0].status == "Unknown"


def is_ready(obj: appsv1.Deployment) -> bool:
    return False


@pytest.mark.parametrize(
    ("objects", "condition", "text"),
    [
        ([], "Available", 'condition=Available of "web"; it does not exist'),
        (
            [web("False")],
            "Available",
            'condition=Available of Deployment "default/web"; last seen: Available=False (Why: because)',
        ),
        ([web()], is_ready, 'is_ready of Deployment "default/web"; last seen: no conditions, resourceVersion 7'),
        (
            [web("False")],
            lambda obj: False,
            'the condition of Deployment "default/web"; last seen: Available=False (Why: because)',
        ),
    ],
)
def test_the_error_names_what_was_last_seen(objects: list[Any], condition: Any, text: str) -> None:
    with cluster(*objects) as made:

        def wait_for() -> None:
            with pytest.raises(watch.NotMetError) as raised:
                watch.wait_for(CTX, made.deployments, "web", condition, 60.0)
            assert str(raised.value) == f"timed out after 60 s waiting for {text}"
            assert raised.value.last == (objects[0] if objects else None)
            assert wait.interrupted(raised.value)

        assert made.elapsed(wait_for) == pytest.approx(60.0, abs=0.1)


def test_the_error_names_a_deletion() -> None:
    with cluster(web("False")) as made:
        made.after(1.0, lambda: made.deployments.delete(CTX, "web"))
        with pytest.raises(watch.NotMetError, match='of Deployment "default/web"; it was deleted$'):
            watch.wait_for(CTX, made.deployments, "web", "Available", 5.0)


def test_the_error_names_the_failure_of_the_last_request() -> None:
    with cluster(web("False")) as made:
        made.clientset.prepend_reactor("list", "deployments", forbid)
        with pytest.raises(watch.NotMetError, match=r"because\); the last request failed: deployments.* is forbidden"):
            watch.wait_for(CTX, made.deployments, "web", "Available", 5.0)


def test_a_failure_that_is_over_is_not_named() -> None:
    with cluster(web("False")) as made:
        failures = iter([errors.new_service_unavailable("busy")])

        def fail_once(action: Any) -> Any:
            for failure in failures:
                raise failure
            return False, None

        made.clientset.prepend_reactor("list", "deployments", fail_once)
        with pytest.raises(watch.NotMetError, match=r"because\)$"):
            watch.wait_for(CTX, made.deployments, "web", "Available", 30.0)
        assert made.verbs().count("list") == 2


def forbid(action: Any) -> Any:
    raise errors.new_forbidden(GroupResource("apps", "deployments"), "web", None)


def test_a_rejected_first_request_is_raised_at_once() -> None:
    with cluster(web("False")) as made:
        made.clientset.prepend_reactor("get", "deployments", forbid)
        with pytest.raises(errors.StatusError, match="forbidden"):
            watch.wait_for(CTX, made.deployments, "web", "Available", 5.0)


def test_the_context_ends_the_wait() -> None:
    with cluster(web("False")) as made:
        ctx, cancel = context.with_cancel(CTX)
        made.after(3.0, cancel)
        with pytest.raises(
            watch.NotMetError, match=r"^stopped \(context canceled\) waiting for condition=Available of"
        ):
            watch.wait_for(ctx, made.deployments, "web", "Available", 60.0)


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_the_errors_of_the_function_are_raised(seconds: float) -> None:
    """Also an error at a moment at which the time is over."""
    with cluster(web()) as made:

        def fail(obj: appsv1.Deployment) -> bool:
            context.sleep(CTX, seconds)
            raise KeyError("broken")

        with pytest.raises(KeyError, match="broken"):
            watch.wait_for(CTX, made.deployments, "web", fail, 5.0)


def test_a_condition_needs_a_type() -> None:
    with pytest.raises(ValueError, match="expected the type of a condition"):
        watch.wait_for(CTX, fake.new_clientset().apps_v1().deployments("default"), "web", "=True", 5.0)


def test_an_absent_object_is_deleted() -> None:
    with cluster(web(name="other")) as made:
        watch.wait_for_deletion(CTX, made.deployments, "web", 5.0)
        assert made.verbs() == ["get"]


def test_a_deletion_later() -> None:
    with cluster(web(), web(name="other")) as made:
        made.after(20.0, lambda: made.deployments.delete(CTX, "web"))
        made.after(10.0, lambda: made.deployments.delete(CTX, "other"))
        waited = made.elapsed(lambda: watch.wait_for_deletion(CTX, made.deployments, "web", 60.0))
        assert waited == pytest.approx(20.0, abs=1.0)


@pytest.mark.parametrize("recreated", [False, True])
def test_a_deletion_between_the_requests(recreated: bool) -> None:
    with cluster(web(), web(name="other")) as made:

        def delete(action: Any) -> Any:
            made.clientset.tracker().delete(GroupVersionResource("apps", "v1", "deployments"), "default", "web")
            if recreated:
                made.clientset.tracker().add(web(uid="2"))
            return False, None

        made.clientset.prepend_reactor("list", "deployments", delete)
        watch.wait_for_deletion(CTX, made.deployments, "web", 5.0)
        assert made.verbs()[:2] == ["get", "list"]


def test_an_object_that_stays() -> None:
    with cluster(web("True")) as made:
        text = 'waiting for the deletion of Deployment "default/web"; last seen: Available=True'
        with pytest.raises(watch.NotMetError, match=text):
            watch.wait_for_deletion(CTX, made.deployments, "web", 5.0)


def test_with_an_api_server() -> None:
    with Environment() as environment:
        client, any_client = kubernetes.new_for_config(environment.config), dynamic.new_for_config(environment.config)
        config_maps = client.core_v1().config_maps("default")
        unstructured = any_client.resource(GroupVersionResource("", "v1", "configmaps")).namespace("default")

        def create() -> None:
            config_maps.create(CTX, corev1.ConfigMap(metadata=metav1.ObjectMeta(name="a"), data={"k": "1"}))

        steps: list[tuple[Callable[[], object], Callable[[], object]]] = [
            (create, lambda: watch.wait_for(CTX, unstructured, "a", lambda obj: True, 30.0)),
            (lambda: config_maps.delete(CTX, "a"), lambda: watch.wait_for_deletion(CTX, config_maps, "a", 30.0)),
        ]
        try:
            for do, wait_for in steps:
                thread = threading.Thread(target=do, name="change")
                thread.start()
                wait_for()
                thread.join()
            with pytest.raises(watch.NotMetError, match='Namespace "default"; last seen: phase Active'):
                watch.wait_for(CTX, client.core_v1().namespaces(), "default", "Ready", 0.2)
        finally:
            client.close()
            any_client.close()
