"""The API group meta.k8s.io, one package per version."""
