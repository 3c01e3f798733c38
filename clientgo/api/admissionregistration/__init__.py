"""The API group admissionregistration.k8s.io, one package per version."""
