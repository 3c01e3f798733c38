"""k8s.io/apimachinery/pkg/apis: the types every API group shares."""
