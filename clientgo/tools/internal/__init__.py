"""Code shared by the tools packages (k8s.io/client-go/tools/internal)."""
