"""The API group autoscaling, one package per version."""
