"""Defaults of kubeconfigs in files. Mirrors tools/clientcmd/api/v1/defaults.go."""

from __future__ import annotations

from clientgo.tools.clientcmd.api.types import ExecConfig, ExecInteractiveMode

# Before v1, plugins did not declare whether they prompt the user.
_OLD_VERSIONS = ("client.authentication.k8s.io/v1beta1", "client.authentication.k8s.io/v1alpha1")


def set_defaults_exec_config(config: ExecConfig) -> None:
    """Set the interactive mode of old versions. Go: SetDefaults_ExecConfig."""
    if not config.interactive_mode and config.api_version in _OLD_VERSIONS:
        config.interactive_mode = ExecInteractiveMode.IF_AVAILABLE
