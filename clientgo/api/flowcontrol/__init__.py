"""The API group flowcontrol.apiserver.k8s.io, one package per version."""
