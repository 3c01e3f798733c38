"""The API group certificates.k8s.io, one package per version."""
