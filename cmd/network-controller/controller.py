"""The Network controller: it keeps a network in Neutron for every Network in the API server.

Mirrors controller.go of the walkthrough, function by function, in its older spelling: string keys, a named queue, a
stop channel. The walkthrough leaves two parts as FIXME that are implemented here (neutron.py): the comparison with the
real networks, and the deletion of networks whose Network was deleted while no controller ran.
"""

from __future__ import annotations

import threading
from typing import Any

from clientgo import klog, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.context import StopChannel
from clientgo.golang import fmt
from clientgo.golang.strconv import quote
from clientgo.kubernetes import scheme
from clientgo.kubernetes.typed.core import v1 as typedcorev1
from clientgo.tools import cache, record
from clientgo.util import workqueue
from neutron import Neutron, RealNetwork
from pkg.apis.samplecrd import v1 as samplecrdv1
from pkg.client.clientset import versioned as clientset
from pkg.client.clientset.versioned import scheme as networkscheme
from pkg.client.informers.externalversions.samplecrd import v1 as informers

CONTROLLER_AGENT_NAME = "network-controller"

# The reason of the event for a Network that was synced.
SUCCESS_SYNCED = "Synced"
MESSAGE_RESOURCE_SYNCED = "Network synced successfully"

# The period in seconds of the comparison of all of Neutron with the cache.
AUDIT_PERIOD = 30.0


class Controller:
    """Syncs Networks with Neutron. Created by `new_controller`."""

    def __init__(
        self,
        kubeclientset: kubernetes.Interface,
        networkclientset: clientset.Interface,
        network_informer: informers.NetworkInformer,
        neutron: Neutron,
        queue: workqueue.RateLimitingInterface,
        event_broadcaster: record.EventBroadcaster,
    ) -> None:
        self.kubeclientset = kubeclientset
        self.networkclientset = networkclientset
        self.networks_lister = network_informer.lister()
        self.networks_synced = network_informer.informer().has_synced
        self.neutron = neutron
        self.workqueue = queue
        self.event_broadcaster = event_broadcaster
        self.recorder = event_broadcaster.new_recorder(
            scheme.SCHEME, corev1.EventSource(component=CONTROLLER_AGENT_NAME)
        )

    def run(self, threadiness: int, stop_ch: StopChannel) -> None:
        """Wait for the cache, start the workers, and block until `stop_ch` is set and the workers have finished.

        Raises RuntimeError when the cache did not sync before that.
        """
        threads: list[threading.Thread] = []
        try:
            klog.info("Starting Network control loop")

            klog.info("Waiting for informer caches to sync")
            if not cache.wait_for_cache_sync(stop_ch, self.networks_synced):
                raise RuntimeError("failed to wait for caches to sync")

            klog.info("Starting workers")
            for number in range(threadiness):
                threads.append(_start(f"network-worker-{number}", wait.until, self.run_worker, 1.0, stop_ch))
            threads.append(_start("neutron-audit", wait.until, self.enqueue_differences, AUDIT_PERIOD, stop_ch))
            klog.info("Started workers")

            stop_ch.wait()
            klog.info("Shutting down workers")
        finally:
            self.workqueue.shut_down()
            for thread in threads:
                thread.join()
            self.event_broadcaster.shutdown()

    def run_worker(self) -> None:
        """Take items off the queue until it is shut down."""
        while self.process_next_work_item():
            pass

    def process_next_work_item(self) -> bool:
        """Take one key off the queue and sync it; False when the queue is shut down and empty. Blocks for a key."""
        key, shutdown = self.workqueue.get()
        if shutdown:
            return False

        # `done` lets the queue hand the key out again. `forget` clears its failures: a failed key is not forgotten.
        try:
            self.sync_handler(key)
        except Exception as err:
            # The queue returns it again after a delay that grows with each failure.
            self.workqueue.add_rate_limited(key)
            utilruntime.handle_error(fmt.errorf("error syncing '%s': %s", key, err))
        else:
            self.workqueue.forget(key)
            klog.infof("Successfully synced '%s'", key)
        finally:
            self.workqueue.done(key)
        return True

    def sync_handler(self, key: str) -> None:
        """Create, update or delete the network in Neutron to match the Network of this key.

        Blocks for Neutron's calls and raises their errors; the caller retries the key.
        """
        namespace, name = cache.split_meta_namespace_key(key)
        try:
            network = self.networks_lister.networks(namespace).get(name)
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise
            klog.warningf(
                "Network: %s/%s does not exist in local cache, will delete it from Neutron ...", namespace, name
            )
            klog.infof("[Neutron] Deleting network: %s/%s ...", namespace, name)
            self.neutron.delete(namespace, name)
            return

        klog.infof("[Neutron] Try to process network: %s ...", go_syntax(network))
        desired = desired_network(network)
        actual, exists = self.neutron.get(namespace, name)
        if not exists:
            self.neutron.create(namespace, name, desired)
        elif actual != desired:
            self.neutron.update(namespace, name, desired)

        self.recorder.event(network, corev1.EVENT_TYPE_NORMAL, SUCCESS_SYNCED, MESSAGE_RESOURCE_SYNCED)

    def enqueue_differences(self) -> None:
        """Queue the networks that differ in Neutron: orphans, and networks that someone changed there.

        No event leads to these networks, since the update handler ignores resyncs. Blocks for one call of Neutron. The
        calling loop logs an error, and the next round retries.
        """
        actual = self.neutron.list()
        desired = {
            (network.get_namespace(), network.get_name()): desired_network(network)
            for network in self.networks_lister.list(labels.everything())
        }
        for namespace, name in sorted(actual.keys() | desired.keys()):
            if actual.get((namespace, name)) != desired.get((namespace, name)):
                self.workqueue.add(f"{namespace}/{name}")

    def enqueue_network(self, obj: Any) -> None:
        """Put a Network's key on the queue: its namespace and name."""
        try:
            key = cache.meta_namespace_key_func(obj)
        except Exception as err:
            utilruntime.handle_error(err)
            return
        self.workqueue.add_rate_limited(key)

    def enqueue_network_for_delete(self, obj: Any) -> None:
        """Queue a deleted Network. A missed deletion arrives as a tombstone, which also has the key."""
        try:
            key = cache.deletion_handling_meta_namespace_key_func(obj)
        except Exception as err:
            utilruntime.handle_error(err)
            return
        self.workqueue.add_rate_limited(key)


