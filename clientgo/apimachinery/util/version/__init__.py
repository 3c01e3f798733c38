"""Version numbers, semantic ones and others, and their order. Mirrors k8s.io/apimachinery/pkg/util/version.

    >>> parse("v1.33.2").at_least(must_parse_generic("1.27"))
    True
"""

from clientgo.apimachinery.util.version.version import (
    Version,
    highest_supported_version,
    itoa,
    major_minor,
    must_parse,
    must_parse_generic,
    must_parse_major_minor,
    must_parse_semantic,
    parse,
    parse_generic,
    parse_major_minor,
    parse_semantic,
)

__all__ = [
    "Version",
    "highest_supported_version",
    "itoa",
    "major_minor",
    "must_parse",
    "must_parse_generic",
    "must_parse_major_minor",
    "must_parse_semantic",
    "parse",
    "parse_generic",
    "parse_major_minor",
    "parse_semantic",
]
