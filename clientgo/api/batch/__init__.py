"""The API group batch, one package a version."""
