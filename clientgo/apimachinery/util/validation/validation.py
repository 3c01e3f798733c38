"""Validation of names, ports and keys. Every `is_*` returns a list of messages, which is empty for a valid value.

Mirrors k8s.io/apimachinery/pkg/util/validation/validation.go. The messages are exactly Go's, so that users can search
for them.
"""

from __future__ import annotations

import re
from typing import Final

from clientgo.apimachinery.api.validate import content
from clientgo.apimachinery.api.validate.content.errors import byte_length
from clientgo.apimachinery.util.validation.field.errors import Error, ErrorList, invalid, required
from clientgo.apimachinery.util.validation.field.path import Path

is_qualified_name = content.is_label_key
"""Go: validation.IsQualifiedName."""


def is_fully_qualified_name(fld_path: Path | None, name: str) -> ErrorList:
    """Check that the name is a DNS name of at least three segments. Go: validation.IsFullyQualifiedName."""
    if not name:
        return ErrorList([required(fld_path, "")])
    if errs := is_dns1123_subdomain(name):
        return ErrorList([invalid(fld_path, name, ",".join(errs))])
    if name.count(".") < 2:
        rule = "should be a domain with at least three segments separated by dots"
        return ErrorList([invalid(fld_path, name, rule)])
    return ErrorList()


def is_fully_qualified_domain_name(fld_path: Path | None, name: str) -> ErrorList:
    """Check that the name is a DNS name of at least two segments, with an optional dot at its end.

    Go: IsFullyQualifiedDomainName.
    """
    if not name:
        return ErrorList([required(fld_path, "")])
    name = name.removesuffix(".")
    if errs := is_dns1123_subdomain(name):
        return ErrorList([invalid(fld_path, name, ",".join(errs))])
    if "." not in name:
        return ErrorList([invalid(fld_path, name, "should be a domain with at least two segments separated by dots")])
    for label in name.split("."):
        if errs := is_dns1123_label(label):
            return ErrorList([invalid(fld_path, label, ",".join(errs))])
    return ErrorList()


_HTTP_PATH_FMT: Final = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_HTTP_PATH: Final = re.compile(_HTTP_PATH_FMT)


def is_domain_prefixed_path(fld_path: Path | None, dp_path: str) -> ErrorList:
    """Check that the text is a path with a domain prefix, such as `acme.io/foo`.

    Go: validation.IsDomainPrefixedPath.
    """
    if not dp_path:
        return ErrorList([required(fld_path, "")])
    host, _, path = dp_path.partition("/")
    if not host or not path:
        return ErrorList([invalid(fld_path, dp_path, 'must be a domain-prefixed path (such as "acme.io/foo")')])
    errs = ErrorList(invalid(fld_path, host, message) for message in is_dns1123_subdomain(host))
    if not _HTTP_PATH.fullmatch(path):
        errs.append(invalid(fld_path, path, regex_error("Invalid path", _HTTP_PATH_FMT)))
    return errs


def is_domain_prefixed_key(fld_path: Path | None, key: str) -> ErrorList:
    """Check that the key is a label key with a prefix. Go: validation.IsDomainPrefixedKey."""
    if not key:
        return ErrorList([required(fld_path, "")])
    errs: list[Error] = [invalid(fld_path, key, message) for message in content.is_label_key(key)]
    if not errs and "/" not in key:
        errs.append(invalid(fld_path, key, 'must be a domain-prefixed key (such as "acme.io/foo")'))
    return ErrorList(errs)


LABEL_VALUE_MAX_LENGTH: Final = content.LABEL_VALUE_MAX_LENGTH
"""Go: validation.LabelValueMaxLength."""

is_valid_label_value = content.is_label_value
"""Go: validation.IsValidLabelValue."""

_DNS1123_LABEL_FMT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS1123_LABEL_FMT_WITH_UNDERSCORE: Final = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_DNS1123_LABEL_ERR_MSG: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
DNS1123_LABEL_MAX_LENGTH: Final = 63
"""Go: validation.DNS1123LabelMaxLength."""
_DNS1123_LABEL: Final = re.compile(_DNS1123_LABEL_FMT)


def is_dns1123_label(value: str) -> list[str]:
    """Check that the text is a DNS label (RFC 1123). Go: validation.IsDNS1123Label."""
    errs = _length_errors(value, DNS1123_LABEL_MAX_LENGTH)
    if _DNS1123_LABEL.fullmatch(value):
        return errs
    if _DNS1123_SUBDOMAIN.fullmatch(value):
        return [*errs, "must not contain dots"]
    return [*errs, regex_error(_DNS1123_LABEL_ERR_MSG, _DNS1123_LABEL_FMT, "my-name", "123-abc")]


