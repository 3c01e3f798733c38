"""A program without a manager that serves its metrics; test_prometheus.py runs it and reads the scrape that it prints.

It is a process of its own, because client-go's hooks keep their first provider until the process ends.
"""

from __future__ import annotations

import sys
import threading
import urllib.request

from clientgo import kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context, background, with_cancel
from clientgo.golang.http import server as http
from clientgo.informers import new_shared_informer_factory_with_options, with_informer_name
from clientgo.metrics import prometheus
from clientgo.rest import Config
from clientgo.testing.apiserver import Environment
from clientgo.tools import cache, leaderelection
from clientgo.util import workqueue

PATIENCE = 120.0


def healthy(resp: http.ResponseWriter, req: http.Request) -> None:
    resp.write("ok")


def work(ctx: Context, config: Config) -> None:
    """Handle one ConfigMap with an informer and a queue, and request one that is missing."""
    client = kubernetes.new_for_config(config)
    config_maps = client.core_v1().config_maps("default")
    name = cache.new_informer_name("metered")
    factory = new_shared_informer_factory_with_options(client, 0.0, with_informer_name(name))
    informer = factory.core().v1().config_maps().informer()
    queue = workqueue.new_typed_rate_limiting_queue_with_config(
        workqueue.default_typed_controller_rate_limiter(), workqueue.TypedRateLimitingQueueConfig(name="keys")
    )
    informer.add_event_handler(cache.ResourceEventHandlerFuncs(lambda obj: queue.add(obj.name)))
    factory.start_with_context(ctx)
    assert cache.wait_for_cache_sync(ctx.done(), informer.has_synced)
    config_maps.create(ctx, corev1.ConfigMap(metadata=metav1.ObjectMeta(name="settings")), metav1.CreateOptions())
    while (item := queue.get()[0]) != "settings":
        queue.done(item)
    queue.done(item)
    queue.add_rate_limited(item)
    assert errors.get_or_none(config_maps, ctx, "missing") is None


def main() -> None:
    prometheus.register()
    ctx, cancel = with_cancel(background())
    with Environment() as environment, prometheus.serve("127.0.0.1:0", {"/healthz": healthy}) as server:
        config = environment.config
        lock = leaderelection.lease_lock(config, "default", "metered")
        leading = threading.Event()

        def lead(ctx: Context) -> None:
            work(ctx, config)
            leading.set()
            ctx.done().wait()

        election = threading.Thread(target=leaderelection.run_while_leading, args=(ctx, lock, lead), name="election")
        election.start()
        assert leading.wait(PATIENCE)
        for path in ("/healthz", "/metrics"):
            with urllib.request.urlopen(f"http://{server.address}{path}", timeout=PATIENCE) as answer:
                sys.stdout.write(answer.read().decode() + "\n")
        cancel()
        election.join()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("metrics")]


if __name__ == "__main__":
    main()
