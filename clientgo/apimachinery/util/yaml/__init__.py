"""A YAML parser with Kubernetes' rules and with limits. Mirrors k8s.io/apimachinery/pkg/util/yaml."""

from clientgo.apimachinery.util.yaml.decoder import DEFAULT_LIMITS, Limits, YAMLSyntaxError, unmarshal
from clientgo.apimachinery.util.yaml.resolve import is_plain

__all__ = ["DEFAULT_LIMITS", "Limits", "YAMLSyntaxError", "is_plain", "unmarshal"]
