"""The packages of sample-controller, as in the Go project: API types, generated clients, signal handling."""
