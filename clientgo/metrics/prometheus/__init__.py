"""Prometheus metrics of queues, informers, clients and elections, for programs without a manager.

Mirrors component-base/metrics/prometheus/clientgo/metrics.go, and uses the metric names of Kubernetes' own programs. In
Go, importing the packages makes them report; here `register` does so. A manager of controller_runtime serves its own.

    from clientgo.metrics import prometheus

    prometheus.register()  # before the first client, queue or informer
    with prometheus.serve(":8080"):
        run()  # http://localhost:8080/metrics

Only queues with a name, and informers of a factory with a name (`with_informer_name`), have metrics. The package needs
the extra `metrics`: `pip install 'clientgo[metrics]'`.
"""

from clientgo.metrics import need_prometheus_client

need_prometheus_client(__name__)

from clientgo.metrics.legacyregistry import REGISTRY, handler
from clientgo.metrics.prometheus import fifo, leaderelection, restclient, workqueue
from clientgo.metrics.prometheus.server import MetricsServer, serve

__all__ = [
    "REGISTRY",
    "MetricsServer",
    "fifo",
    "handler",
    "leaderelection",
    "register",
    "restclient",
    "serve",
    "workqueue",
]


def register() -> None:
    """Report the clients, queues, informers and elections that the process creates from now on. Idempotent.

    What reports to another provider already continues to do so: client-go's hooks keep their first provider.
    """
    restclient.register()
    workqueue.register()
    fifo.register()
    leaderelection.register()
