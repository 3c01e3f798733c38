"""The API group apiextensions.k8s.io, one package a version."""
