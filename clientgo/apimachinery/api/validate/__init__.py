"""Rules for values of API objects (k8s.io/apimachinery/pkg/api/validate)."""
