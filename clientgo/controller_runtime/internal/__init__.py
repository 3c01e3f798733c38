"""sigs.k8s.io/controller-runtime/pkg/internal: how controllers, sources and servers work inside. Not for programs."""
