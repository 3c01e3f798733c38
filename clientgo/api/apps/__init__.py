"""The API group apps, one package a version."""
