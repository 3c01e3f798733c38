"""The API group storage.k8s.io, one package per version."""
