"""Utilities of API machinery (k8s.io/apimachinery/pkg/util)."""
