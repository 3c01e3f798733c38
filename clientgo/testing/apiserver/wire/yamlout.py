"""Writing YAML as Go's library does. A module of its own, for hardly an answer is YAML."""

from __future__ import annotations

from typing import Any

import yaml

from clientgo.apimachinery.util import yaml as yaml_util
from clientgo.golang import utf8


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """A dumper that writes texts as Go's library does: with double quotes if they would be read as another type."""


def _represent_text(dumper: Any, text: str) -> Any:
    # The emitter in C encodes each text by itself.
    text = utf8.to_valid(text)
    style = "|" if "\n" in text else None if yaml_util.is_plain(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def dumps(value: Any) -> bytes:
    text: str = yaml.dump(
        value, Dumper=_Dumper, default_flow_style=False, allow_unicode=True, sort_keys=True, width=80
    )
    return text.encode()