def new_controller(
    kubeclientset: kubernetes.Interface,
    networkclientset: clientset.Interface,
    network_informer: informers.NetworkInformer,
    neutron: Neutron,
) -> Controller:
    """Create the controller and add its event handlers."""
    # Network's kind must be in the scheme for events about a Network to name it.
    networkscheme.add_to_scheme(scheme.SCHEME)
    klog.v(4).info("Creating event broadcaster")
    event_broadcaster = record.new_broadcaster()
    event_broadcaster.start_logging(klog.infof)
    event_broadcaster.start_recording_to_sink(typedcorev1.EventSinkImpl(kubeclientset.core_v1().events("")))

    controller = Controller(
        kubeclientset,
        networkclientset,
        network_informer,
        neutron,
        workqueue.new_named_rate_limiting_queue(workqueue.default_controller_rate_limiter(), "Networks"),
        event_broadcaster,
    )

    klog.info("Setting up event handlers")

    def update_network(old: samplecrdv1.Network, new: samplecrdv1.Network) -> None:
        if old.get_resource_version() == new.get_resource_version():
            # A resync repeats the cached object. Two different states of an object never have the same version.
            return
        controller.enqueue_network(new)

    network_informer.informer().add_event_handler(
        cache.ResourceEventHandlerFuncs(
            add_func=controller.enqueue_network,
            update_func=update_network,
            delete_func=controller.enqueue_network_for_delete,
        )
    )
    return controller


def desired_network(network: samplecrdv1.Network) -> RealNetwork:
    """Return the network in Neutron that a Network specifies."""
    return RealNetwork(cidr=network.spec.cidr, gateway=network.spec.gateway)


def go_syntax(network: samplecrdv1.Network) -> str:
    """Return a Network's most important fields in Go's %#v syntax, as in the walkthrough's log."""
    meta, spec = network.metadata, network.spec
    names = f"Name:{quote(meta.name)}, Namespace:{quote(meta.namespace)}, UID:{quote(meta.uid)}"
    versions = f"ResourceVersion:{quote(meta.resource_version)}, Generation:{meta.generation}"
    fields = f"v1.NetworkSpec{{Cidr:{quote(spec.cidr)}, Gateway:{quote(spec.gateway)}}}"
    return f"&v1.Network{{ObjectMeta:v1.ObjectMeta{{{names}, {versions}}}, Spec:{fields}}}"


def _start(name: str, target: Any, *args: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    thread.start()
    return thread
