"""The API group batch, one package per version."""
