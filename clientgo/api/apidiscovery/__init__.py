"""The API group apidiscovery.k8s.io, one package per version."""
