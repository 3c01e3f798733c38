"""k8s.io/component-base/metrics: what metrics need besides prometheus_client. `metrics.prometheus` is for users."""

from importlib.util import find_spec

__all__ = ["need_prometheus_client"]


def need_prometheus_client(feature: str) -> None:
    """Raise an ImportError that names the extra when prometheus_client is not installed."""
    if find_spec("prometheus_client") is None:
        raise ModuleNotFoundError(
            f"{feature} needs prometheus-client: pip install 'clientgo[metrics]'", name="prometheus_client"
        )
