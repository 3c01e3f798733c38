"""The Foo controller: it keeps one Deployment for every Foo.

Mirrors controller.go of k8s.io/sample-controller, function by function. A change of a Foo, or of a Deployment that a
Foo owns, puts the Foo's name on a work queue; workers take the names and bring the actual state to the desired state.
"""

from __future__ import annotations

import threading
from typing import Any

from clientgo import context, klog, kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.context import Context
from clientgo.informers.apps import v1 as appsinformers
from clientgo.kubernetes import scheme
from clientgo.kubernetes.typed.core import v1 as typedcorev1
from clientgo.tools import cache, record
from clientgo.util import flowcontrol, workqueue
from pkg.apis.samplecontroller import v1alpha1 as samplev1alpha1
from pkg.generated.clientset import versioned as clientset
from pkg.generated.clientset.versioned import scheme as samplescheme
from pkg.generated.informers.externalversions.samplecontroller import v1alpha1 as informers

CONTROLLER_AGENT_NAME = "sample-controller"

Queue = workqueue.TypedRateLimitingInterface[cache.ObjectName]

# The reason of the event for a Foo that was synced.
SUCCESS_SYNCED = "Synced"
# The reason of the event for a Foo whose Deployment exists already and is not its own.
ERR_RESOURCE_EXISTS = "ErrResourceExists"

MESSAGE_RESOURCE_EXISTS = 'Resource "{}" already exists and is not managed by Foo'
MESSAGE_RESOURCE_SYNCED = "Foo synced successfully"
# The field manager of this controller's writes.
FIELD_MANAGER = CONTROLLER_AGENT_NAME


