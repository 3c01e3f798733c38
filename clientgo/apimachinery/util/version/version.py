"""Version numbers and their order. Mirrors apimachinery/pkg/util/version/version.go.

Python has no panics: each `must_parse...` raises the errors of its counterpart without `must`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from clientgo.apimachinery.version import Info
from clientgo.golang.fmt import sprintf
from clientgo.golang.strconv import parse_uint, quote

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

_BLANKS: Final = r"[\t\n\f\r ]*"
_VERSION: Final = re.compile(rf"{_BLANKS}v?([0-9]+(?:\.[0-9]+)*)([^\n]*)")
_IDENTIFIERS: Final = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_EXTRA: Final = re.compile(rf"(?:-({_IDENTIFIERS}))?(?:\+({_IDENTIFIERS}))?{_BLANKS}")


def highest_supported_version(versions: Sequence[str]) -> Version:
    """Return the highest of the versions whose major number is 1. Raises ValueError when there is none.

    Go: version.HighestSupportedVersion.
    """
    if not versions:
        raise ValueError("empty array for supported versions")
    highest: Version | None = None
    last_error: ValueError | None = None
    for text in reversed(versions):
        try:
            version = parse_generic(text)
        except ValueError as err:
            last_error = err
            continue
        if version.major() <= 1 and (highest is None or highest.less_than(version)):
            highest = version
    if highest is None:
        message = "could not find a highest supported version from versions (%v) reported: %+v"
        shown = str(last_error) if last_error else "<nil>"
        raise ValueError(sprintf(message, list(versions), shown)) from last_error
    if highest.major() != 1:
        raise ValueError(f"highest supported version reported is {highest}, must be v1.x")
    return highest


def parse_generic(str: str) -> Version:
    """Parse a version of at least two numbers; ignores text after them, and whitespace and a "v" before them.

    Raises ValueError with Go's text. Go: version.ParseGeneric.
    """
    return _parse(str, semver=False)


def must_parse_generic(str: str) -> Version:
    """Parse a version as `parse_generic` does. Go: version.MustParseGeneric."""
    return parse_generic(str)


def parse(str: str) -> Version:
    """Parse a semantic version, or else a generic one. Raises ValueError with Go's text. Go: version.Parse."""
    try:
        return _parse(str, semver=True)
    except ValueError:
        return _parse(str, semver=False)


def must_parse(str: str) -> Version:
    """Parse a version as `parse` does. Go: version.MustParse."""
    return parse(str)


def parse_major_minor(str: str) -> Version:
    """Parse the first two numbers of a generic version. Raises ValueError. Go: version.ParseMajorMinor."""
    version = parse_generic(str)
    return major_minor(version.major(), version.minor())


def must_parse_major_minor(str: str) -> Version:
    """Parse a version as `parse_major_minor` does. Go: version.MustParseMajorMinor."""
    return parse_major_minor(str)


def parse_semantic(str: str) -> Version:
    """Parse a version by the rules of semver.org; ignores surrounding whitespace and a leading "v".

    Raises ValueError with Go's text. Go: version.ParseSemantic.
    """
    return _parse(str, semver=True)


def must_parse_semantic(str: str) -> Version:
    """Parse a version as `parse_semantic` does. Go: version.MustParseSemantic."""
    return parse_semantic(str)


def major_minor(major: int, minor: int) -> Version:
    """Return the version of these two numbers. Go: version.MajorMinor."""
    return Version((major, minor))


