"""The API group apps, one package per version."""
