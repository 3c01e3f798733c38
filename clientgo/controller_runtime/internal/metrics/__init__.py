"""sigs.k8s.io/controller-runtime/pkg/internal/metrics."""
