"""The API group authorization.k8s.io, one package per version."""
