"""The API group apiextensions.k8s.io, one package per version."""
