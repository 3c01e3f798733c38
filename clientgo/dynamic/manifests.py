"""Apply or create the objects of YAML files and streams, like `kubectl apply --server-side -f`.

    with manifests.new_for_config(config) as applier:
        for obj in applier.apply(ctx, "deploy/", field_manager="my-program"):
            print(obj.get_kind(), obj.get_name())

No Go file: programs in Go combine the decoder of k8s.io/apimachinery/pkg/util/yaml, a RESTMapper and dynamic.Interface.
Differences to kubectl: all documents are read before the first request, and the first rejected object ends the call.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from clientgo import discovery
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import parse_group_version
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util import yaml
from clientgo.apimachinery.util.json import encode
from clientgo.apimachinery.util.yaml.documents import documents, has_no_content
from clientgo.context import Context
from clientgo.discovery.cached import memory
from clientgo.dynamic.interface import Interface, ResourceInterface
from clientgo.dynamic.simple import new_for_config as new_client_for_config
from clientgo.golang.strconv import quote
from clientgo.klog.exceptions import operational_error
from clientgo.rest.config import Config
from clientgo.restmapper import new_deferred_discovery_rest_mapper

__all__ = ["Applier", "Manifest", "ManifestError", "Source", "new_for_config", "read"]

Source = str | os.PathLike[str] | IO[str] | IO[bytes]
"""The path of a file or folder, or an open stream. For a text use `io.StringIO(text)`."""

_SUFFIXES = (".json", ".yaml", ".yml")
_LINE = re.compile(r"\bline (\d+): ")


class Manifest(NamedTuple):
    """One object of a file or stream."""

    document: dict[str, Any]
    """The object."""
    origin: str
    """The place of the object: "web.yaml, document 2, line 14", for an item of a List followed by ", item 1"."""


@operational_error
class ManifestError(ValueError):
    """Raised for a document that is no object, or an object that the server rejects. `__cause__` is the first error."""

    def __init__(self, origin: str, problem: str, done: list[Unstructured] | None = None) -> None:
        super().__init__(f"{origin}: {problem}")
        self.origin = origin
        """The place of the document, as in Manifest."""
        self.done = done or []
        """The results for the objects before it."""


def new_for_config(config: Config) -> Applier:
    """Return an Applier with connections of its own; `close` closes them. Sends nothing. Raises ValueError, OSError."""
    client = new_client_for_config(config)
    discovery_client = discovery.new_discovery_client_for_config(config)
    mapper = new_deferred_discovery_rest_mapper(memory.new_mem_cache_client(discovery_client))

    def close() -> None:
        client.close()
        discovery_client.close()

    return Applier(client, mapper, close)


class Applier:
    """A client that applies or creates the objects of manifests. Thread-safe if its client and mapper are."""

    def __init__(self, client: Interface, mapper: meta.RESTMapper, close: Callable[[], None] = lambda: None) -> None:
        """Use a client and a mapper; `close` closes them."""
        self._client = client
        self._mapper = mapper
        self._close = close

    def __enter__(self) -> Applier:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections of an Applier from `new_for_config`; it can be used again."""
        self._close()

    def apply(
        self,
        ctx: Context,
        *sources: Source,
        field_manager: str,
        force: bool = False,
        dry_run: bool = False,
        namespace: str = "default",
    ) -> list[Unstructured]:
        """Apply the objects server-side, in order; return the server's results. Blocks until all are applied.

        The fields of each object belong to `field_manager` then; with `force` also those that another manager owns.
        With `dry_run` the server changes nothing. `namespace` is that of objects without one. The server rejects
        unknown fields. Before a custom resource of a new definition, wait for its condition Established (`wait_for`).

        Raises OSError for a file that cannot be read and ManifestError for a document that is no object, both before
        the first request. Raises ManifestError when the server rejects an object; the objects before it are applied.
        """
        options = metav1.PatchOptions(
            field_manager=field_manager, force=force, dry_run=_dry_run(dry_run), field_validation="Strict"
        )

        def send(client: ResourceInterface, document: dict[str, Any]) -> Unstructured:
            name = (document.get("metadata") or {}).get("name")
            if not name:
                raise ValueError("metadata.name is required")
            return client.patch(ctx, name, PatchType.APPLY_YAML, encode(document).encode(), options)

        return self._send_all(sources, namespace, send)

    def create(
        self, ctx: Context, *sources: Source, field_manager: str = "", dry_run: bool = False, namespace: str = "default"
    ) -> list[Unstructured]:
        """Create the objects, in order; return the server's results. Blocks until all are created.

        Like `apply`, but an object that exists is an error, and `metadata.generateName` may replace the name.
        """
        options = metav1.CreateOptions(
            field_manager=field_manager, dry_run=_dry_run(dry_run), field_validation="Strict"
        )
        return self._send_all(
            sources, namespace, lambda client, document: client.create(ctx, Unstructured(document), options)
        )

    def _send_all(
        self,
        sources: tuple[Source, ...],
        namespace: str,
        send: Callable[[ResourceInterface, dict[str, Any]], Unstructured],
    ) -> list[Unstructured]:
        done: list[Unstructured] = []
        for document, origin in read(*sources):
            try:
                done.append(send(self._resource(document, namespace), document))
            except Exception as err:
                raise ManifestError(origin, f"{_described(document)}: {err}", done) from err
        return done

    def _resource(self, document: Mapping[str, Any], default: str) -> ResourceInterface:
        kind = parse_group_version(document["apiVersion"]).with_kind(document["kind"])
        mapping = self._mapper.rest_mapping(kind.group_kind(), kind.version)
        resource = self._client.resource(mapping.resource)
        if mapping.scope.name() != meta.RESTScopeName.NAMESPACE:
            return resource
        return resource.namespace((document.get("metadata") or {}).get("namespace") or default)


