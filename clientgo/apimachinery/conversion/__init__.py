"""Conversions between forms of API objects (k8s.io/apimachinery/pkg/conversion)."""
