"""The API group authentication.k8s.io, one package per version."""
