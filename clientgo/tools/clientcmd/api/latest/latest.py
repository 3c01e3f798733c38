"""Reads and writes kubeconfig files. Mirrors tools/clientcmd/api/latest/latest.go."""

from __future__ import annotations

import math
import re
from typing import Any, ClassVar, cast

import yaml

from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.tools.clientcmd.api.types import Config
from clientgo.tools.clientcmd.api.v1 import from_document, to_document

VERSION = "v1"
EXTERNAL_VERSION = GroupVersion("", VERSION)
OLDEST_VERSION = "v1"
VERSIONS = ["v1"]


# What Go's YAML library takes for something else than a text: (tag, pattern, first characters). PyYAML has other rules.
_NOT_A_TEXT = (
    ("bool", r"(?:y|Y|n|N|[Yy]es|YES|[Nn]o|NO|[Tt]rue|TRUE|[Ff]alse|FALSE|[Oo]n|ON|[Oo]ff|OFF)$", "yYnNtTfFoO"),
    ("int", r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]*|[1-9][0-9_]*)$", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("float", r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$", "-+."),
    ("null", r"(?:~|null|Null|NULL)$", "~nN"),
    ("null", r"$", ("",)),
    ("merge", r"<<$", "<"),
)


class _Loader(yaml.SafeLoader):
    """YAML as Go reads it: a timestamp is a text, as are minutes and seconds."""

    yaml_implicit_resolvers = {}  # noqa: RUF012
    bool_values: ClassVar[dict[str, bool]] = {**yaml.SafeLoader.bool_values, "y": True, "n": False}


class _Dumper(yaml.SafeDumper):
    """YAML with quotes around every text that Go or Python would take for something else."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def choose_scalar_style(self) -> Any:
        """As kubectl writes: "y" for what would not be a text without quotes, 'a: b' for what would not be YAML."""
        style, event = super().choose_scalar_style(), cast(yaml.ScalarEvent, self.event)
        return '"' if style == "'" and not event.implicit[0] else style


for _tag, _pattern, _first in _NOT_A_TEXT:
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))
# Outside of the keys of a map this is a text like any other.
_Loader.add_constructor("tag:yaml.org,2002:merge", yaml.SafeLoader.construct_yaml_str)  # type: ignore[type-var]


class _Codec:
    """YAML or JSON of version v1."""

    def decode(self, data: bytes) -> Config:
        """The config in a file's first document. Raises ValueError; never with a value of the file in it."""
        problem = ""
        try:
            document = next(yaml.load_all(data, Loader=_Loader), None)  # a SafeLoader
        except (yaml.YAMLError, UnicodeDecodeError) as err:
            problem = _yaml_problem(err)
        if problem:
            # Raised out here: the parser's own error holds a piece of the file, and would be this one's context.
            raise ValueError(problem)
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
        document = to_document(config)
        text: str = yaml.dump(document, Dumper=_Dumper, allow_unicode=True, default_flow_style=False, width=math.inf)
        return text.encode()


# What Go's parser says where PyYAML has other words.
_PROBLEMS = {"mapping values are not allowed here": "mapping values are not allowed in this context"}


def _yaml_problem(err: Exception) -> str:
    """What is wrong and where, without snippets and names: a token without quotes may look like an alias or a tag."""
    mark = getattr(err, "problem_mark", None)
    where = f"line {mark.line + 1}: " if mark is not None and mark.line else ""
    problem = re.sub(r"'[^']{2,}'", "'...'", getattr(err, "problem", None) or type(err).__name__)
    return f"yaml: {where}{_PROBLEMS.get(problem, problem)}"


CODEC = _Codec()