_DNS1123_SUBDOMAIN_FMT: Final = rf"{_DNS1123_LABEL_FMT}(\.{_DNS1123_LABEL_FMT})*"
_DNS1123_SUBDOMAIN_ERR_MSG: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_DNS1123_SUBDOMAIN_FMT_WITH_UNDERSCORE: Final = (
    rf"{_DNS1123_LABEL_FMT_WITH_UNDERSCORE}(\.{_DNS1123_LABEL_FMT_WITH_UNDERSCORE})*"
)
_DNS1123_SUBDOMAIN_ERR_MSG_FG: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    "and must start and end with an alphanumeric character"
)
DNS1123_SUBDOMAIN_MAX_LENGTH: Final = 253
"""Go: validation.DNS1123SubdomainMaxLength."""
_DNS1123_SUBDOMAIN: Final = re.compile(_DNS1123_SUBDOMAIN_FMT)
_DNS1123_SUBDOMAIN_WITH_UNDERSCORE: Final = re.compile(_DNS1123_SUBDOMAIN_FMT_WITH_UNDERSCORE)


def is_dns1123_subdomain(value: str) -> list[str]:
    """Check that the text is a DNS subdomain (RFC 1123), as most object names are.

    Go: validation.IsDNS1123Subdomain.
    """
    errs = _length_errors(value, DNS1123_SUBDOMAIN_MAX_LENGTH)
    if not _DNS1123_SUBDOMAIN.fullmatch(value):
        errs.append(regex_error(_DNS1123_SUBDOMAIN_ERR_MSG, _DNS1123_SUBDOMAIN_FMT, "example.com"))
    return errs


def is_dns1123_subdomain_with_underscore(value: str) -> list[str]:
    """Check that the text is a DNS subdomain whose labels may contain `_`.

    Go: validation.IsDNS1123SubdomainWithUnderscore.
    """
    errs = _length_errors(value, DNS1123_SUBDOMAIN_MAX_LENGTH)
    if not _DNS1123_SUBDOMAIN_WITH_UNDERSCORE.fullmatch(value):
        rule = regex_error(_DNS1123_SUBDOMAIN_ERR_MSG_FG, _DNS1123_SUBDOMAIN_FMT_WITH_UNDERSCORE, "example.com")
        errs.append(rule)
    return errs


_DNS1035_LABEL_FMT: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_DNS1035_LABEL_ERR_MSG: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character"
)
DNS1035_LABEL_MAX_LENGTH: Final = 63
"""Go: validation.DNS1035LabelMaxLength."""
_DNS1035_LABEL: Final = re.compile(_DNS1035_LABEL_FMT)


def is_dns1035_label(value: str) -> list[str]:
    """Check that the text is a DNS label (RFC 1035), as Service names are. Go: validation.IsDNS1035Label."""
    errs = _length_errors(value, DNS1035_LABEL_MAX_LENGTH)
    if not _DNS1035_LABEL.fullmatch(value):
        errs.append(regex_error(_DNS1035_LABEL_ERR_MSG, _DNS1035_LABEL_FMT, "my-name", "abc-123"))
    return errs


_WILDCARD_DNS1123_SUBDOMAIN_FMT: Final = rf"\*\.{_DNS1123_SUBDOMAIN_FMT}"
_WILDCARD_DNS1123_SUBDOMAIN_ERR_MSG: Final = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
    "which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
)
_WILDCARD_DNS1123_SUBDOMAIN: Final = re.compile(_WILDCARD_DNS1123_SUBDOMAIN_FMT)


def is_wildcard_dns1123_subdomain(value: str) -> list[str]:
    """Check that the text is `*.` and a DNS subdomain. Go: validation.IsWildcardDNS1123Subdomain."""
    errs = _length_errors(value, DNS1123_SUBDOMAIN_MAX_LENGTH)
    if not _WILDCARD_DNS1123_SUBDOMAIN.fullmatch(value):
        rule = regex_error(_WILDCARD_DNS1123_SUBDOMAIN_ERR_MSG, _WILDCARD_DNS1123_SUBDOMAIN_FMT, "*.example.com")
        errs.append(rule)
    return errs


is_c_identifier = content.is_c_identifier
"""Go: validation.IsCIdentifier."""


def is_valid_port_num(port: int) -> list[str]:
    """Check that the port is between 1 and 65535. Go: validation.IsValidPortNum."""
    return is_in_range(port, 1, 65535)


def is_in_range(value: int, min: int, max: int) -> list[str]:
    """Check that the value is between the limits, inclusive. Go: validation.IsInRange."""
    return [] if min <= value <= max else [inclusive_range_error(min, max)]


_MAX_ID: Final = (1 << 31) - 1


def is_valid_group_id(gid: int) -> list[str]:
    """Check that the number is a POSIX group ID. Go: validation.IsValidGroupID."""
    return is_in_range(gid, 0, _MAX_ID)


def is_valid_user_id(uid: int) -> list[str]:
    """Check that the number is a POSIX user ID. Go: validation.IsValidUserID."""
    return is_in_range(uid, 0, _MAX_ID)


_PORT_NAME_CHARSET: Final = re.compile("[-a-z0-9]+")
_PORT_NAME_ONE_LETTER: Final = re.compile("[a-z]")


