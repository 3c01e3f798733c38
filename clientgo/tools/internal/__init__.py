"""Parts shared by tools (k8s.io/client-go/tools/internal)."""
