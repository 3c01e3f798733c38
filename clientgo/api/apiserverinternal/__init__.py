"""The API group internal.apiserver.k8s.io, one package per version."""
