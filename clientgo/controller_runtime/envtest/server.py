"""The control plane of a test. Mirrors pkg/envtest/server.go.

Difference: the control plane is the embedded API server. It needs no binaries, no downloads and no arguments, and
starts without a timeout of 20 seconds. The two timeouts exist for programs that set them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clientgo import rest
from clientgo.apiextensions import v1 as apiextensionsv1
from clientgo.apimachinery.runtime import Scheme
from clientgo.controller_runtime.client.config import get_config
from clientgo.controller_runtime.envtest.crd import CRDInstallOptions, install_crds, uninstall_crds
from clientgo.controller_runtime.envtest.webhook import WebhookInstallOptions
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.golang.strconv import parse_bool

__all__ = ["START_TIMEOUT", "STOP_TIMEOUT", "AuthenticatedUser", "ControlPlane", "Environment", "User"]

START_TIMEOUT = 20.0
"""The start timeout in seconds. It has no effect, since the embedded server starts at once.

Go: envtest.DefaultControlPlaneStartTimeout.
"""
STOP_TIMEOUT = 20.0
"""The stop timeout in seconds. It has no effect. Go: envtest.DefaultControlPlaneStopTimeout."""

_LOG = RUNTIME_LOG.with_name("test-env")
_ENV_USE_EXISTING_CLUSTER = "USE_EXISTING_CLUSTER"


@dataclass(frozen=True)
class User:
    """A user to add to the control plane. Go: envtest.User."""

    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class AuthenticatedUser:
    """A user that the control plane authenticates. Go: envtest.AuthenticatedUser."""

    _config: rest.Config = field(repr=False)

    def config(self) -> rest.Config:
        """Return a config that connects as this user. Go: Config."""
        return rest.copy_config(self._config)


class ControlPlane:
    """The embedded API server. Go: envtest.ControlPlane. `start` and `stop` block until done."""

    def __init__(self) -> None:
        self._environment: Any = None

    def __repr__(self) -> str:
        return f"<ControlPlane {'not started' if self._environment is None else self._environment.url}>"

    def start(self) -> None:
        """Serve at a free port of 127.0.0.1. Raises OSError. Go: Start."""
        from clientgo.testing.apiserver import Environment as Embedded  # only tests import it

        self._environment = Embedded(collect_garbage=False)
        self._environment.start()

    def stop(self) -> None:
        """Stop the server and discard its objects. Idempotent. Go: Stop."""
        if self._environment is not None:
            self._environment.stop()
            self._environment = None

    @property
    def config(self) -> rest.Config:
        """The config of an administrator."""
        config: rest.Config = self._environment.config
        return config

    @property
    def kube_config(self) -> bytes:
        """The kubeconfig of an administrator, for example for kubectl."""
        return Path(self._environment.kubeconfig).read_bytes()


@dataclass(kw_only=True)
class Environment:
    """A control plane with custom resources and webhooks. Go: envtest.Environment.

    `start` and `stop` belong to one thread, and block until done.
    """

    control_plane: ControlPlane = field(default_factory=ControlPlane)
    """The control plane."""
    scheme: Scheme | None = None
    """The scheme that shows which kinds convert by a webhook; None selects the built-in kinds."""
    config: rest.Config | None = None
    """The config of the control plane. `start` uses a config that is set before, and sets it otherwise."""
    kube_config: bytes = field(default=b"", repr=False)
    """The kubeconfig of the control plane; `start` sets it."""
    crd_install_options: CRDInstallOptions = field(default_factory=CRDInstallOptions)
    """The options for custom resources."""
    webhook_install_options: WebhookInstallOptions = field(default_factory=WebhookInstallOptions)
    """The options for webhooks, and the address at which the test must serve them."""
    error_if_crd_path_missing: bool = False
    """Raise FileNotFoundError for a missing path."""
    crds: list[apiextensionsv1.CustomResourceDefinition] = field(default_factory=list)
    """Definitions to install; `start` adds all that it installed."""
    crd_directory_paths: Sequence[str | Path] = ()
    """Files with definitions, and folders of such files."""
    download_binary_assets: bool = False
    """Has no effect: there are no binaries."""
    download_binary_assets_version: str = ""
    """Has no effect."""
    download_binary_assets_index_url: str = ""
    """Has no effect."""
    binary_assets_directory: str = ""
    """Has no effect."""
    use_existing_cluster: bool | None = None
    """Use the cluster of the kubeconfig. None reads the environment variable USE_EXISTING_CLUSTER."""
    control_plane_start_timeout: float = 0.0
    """Has no effect: the embedded server starts at once."""
    control_plane_stop_timeout: float = 0.0
    """Has no effect."""
    attach_control_plane_output: bool = False
    """Has no effect: the server writes to the log."""

    def start(self) -> rest.Config:
        """Start the control plane, then install custom resources and webhooks. Go: Start.

        Raises OSError, FileNotFoundError for a missing path, ValueError for an invalid file, StatusError, TimeoutError.
        On an error it stops everything that it started.
        """
        try:
            return self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> rest.Config:
        if self._uses_existing_cluster():
            _LOG.v(1).info("using existing cluster")
            config = self.config or get_config()
        else:
            _LOG.v(1).info("starting control plane")
            self.control_plane.start()
            config = self.control_plane.config
            self.kube_config = self.control_plane.kube_config
        self.config = config
        webhooks, options = self.webhook_install_options, self.crd_install_options
        webhooks.prep_without_installing()
        _LOG.v(1).info("installing CRDs")
        options.scheme = options.scheme or self.scheme
        options.crds = [*options.crds, *self.crds]
        options.paths = [*options.paths, *self.crd_directory_paths]
        options.error_if_path_missing = options.error_if_path_missing or self.error_if_crd_path_missing
        options.webhook_options = webhooks
        self.crds = install_crds(config, options)
        _LOG.v(1).info("installing webhooks")
        webhooks.install(config)
        return config

    def stop(self) -> None:
        """Stop everything that `start` started. In an existing cluster, delete the resources only on request.

        Go: Stop.
        """
        try:
            if self.crd_install_options.clean_up_after_use and self.config is not None:
                uninstall_crds(self.config, self.crd_install_options)
        finally:
            self.webhook_install_options.cleanup()
            self.control_plane.stop()

    def add_user(self, user: User, base_config: rest.Config | None = None) -> AuthenticatedUser:
        """Return a user that `base_config`, or the administrator, impersonates. Raises RuntimeError before `start`.

        Go: AddUser.
        """
        config = base_config or self.config
        if config is None:
            raise RuntimeError("the environment has not been started")
        config = rest.copy_config(config)
        config.impersonate = rest.ImpersonationConfig(user_name=user.name, groups=list(user.groups))
        return AuthenticatedUser(config)

    def _uses_existing_cluster(self) -> bool:
        if self.use_existing_cluster is not None:
            return self.use_existing_cluster
        try:
            return parse_bool(os.environ.get(_ENV_USE_EXISTING_CLUSTER, "false"))
        except ValueError:
            return False
