"""The API group scheduling.k8s.io, one package per version."""
