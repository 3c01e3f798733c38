"""The config of the cluster a program shall talk to. Mirrors pkg/client/config/config.go.

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
    """What the flags were set to."""

    kubeconfig = ""


_FLAGS = _Flags()


def register_flags(fs: argparse.ArgumentParser) -> None:
    """Add the flag --kubeconfig, which `get_config` then follows. Go: config.RegisterFlags.

    If the program has a flag of that name already, its default is followed.
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
    """The config of the cluster, by the first of these that there is. Go: config.GetConfig.

      * the file that the flag --kubeconfig names
      * the files that the environment variable KUBECONFIG names
      * the service account of the pod the program runs in
      * $HOME/.kube/config

    The client-side rate limit is off (`qps` is -1), since servers take care of fairness themselves. Raises what
    clientcmd raises for files that cannot be used.
    """
    return get_config_with_context("")


def get_config_with_context(context: str) -> rest.Config:
    """The same with another context of the kubeconfig than its current one. Go: config.GetConfigWithContext."""
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
    """The config of the cluster; without one, log why and end the program with status 1. Go: config.GetConfigOrDie."""
    try:
        return get_config()
    except Exception as err:
        _LOGGER.error(err, "unable to get kubeconfig")
        sys.exit(1)
