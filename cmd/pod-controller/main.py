"""The Pod controller of the workqueue walkthrough, made of the primitives without a shared informer.

Mirrors examples/workqueue/main.go of client-go. A change of a Pod in the namespace "default" puts the Pod's key on a
work queue; a worker takes the keys and prints the state of the Pods. Differs from Go in one thing: after SIGINT or
SIGTERM it ends all threads, where the Go program is simply killed.
"""

from __future__ import annotations

import argparse
import signal
import threading
from typing import Any

from clientgo import context, klog, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import fields
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify
from clientgo.tools import cache, clientcmd
from clientgo.util import workqueue

MAX_RETRIES = 5


class Controller:
    """A controller that prints the events of Pods. Go: Controller."""

    def __init__(
        self,
        queue: workqueue.TypedRateLimitingInterface[str],
        indexer: cache.Indexer,
        informer: cache.Controller,
    ) -> None:
        self.informer = informer
        self.indexer = indexer
        self.queue = queue

    def process_next_item(self) -> bool:
        """Wait for a key and process it. Return False when the queue is shut down."""
        key, quit = self.queue.get()
        if quit:
            return False
        # The queue gives this key to no other worker until `done`, so two workers never process the same Pod.
        try:
            error = None
            try:
                self.sync_to_stdout(key)
            except Exception as err:
                error = err
            self.handle_err(error, key)
        finally:
            self.queue.done(key)
        return True

    def sync_to_stdout(self, key: str) -> None:
        """Print the Pod in the cache: the business logic. Raises errors; the caller retries."""
        try:
            obj, exists = self.indexer.get_by_key(key)
        except Exception as err:
            klog.errorf("Fetching object with key %s from store failed with %s", key, err)
            raise
        if not exists:
            # `main` adds a Pod to the cache that is not in the cluster. This line reports it.
            print(f"Pod {key} does not exist anymore", flush=True)
        else:
            # A controller that manages other resources would also compare the uid: the Pod may be a new one.
            print(f"Sync/Add/Update for Pod {obj.get_name()}", flush=True)

    def handle_err(self, err: Exception | None, key: str) -> None:
        """Retry the key after an error, at most five times."""
        if err is None:
            # Reset the key's failures: the delay after a later failure will not depend on earlier ones.
            self.queue.forget(key)
            return
        if self.queue.num_requeues(key) < MAX_RETRIES:
            klog.infof("Error syncing pod %s: %s", key, err)
            self.queue.add_rate_limited(key)
            return
        self.queue.forget(key)
        utilruntime.handle_error(err)
        klog.infof('Dropping pod "%s" out of the queue: %s', key, err)

    def run(self, ctx: context.Context, workers: int) -> None:
        """Run the informer and the workers until `ctx` is done, and wait for their threads."""
        threads: list[threading.Thread] = []
        with utilruntime.handle_crash_with_context(ctx):
            klog.info("Starting Pod controller")
            threads.append(start("pod-informer", self.informer.run_with_context, ctx))
            try:
                # The keys wait in the queue until the cache is complete. An earlier worker might not find the Pod.
                if not cache.wait_for_named_cache_sync_with_context(ctx, self.informer.has_synced):
                    utilruntime.handle_error(RuntimeError("Timed out waiting for caches to sync"))
                    return
                for number in range(workers):
                    threads.append(start(f"worker-{number}", wait.until_with_context, ctx, self.run_worker, 1.0))
                ctx.done().wait()
                klog.info("Stopping Pod controller")
            finally:
                self.queue.shut_down()
                for thread in threads:
                    thread.join()

    def run_worker(self, ctx: context.Context) -> None:
        """Work until the queue is shut down."""
        while self.process_next_item():
            pass


def start(name: str, target: Any, *args: Any) -> threading.Thread:
    """Start and return a thread."""
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    thread.start()
    return thread


def new_pod_controller(clientset: kubernetes.Interface) -> Controller:
    """Return a controller with its parts. The caller starts it with `run`."""
    pod_list_watcher = cache.new_list_watch_from_client(
        clientset.core_v1().rest_client(), "pods", metav1.NAMESPACE_DEFAULT, fields.everything()
    )
    queue: workqueue.TypedRateLimitingInterface[str] = workqueue.new_typed_rate_limiting_queue(
        workqueue.default_typed_controller_rate_limiter()
    )

    # Each change of the cache adds the key of the Pod to the queue. By the time a worker takes it off, the cache
    # may show a newer Pod than the event did.
    indexer, informer = cache.new_indexer_informer(
        pod_list_watcher,
        corev1.Pod(),
        0.0,
        cache.ResourceEventHandlerFuncs(
            add_func=lambda obj: queue.add(cache.meta_namespace_key_func(obj)),
            update_func=lambda _, new: queue.add(cache.meta_namespace_key_func(new)),
            # A missed deletion arrives as a tombstone, and only this function returns its key.
            delete_func=lambda obj: queue.add(cache.deletion_handling_meta_namespace_key_func(obj)),
        ),
        {},
    )

    # A warm start. Suppose that the last run knew a Pod "mypod". If it no longer exists, we are notified of its
    # deletion once the cache has synced.
    indexer.add(corev1.Pod(metadata=metav1.ObjectMeta(name="mypod", namespace=metav1.NAMESPACE_DEFAULT)))
    return Controller(queue, indexer, informer)


def parse_flags(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse flags in the forms that Go accepts: -flag=x, -flag x, --flag=x, --flag x."""
    parser = argparse.ArgumentParser(prog="pod-controller", allow_abbrev=False)
    parser.add_argument("-help", action="help", help=argparse.SUPPRESS)
    parser.add_argument("-kubeconfig", "--kubeconfig", default="", help="absolute path to the kubeconfig file")
    parser.add_argument("-master", "--master", default="", help="master url")
    klog.add_flags(parser)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the controller until SIGINT or SIGTERM; the result is the exit code."""
    flags = parse_flags(arguments)
    try:
        config = clientcmd.build_config_from_flags(flags.master, flags.kubeconfig)
        clientset = kubernetes.new_for_config(config)
    except Exception as err:
        klog.errorf("%s", err)
        return 1

    signals = Channel[signal.Signals](1)
    notify(signals, signal.SIGINT, signal.SIGTERM)
    controller = new_pod_controller(clientset)
    ctx, cancel = context.with_cancel_cause(context.background())
    running = start("pod-controller", controller.run, ctx, 1)

    signals.receive()
    cancel(RuntimeError("time to stop because main has completed"))
    running.join()
    clientset.close()
    klog.flush()
    return 0