def is_valid_port_name(port: str) -> list[str]:
    """Check that the text is a port name (RFC 6335). Go: validation.IsValidPortName."""
    errs = _length_errors(port, 15)
    if not _PORT_NAME_CHARSET.fullmatch(port):
        errs.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _PORT_NAME_ONE_LETTER.search(port):
        errs.append("must contain at least one letter (a-z)")
    if "--" in port:
        errs.append("must not contain consecutive hyphens")
    if port.startswith("-") or port.endswith("-"):
        errs.append("must not begin or end with a hyphen")
    return errs


_PERCENT_FMT: Final = "[0-9]+%"
_PERCENT_ERR_MSG: Final = "a valid percent string must be a numeric string followed by an ending '%'"
_PERCENT: Final = re.compile(_PERCENT_FMT)


def is_valid_percent(percent: str) -> list[str]:
    """Check that the text consists of digits and a percent sign. Go: validation.IsValidPercent."""
    if _PERCENT.fullmatch(percent):
        return []
    return [regex_error(_PERCENT_ERR_MSG, _PERCENT_FMT, "1%", "93%")]


_HTTP_HEADER_NAME_FMT: Final = "[-A-Za-z0-9]+"
_HTTP_HEADER_NAME_ERR_MSG: Final = "a valid HTTP header must consist of alphanumeric characters or '-'"
_HTTP_HEADER_NAME: Final = re.compile(_HTTP_HEADER_NAME_FMT)


def is_http_header_name(value: str) -> list[str]:
    """Check that the text is a name of an HTTP header. Go: validation.IsHTTPHeaderName."""
    if _HTTP_HEADER_NAME.fullmatch(value):
        return []
    return [regex_error(_HTTP_HEADER_NAME_ERR_MSG, _HTTP_HEADER_NAME_FMT, "X-Header-Name")]


_ENV_VAR_NAME_FMT: Final = "[-._a-zA-Z][-._a-zA-Z0-9]*"
_ENV_VAR_NAME_ERR_MSG: Final = (
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', "
    "and must not start with a digit"
)
_RELAXED_ENV_VAR_NAME_ERR_MSG: Final = (
    "a valid environment variable name must consist only of printable ASCII characters other than '='"
)
_ENV_VAR_NAME: Final = re.compile(_ENV_VAR_NAME_FMT)
_RELAXED_ENV_VAR_NAME: Final = re.compile("[ -<>-~]*")


def is_env_var_name(value: str) -> list[str]:
    """Check that the text is a name of an environment variable. Go: validation.IsEnvVarName."""
    errs = []
    if not _ENV_VAR_NAME.fullmatch(value):
        examples = ("my.env-name", "MY_ENV.NAME", "MyEnvName1")
        errs.append(regex_error(_ENV_VAR_NAME_ERR_MSG, _ENV_VAR_NAME_FMT, *examples))
    return errs + _ch_dir_prefix_errors(value)


def is_relaxed_env_var_name(value: str) -> list[str]:
    """Check that the text is printable ASCII without `=`. Go: validation.IsRelaxedEnvVarName."""
    if not value:
        return [f"environment variable name {empty_error()}"]
    return [] if _RELAXED_ENV_VAR_NAME.fullmatch(value) else [_RELAXED_ENV_VAR_NAME_ERR_MSG]


_CONFIG_MAP_KEY_FMT: Final = "[-._a-zA-Z0-9]+"
_CONFIG_MAP_KEY_ERR_MSG: Final = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
_CONFIG_MAP_KEY: Final = re.compile(_CONFIG_MAP_KEY_FMT)


def is_config_map_key(value: str) -> list[str]:
    """Check that the text is a key of a ConfigMap or Secret. Go: validation.IsConfigMapKey."""
    errs = _length_errors(value, DNS1123_SUBDOMAIN_MAX_LENGTH)
    if not _CONFIG_MAP_KEY.fullmatch(value):
        errs.append(regex_error(_CONFIG_MAP_KEY_ERR_MSG, _CONFIG_MAP_KEY_FMT, "key.name", "KEY_NAME", "key-name"))
    return errs + _ch_dir_prefix_errors(value)


def max_len_error(length: int) -> str:
    """Return the message for a maximum length in characters; content.max_len_error uses bytes.

    Go: validation.MaxLenError.
    """
    return f"must be no more than {length} characters"


regex_error = content.regex_error
"""Go: validation.RegexError."""

empty_error = content.empty_error
"""Go: validation.EmptyError."""


def inclusive_range_error(lo: int, hi: int) -> str:
    """Return the message for a number outside of a range. Go: validation.InclusiveRangeError."""
    return f"must be between {lo} and {hi}, inclusive"


def _length_errors(value: str, limit: int) -> list[str]:
    return [max_len_error(limit)] if byte_length(value) > limit else []


def _ch_dir_prefix_errors(value: str) -> list[str]:
    """Check that the key, which becomes a file name, does not lead out of its directory.

    Go: validation.hasChDirPrefix.
    """
    if value in (".", ".."):
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []
