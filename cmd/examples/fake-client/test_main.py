"""A unit test with a fake client and a shared informer. Mirrors examples/fake-client/main_test.go.

A write between the informer's list and its watch may be missed, since the fake client is no API server. So the test
waits until the informer watches. For complex behaviour use the embedded API server: clientgo.testing.apiserver.
"""

from __future__ import annotations

from typing import Any

from clientgo import context, informers
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.golang.channel import Channel
from clientgo.golang.stop import Signal
from clientgo.kubernetes.fake import new_simple_clientset
from clientgo.tools import cache


def test_fake_client() -> None:
    """Receive a pod that the test creates from an informer of a SharedInformerFactory."""
    ctx, cancel = context.with_cancel(context.background())
    watcher_started = Signal()
    client = new_simple_clientset()

    # A reactor for all watches, which tells the test that the informer watches.
    def react(action: Any) -> tuple[bool, Any]:
        watcher = client.tracker().watch(action.get_resource(), action.get_namespace())
        watcher_started.set()
        return True, watcher

    client.prepend_watch_reactor("*", react)

    # The informer puts the pods that are added into a channel.
    pods = Channel[corev1.Pod](1)
    factory = informers.new_shared_informer_factory(client, 0)
    pod_informer = factory.core().v1().pods().informer()
    pod_informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=pods.send))
    factory.start(ctx.done())
    try:
        assert cache.wait_for_cache_sync(ctx.done(), pod_informer.has_synced)
        assert watcher_started.wait(30.0)

        pod = corev1.Pod(metadata=metav1.ObjectMeta(name="my-pod"))
        client.core_v1().pods("test-ns").create(ctx, pod)

        received, ok = pods.receive()
        assert ok and received is not None
        assert (received.get_namespace(), received.get_name()) == ("test-ns", "my-pod")
    finally:
        cancel()
        factory.shutdown()
