"""The API group of operator-patterns."""
