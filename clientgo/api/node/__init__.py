"""The API group node.k8s.io, one package per version."""
