"""k8s.io/component-base/metrics: what metrics need besides prometheus_client. `metrics.prometheus` is for users."""