class Controller:
    """Syncs Foos with their Deployments. Created by `new_controller`."""

    def __init__(
        self,
        kubeclientset: kubernetes.Interface,
        sampleclientset: clientset.Interface,
        deployment_informer: appsinformers.DeploymentInformer,
        foo_informer: informers.FooInformer,
        queue: Queue,
        recorder: record.EventRecorder,
    ) -> None:
        self.kubeclientset = kubeclientset
        self.sampleclientset = sampleclientset
        self.deployments_lister = deployment_informer.lister()
        self.deployments_synced = deployment_informer.informer().has_synced
        self.foos_lister = foo_informer.lister()
        self.foos_synced = foo_informer.informer().has_synced
        # The handlers only queue names. So the number of workers bounds the concurrent work, and two workers never
        # process the same Foo.
        self.workqueue = queue
        self.recorder = recorder

    def run(self, ctx: Context, workers: int) -> None:
        """Wait for the caches, start the workers, and block until `ctx` is done and the workers have finished.

        Raises RuntimeError when the caches did not sync before that.
        """
        logger = klog.from_context(ctx)
        threads: list[threading.Thread] = []
        try:
            logger.info("Starting Foo controller")

            logger.info("Waiting for informer caches to sync")
            # Outside of the guard, which would log the error as a crash before it reaches the caller.
            if not cache.wait_for_cache_sync(ctx.done(), self.deployments_synced, self.foos_synced):
                raise RuntimeError("failed to wait for caches to sync")

            with utilruntime.handle_crash():
                logger.info("Starting workers", count=workers)
                for number in range(workers):
                    thread = threading.Thread(
                        target=wait.until_with_context,
                        args=(ctx, self.run_worker, 1.0),
                        name=f"foo-worker-{number}",
                        daemon=True,
                    )
                    threads.append(thread)
                    thread.start()

                logger.info("Started workers")
                ctx.done().wait()
                logger.info("Shutting down workers")
        finally:
            self.workqueue.shut_down()
            for thread in threads:
                thread.join()

    def run_worker(self, ctx: Context) -> None:
        """Take items off the queue until it is shut down."""
        while self.process_next_work_item(ctx):
            pass

    def process_next_work_item(self, ctx: Context) -> bool:
        """Take one item off the queue and sync it; False when the queue is shut down and empty. Blocks for an item."""
        obj_ref, shutdown = self.workqueue.get()
        logger = klog.from_context(ctx)
        if shutdown:
            return False

        # `done` lets the queue hand the item out again. `forget` clears its failures: a failed item is not forgotten.
        try:
            self.sync_handler(ctx, obj_ref)
        except Exception as err:
            utilruntime.handle_error_with_context(
                ctx, err, "Error syncing; requeuing for later retry", objectReference=obj_ref
            )
            # The queue returns it again after a delay that grows with each failure.
            self.workqueue.add_rate_limited(obj_ref)
        else:
            self.workqueue.forget(obj_ref)
            logger.info("Successfully synced", objectName=obj_ref)
        finally:
            self.workqueue.done(obj_ref)
        return True

    def sync_handler(self, ctx: Context, object_ref: cache.ObjectName) -> None:
        """Compare the actual state with the desired state, make them equal, and update the Foo's status.

        Blocks for the API calls and raises their errors; the caller retries the item.
        """
        logger = klog.logger_with_values(klog.from_context(ctx), objectRef=object_ref)

        try:
            foo = self.foos_lister.foos(object_ref.namespace).get(object_ref.name)
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise
            # Deleted since it was queued. Nothing to do: the garbage collector deletes its Deployment.
            utilruntime.handle_error_with_context(
                ctx, err, "Foo referenced by item in work queue no longer exists", objectReference=object_ref
            )
            return

        deployment_name = foo.spec.deployment_name
        if not deployment_name:
            # A retry would not help. The next change of the Foo queues it again.
            utilruntime.handle_error_with_context(
                ctx, None, "Deployment name missing from object reference", objectReference=object_ref
            )
            return

        deployment = self._get_or_create_deployment(ctx, foo, deployment_name)

        if not metav1.is_controlled_by(deployment, foo):
            msg = MESSAGE_RESOURCE_EXISTS.format(deployment.metadata.name)
            self.recorder.event(foo, corev1.EVENT_TYPE_WARNING, ERR_RESOURCE_EXISTS, msg)
            raise RuntimeError(msg)

        desired, current = foo.spec.replicas, deployment.spec.replicas
        if desired is not None and desired != current:
            logger.v(4).info("Update deployment resource", currentReplicas=current, desiredReplicas=desired)
            deployment = (
                self.kubeclientset.apps_v1()
                .deployments(foo.metadata.namespace)
                .update(ctx, new_deployment(foo), metav1.UpdateOptions(field_manager=FIELD_MANAGER))
            )

        self.update_foo_status(ctx, foo, deployment)
        self.recorder.event(foo, corev1.EVENT_TYPE_NORMAL, SUCCESS_SYNCED, MESSAGE_RESOURCE_SYNCED)

    def _get_or_create_deployment(self, ctx: Context, foo: samplev1alpha1.Foo, name: str) -> appsv1.Deployment:
        namespace = foo.metadata.namespace
        try:
            return self.deployments_lister.deployments(namespace).get(name)
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise
        client = self.kubeclientset.apps_v1().deployments(namespace)
        return client.create(ctx, new_deployment(foo), metav1.CreateOptions(field_manager=FIELD_MANAGER))

    def update_foo_status(self, ctx: Context, foo: samplev1alpha1.Foo, deployment: appsv1.Deployment) -> None:
        """Write the number of available replicas to the status. Blocks for the call; raises StatusError."""
        # Objects from the cache are shared and read-only: change a copy.
        foo_copy = foo.deep_copy()
        foo_copy.status.available_replicas = deployment.status.available_replicas
        client = self.sampleclientset.samplecontroller_v1alpha1().foos(foo.metadata.namespace)
        # update_status only changes the status, even if other fields of the copy differ.
        client.update_status(ctx, foo_copy, metav1.UpdateOptions(field_manager=FIELD_MANAGER))

    def enqueue_foo(self, obj: Any) -> None:
        """Put a Foo's name on the queue."""
        try:
            object_ref = cache.object_to_name(obj)
        except Exception as err:
            utilruntime.handle_error(err)
            return
        self.workqueue.add(object_ref)

    def handle_object(self, obj: Any) -> None:
        """Queue the Foo that owns `obj`, if there is one. Accepts deleted objects and their tombstones too."""
        logger = klog.from_context(context.background())
        if isinstance(obj, cache.DeletedFinalStateUnknown):
            tombstone, obj = obj, obj.obj
            if not isinstance(obj, metav1.Object):
                utilruntime.handle_error_with_context(
                    context.background(),
                    None,
                    "Error decoding object tombstone, invalid type",
                    type=type(tombstone.obj).__name__,
                )
                return
            logger.v(4).info("Recovered deleted object", resourceName=obj.get_name())
        elif not isinstance(obj, metav1.Object):
            utilruntime.handle_error_with_context(
                context.background(), None, "Error decoding object, invalid type", type=type(obj).__name__
            )
            return
        logger.v(4).info("Processing object", object=klog.kobj(obj))

        owner_ref = metav1.get_controller_of(obj)
        if owner_ref is None or owner_ref.kind != "Foo":
            return
        try:
            foo = self.foos_lister.foos(obj.get_namespace()).get(owner_ref.name)
        except errors.StatusError:
            logger.v(4).info("Ignore orphaned object", object=klog.kobj(obj), foo=owner_ref.name)
            return
        self.enqueue_foo(foo)


