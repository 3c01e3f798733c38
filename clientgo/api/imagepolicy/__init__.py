"""The API group imagepolicy.k8s.io, one package per version."""
