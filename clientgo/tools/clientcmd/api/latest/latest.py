"""Reads and writes kubeconfig files. Mirrors tools/clientcmd/api/latest/latest.go."""

from __future__ import annotations

from typing import Any

import yaml

from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.tools.clientcmd.api.types import Config
from clientgo.tools.clientcmd.api.v1 import from_document, to_document

VERSION = "v1"
EXTERNAL_VERSION = GroupVersion("", VERSION)
OLDEST_VERSION = "v1"
VERSIONS = ["v1"]


class _Loader(yaml.SafeLoader):
    """YAML as JSON knows it: a timestamp is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class _Codec:
    """YAML or JSON of version v1."""

    def decode(self, data: bytes) -> Config:
        """The config in a file's content. Raises ValueError; never with a value of the file in it."""
        try:
            document = yaml.load(data, Loader=_Loader)  # a SafeLoader
        except (yaml.YAMLError, UnicodeDecodeError) as err:
            raise ValueError(_yaml_problem(err)) from None
        if document is None:
            document = {}
        if not isinstance(document, dict):
            raise ValueError("couldn't get version/kind; json parse error: json: cannot unmarshal into a kubeconfig")
        kind, version = document.get("kind") or "Config", document.get("apiVersion") or VERSION
        if kind != "Config" or version not in (*VERSIONS, "/v1"):
            raise ValueError(f'no kind "{kind}" is registered for version "{version}" in scheme "kubeconfig"')
        return from_document(document)

    def encode(self, config: Config) -> bytes:
        """The config as YAML, with sorted keys."""
        text: Any = yaml.safe_dump(to_document(config), sort_keys=True, allow_unicode=True, default_flow_style=False)
        return bytes(text, "utf-8")


# What Go's parser says where PyYAML has other words.
_PROBLEMS = {"mapping values are not allowed here": "mapping values are not allowed in this context"}


def _yaml_problem(err: Exception) -> str:
    """What is wrong and where, without the snippet: that could show a token."""
    mark = getattr(err, "problem_mark", None)
    where = f"line {mark.line + 1}: " if mark is not None and mark.line else ""
    problem = getattr(err, "problem", None) or type(err).__name__
    return f"yaml: {where}{_PROBLEMS.get(problem, problem)}"


CODEC = _Codec()
