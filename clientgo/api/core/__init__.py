"""The API group core, one package per version."""
