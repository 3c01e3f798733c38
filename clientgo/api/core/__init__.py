"""The API group core, one package a version."""
