"""The API group extensions, one package a version."""
