"""The API group coordination.k8s.io, one package per version."""
