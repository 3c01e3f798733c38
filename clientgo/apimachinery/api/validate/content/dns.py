"""DNS labels and subdomains as Kubernetes names (k8s.io/apimachinery/pkg/api/validate/content/dns.go)."""

from __future__ import annotations

import re
from typing import Final

from clientgo.apimachinery.api.validate.content.errors import byte_length, max_len_error, regex_error

_DNS1123_LABEL_FMT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS1123_LABEL_ERR_MSG: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
DNS1123_LABEL_MAX_LENGTH: Final = 63
"""Go: content.DNS1123LabelMaxLength."""

_DNS1123_SUBDOMAIN_FMT: Final = rf"{_DNS1123_LABEL_FMT}(\.{_DNS1123_LABEL_FMT})*"
_DNS1123_SUBDOMAIN_ERR_MSG: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_DNS1123_SUBDOMAIN_CASELESS_ERR_MSG: Final = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
DNS1123_SUBDOMAIN_MAX_LENGTH: Final = 253
"""Go: content.DNS1123SubdomainMaxLength."""

_LABEL: Final = re.compile(_DNS1123_LABEL_FMT)
_SUBDOMAIN: Final = re.compile(_DNS1123_SUBDOMAIN_FMT)
_SUBDOMAIN_CASELESS: Final = re.compile(_DNS1123_SUBDOMAIN_FMT, re.IGNORECASE | re.ASCII)


def is_dns1123_label(value: str) -> list[str]:
    """Check that the text is a DNS label (RFC 1123); return the problems. Go: content.IsDNS1123Label."""
    errs = []
    if byte_length(value) > DNS1123_LABEL_MAX_LENGTH:
        errs.append(max_len_error(DNS1123_LABEL_MAX_LENGTH))
    if _LABEL.fullmatch(value):
        return errs
    if _SUBDOMAIN.fullmatch(value):
        errs.append("must not contain dots")
    else:
        errs.append(regex_error(_DNS1123_LABEL_ERR_MSG, _DNS1123_LABEL_FMT, "my-name", "123-abc"))
    return errs


def is_dns1123_subdomain(value: str) -> list[str]:
    """Check that the text is a DNS subdomain (RFC 1123); return the problems. Go: content.IsDNS1123Subdomain."""
    return _check_subdomain(value, _SUBDOMAIN, _DNS1123_SUBDOMAIN_ERR_MSG, "example.com")


def is_dns1123_subdomain_caseless(value: str) -> list[str]:
    """Check that the text is a DNS subdomain, in upper or lower case; return the problems.

    Go: content.IsDNS1123SubdomainCaseless.
    """
    return _check_subdomain(value, _SUBDOMAIN_CASELESS, _DNS1123_SUBDOMAIN_CASELESS_ERR_MSG, "Example.com")


def _check_subdomain(value: str, pattern: re.Pattern[str], message: str, example: str) -> list[str]:
    errs = []
    if byte_length(value) > DNS1123_SUBDOMAIN_MAX_LENGTH:
        errs.append(max_len_error(DNS1123_SUBDOMAIN_MAX_LENGTH))
    if not pattern.fullmatch(value):
        errs.append(regex_error(message, _DNS1123_SUBDOMAIN_FMT, example))
    return errs
