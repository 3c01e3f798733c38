"""k8s.io/apimachinery/pkg/apis: the types that all API groups share."""
