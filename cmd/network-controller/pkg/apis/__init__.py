"""The API groups of network-controller."""
