"""The API group admission.k8s.io, one package per version."""
