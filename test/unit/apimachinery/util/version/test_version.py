"""Versions are parsed, compared and changed as in Go."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from clientgo.apimachinery.util import version
from clientgo.apimachinery.util.version import Version
from clientgo.apimachinery.version import Info

# From the lowest to the highest; the versions of one line are equal.
SEMANTIC = [
    ["0.1.0"],
    ["1.0.0-0.3.7"],
    ["1.0.0-alpha", "1.0.0-alpha+001"],
    ["1.0.0-alpha.1"],
    ["1.0.0-alpha.beta"],
    ["1.0.0-beta", "v1.0.0-beta+exp.sha"],
    ["1.0.0-beta.2"],
    ["1.0.0-beta.11"],
    ["1.0.0-rc.1"],
    ["1.0.0", " 1.0.0+2013", "\tv1.0.0 "],
    ["1.9.0"],
    ["1.10.0"],
    ["42.0.0"],
]
GENERIC = [
    ["0.1.0"],
    ["1.0.0", "1.0", "1.0.0-alpha", "1.0.0.beta", "1.0.0+20", " v1.0.0 "],
    ["1.2", "1.2a.3", "1.2.0.0"],
    ["1.2.3", "1.2.3a", "1.2.3-foo.", "1.2.3+", "1.02.3", "1.2.003"],
    ["1.2.3.4", "1.2.3.4b3"],
    ["1.2.3.4.5"],
    ["1.10"],
]


@pytest.mark.parametrize(
    ("parse", "lines"),
    [(version.parse_semantic, SEMANTIC), (version.parse_generic, GENERIC)],
    ids=["semantic", "generic"],
)
def test_versions_have_their_order(parse: Callable[[str], Version], lines: list[list[str]]) -> None:
    """Go: TestSemanticVersions, TestGenericVersions."""
    for line in lines:
        for text in line:
            same = parse(text)
            assert same.equal_to(parse(line[0])) and same.at_least(parse(line[0]))
            assert same.compare(line[0]) == 0
            assert not same.less_than(parse(line[0])) and not same.greater_than(parse(line[0]))
    for lower, higher in pairwise(lines):
        for low in lower:
            for high in higher:
                assert parse(low).less_than(parse(high)) and not parse(low).at_least(parse(high)), (low, high)
                assert parse(high).greater_than(parse(low)) and parse(high).at_least(parse(low))
                assert not parse(high).equal_to(parse(low))
                assert (parse(low).compare(high), parse(high).compare(low)) == (-1, 1)


@pytest.mark.parametrize(
    "text",
    [
        *("1", "1.2", "1.2.3.4", ".2.3", "1..3", "1.2.", "", "..", "-1.2.3", "1.-2.3", "1.2.-3", "1a.2.3", "1.2.3a"),
        *("a.b.c", "1 .2.3", "1. 2.3", "01.2.3", "1.02.3", "1.2.03", "1.2.3-/", "1.2.3-", "1.2.3-.", "1.2.3-foo."),
        *("1.2.3-.foo", "1.2.3-01", "1.2.3+/", "1.2.3+", "1.2.3+foo.", "1.2.3+.foo", "v 1.2.3", "vv1.2.3", "1.2.3\n4"),
    ],
)
def test_a_malformed_semantic_version_is_refused(text: str) -> None:
    """Go: TestBadSemanticVersions."""
    with pytest.raises(ValueError):
        version.parse_semantic(text)


@pytest.mark.parametrize(
    "text", ["1", "01.2.3", "-1.2.3", ".2.3", "1..3", "a.b.c", "", "..", "1a.2.3", "v 1.2.3", "vv1.2"]
)
def test_a_malformed_generic_version_is_refused(text: str) -> None:
    """Go: TestBadGenericVersions."""
    with pytest.raises(ValueError):
        version.parse_generic(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x", 'could not parse "x" as version'),
        ("1.2", 'illegal version string "1.2"'),
        ("1.02.3", 'illegal zero-prefixed version component "02" in "1.02.3"'),
        ("1.2.3-01", 'illegal zero-prefixed version component "01" in "1.2.3-01"'),
        ("1.2.3a", 'could not parse pre-release/metadata (a) in version "1.2.3a"'),
        (
            f"1.2.{1 << 64}",
            'illegal non-numeric version component "18446744073709551616" in "1.2.18446744073709551616": '
            'strconv.ParseUint: parsing "18446744073709551616": value out of range',
        ),
    ],
)
def test_the_error_names_the_fault(text: str, error: str) -> None:
    with pytest.raises(ValueError) as caught:
        version.parse_semantic(text)

    assert str(caught.value) == error


def test_a_version_has_components() -> None:
    """Go: TestComponents."""
    parsed = version.parse_semantic("1.2.3-alpha.4+build.5")

    assert (parsed.major(), parsed.minor(), parsed.patch()) == (1, 2, 3)
    assert parsed.components() == [1, 2, 3]
    assert (parsed.pre_release(), parsed.build_metadata()) == ("alpha.4", "build.5")
    assert version.parse_generic("1.2").patch() == 0
    assert version.parse_generic("1.2.3-alpha").pre_release() == ""


@pytest.mark.parametrize(
    ("versions", "highest"),
    [(["v1.2.3", "boo", "v0.3.0", "2.0.1"], "1.2.3"), (["1.0.0", "1.10.0", "1.9.0"], "1.10.0"), (["v1.0.0"], "1.0.0")],
)
def test_the_highest_supported_version_is_of_major_1(versions: list[str], highest: str) -> None:
    """Go: TestHighestSupportedVersion."""
    assert str(version.highest_supported_version(versions)) == highest


@pytest.mark.parametrize(
    ("versions", "error"),
    [
        ([], "empty array for supported versions"),
        (["0.3.0"], "highest supported version reported is 0.3.0, must be v1.x"),
        (["4.9", "2.0"], r"could not find a highest supported version from versions \(\[4.9 2.0\]\) reported: <nil>"),
        (["var"], r'could not find .* \(\[var\]\) reported: could not parse "var" as version'),
    ],
)
def test_no_version_of_major_1_is_an_error(versions: list[str], error: str) -> None:
    with pytest.raises(ValueError, match=f"^{error}$"):
        version.highest_supported_version(versions)


@pytest.mark.parametrize(
    ("text", "offset", "result"),
    [("1.0.2", -3, "1.0"), ("1.3.2-alpha+1", -2, "1.1"), ("1.20", -5, "1.15"), ("1.20", 5, "1.25"), ("2.3", 0, "2.3")],
)
def test_the_minor_number_moves_by_an_offset_down_to_zero(text: str, offset: int, result: str) -> None:
    """Go: TestOffsetMinor."""
    moved = version.parse_generic(text).offset_minor(offset)

    assert str(moved) == result
    assert str(version.parse_generic(text).add_minor(offset)) == result
    assert str(version.parse_generic(text).subtract_minor(-offset)) == result


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1.0.2-alpha+001", "1.0.2-alpha+001"),
        ("1.2", "1.2"),
        ("1.2.3.4", "1.2.3.4"),
        ("1.2.3-01", "1.2.3"),
        (" v1.0", "1.0"),
    ],
)
def test_a_version_is_semantic_if_it_can_be(text: str, shown: str) -> None:
    """Go: TestParse."""
    assert str(version.parse(text)) == str(version.must_parse(text)) == shown


def test_a_version_that_is_neither_is_refused() -> None:
    with pytest.raises(ValueError, match='illegal version string "1"'):
        version.parse("1")


def test_changed_copies() -> None:
    before = version.must_parse_semantic("1.2.3-a+b")

    assert str(before.with_major(5)) == "5.2.3-a+b"
    assert str(before.with_minor(5)) == "1.5.3-a+b"
    assert str(before.with_patch(5)) == "1.2.5-a+b"
    assert str(before.with_pre_release("rc.1")) == "1.2.3-rc.1+b"
    assert before.with_pre_release("") is before
    assert str(before.with_build_metadata("")) == "1.2.3-a"
    assert str(version.must_parse_generic("1.2").with_pre_release("a")) == "1.2.0-a"
    assert str(version.must_parse_major_minor("v1.33.2+k3s")) == "1.33"
    assert str(before) == "1.2.3-a+b"


def test_a_version_reports_itself_as_a_server_does() -> None:
    info = version.major_minor(1, 0).with_info(Info()).info()

    assert info == Info(major="1", minor="", git_version="1.0")
    assert (version.itoa(0), version.itoa(12)) == ("", "12")
