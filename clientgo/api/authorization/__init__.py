"""The API group authorization.k8s.io, one package a version."""
