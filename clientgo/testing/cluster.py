"""A cluster that exists already, in the place of the embedded API server, and namespaces for tests in either of them.

No Go file; envtest's UseExistingCluster is similar. The pytest plugin uses both.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from clientgo import context, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import wait
from clientgo.tools import clientcmd
from clientgo.tools.clientcmd import api

if TYPE_CHECKING:
    from clientgo import rest

__all__ = ["Cluster", "Namespaces"]

# Seconds until a namespace must have its service account, and between two polls.
_READY = 30.0
_INTERVAL = 0.1


class Cluster:
    """A cluster of a kubeconfig. Has the properties of the embedded server's Environment that do not need the server.

    As a context manager, or by start() and stop(). The cluster itself is never started or stopped.
    """

    def __init__(self, kubeconfig: str = "", context_name: str = "") -> None:
        """Read the kubeconfig. "" selects the files that kubectl would read; without a context, their current one.

        Raises FileNotFoundError, and clientcmd's errors for a file or a context that is not valid.
        """
        rules = clientcmd.new_default_client_config_loading_rules()
        rules.explicit_path = kubeconfig
        overrides = clientcmd.ConfigOverrides(current_context=context_name)
        self._loader = clientcmd.new_non_interactive_deferred_loading_client_config(rules, overrides)
        self._raw = self._loader.raw_config()
        if context_name:
            self._raw.current_context = context_name
        self._config = self._loader.client_config()
        self._folder = ""

    def __repr__(self) -> str:
        return f"<Cluster {self.url}>"

    def __enter__(self) -> Cluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The address of the API server."""
        return self._config.host

    @property
    def config(self) -> rest.Config:
        """A new rest Config for the user of the context."""
        return self._loader.client_config()

    @property
    def kubeconfig(self) -> str:
        """Path of a kubeconfig (mode 0600) with the selected context only. It exists until stop()."""
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="clientgo-")
            api.minify_config(self._raw)
            api.flatten_config(self._raw)
            clientcmd.write_to_file(self._raw, str(Path(self._folder) / "kubeconfig"))
        return str(Path(self._folder) / "kubeconfig")

    def start(self) -> None:
        """Ask the server for its version, so that a wrong address is reported before the first test. Blocks."""
        client = kubernetes.new_for_config(self.config)
        try:
            client.discovery().server_version()
        finally:
            client.close()

    def stop(self) -> None:
        """Remove the kubeconfig of this object. The cluster keeps running."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""


class Namespaces:
    """Namespaces for tests, with random names. Methods block for requests; not for use by several threads at once.

    No connection stays open between calls, so that checks for leaks of sockets find only those of the test.
    """

    def __init__(self, config: rest.Config, prefix: str = "test-") -> None:
        self._config = config
        self._prefix = prefix
        self._deleted: list[str] = []

    def create(self) -> str:
        """Create a namespace, wait for its default service account, and return the name.

        Raises StatusError, and TimeoutError if the service account does not come within 30 seconds.
        """
        wanted = corev1.Namespace(metadata=metav1.ObjectMeta(generate_name=self._prefix))
        ctx = context.background()
        with self._client() as client:
            name = client.core_v1().namespaces().create(ctx, wanted).get_name()

            def has_service_account(ctx: context.Context) -> bool:
                return errors.get_or_none(client.core_v1().service_accounts(name), ctx, "default") is not None

            try:
                wait.poll_until_context_timeout(ctx, _INTERVAL, _READY, True, has_service_account)
            except Exception as err:
                self.delete(name)
                if wait.interrupted(err):
                    raise TimeoutError(f"namespace {name} has no default service account after {_READY:g} s") from err
                raise
        return name

    def delete(self, name: str) -> None:
        """Begin to delete a namespace with everything in it. A namespace that is gone is no error."""
        with self._client() as client:
            errors.none_if_not_found(client.core_v1().namespaces().delete, context.background(), name)
        self._deleted.append(name)

    def wait_deleted(self, timeout: float) -> list[str]:
        """Block until the deleted namespaces are gone, at most `timeout` seconds; return those that are not."""
        left = self._deleted
        with self._client() as client:

            def gone(ctx: context.Context) -> bool:
                while left and errors.get_or_none(client.core_v1().namespaces(), ctx, left[-1]) is None:
                    left.pop()
                return not left

            try:
                wait.poll_until_context_timeout(context.background(), _INTERVAL, timeout, True, gone)
            except Exception as err:
                if not wait.interrupted(err):
                    raise
        return list(left)

    @contextlib.contextmanager
    def _client(self) -> Iterator[kubernetes.Clientset]:
        client = kubernetes.new_for_config(self._config)
        try:
            yield client
        finally:
            client.close()
