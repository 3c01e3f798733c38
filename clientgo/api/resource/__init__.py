"""The API group resource.k8s.io, one package per version."""
