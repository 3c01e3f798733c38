"""The sample-controller's sync, against fake clientsets: what it writes for which Foo. Mirrors controller_test.go."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import samplecontroller  # noqa: F401  # makes the controller's own packages importable

from clientgo import context, informers
from clientgo.api.apps import v1 as appsv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.golang.channel import Signal
from clientgo.kubernetes import fake as k8sfake
from clientgo.testing import synctest
from clientgo.tools import cache, record
from controller import Controller, new_controller, new_deployment
from pkg.apis.samplecontroller import v1alpha1
from pkg.generated.clientset.versioned import fake
from pkg.generated.informers import externalversions


def new_foo(name: str, replicas: int | None) -> v1alpha1.Foo:
    return v1alpha1.Foo(
        metadata=metav1.ObjectMeta(name=name, namespace="default", uid=f"uid-of-{name}"),
        spec=v1alpha1.FooSpec(deployment_name=f"{name}-deployment", replicas=replicas),
    )


class Fixture:
    """A controller whose caches hold what both fake servers hold, without anything running but its events."""

    def __init__(self, ctx: Context, foo: v1alpha1.Foo, *deployments: appsv1.Deployment) -> None:
        self.client = fake.new_clientset(foo)
        self.kubeclient = k8sfake.new_clientset(*deployments)
        foos = externalversions.new_shared_informer_factory(self.client, 0.0).samplecontroller().v1alpha1().foos()
        deployed = informers.new_shared_informer_factory(self.kubeclient, 0.0).apps().v1().deployments()
        self.controller: Controller = new_controller(ctx, self.kubeclient, self.client, deployed, foos)
        self.controller.recorder = record.FakeRecorder()
        foos.informer().get_indexer().add(foo)
        for deployment in deployments:
            deployed.informer().get_indexer().add(deployment)
        self._ctx = ctx
        self._ref = cache.object_to_name(foo)

    def __enter__(self) -> Fixture:
        return self

    def __exit__(self, *_: object) -> None:
        self.controller.workqueue.shut_down()

    def sync(self) -> None:
        self.controller.sync_handler(self._ctx, self._ref)

    @staticmethod
    def writes(client: Any) -> list[tuple[str, str, str, Any]]:
        """Return (verb, resource, subresource, object) of each write, except events."""
        return [
            (action.get_verb(), action.get_resource().resource, action.get_subresource(), action.get_object())
            for action in client.actions()
            if action.get_verb() not in ("get", "list", "watch") and action.get_resource().resource != "events"
        ]


@pytest.fixture
def ctx() -> Iterator[Context]:
    ctx, cancel = context.with_cancel(context.background())
    yield ctx
    cancel()


def status_update(foo: v1alpha1.Foo) -> tuple[str, str, str, Any]:
    wanted = foo.deep_copy()
    wanted.status.available_replicas = 0
    return ("update", "foos", "status", wanted)


def test_a_foo_without_a_deployment_gets_one_and_its_status_is_written(ctx: Context) -> None:
    """Go: TestCreatesDeployment."""
    foo = new_foo("test", 1)
    with Fixture(ctx, foo) as fixture:
        fixture.sync()

        assert fixture.writes(fixture.kubeclient) == [("create", "deployments", "", new_deployment(foo))]
        assert fixture.writes(fixture.client) == [status_update(foo)]


def test_a_foo_whose_deployment_is_right_gets_its_status_written_and_nothing_else(ctx: Context) -> None:
    """Go: TestDoNothing."""
    foo = new_foo("test", 1)
    with Fixture(ctx, foo, new_deployment(foo)) as fixture:
        fixture.sync()

        assert fixture.writes(fixture.kubeclient) == []
        assert fixture.writes(fixture.client) == [status_update(foo)]


def test_a_deployment_of_another_size_is_updated_before_the_status(ctx: Context) -> None:
    """Go: TestUpdateDeployment."""
    foo = new_foo("test", 1)
    deployment = new_deployment(foo)
    foo.spec.replicas = 2
    with Fixture(ctx, foo, deployment) as fixture:
        fixture.sync()

        assert fixture.writes(fixture.kubeclient) == [("update", "deployments", "", new_deployment(foo))]
        assert fixture.writes(fixture.client) == [status_update(foo)]


def test_a_deployment_the_foo_does_not_own_is_an_error_and_stays_as_it_is(ctx: Context) -> None:
    """Go: TestNotControlledByUs."""
    foo = new_foo("test", 1)
    deployment = new_deployment(foo)
    deployment.metadata.owner_references = []
    with Fixture(ctx, foo, deployment) as fixture:
        with pytest.raises(RuntimeError, match='Resource "test-deployment" already exists and is not managed by Foo'):
            fixture.sync()

        assert fixture.writes(fixture.kubeclient) == []
        assert fixture.writes(fixture.client) == []


def test_a_foo_that_is_gone_or_names_no_deployment_is_absorbed(ctx: Context) -> None:
    foo = new_foo("test", 1)
    foo.spec.deployment_name = ""
    with Fixture(ctx, foo) as fixture:
        fixture.sync()
        fixture.controller.sync_handler(ctx, cache.ObjectName("default", "missing"))

        assert fixture.writes(fixture.kubeclient) == fixture.writes(fixture.client) == []


def test_a_failed_item_comes_back_later_and_a_synced_one_is_forgotten(ctx: Context) -> None:
    foo = new_foo("test", 1)
    with Fixture(ctx, foo) as fixture:
        queue = fixture.controller.workqueue
        ref = cache.object_to_name(foo)
        fixture.kubeclient.prepend_reactor("create", "deployments", _refuse)

        queue.add(ref)
        assert fixture.controller.process_next_work_item(ctx)
        assert queue.num_requeues(ref) == 1

        fixture.kubeclient.reaction_chain.pop(0)
        assert fixture.controller.process_next_work_item(ctx)  # waits for the item to come back
        assert queue.num_requeues(ref) == 0
        queue.shut_down()
        assert not fixture.controller.process_next_work_item(ctx)


def _refuse(action: Any) -> tuple[bool, Any]:
    raise RuntimeError("the server is busy")


@pytest.mark.parametrize("wrap", [lambda obj: obj, lambda obj: cache.DeletedFinalStateUnknown(obj.object_key(), obj)])
def test_a_deployment_puts_the_foo_that_owns_it_on_the_queue(ctx: Context, wrap: Any) -> None:
    foo = new_foo("test", 1)
    with Fixture(ctx, foo) as fixture:
        queue = fixture.controller.workqueue

        fixture.controller.handle_object(wrap(new_deployment(foo)))
        orphan = new_deployment(new_foo("other", 1))
        fixture.controller.handle_object(wrap(orphan))
        unowned = new_deployment(foo)
        unowned.metadata.owner_references = []
        fixture.controller.handle_object(wrap(unowned))

        assert queue.len() == 1
        assert queue.get() == (cache.ObjectName("default", "test"), False)
        queue.done(cache.ObjectName("default", "test"))
        queue.shut_down()


def test_what_is_no_object_is_reported_and_ignored(ctx: Context) -> None:
    with Fixture(ctx, new_foo("test", 1)) as fixture:
        fixture.controller.handle_object("nonsense")
        fixture.controller.handle_object(cache.DeletedFinalStateUnknown("default/x", None))

        assert fixture.controller.workqueue.len() == 0


def test_run_ends_after_its_context_and_after_all_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    with synctest.bubble() as bubble:
        ctx, cancel = context.with_cancel(context.background())
        with Fixture(ctx, new_foo("test", 1)) as fixture:
            controller = fixture.controller
            controller.deployments_synced = controller.foos_synced = lambda: True
            begun, ended = Signal(), Signal()

            def sync(ctx: Context, ref: cache.ObjectName) -> None:
                begun.set()
                ended.wait()

            monkeypatch.setattr(controller, "sync_handler", sync)
            run = threading.Thread(target=controller.run, args=(ctx, 2))
            run.start()
            bubble.sleep(60.0)
            assert run.is_alive(), "the context is not done"
            controller.enqueue_foo(new_foo("test", 1))
            begun.wait()
            cancel()
            bubble.sleep(60.0)
            assert run.is_alive(), "a worker is not done"
            ended.set()
            run.join()


def test_what_the_controller_records_reaches_the_server() -> None:
    with synctest.bubble() as bubble:
        ctx, cancel = context.with_cancel(context.background())
        foo = new_foo("test", 1)
        client, kubeclient = fake.new_clientset(foo), k8sfake.new_clientset()
        foos = externalversions.new_shared_informer_factory(client, 0.0).samplecontroller().v1alpha1().foos()
        deployments = informers.new_shared_informer_factory(kubeclient, 0.0).apps().v1().deployments()
        controller = new_controller(ctx, kubeclient, client, deployments, foos)
        controller.recorder.event(foo, "Normal", "Synced", "Foo synced successfully")
        bubble.wait()
        [created] = [action for action in kubeclient.actions() if action.get_resource().resource == "events"]
        event = created.get_object()
        assert (event.involved_object.name, event.reason) == ("test", "Synced")
        controller.workqueue.shut_down()
        cancel()
        bubble.wait()


def test_caches_that_do_not_sync_are_an_error_of_run_and_no_crash(caplog: pytest.LogCaptureFixture) -> None:
    ctx, cancel = context.with_cancel(context.background())
    with Fixture(ctx, new_foo("test", 1)) as fixture:
        cancel()
        with pytest.raises(RuntimeError, match="failed to wait for caches to sync"):
            fixture.controller.run(ctx, 1)
        assert fixture.controller.workqueue.shutting_down()
    assert "Observed a panic" not in caplog.text
