"""`clientgo explain`: the description of a resource or field, from the server's OpenAPI v3 documents.

The output is that of `kubectl explain` (kubectl's pkg/explain/v2). Kubernetes' descriptions come from the server, since
the types of this library do not contain them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clientgo.cli.command import PROG
from clientgo.cli.start import is_interrupt

# The package imports this module for its function, and `clientgo --help` must not wait for the clients.
if TYPE_CHECKING:
    from clientgo import discovery, rest
    from clientgo.apimachinery.runtime.schema import GroupVersionResource

Json = Mapping[str, Any]

_ENUM_VALUES = 4
_METHODS = ("get", "post", "put", "patch", "delete")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    made = argparse.ArgumentParser(
        f"{PROG} explain",
        description="Describe a resource or a field of it, as kubectl explain does: deployment.spec.strategy",
    )
    made.add_argument("resource", metavar="TYPE[.FIELD...]", help="a kind, resource or short name, and names of fields")
    made.add_argument("--recursive", action="store_true", help="print the fields of fields, without descriptions")
    made.add_argument("--max-depth", type=int, default=0, metavar="N", help="levels of --recursive; 0 for all")
    made.add_argument("--api-version", default="", metavar="GROUP/VERSION", help="instead of the preferred version")
    made.add_argument("--kubeconfig", default="", help="default: KUBECONFIG, ~/.kube/config, or the cluster")
    return made


def main(arguments: Sequence[str]) -> int:
    """Print a description and return the exit code: 0, or 1 with a message."""
    given = parser().parse_args(arguments)
    try:
        text = explain(
            load_config(given.kubeconfig),
            given.resource,
            recursive=given.recursive,
            max_depth=given.max_depth,
            api_version=given.api_version,
        )
    except Exception as err:
        if is_interrupt(err):
            raise KeyboardInterrupt from None
        print(f"error: {err}{hint(err)}", file=sys.stderr)
        return 1
    print(text, end="")
    return 0


def load_config(kubeconfig: str) -> rest.Config:
    """Return the configuration that kubectl would use. Raises an error of clientcmd if there is none."""
    from clientgo.tools import clientcmd

    rules = clientcmd.new_default_client_config_loading_rules()
    rules.explicit_path = kubeconfig
    loader = clientcmd.new_non_interactive_deferred_loading_client_config(rules, clientcmd.ConfigOverrides())
    return loader.client_config()


def hint(err: Exception) -> str:
    """Return a line that says how to get a server, if the error is that no configuration was found; else ""."""
    from clientgo.tools import clientcmd

    if not clientcmd.is_empty_config(err):
        return ""
    return (
        f"\nSet KUBECONFIG or --kubeconfig to a cluster's kubeconfig, or start a server: "
        f"{PROG} apiserver --kubeconfig-out kc"
    )


def explain(
    config: rest.Config, resource: str, *, recursive: bool = False, max_depth: int = 0, api_version: str = ""
) -> str:
    """Return what `kubectl explain` prints for a resource and the way to a field: "deployment.spec.strategy".

    Blocks for requests for the server's resources and for one OpenAPI document. Raises LookupError for an unknown
    resource or field, ValueError for a malformed `api_version`, and the errors of requests.
    """
    from clientgo import discovery
    from clientgo.apimachinery.runtime.schema import parse_group_version

    client = discovery.new_discovery_client_for_config(config)
    try:
        gvr, path = _find(client, resource)
        if api_version:
            gvr = parse_group_version(api_version).with_resource(gvr.resource)
        document = _document(client, gvr)
    finally:
        client.close()
    return _Printer(document, recursive, max_depth).describe(gvr, path)


def _find(client: discovery.DiscoveryClient, resource: str) -> tuple[GroupVersionResource, list[str]]:
    """Return the resource and the names of fields in `resource`."""
    from clientgo import restmapper
    from clientgo.apimachinery.api import meta
    from clientgo.apimachinery.runtime.schema import GroupVersionResource

    name, *path = resource.split(".")
    mapper = restmapper.new_shortcut_expander(
        restmapper.new_discovery_rest_mapper(restmapper.get_api_group_resources(client)), client
    )
    try:
        found = mapper.resources_for(GroupVersionResource("", "", name))
    except meta.NoResourceMatchError:
        raise LookupError(f'the server doesn\'t have a resource type "{name}"') from None
    for gvr in found:
        # "deployments.apps.spec" names the group too.
        full = str(gvr.group_resource())
        if resource.startswith(full) and gvr.group:
            return gvr, [part for part in resource[len(full) :].split(".") if part]
    return found[0], path


def _document(client: discovery.DiscoveryClient, gvr: GroupVersionResource) -> Json:
    from clientgo import openapi
    from clientgo.apimachinery.util.json import unmarshal

    path = f"apis/{gvr.group}/{gvr.version}" if gvr.group else f"api/{gvr.version}"
    documents = openapi.new_client(client.rest_client()).paths()
    if path not in documents:
        raise LookupError(f"couldn't find resource for \"{gvr.group_version()}, Resource={gvr.resource}\"")
    found: Json = unmarshal(documents[path].schema())
    return found


class _Printer:
    """Writes descriptions from one OpenAPI document. Go: plaintext.tmpl of kubectl."""

    def __init__(self, document: Json, recursive: bool, max_depth: int) -> None:
        self._paths: Json = document.get("paths") or {}
        self._schemas: Json = (document.get("components") or {}).get("schemas") or {}
        self._recursive = recursive
        self._max_depth = max_depth

    def describe(self, gvr: GroupVersionResource, path: Sequence[str]) -> str:
        """Return the whole text. Raises LookupError for an unknown resource or field."""
        gvk = self._kind_of(gvr)
        head = f"GROUP:      {gvk['group']}\n" if gvk.get("group") else ""
        head += f"KIND:       {gvk['kind']}\nVERSION:    {gvk['version']}\n\n"
        for schema in self._schemas.values():
            if gvk in (schema.get("x-kubernetes-group-version-kind") or ()):
                body = "".join(self._output(schema, list(path), frozenset()))
                if not body:
                    raise LookupError(f'field "{path[-1]}" does not exist')
                return f"{head}{body}\n"
        raise LookupError(f"GVK {dict(gvk)} not found in OpenAPI schema")

    def _kind_of(self, gvr: GroupVersionResource) -> Json:
        prefix = f"/apis/{gvr.group}/{gvr.version}" if gvr.group else f"/api/{gvr.version}"
        for scope in ("", "/namespaces/{namespace}"):
            for name in ("", "/{name}"):
                operations = self._paths.get(f"{prefix}{scope}/{gvr.resource}{name}") or {}
                for method in _METHODS:
                    found: Json | None = (operations.get(method) or {}).get("x-kubernetes-group-version-kind")
                    if found:
                        return found
        raise LookupError(f"GVR ({gvr}) not found in OpenAPI schema")

    def _resolved(self, schema: Json) -> Json:
        reference = schema.get("$ref")
        if not reference:
            return schema
        found: Json = self._schemas.get(reference.rpartition("/")[2]) or schema
        return found

    def _output(self, schema: Json, path: list[str], history: frozenset[str]) -> Iterator[str]:
        """Follow the path and yield the field's description; yield nothing if there is no such field."""
        reference = schema.get("$ref", "")
        resolved = self._resolved(schema)
        if not path:
            yield "DESCRIPTION:\n"
            yield _indented(_wrapped("".join(self._description(resolved)) or "<empty>", 76), 4) + "\n"
            if documents := "".join(_external_documents(resolved, 0)):
                yield "\n" + documents
            if fields := "".join(self._fields(resolved, 1, frozenset())):
                yield "FIELDS:\n" + fields
            return
        if reference and reference in history:
            return
        name = path[0]
        properties = resolved.get("properties") or {}
        if name in properties:
            found = properties[name]
            if len(path) == 1:
                yield f"FIELD: {name} <{self._type(found)}>\n{_long_enum(found)}\n\n"
            yield from self._output(found, path[1:], frozenset())
            return
        history |= {reference}
        for each in _inner(resolved):
            yield from self._output(each, path, history)
            return
        for each in resolved.get("allOf") or ():
            if text := "".join(self._output(each, path, history)):
                yield text
                return

    def _description(self, schema: Json) -> Iterator[str]:
        resolved = self._resolved(schema)
        if resolved.get("description"):
            yield resolved["description"] + "\n"
        for each in resolved.get("allOf") or ():
            yield from self._description(each)
        if resolved.get("items"):
            yield from self._description(resolved["items"])
        if isinstance(resolved.get("additionalProperties"), dict):
            yield from self._description(resolved["additionalProperties"])

    def _fields(self, schema: Json, level: int, history: frozenset[str]) -> Iterator[str]:
        reference = schema.get("$ref", "")
        if reference and reference in history:
            return
        history |= {reference}
        resolved = self._resolved(schema)
        for name, field in sorted((resolved.get("properties") or {}).items()):
            yield from self._field(name, field, name in (resolved.get("required") or ()), level)
            if self._recursive and (not self._max_depth or level < self._max_depth):
                yield from self._fields(field, level + 1, history)
        for each in (*(resolved.get("allOf") or ()), *_inner(resolved, both=True)):
            yield from self._fields(each, level, history)

    def _field(self, name: str, field: Json, required: bool, level: int) -> Iterator[str]:
        indent = 2 * level
        yield f"{' ' * indent}{name}\t<{self._type(field)}>{' -required-' if required else ''}"
        if values := field.get("enum"):
            shown = ", ".join(_shown(value) for value in values[:_ENUM_VALUES])
            yield f"\n{' ' * indent}enum: {shown}{', ....' if len(values) > _ENUM_VALUES else ''}"
        yield "\n"
        if not self._recursive:
            yield _indented(_wrapped(field.get("description") or "<no description>", 78 - indent), indent + 2) + "\n"
            if documents := "".join(_external_documents(field, indent + 2)):
                yield "\n" + documents
            yield "\n"

    def _type(self, schema: Json) -> str:
        """Return the type as kubectl shows it: `[]Container`, `map[string]string`, `Object`."""
        if schema.get("items"):
            return f"[]{self._type(schema['items'])}"
        if isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
            return f"map[string]{self._type(schema['additionalProperties'])}"
        alternatives = list(schema.get("allOf") or ())
        if len(alternatives) == 1 and not schema.get("properties"):
            return self._type(alternatives[0])
        if reference := schema.get("$ref"):
            kind: str = (self._schemas.get(reference.rpartition("/")[2]) or {}).get("type") or "object"
            return kind if kind != "object" else reference.rpartition("/")[2].rpartition(".")[2] or "Object"
        plain: str = schema.get("type") or "Object"
        return "Object" if plain == "object" else plain


