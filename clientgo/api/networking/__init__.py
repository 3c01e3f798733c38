"""The API group networking.k8s.io, one package per version."""