@dataclass(frozen=True, eq=False)
class Version:
    """A version number. Immutable. Its methods compare; `==` compares identity, as in Go. Go: version.Version."""

    _components: tuple[int, ...]
    _semver: bool = False
    _pre_release: str = ""
    _build_metadata: str = ""

    def major(self) -> int:
        """Return the first number. Go: version.Version.Major."""
        return self._components[0]

    def minor(self) -> int:
        """Return the second number. Go: version.Version.Minor."""
        return self._components[1]

    def patch(self) -> int:
        """Return the third number, 0 if there is none. Go: version.Version.Patch."""
        return self._components[2] if len(self._components) > 2 else 0

    def build_metadata(self) -> str:
        """Return the build metadata of a semantic version, or "". Go: version.Version.BuildMetadata."""
        return self._build_metadata

    def pre_release(self) -> str:
        """Return the pre-release of a semantic version, or "". Go: version.Version.PreRelease."""
        return self._pre_release

    def components(self) -> list[int]:
        """Return all numbers. Go: version.Version.Components."""
        return list(self._components)

    def with_major(self, major: int) -> Version:
        """Return a copy with that major number. Go: version.Version.WithMajor."""
        return replace(self, _components=(major, self.minor(), self.patch()))

    def with_minor(self, minor: int) -> Version:
        """Return a copy with that minor number. Go: version.Version.WithMinor."""
        return replace(self, _components=(self.major(), minor, self.patch()))

    def offset_minor(self, offset: int) -> Version:
        """Return the version with `offset` added to the minor number, which is at least 0.

        Go: version.Version.OffsetMinor.
        """
        return major_minor(self.major(), max(self.minor() + offset, 0))

    def subtract_minor(self, diff: int) -> Version:
        """Return the version that many minor versions back. Go: version.Version.SubtractMinor."""
        return self.offset_minor(-diff)

    def add_minor(self, diff: int) -> Version:
        """Return the version that many minor versions ahead. Go: version.Version.AddMinor."""
        return self.offset_minor(diff)

    def with_patch(self, patch: int) -> Version:
        """Return a copy with that patch number. Go: version.Version.WithPatch."""
        return replace(self, _components=(self.major(), self.minor(), patch))

    def with_pre_release(self, pre_release: str) -> Version:
        """Return a copy with that pre-release; the version itself for "". Go: version.Version.WithPreRelease."""
        if not pre_release:
            return self
        return replace(self.with_patch(self.patch()), _pre_release=pre_release)

    def with_build_metadata(self, build_metadata: str) -> Version:
        """Return a copy with that build metadata. Go: version.Version.WithBuildMetadata."""
        return replace(self.with_patch(self.patch()), _build_metadata=build_metadata)

    def __str__(self) -> str:
        pre_release = f"-{self._pre_release}" if self._pre_release else ""
        build_metadata = f"+{self._build_metadata}" if self._build_metadata else ""
        return ".".join(map(str, self._components)) + pre_release + build_metadata

    def __repr__(self) -> str:
        return f"<Version {self}>"

    def equal_to(self, other: Version | None) -> bool:
        """Report whether both are equal; "1.4" equals "1.4.0". Go: version.Version.EqualTo."""
        return other is not None and self._order(other) == 0

    def at_least(self, min: Version) -> bool:
        """Report whether this version is `min` or a higher one. Go: version.Version.AtLeast."""
        return self._order(min) != -1

    def less_than(self, other: Version) -> bool:
        """Report whether this version is lower than the other. Go: version.Version.LessThan."""
        return self._order(other) == -1

    def greater_than(self, other: Version) -> bool:
        """Report whether this version is higher than the other. Go: version.Version.GreaterThan."""
        return self._order(other) == 1

    def compare(self, other: str) -> int:
        """Return -1, 0 or 1 when this version is lower than, equal to or higher than the other.

        The other one is parsed as a semantic version if this one is semantic. Raises ValueError when it cannot be
        parsed. Go: version.Version.Compare.
        """
        return self._order(_parse(other, self._semver))

    def with_info(self, info: Info) -> Version:
        """Return a copy; the info is ignored. Deprecated in Go. Go: version.Version.WithInfo."""
        return replace(self)

    def info(self) -> Info:
        """Return the version as a server reports it. Deprecated in Go. Go: version.Version.Info."""
        return Info(major=itoa(self.major()), minor=itoa(self.minor()), git_version=str(self))

    def _order(self, other: Version) -> int:
        length = max(len(self._components), len(other._components))
        ours, theirs = (each._components + (0,) * (length - len(each._components)) for each in (self, other))
        if ours != theirs:
            return 1 if ours > theirs else -1
        if not self._semver or not other._semver or self._pre_release == other._pre_release:
            return 0
        if not self._pre_release or not other._pre_release:
            return -1 if self._pre_release else 1
        return _order_of_pre_releases(self._pre_release.split("."), other._pre_release.split("."))


def itoa(i: int) -> str:
    """Return the number's digits, "" for 0. Go: version.Itoa."""
    return str(i) if i else ""


def _parse(text: str, semver: bool) -> Version:
    parts = _VERSION.fullmatch(text)
    if not parts:
        raise ValueError(f"could not parse {quote(text)} as version")
    numbers, extra = parts[1].split("."), parts[2]
    if len(numbers) != 3 if semver else len(numbers) < 2:
        raise ValueError(f"illegal version string {quote(text)}")
    components = tuple(_component(number, text, strict=semver or at == 0) for at, number in enumerate(numbers))
    if not semver or not extra:
        return Version(components, semver)
    found = _EXTRA.fullmatch(extra)
    if not found:
        raise ValueError(f"could not parse pre-release/metadata ({extra}) in version {quote(text)}")
    pre_release, build_metadata = found[1] or "", found[2] or ""
    for identifier in pre_release.split("."):
        if _number(identifier) is not None:
            _refuse_leading_zero(identifier, text)
    return Version(components, semver, pre_release, build_metadata)


def _component(number: str, text: str, strict: bool) -> int:
    if strict:
        _refuse_leading_zero(number, text)
    try:
        return parse_uint(number)
    except ValueError as err:
        raise ValueError(f"illegal non-numeric version component {quote(number)} in {quote(text)}: {err}") from err


def _refuse_leading_zero(number: str, text: str) -> None:
    if number.startswith("0") and number != "0":
        raise ValueError(f"illegal zero-prefixed version component {quote(number)} in {quote(text)}")


def _number(identifier: str) -> int | None:
    try:
        return parse_uint(identifier)
    except ValueError:
        return None


def _order_of_pre_releases(ours: list[str], theirs: list[str]) -> int:
    for our, their in zip(ours, theirs, strict=False):
        numbers = _number(our), _number(their)
        if numbers[0] is not None and numbers[1] is not None:
            if numbers[0] != numbers[1]:
                return 1 if numbers[0] > numbers[1] else -1
        elif our != their:
            return 1 if our > their else -1
    return (len(ours) > len(theirs)) - (len(ours) < len(theirs))
