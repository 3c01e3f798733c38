"""The file format of kubeconfigs. Mirrors k8s.io/client-go/tools/clientcmd/api/v1."""

from clientgo.tools.clientcmd.api.v1.conversion import from_document, to_document
from clientgo.tools.clientcmd.api.v1.defaults import set_defaults_exec_config

__all__ = ["from_document", "set_defaults_exec_config", "to_document"]