def new_controller(
    ctx: Context,
    kubeclientset: kubernetes.Interface,
    sampleclientset: clientset.Interface,
    deployment_informer: appsinformers.DeploymentInformer,
    foo_informer: informers.FooInformer,
    queue: Queue | None = None,
) -> Controller:
    """Create the controller and add its event handlers. `ctx` ends the event broadcaster.

    `queue` replaces the controller's own queue (`new_queue`); replicas with shards use that.
    """
    logger = klog.from_context(ctx)

    # Foo's kind must be in the scheme for events about a Foo to name it.
    samplescheme.add_to_scheme(scheme.SCHEME)
    logger.v(4).info("Creating event broadcaster")

    event_broadcaster = record.new_broadcaster(record.with_context(ctx))
    event_broadcaster.start_structured_logging(0)
    event_broadcaster.start_recording_to_sink(typedcorev1.EventSinkImpl(kubeclientset.core_v1().events("")))
    recorder = event_broadcaster.new_recorder(scheme.SCHEME, corev1.EventSource(component=CONTROLLER_AGENT_NAME))

    controller = Controller(
        kubeclientset,
        sampleclientset,
        deployment_informer,
        foo_informer,
        queue or new_queue(),
        recorder,
    )

    logger.info("Setting up event handlers")
    foo_informer.informer().add_event_handler(
        cache.ResourceEventHandlerFuncs(
            add_func=controller.enqueue_foo,
            update_func=lambda old, new: controller.enqueue_foo(new),
        )
    )

    # A changed Deployment may need work for the Foo that owns it. handle_object finds this Foo, so no other code here
    # handles Deployments.
    def update_deployment(old: appsv1.Deployment, new: appsv1.Deployment) -> None:
        if new.get_resource_version() == old.get_resource_version():
            # A resync repeats the cached object. Two different states of an object never have the same version.
            return
        controller.handle_object(new)

    deployment_informer.informer().add_event_handler(
        cache.ResourceEventHandlerFuncs(
            add_func=controller.handle_object,
            update_func=update_deployment,
            delete_func=controller.handle_object,
        )
    )
    return controller


def new_queue() -> Queue:
    """Return the work queue. It retries a failed item after growing delays, at most 50 items per second on average."""
    ratelimiter: workqueue.TypedRateLimiter[cache.ObjectName] = workqueue.new_typed_max_of_rate_limiter(
        workqueue.new_typed_item_exponential_failure_rate_limiter(0.005, 1000.0),
        workqueue.TypedBucketRateLimiter(flowcontrol.rate.new_limiter(50.0, 300)),
    )
    return workqueue.new_typed_rate_limiting_queue(ratelimiter)


def new_deployment(foo: samplev1alpha1.Foo) -> appsv1.Deployment:
    """Return the Deployment that a Foo specifies. handle_object finds the Foo by the Deployment's owner reference."""
    labels = {"app": "nginx", "controller": foo.metadata.name}
    return appsv1.Deployment(
        metadata=metav1.ObjectMeta(
            name=foo.spec.deployment_name,
            namespace=foo.metadata.namespace,
            owner_references=[
                metav1.new_controller_ref(foo, samplev1alpha1.SCHEME_GROUP_VERSION.with_kind("Foo")),
            ],
        ),
        spec=appsv1.DeploymentSpec(
            replicas=foo.spec.replicas,
            selector=metav1.LabelSelector(match_labels=labels),
            template=corev1.PodTemplateSpec(
                metadata=metav1.ObjectMeta(labels=labels),
                spec=corev1.PodSpec(containers=[corev1.Container(name="nginx", image="nginx:latest")]),
            ),
        ),
    )
