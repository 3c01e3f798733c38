"""Validation of names, ports and other texts, including values just outside the limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clientgo.apimachinery.util import validation
from clientgo.apimachinery.util.validation import field

A63, B63, C63 = "a" * 63, "b" * 63, "c" * 63
Check = Callable[..., Any]


def at_path(check: Callable[[field.Path, str], field.ErrorList]) -> Check:
    return lambda value: check(field.new_path("f"), value)


# Check, valid values, invalid values.
RULES: list[Any] = [
    # Go: TestIsDNS1123Label
    (
        validation.is_dns1123_label,
        ["a", "a1", "a--1", "0", "1-a", A63],
        ["", "A", "-", "a-", "-a", "_", "a.b", " a", "é", A63 + "a"],
    ),
    # Go: TestIsDNS1123Subdomain
    (
        validation.is_dns1123_subdomain,
        ["a", "a-1.a", "0.1", "1.2.3.4.5", "a" * 253],
        ["", "A", "a..b", ".a", "a.", "a-.b", "a_b", "a@b", "aB.a", "a b", "a" * 254],
    ),
    # Go: TestIsDNS1123SubdomainWithUnderscore
    (
        validation.is_dns1123_subdomain_with_underscore,
        ["a", "a_b.c", "_a", "a-1.a_1", "a" * 253],
        ["", "A", "a..b", ".a", "a-", "-a", "a b", "a" * 254],
    ),
    # Go: TestIsDNS1035Label
    (validation.is_dns1035_label, ["a", "a1", "a-1", A63], ["", "0", "1-a", "A", "a-", "-a", "a_b", "a.b", A63 + "a"]),
    # Go: TestIsValidPortNum
    (validation.is_valid_port_num, [1, 2, 65535], [0, -1, 65536]),
    # Go: TestIsValidGroupID
    (validation.is_valid_group_id, [0, 1, 2**31 - 1], [-1, 2**31]),
    # Go: TestIsValidUserID
    (validation.is_valid_user_id, [0, 1, 2**31 - 1], [-1, 2**31]),
    # Go: TestIsValidPortName
    (
        validation.is_valid_port_name,
        ["telnet", "re-mail-ck", "pop3", "a", "1-a-2-b-3", "a" * 15],
        ["", "a" * 16, "12345", "1-2", "-begin", "end-", "two--hyphens", "whois++", "Up"],
    ),
    # Go: TestIsQualifiedName
    (
        validation.is_qualified_name,
        [
            "simple",
            "now-with-dashes",
            "1-starts",
            "1234",
            "simple/simple",
            "now.with.dots/x",
            "a_b",
            "A-B",
            "a" * 253 + "/a",
        ],
        [
            "nospecialchars%^=@",
            "cantend-",
            "-cantstart",
            "only/one/slash",
            "",
            "/x",
            "x/",
            "Abc.com/x",
            "a" * 64,
            "a" * 254 + "/x",
        ],
    ),
    # Go: TestIsValidLabelValue
    (
        validation.is_valid_label_value,
        ["", "simple", "1234", "A_b.c-d", A63],
        ["a%", "end-", "-a", "a/b", "a b", A63 + "a"],
    ),
    # Go: TestIsHTTPHeaderName
    (
        validation.is_http_header_name,
        ["Accept-Encoding", "a", "-a", "a-", "1"],
        ["", "Host:", "_", "a_", ".", " a", "#a", "{"],
    ),
    # Go: TestIsValidPercent
    (
        validation.is_valid_percent,
        ["0%", "00%", "1%", "101%"],
        ["", "0", "0.0%", "hundred", " 1%", "1% ", "-1%", "+1%", "1%%"],
    ),
    # Go: TestIsConfigMapKey
    (
        validation.is_config_map_key,
        ["a", "good", ".dotfile", "UPPER_and-lower.9", "a" * 253],
        ["", ".", "..", "..bad", "...g", "b*d", "bad!&", "a/b", "a" * 254],
    ),
    # Go: TestIsWildcardDNS1123Subdomain
    (
        validation.is_wildcard_dns1123_subdomain,
        ["*.example.com", "*.foo.bar.com"],
        ["*.*.bar.com", "*.foo.*.com", "*bar.com", "f*.bar.com", "*", "example.com"],
    ),
    # Go: TestIsFullyQualifiedDomainName
    (
        at_path(validation.is_fully_qualified_domain_name),
        ["a.com", "dev.k8s.io.", "10.0.0.1", f"{A63}.k8s.io", f"{A63}.{B63}.{C63}.{'d' * 54}.k8s.io"],
        [
            "",
            ".",
            "...",
            "com",
            ".com",
            "Dev.k8s.io",
            "*.example.com",
            "a_b.k8s.io",
            f"{A63}a.k8s.io",
            f"{A63}.{B63}.{C63}.{'d' * 55}.k8s.io",
        ],
    ),
    # Go: TestIsFullyQualifiedName
    (
        at_path(validation.is_fully_qualified_name),
        ["dev.k8s.io", "10.0.0.1", "a" * 246 + ".k8s.io"],
        ["", "...", "dev.k8s.io.", "k8s.io", "Dev.k8s.io", "*.example.com", "a_b.k8s.io", "a" * 247 + ".k8s.io"],
    ),
    # Go: TestIsDomainPrefixedPath
    (
        at_path(validation.is_domain_prefixed_path),
        ["a/b", "a.com/foo", "k8s.io/FOO/BAR", "10.0.0.1/foo", "k8s.io/" + "a" * 240],
        [
            "",
            "1",
            "/",
            "foo",
            "/foo",
            "k8s.io",
            "k8s.io/",
            "k8s.io/foo bar",
            "UPPER/foo",
            "a_b.k8s.io/foo",
            "k8s.io/foo@bar",
        ],
    ),
    # Go: TestIsDomainPrefixedKey
    (
        at_path(validation.is_domain_prefixed_key),
        ["a/b", "a.com/foo", "k8s.io/Foo-1.x_y", "10.0.0.1/foo"],
        ["", "foo", "/foo", "k8s.io/", "k8s.io/a/b", "UPPER/foo", "k8s.io/foo bar", "k8s.io/-a"],
    ),
    # Go: TestIsRelaxedEnvVarName
    (
        validation.is_relaxed_env_var_name,
        ["-", ":", "_", "a-A", " ", "!@#$%^&*", "1", "~", "a b"],
        ["", "=", "a=", "1=a", "a=b", "\t", "\x7f", "é"],
    ),
]


@pytest.mark.parametrize(
    ("check", "value", "valid"),
    [
        *((check, value, True) for check, good, _ in RULES for value in good),
        *((check, value, False) for check, _, bad in RULES for value in bad),
    ],
)
def test_a_value_is_valid_or_something_is_said_about_it(check: Check, value: Any, valid: bool) -> None:
    assert (len(check(value)) == 0) is valid


@pytest.mark.parametrize(
    ("value", "low", "high", "valid"),
    [
        (1, 0, 10, True),
        (5, 5, 20, True),
        (25, 10, 25, True),
        (1, 2, 10, False),
        (5, -4, 2, False),
        (25, 100, 120, False),
    ],
)
def test_the_ends_of_a_range_belong_to_it(value: int, low: int, high: int, valid: bool) -> None:
    """Go: TestIsInRange."""
    assert (validation.is_in_range(value, low, high) == []) is valid
