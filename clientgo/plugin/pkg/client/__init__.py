"""Authentication plugins. Mirrors k8s.io/client-go/plugin."""
