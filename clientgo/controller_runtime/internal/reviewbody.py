"""The bodies of admission and token reviews, decoded as Go's universal deserializer decodes them.

Replaces the apimachinery codecs that pkg/webhook/admission/http.go and pkg/webhook/authentication/http.go use.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from clientgo.apimachinery.util import yaml
from clientgo.apimachinery.util.json import without_lone_surrogates
from clientgo.golang.json import UnmarshalTypeError, kind_of, syntax_error

__all__ = ["parse"]

_INTERPRET = "couldn't get version/kind; json parse error"


def parse(body: bytes) -> dict[str, Any]:
    """Return the review's document. Raises ValueError with Go's text.

    A body that begins with a brace is JSON; any other is YAML, as in Go. Checks that `apiVersion` and `kind` are
    strings, but not the types of other fields.
    """
    document = _json(body) if body.lstrip().startswith(b"{") else yaml.unmarshal(body)
    if document is None:
        return {}
    if not isinstance(document, dict):
        tags = ('APIVersion string "json:\\"apiVersion,omitempty\\""', 'Kind string "json:\\"kind,omitempty\\""')
        shape = f"struct {{ {tags[0]}; {tags[1]} }}"
        raise ValueError(f"{_INTERPRET}: json: cannot unmarshal {kind_of(document)} into Go value of type {shape}")
    for name in ("apiVersion", "kind"):
        value = document.get(name)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{_INTERPRET}: {UnmarshalTypeError(value, 'string', '', name)}")
    return document


def _json(body: bytes) -> Any:
    try:
        # Go replaces bytes that are not UTF-8 and lone surrogates by U+FFFD.
        return json.loads(without_lone_surrogates(body.decode(errors="replace")), parse_constant=_no_constant)
    except json.JSONDecodeError as err:
        raise ValueError(f"{_INTERPRET}: {syntax_error(err)}") from None
    except RecursionError:
        raise ValueError(f"{_INTERPRET}: exceeded max depth") from None


def _no_constant(name: str) -> NoReturn:
    """Reject NaN and Infinity, which Python's decoder accepts."""
    raise ValueError(f"{_INTERPRET}: invalid character '{name[0]}' looking for beginning of value")
