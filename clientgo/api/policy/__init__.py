"""The API group policy, one package a version."""
