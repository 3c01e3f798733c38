"""The API group discovery.k8s.io, one package per version."""