def read(*sources: Source) -> list[Manifest]:
    """Return the objects of files, folders and streams, in order. Blocks while it reads.

    Splits YAML into its documents, skips empty ones, and replaces a List by its items. Of a folder, reads the files
    with the suffixes .json, .yaml and .yml by name, without subfolders.

    Raises OSError for a file that cannot be read; ManifestError, with file, document and line, for a text that is no
    YAML, a repeated key, and a document without apiVersion and kind.
    """
    found: list[Manifest] = []
    for source in sources:
        if isinstance(source, str | os.PathLike):
            if "\n" in os.fspath(source):
                raise ValueError("expected a path, got a text; use io.StringIO(text)")
            for path in _files(Path(source)):
                found += _objects(path.read_bytes(), str(path))
        else:
            text = source.read()
            data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
            found += _objects(data, str(getattr(source, "name", "stream")))
    return found


def _files(path: Path) -> list[Path]:
    return sorted(each for each in path.iterdir() if each.suffix in _SUFFIXES) if path.is_dir() else [path]


def _objects(data: bytes, name: str) -> Iterator[Manifest]:
    number = 0
    for first_line, text in documents(data.decode("utf-8-sig", "surrogateescape")):
        line = first_line + _lines_without_content(text)
        origin = f"{name}, document {number + 1}, line {line}"
        duplicates: list[str] = []
        try:
            document = yaml.unmarshal(text.encode("utf-8", "surrogateescape"), duplicates=duplicates)
        except yaml.YAMLSyntaxError as err:
            raise ManifestError(origin, _with_line(str(err), first_line)) from err
        if duplicates:
            raise ManifestError(origin, "; ".join(_with_line(each, first_line) for each in duplicates))
        if document is None:
            continue
        number += 1
        yield from _expand(document, origin)


def _lines_without_content(text: str) -> int:
    lines = text.split("\n")
    return next((number for number, line in enumerate(lines) if not has_no_content(line)), 0)


def _with_line(message: str, first_line: int) -> str:
    """Return a parser's message with the line's number in the file."""
    return _LINE.sub(lambda found: f"line {int(found[1]) + first_line - 1}: ", message, count=1)


def _expand(document: Any, origin: str) -> Iterator[Manifest]:
    if not isinstance(document, dict):
        raise ManifestError(origin, f"expected an object with apiVersion and kind, got {type(document).__name__}")
    for key in ("apiVersion", "kind"):
        if not isinstance(document.get(key), str) or not document[key]:
            raise ManifestError(origin, f"{key} is required")
    if not isinstance(document.get("metadata") or {}, dict):
        raise ManifestError(origin, "metadata is no map")
    items = document.get("items")
    if not (document["kind"].endswith("List") and isinstance(items, list)):
        yield Manifest(document, origin)
        return
    for number, item in enumerate(items, 1):
        yield from _expand(item, f"{origin}, item {number}")


def _described(document: Mapping[str, Any]) -> str:
    metadata = document.get("metadata") or {}
    name = metadata.get("name") or metadata.get("generateName") or ""
    return f"{document['kind']} {quote('/'.join(filter(None, (metadata.get('namespace'), name))))}"


def _dry_run(dry_run: bool) -> list[str]:
    return ["All"] if dry_run else []
