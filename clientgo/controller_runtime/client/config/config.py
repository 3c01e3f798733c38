"""The config of the cluster that a program connects to. Mirrors pkg/client/config/config.go.

Go registers the flag `--kubeconfig` with the program's one set of flags when the package is loaded. Python has no such
set, so a program calls `register_flags(parser)` before it parses its arguments.
"""

from __future__ import annotations

import argparse
import os
import pwd
import sys
from typing import Final

from clientgo import rest
from clientgo.controller_runtime.internal.log import RUNTIME_LOG
from clientgo.tools import clientcmd
from clientgo.tools.clientcmd import api as clientcmdapi
from clientgo.tools.clientcmd.flag import setting

# The name of the flag. Go: config.KubeconfigFlagName.
KUBECONFIG_FLAG_NAME: Final = "kubeconfig"

_LOGGER = RUNTIME_LOG.with_name("client").with_name("config")


class _Flags:
    """The values of the flags."""

    kubeconfig = ""


_FLAGS = _Flags()


def register_flags(fs: argparse.ArgumentParser) -> None:
    """Add the flag --kubeconfig, which `get_config` reads. Go: config.RegisterFlags.

    If the parser already has a flag of that name, `get_config` uses that flag's default.
    """
    try:
        fs.add_argument(
            f"-{KUBECONFIG_FLAG_NAME}",
            f"--{KUBECONFIG_FLAG_NAME}",
            action=setting(_FLAGS, "kubeconfig"),
            default="",
            help="Paths to a kubeconfig. Only required if out-of-cluster.",
        )
    except argparse.ArgumentError:
        _FLAGS.kubeconfig = fs.get_default(KUBECONFIG_FLAG_NAME) or ""


def get_config() -> rest.Config:
    """Return the config of the cluster from the first source that exists. Go: config.GetConfig.

      * the file that the flag --kubeconfig names
      * the files that the environment variable KUBECONFIG names
      * the service account of the pod the program runs in
      * $HOME/.kube/config

    The client-side rate limit is off (`qps` is -1), since servers provide fairness. Raises clientcmd's errors for
    unusable files.
    """
    return get_config_with_context("")


def get_config_with_context(context: str) -> rest.Config:
    """Return the config of another context of the kubeconfig. Go: config.GetConfigWithContext."""
    config = _load_config(context)
    if config.qps == 0:
        config.qps = -1
    return config


def _load_config(context: str) -> rest.Config:
    if _FLAGS.kubeconfig:
        return _load(clientcmd.ClientConfigLoadingRules(explicit_path=_FLAGS.kubeconfig), context)
    not_in_cluster: Exception | None = None
    if not os.environ.get(clientcmd.RECOMMENDED_CONFIG_PATH_ENV_VAR):
        try:
            return rest.in_cluster_config()
        except Exception as err:
            not_in_cluster = err
    rules = clientcmd.new_default_client_config_loading_rules()
    if "HOME" not in os.environ:
        home = pwd.getpwuid(os.getuid()).pw_dir
        rules.precedence.append(os.path.join(home, clientcmd.RECOMMENDED_HOME_DIR, clientcmd.RECOMMENDED_FILE_NAME))
    try:
        return _load(rules, context)
    except Exception:
        if not_in_cluster is not None:
            _LOGGER.error(not_in_cluster, "unable to load in-cluster config")
        raise


def _load(rules: clientcmd.ClientConfigLoadingRules, context: str) -> rest.Config:
    overrides = clientcmd.ConfigOverrides(cluster_info=clientcmdapi.Cluster(), current_context=context)
    return clientcmd.new_non_interactive_deferred_loading_client_config(rules, overrides).client_config()


def get_config_or_die() -> rest.Config:
    """Return the config of the cluster. On an error, log it and exit with status 1. Go: config.GetConfigOrDie."""
    try:
        return get_config()
    except Exception as err:
        _LOGGER.error(err, "unable to get kubeconfig")
        sys.exit(1)