def _inner(schema: Json, both: bool = False) -> list[Json]:
    """Return the schema of a list's or map's elements; `both` if a schema may have the two."""
    found = [schema["items"]] if schema.get("items") else []
    if isinstance(schema.get("additionalProperties"), dict) and (both or not found):
        found.append(schema["additionalProperties"])
    return found


def _external_documents(schema: Json, indent: int) -> Iterator[str]:
    documents = schema.get("externalDocs")
    if not documents:
        return
    yield " " * indent + "EXTERNAL DOCS:\n"
    inner = indent + 2 if indent else 4
    if documents.get("description"):
        yield _indented(_wrapped(documents["description"], 76 - max(indent - 2, 0)), inner) + "\n"
    if documents.get("url"):
        yield " " * inner + f"URL: {documents['url']}\n"


def _long_enum(schema: Json) -> str:
    values = schema.get("enum")
    return "ENUM:" + "".join(f"\n    {_shown(value)}" for value in values) if values else ""


def _shown(value: Any) -> str:
    if value == "":
        return '""'
    return value if isinstance(value, str) else json.dumps(value)


def _indented(text: str, amount: int) -> str:
    pad = " " * amount
    return pad + text.replace("\n", "\n" + pad)


def _wrapped(text: str, limit: int) -> str:
    """Break lines at spaces before they exceed the limit, keeping all other space as it is."""
    out: list[str] = []
    current, space, word = 0, "", ""
    for char in text:
        if char == "\n":
            if word or current + len(space) <= limit:
                out.append(space)
            out += [word, "\n"]
            current, space, word = 0, "", ""
        elif char.isspace() and char != "\xa0":
            if not space or word:
                current += len(space) + len(word)
                out += [space, word]
                space, word = "", ""
            space += char
        else:
            word += char
            if current + len(space) + len(word) > limit and len(word) < limit:
                out.append("\n")
                current, space = 0, ""
    if word or current + len(space) <= limit:
        out.append(space)
    return "".join([*out, word])
