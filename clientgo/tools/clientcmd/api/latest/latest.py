"""A codec for kubeconfig files. Mirrors tools/clientcmd/api/latest/latest.go.

Differences: `LIMITS` limits the size of a file. Errors contain only kind and version, names, and values of clusters and
contexts, since an unquoted token may look like an alias or a tag.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final, cast

import yaml

from clientgo.apimachinery.runtime.schema import GroupVersion, parse_group_version
from clientgo.apimachinery.util.yaml import Limits, YAMLSyntaxError, unmarshal
from clientgo.tools.clientcmd.api.types import Config
from clientgo.tools.clientcmd.api.v1 import from_document, to_document

VERSION = "v1"
EXTERNAL_VERSION = GroupVersion("", VERSION)
OLDEST_VERSION = "v1"
VERSIONS = ["v1"]

LIMITS: Final = Limits(size=16 * 1024 * 1024, depth=100, values=250_000)
"""Limits of a kubeconfig file; Go has none. They permit thousands of clusters with certificates."""

# The position at which Go creates the scheme, which its errors name.
_SCHEME: Final = "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"
_HEADER: Final = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'


# Texts that Go's YAML library does not read as strings: (tag, pattern, first characters). PyYAML has other rules.
_NOT_A_TEXT = (
    ("bool", r"(?:y|Y|n|N|[Yy]es|YES|[Nn]o|NO|[Tt]rue|TRUE|[Ff]alse|FALSE|[Oo]n|ON|[Oo]ff|OFF)$", "yYnNtTfFoO"),
    ("int", r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]*|[1-9][0-9_]*)$", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("float", r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$", "-+."),
    ("null", r"(?:~|null|Null|NULL)$", "~nN"),
    ("null", r"$", ("",)),
    ("merge", r"<<$", "<"),
)


class _Dumper(yaml.SafeDumper):
    """A YAML dumper that quotes every text that Go or Python would not read as a string."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def choose_scalar_style(self) -> Any:
        """Choose quotes as kubectl does: double if the text would not be a string without quotes, single if not YAML.
        """
        style, event = super().choose_scalar_style(), cast(yaml.ScalarEvent, self.event)
        return '"' if style == "'" and not event.implicit[0] else style


for _tag, _pattern, _first in _NOT_A_TEXT:
    _Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


class _Codec:
    """YAML or JSON of version v1."""

    def decode(self, data: bytes) -> Config:
        """Return the config in a file's first document. Raises ValueError without any secret of the file."""
        problem = ""
        try:
            document = unmarshal(data, LIMITS)
        except YAMLSyntaxError as err:
            problem = err.redacted
        if problem:
            # Raised outside of the except clause: the error contains text of the file and would become the context.
            raise ValueError(problem)
        kind, version = _kind_and_version(document)
        group_version = parse_group_version(version)
        if kind != "Config" or group_version != EXTERNAL_VERSION:
            raise ValueError(f'no kind "{kind}" is registered for version "{group_version}" in scheme "{_SCHEME}"')
        return from_document(document or {})

    def encode(self, config: Config) -> bytes:
        """Return the config as YAML, with sorted keys."""
        document = to_document(config)
        text: str = yaml.dump(document, Dumper=_Dumper, allow_unicode=True, default_flow_style=False, width=math.inf)
        return text.encode()


def _kind_and_version(document: Any) -> tuple[str, str]:
    """Return the document's kind and version, with defaults. Raises ValueError if they are not strings."""
    names = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    failure = "couldn't get version/kind; json parse error: json: cannot unmarshal"
    if document is None:
        document = {}
    if not isinstance(document, dict):
        raise ValueError(f"{failure} {names[type(document)]} into Go value of type {_HEADER}")
    found = {"apiVersion": "", "kind": ""}
    for key in sorted(document):
        # Go's decoder ignores case here.
        name = next((name for name in found if name.lower() == key.lower()), None)
        value = document[key]
        if name is None or value is None:
            continue
        if not isinstance(value, str):
            raise ValueError(f"{failure} {names[type(value)]} into Go struct field .{name} of type string")
        found[name] = value
    return found["kind"] or "Config", found["apiVersion"] or VERSION


CODEC = _Codec()
