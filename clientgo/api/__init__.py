"""k8s.io/api: the built-in API types, one package per group."""
