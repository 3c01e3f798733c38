"""The API group resource.k8s.io, one package a version."""
