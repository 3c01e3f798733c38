"""The API group extensions, one package per version."""
