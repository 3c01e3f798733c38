"""The API group of elasticsearch-operator."""
