"""A control plane for tests. Mirrors pkg/envtest.

    env = envtest.Environment(crd_directory_paths=["config/crd"])
    config = env.start()
    ...
    env.stop()

In Go it is etcd and kube-apiserver, whose binaries have to be there; here it is the embedded API server, which is in
this process and ready in a fraction of a second. As there, no controllers run: no garbage collection, no pods. With
USE_EXISTING_CLUSTER=true it is the cluster that the kubeconfig names.
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
