"""An embedded Kubernetes API server, for study, demos and tests of controllers.

It speaks the Kubernetes REST protocol over HTTP from memory: discovery, CRUD, watches, patches of every kind,
server-side apply, CRDs, RBAC, garbage collection. There is no Go counterpart in client-go; it takes the place of
envtest. Start it in a test with `Environment`, or as a program with `clientgo apiserver`.
"""

from clientgo.testing.apiserver.access.auth import read_token_file
from clientgo.testing.apiserver.access.users import User
from clientgo.testing.apiserver.environment import Environment, kubeconfig_text, read_manifests, write_kubeconfig
from clientgo.testing.apiserver.server import Server, admin_user
from clientgo.testing.apiserver.store.storage import Unwritten

__all__ = [
    "Environment",
    "Server",
    "Unwritten",
    "User",
    "admin_user",
    "kubeconfig_text",
    "read_manifests",
    "read_token_file",
    "write_kubeconfig",
]
