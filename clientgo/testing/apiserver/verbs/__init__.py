"""The verbs of requests: get, list, watch, create, update, patch, apply, delete, and subresources."""
