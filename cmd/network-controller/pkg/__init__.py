"""The packages of network-controller, as in the Go project: API types, generated clients, signal handling."""
