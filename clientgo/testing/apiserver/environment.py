"""A test helper as envtest: an API server for the time of a test, with a rest Config and a kubeconfig for it.

    with Environment(crd_paths=["config/crd"]) as env:
        client = kubernetes.new_for_config(env.config)

Takes the place of controller-runtime's envtest; needs no binaries.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clientgo.testing.apiserver.access.users import User
from clientgo.testing.apiserver.server import Server
from clientgo.testing.apiserver.wire.jsonio import Json, ParseError

if TYPE_CHECKING:
    from clientgo.rest.config import Config

_SUFFIXES = (".yaml", ".yml", ".json")


_KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters:
- name: clientgo
  cluster:
    server: {server}{authority}
users:
- name: kubernetes-admin
  user:
    token: {token}
contexts:
- name: clientgo
  context:
    cluster: clientgo
    user: kubernetes-admin
current-context: clientgo
"""


def kubeconfig_text(url: str, token: str, ca_certificate: str = "") -> str:
    """Return a kubeconfig with one cluster, user and context. The certificate is in PEM."""
    data = base64.b64encode(ca_certificate.encode()).decode()
    authority = f"\n    certificate-authority-data: {data}" if data else ""
    # A text in JSON is one in YAML, whatever is in it.
    return _KUBECONFIG.format(server=json.dumps(url), authority=authority, token=json.dumps(token))


def write_kubeconfig(path: str | Path, text: str) -> None:
    """Write it whole or not at all, readable by this user alone. Raises OSError that names `path`.

    A link stays, and a device or pipe (`/dev/null`) gets the text.
    """
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            target.write_text(text)
        else:
            _replace(Path(os.path.realpath(target)), text)
    except OSError as err:
        # The error would name the temporary file, which the user does not know.
        raise type(err)(err.errno, err.strerror, str(target)) from None


def _replace(target: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def read_manifests(paths: Iterable[str | Path]) -> Iterator[Json]:
    """Yield the documents in YAML or JSON files. In a folder, reads all files in the order of their names.

    Raises FileNotFoundError for a path that does not exist, ParseError for one that is no manifest, and TypeError for a
    single path outside a list, which would be read as a list of its letters.
    """
    # Here, not above: a server needs no YAML to start.
    from clientgo.apimachinery.util.yaml import YAMLSyntaxError, unmarshal
    from clientgo.apimachinery.util.yaml.documents import documents

    if isinstance(paths, str | Path):
        raise TypeError(f"expected a list of paths, got {paths!r}")
    for path in paths:
        one = Path(path)
        files = sorted(f for f in one.iterdir() if f.suffix in _SUFFIXES) if one.is_dir() else [one]
        for file in files:
            text = file.read_bytes().decode("utf-8-sig", "surrogateescape")
            try:
                found = [unmarshal(each.encode("utf-8", "surrogateescape")) for _, each in documents(text)]
            except YAMLSyntaxError as err:
                raise ParseError(f"{file}: {err}") from None
            for document in found:
                if isinstance(document, dict) and document.get("kind") == "List":
                    yield from document.get("items") or ()
                elif document is not None:
                    yield document


class Environment:
    """A server with CRDs installed. As a context manager, or by start() and stop(); both block until done."""

    def __init__(
        self,
        *,
        crd_paths: Iterable[str | Path] = (),
        crds: Iterable[Json] = (),
        data_dir: str | None = None,
        port: int = 0,
        tokens: dict[str, User] | None = None,
        **options: Any,
    ) -> None:
        """Start a server with `options`.

        Raises OSError if the port is taken, FileNotFoundError for a missing CRD path.
        """
        self._crds = [*read_manifests(crd_paths), *crds]
        self.server = Server(port=port, tokens=tokens, data_dir=data_dir, **options)
        self._folder = ""

    def __repr__(self) -> str:
        return f"<Environment {self.url}>"

    def __enter__(self) -> Environment:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def token(self) -> str:
        """The bearer token of an administrator."""
        return self.server.token

    @property
    def config(self) -> Config:
        """A new rest Config for an administrator, without client-side rate limit."""
        from clientgo.rest.config import Config  # Here, not above: a server needs no client.

        return Config(host=self.url, bearer_token=self.token, qps=-1)

    @property
    def kubeconfig(self) -> str:
        """Path of a kubeconfig (mode 0600) that lives as long as the environment."""
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="clientgo-")
            text = kubeconfig_text(self.server.tls_url, self.token, self.server.ca_certificate)
            write_kubeconfig(Path(self._folder) / "kubeconfig", text)
        return str(Path(self._folder) / "kubeconfig")

    def start(self) -> None:
        self.server.start()
        for definition in self._crds:
            self.create(definition)

    def stop(self) -> None:
        self.server.stop()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""

    def create(self, obj: Json) -> None:
        """Create an object of any served kind directly in the server. Raises LookupError, ApiError as its text says."""
        api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
        resource = self.server.registry.by_kind(api_version, kind)
        if resource is None:
            raise LookupError(f'no matches for kind "{kind}" in version "{api_version}"')
        namespace = (obj.get("metadata") or {}).get("namespace", "default") if resource.namespaced else ""
        self.server.create(resource, namespace, obj)

    def wait_idle(self, timeout: float = 10.0) -> bool:
        """Block until the server's own controllers (garbage collection, namespaces, CRDs) have nothing to do."""
        return self.server.controllers.wait_idle(timeout)
