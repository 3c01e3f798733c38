"""General helpers that know nothing of Kubernetes. Mirrors the parts of k8s.io/utils that client-go uses."""
