"""Label keys and label values (k8s.io/apimachinery/pkg/api/validate/content/kube.go)."""

from __future__ import annotations

import re
from typing import Final

from clientgo.apimachinery.api.validate.content.dns import is_dns1123_subdomain
from clientgo.apimachinery.api.validate.content.errors import byte_length, empty_error, max_len_error, regex_error

_LABEL_KEY_FMT: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_KEY_ERR_MSG: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_LABEL_KEY_MAX_LENGTH: Final = 63
_LABEL_KEY: Final = re.compile(_LABEL_KEY_FMT)

_LABEL_VALUE_FMT: Final = f"({_LABEL_KEY_FMT})?"
_LABEL_VALUE_ERR_MSG: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
LABEL_VALUE_MAX_LENGTH: Final = 63
"""Go: content.LabelValueMaxLength."""
_LABEL_VALUE: Final = re.compile(_LABEL_VALUE_FMT)


def is_label_key(value: str) -> list[str]:
    """Check that the text is a label key, `[prefix/]name`; return the problems. Go: content.IsLabelKey."""
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        rule = regex_error(_LABEL_KEY_ERR_MSG, _LABEL_KEY_FMT, "MyName", "my.name", "123-abc")
        return [f"a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    errs = _prefix_errors(prefix) if slash else []
    return errs + _name_errors(name)


is_qualified_name = is_label_key
"""The old name of is_label_key. Go: content.IsQualifiedName."""


def _prefix_errors(prefix: str) -> list[str]:
    if not prefix:
        return [f"prefix part {empty_error()}"]
    return [f"prefix part {message}" for message in is_dns1123_subdomain(prefix)]


def _name_errors(name: str) -> list[str]:
    errs = []
    if not name:
        errs.append(f"name part {empty_error()}")
    elif byte_length(name) > _LABEL_KEY_MAX_LENGTH:
        errs.append(f"name part {max_len_error(_LABEL_KEY_MAX_LENGTH)}")
    if not _LABEL_KEY.fullmatch(name):
        rule = regex_error(_LABEL_KEY_ERR_MSG, _LABEL_KEY_FMT, "MyName", "my.name", "123-abc")
        errs.append(f"name part {rule}")
    return errs


def is_label_value(value: str) -> list[str]:
    """Check that the text is a label value; return the problems. Go: content.IsLabelValue."""
    errs = []
    if byte_length(value) > LABEL_VALUE_MAX_LENGTH:
        errs.append(max_len_error(LABEL_VALUE_MAX_LENGTH))
    if not _LABEL_VALUE.fullmatch(value):
        errs.append(regex_error(_LABEL_VALUE_ERR_MSG, _LABEL_VALUE_FMT, "MyValue", "my_value", "12345"))
    return errs
