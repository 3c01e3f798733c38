"""Errors, metadata access and quantities of API objects (k8s.io/apimachinery/pkg/api)."""
