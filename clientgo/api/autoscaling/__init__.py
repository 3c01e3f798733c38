"""The API group autoscaling, one package a version."""
