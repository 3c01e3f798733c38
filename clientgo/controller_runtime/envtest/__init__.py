"""A control plane for tests. Mirrors pkg/envtest.

    env = envtest.Environment(crd_directory_paths=["config/crd"])
    config = env.start()
    ...
    env.stop()

Go starts etcd and kube-apiserver, which need installed binaries. This package starts the embedded API server in the
test's process, which takes a fraction of a second. As in Go, no controllers run: there is no garbage collection and
pods do not start. USE_EXISTING_CLUSTER=true selects the kubeconfig's cluster instead.
"""

from clientgo.controller_runtime.envtest.crd import (
    CRDInstallOptions,
    create_crds,
    install_crds,
    read_crd_files,
    uninstall_crds,
    wait_for_crds,
)
from clientgo.controller_runtime.envtest.server import (
    START_TIMEOUT,
    STOP_TIMEOUT,
    AuthenticatedUser,
    ControlPlane,
    Environment,
    User,
)
from clientgo.controller_runtime.envtest.webhook import WebhookInstallOptions, wait_for_webhooks

__all__ = [
    "START_TIMEOUT",
    "STOP_TIMEOUT",
    "AuthenticatedUser",
    "CRDInstallOptions",
    "ControlPlane",
    "Environment",
    "User",
    "WebhookInstallOptions",
    "create_crds",
    "install_crds",
    "read_crd_files",
    "uninstall_crds",
    "wait_for_crds",
    "wait_for_webhooks",
]
