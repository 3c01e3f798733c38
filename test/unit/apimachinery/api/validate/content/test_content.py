"""The checks of texts that generated validation uses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clientgo.apimachinery.api.validate import content

RULES: list[tuple[Callable[[str], list[str]], list[str], list[str]]] = [
    # Go: TestIsDecimalInteger
    (
        content.is_decimal_integer,
        ["0", "1", "-1", "123456789012345678901234567890"],
        ["", "-", "00", "01", "-0", "+1", "1.0", "1e3", "0x1", " 1", "1 ", "a"],
    ),
    # Go: TestIsDNS1123SubdomainCaseless
    (
        content.is_dns1123_subdomain_caseless,
        ["a", "A", "aB.C", "a" * 253],
        ["", "-", "a-", ".a", "a..b", "a_b", "a b", "a" * 254],
    ),
    # Go: TestIsCIdentifier
    (content.is_c_identifier, ["a", "_", "a1", "A_b_9"], ["", "1", "1a", "a-b", "a.b", "a b", "é"]),
    # Go: TestIsLabelKey
    (
        content.is_label_key,
        ["simple", "a.b/c", "A_1", "a" * 253 + "/x"],
        ["", "a/b/c", "/x", "x/", "-a", "a-", "Abc.com/x", "a" * 64],
    ),
    # Go: TestIsLabelValue
    (content.is_label_value, ["", "a", "A_b.1", "a" * 63], ["-a", "a-", "a b", "a/b", "a" * 64]),
    # Go: TestIsPathSegmentName
    (content.is_path_segment_name, ["", "foo", "a.b", "...", "foo:bar"], [".", "..", "a/b", "a%b"]),
    # Go: TestIsPathSegmentPrefix
    (content.is_path_segment_prefix, ["", ".", "..", "foo"], ["a/b", "a%b"]),
]


@pytest.mark.parametrize(
    ("check", "value", "valid"),
    [
        *((check, value, True) for check, good, _ in RULES for value in good),
        *((check, value, False) for check, _, bad in RULES for value in bad),
    ],
)
def test_a_text_is_valid_or_something_is_said_about_it(
    check: Callable[[str], list[str]], value: str, valid: bool
) -> None:
    assert (check(value) == []) is valid
