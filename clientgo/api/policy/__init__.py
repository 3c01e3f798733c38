"""The API group policy, one package per version."""
