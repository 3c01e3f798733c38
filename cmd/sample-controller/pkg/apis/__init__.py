"""The API groups of sample-controller."""
