"""The API group storagemigration.k8s.io, one package per version."""
