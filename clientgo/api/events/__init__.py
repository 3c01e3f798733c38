"""The API group events.k8s.io, one package per version."""
