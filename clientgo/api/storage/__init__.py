"""The API group storage.k8s.io, one package a version."""
