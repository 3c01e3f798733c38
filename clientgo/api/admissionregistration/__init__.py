"""The API group admissionregistration.k8s.io, one package a version."""
