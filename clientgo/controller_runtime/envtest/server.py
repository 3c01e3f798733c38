"""The control plane of a test. Mirrors pkg/envtest/server.go.

Differs: the control plane is the embedded API server, so there are no binaries to find, to download or to give
arguments to, and starting needs no timeout of 20 seconds. The two timeouts are kept for programs that set them.
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
"""Go: envtest.DefaultControlPlaneStartTimeout, here kept for its name: the embedded server is there at once."""
STOP_TIMEOUT = 20.0
"""Go: envtest.DefaultControlPlaneStopTimeout."""

_LOG = RUNTIME_LOG.with_name("test-env")
_ENV_USE_EXISTING_CLUSTER = "USE_EXISTING_CLUSTER"


@dataclass(frozen=True)
class User:
    """Somebody to be. Go: envtest.User."""

    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class AuthenticatedUser:
    """Somebody the control plane knows. Go: envtest.AuthenticatedUser."""

    _config: rest.Config = field(repr=False)

    def config(self) -> rest.Config:
        """How to talk to the control plane as that user. Go: Config."""
        return rest.copy_config(self._config)


class ControlPlane:
    """The embedded API server. Go: envtest.ControlPlane. `start` and `stop` block until done."""

    def __init__(self) -> None:
        self._environment: Any = None

    def __repr__(self) -> str:
        return f"<ControlPlane {'not started' if self._environment is None else self._environment.url}>"

    def start(self) -> None:
        """Begin to serve, at a free port of 127.0.0.1. Raises OSError. Go: Start."""
        from clientgo.testing.apiserver import Environment as Embedded  # only tests come here

        self._environment = Embedded(collect_garbage=False)
        self._environment.start()

    def stop(self) -> None:
        """End it; what it stored is gone. Idempotent. Go: Stop."""
        if self._environment is not None:
            self._environment.stop()
            self._environment = None

    @property
    def config(self) -> rest.Config:
        """How an administrator talks to it."""
        config: rest.Config = self._environment.config
        return config

    @property
    def kube_config(self) -> bytes:
        """A kubeconfig for an administrator, such as kubectl reads."""
        return Path(self._environment.kubeconfig).read_bytes()


@dataclass(kw_only=True)
class Environment:
    """A control plane with custom resources and webhooks. Go: envtest.Environment.

    `start` and `stop` belong to one thread, and block until done.
    """

    control_plane: ControlPlane = field(default_factory=ControlPlane)
    """What runs."""
    scheme: Scheme | None = None
    """Tells which kinds convert between their versions by a webhook; that of the built-in kinds when None."""
    config: rest.Config | None = None
    """How to talk to the control plane; `start` sets it, and follows it if it is set."""
    kube_config: bytes = field(default=b"", repr=False)
    """The same as a kubeconfig; `start` sets it."""
    crd_install_options: CRDInstallOptions = field(default_factory=CRDInstallOptions)
    """How custom resources are installed."""
    webhook_install_options: WebhookInstallOptions = field(default_factory=WebhookInstallOptions)
    """How webhooks are installed, and where the test has to serve them."""
    error_if_crd_path_missing: bool = False
    """Whether a path that is not there is an error."""
    crds: list[apiextensionsv1.CustomResourceDefinition] = field(default_factory=list)
    """Definitions to install; afterwards all that are."""
    crd_directory_paths: Sequence[str | Path] = ()
    """Files with definitions, and folders with such files."""
    download_binary_assets: bool = False
    """Without effect: there are no binaries."""
    download_binary_assets_version: str = ""
    """Without effect."""
    download_binary_assets_index_url: str = ""
    """Without effect."""
    binary_assets_directory: str = ""
    """Without effect."""
    use_existing_cluster: bool | None = None
    """Whether to use the cluster of the kubeconfig; None asks the environment variable USE_EXISTING_CLUSTER."""
    control_plane_start_timeout: float = 0.0
    """Without effect: the embedded server is there at once."""
    control_plane_stop_timeout: float = 0.0
    """Without effect."""
    attach_control_plane_output: bool = False
    """Without effect: what the server has to say, it logs."""

    def start(self) -> rest.Config:
        """Start the control plane, install resources and webhooks. Go: Start.

        Raises OSError, FileNotFoundError for a missing path, ValueError for a bad file, StatusError, TimeoutError; what
        was started has ended then.
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
        """End what was started; of an existing cluster delete the resources, if asked to. Go: Stop."""
        try:
            if self.crd_install_options.clean_up_after_use and self.config is not None:
                uninstall_crds(self.config, self.crd_install_options)
        finally:
            self.webhook_install_options.cleanup()
            self.control_plane.stop()

    def add_user(self, user: User, base_config: rest.Config | None = None) -> AuthenticatedUser:
        """Somebody else, as `base_config` or the administrator impersonates them. Raises RuntimeError before `start`.

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
