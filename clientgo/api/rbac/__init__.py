"""The API group rbac.authorization.k8s.io, one package per version."""
