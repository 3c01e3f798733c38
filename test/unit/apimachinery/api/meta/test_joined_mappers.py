"""Mappers made of mappers: whose answer counts, and whose error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersionKind, GroupVersionResource

FOO = GroupVersionResource(resource="foo")
KIND = GroupKind("g", "Foo")


@dataclass
class Fixed:
    """A mapper that gives the same answer to each question, or fails."""

    names: Sequence[str] = ()
    err: Exception | None = None

    def _answer(self, make: Callable[[str], Any]) -> list[Any]:
        if self.err is not None:
            raise self.err
        return [make(name) for name in self.names]

    def resources_for(self, input: GroupVersionResource) -> list[GroupVersionResource]:
        return self._answer(lambda name: GroupVersionResource(*name.split("/")))

    def kinds_for(self, resource: GroupVersionResource) -> list[GroupVersionKind]:
        return self._answer(lambda name: GroupVersionKind(*name.split("/")))

    def rest_mappings(self, gk: GroupKind, *versions: str) -> list[meta.RESTMapping]:
        def mapping(name: str) -> meta.RESTMapping:
            return meta.RESTMapping(FOO, GroupVersionKind(*name.split("/")), meta.REST_SCOPE_ROOT)

        return self._answer(mapping)


def multi(*mappers: Fixed) -> meta.MultiRESTMapper:
    return meta.MultiRESTMapper(mappers)  # type: ignore[arg-type]


def shown(found: list[Any]) -> list[str]:
    return ["/".join((each.group, each.version, getattr(each, "resource", "") or each.kind)) for each in found]


NOT_FOUND = Fixed(err=meta.NoResourceMatchError(GroupVersionResource(resource="ignored")))
FAILING = Fixed(err=RuntimeError("fail on this"))


@pytest.mark.parametrize("ask", ["resource_for", "resources_for", "kind_for", "kinds_for"])
@pytest.mark.parametrize(
    ("mappers", "error"),
    [
        pytest.param([], "no matches for /, Resource=foo", id="empty"),
        pytest.param([NOT_FOUND], "no matches for /, Resource=foo", id="ignore not found"),
        pytest.param([FAILING, Fixed(["g/v/unused"])], "fail on this", id="accept first failure"),
    ],
)
def test_a_mapper_without_match_is_skipped_and_a_failing_one_raises(ask: str, mappers: list[Fixed], error: str) -> None:
    """Go: TestMultiRESTMapperResourceFor, TestMultiRESTMapperResourcesFor, TestMultiRESTMapperKindFor,
    TestMultiRESTMapperKindsFor.
    """
    with pytest.raises(Exception, match=error):
        getattr(multi(*mappers), ask)(FOO)


@pytest.mark.parametrize(
    ("mappers", "found"),
    [
        pytest.param(
            [Fixed(["g/v/d", "g/v/1"]), Fixed(["g/v/d", "g/v/2"])], ["g/v/d", "g/v/1", "g/v/2"], id="union and dedup"
        ),
        pytest.param([NOT_FOUND, Fixed(["g/v/1", "g/v/2"])], ["g/v/1", "g/v/2"], id="skip not and continue"),
    ],
)
def test_answers_are_joined_in_order_and_once_each(mappers: list[Fixed], found: list[str]) -> None:
    """Go: TestMultiRESTMapperResourcesFor, TestMultiRESTMapperKindsFor."""
    assert shown(multi(*mappers).resources_for(FOO)) == shown(multi(*mappers).kinds_for(FOO)) == found
    with pytest.raises(meta.AmbiguousResourceError):
        multi(*mappers).kind_for(FOO)


@pytest.mark.parametrize(
    ("mappers", "versions", "error"),
    [
        pytest.param([], [], 'kind "Foo" in group "g"', id="empty with no versions"),
        pytest.param([], ["v1"], 'kind "Foo" in version "g/v1"', id="empty with one version"),
        pytest.param([], ["v1", "v2"], r'in versions \["g/v1" "g/v2"\]', id="empty with multi(two) vesions"),
        pytest.param([NOT_FOUND], [], 'kind "Foo" in group "g"', id="ignore not found with kind not exist"),
        pytest.param([NOT_FOUND], ["v1"], 'in version "g/v1"', id="ignore not found with version not exist"),
        pytest.param([FAILING, Fixed(["g/v/Foo"])], ["v1"], "fail on this", id="accept first failure"),
    ],
)
def test_missing_mappings_are_named_with_the_requested_versions(
    mappers: list[Fixed], versions: list[str], error: str
) -> None:
    """Go: TestMultiRESTMapperRESTMappings."""
    with pytest.raises(Exception, match=error):
        multi(*mappers).rest_mappings(KIND, *versions)


def test_mappings_are_joined() -> None:
    """Go: TestMultiRESTMapperRESTMappings/return both."""
    found = multi(Fixed(["g/v1/Foo"]), Fixed(["g/v2/Foo"])).rest_mappings(KIND)
    assert [each.group_version_kind.version for each in found] == ["v1", "v2"]


def test_a_failing_mapper_under_priorities_fails() -> None:
    """Go: TestPriorityRESTMapperResourceForErrorHandling/error, TestPriorityRESTMapperKindForErrorHandling/error."""
    preferring = meta.PriorityRESTMapper(FAILING)  # type: ignore[arg-type]
    for ask in (preferring.resource_for, preferring.kind_for):
        with pytest.raises(RuntimeError, match="fail on this"):
            ask(FOO)


TWO, THREE = ["one/a/first", "two/b/second"], ["one/a/first", "two/b/second", "one/c/third"]


@pytest.mark.parametrize(
    ("found", "patterns", "chosen"),
    [
        pytest.param(["g/v/single"], [], "g/v/single", id="single hit"),
        pytest.param(TWO, [], None, id="ambiguous match"),
        pytest.param(TWO, ["one/*/*"], "one/a/first", id="group selection"),
        pytest.param(TWO, ["fail/*/*", "one/*/*"], "one/a/first", id="empty match continues"),
        pytest.param(THREE, ["one/*/*", "*/a/*"], "one/a/first", id="group followed by version selection"),
        pytest.param(["one/a/first", "one/a/second"], ["*/*/second"], "one/a/second", id="resource selection"),
    ],
)
def test_patterns_narrow_until_one_is_left(found: list[str], patterns: list[str], chosen: str | None) -> None:
    """Go: TestPriorityRESTMapperResourceForErrorHandling, TestPriorityRESTMapperKindForErrorHandling.

    Go: TestPriorityRESTMapperKindForErrorHandling/kind selection
    """
    preferring = meta.PriorityRESTMapper(
        Fixed(found),  # type: ignore[arg-type]
        [GroupVersionResource(*each.split("/")) for each in patterns],
        [GroupVersionKind(*each.split("/")) for each in patterns],
    )
    if chosen is None:
        with pytest.raises(meta.AmbiguousResourceError, match="matches multiple resources"):
            preferring.resource_for(FOO)
        with pytest.raises(meta.AmbiguousResourceError, match="matches multiple kinds"):
            preferring.kind_for(FOO)
        return
    assert shown([preferring.resource_for(FOO), preferring.kind_for(FOO)]) == [chosen, chosen]


ALL = multi(Fixed(["/v1alpha1/Foo"]), Fixed(["/v1/Foo"]), Fixed(["other/v1/Foo"]))


@pytest.mark.parametrize(
    ("delegate", "patterns", "chosen"),
    [
        pytest.param(Fixed(["/v1alpha1/Foo"]), [], "/v1alpha1/Foo", id="accept only item"),
        pytest.param(ALL, ["/v1/*", "/v1alpha1/*"], "/v1/Foo", id="return single priority"),
        pytest.param(ALL, ["*/v1/*", "other/*/*"], "other/v1/Foo", id="return out of group match"),
    ],
)
def test_patterns_choose_a_mapping(delegate: Any, patterns: list[str], chosen: str) -> None:
    """Go: TestPriorityRESTMapperRESTMapping."""
    preferring = meta.PriorityRESTMapper(delegate, [], [GroupVersionKind(*each.split("/")) for each in patterns])
    assert shown([preferring.rest_mapping(GroupKind("", "Foo")).group_version_kind]) == [chosen]


@pytest.mark.parametrize(
    ("delegate", "error", "text"),
    [
        pytest.param(multi(), meta.NoKindMatchError, 'no matches for kind "Foo"', id="empty"),
        pytest.param(multi(NOT_FOUND), meta.NoKindMatchError, 'no matches for kind "Foo"', id="ignore not found"),
        pytest.param(multi(FAILING, Fixed(["/v1/Foo"])), Exception, "fail on this", id="accept first failure"),
        pytest.param(ALL, meta.AmbiguousKindError, "matches multiple kinds", id="return error for ambiguous"),
    ],
)
def test_no_mapping_and_several_are_errors(delegate: Any, error: type[Exception], text: str) -> None:
    """Go: TestPriorityRESTMapperRESTMapping."""
    with pytest.raises(error, match=text):
        meta.PriorityRESTMapper(delegate).rest_mapping(GroupKind("", "Foo"))


def test_the_version_asked_for_comes_before_the_priorities() -> None:
    """Go: TestPriorityRESTMapperRESTMappingHonorsUserVersion."""
    both = multi(Fixed(["bar/v2alpha1/Foo"]), Fixed(["bar/v1/Foo"]))
    patterns = [GroupVersionKind("bar", "v2alpha1", "*"), GroupVersionKind("bar", "*", "*")]
    preferring = meta.PriorityRESTMapper(both, [], patterns)
    assert preferring.rest_mapping(GroupKind("bar", "Foo"), "v1").group_version_kind.version == "v1"
    assert preferring.rest_mapping(GroupKind("bar", "Foo"), "v2alpha1").group_version_kind.version == "v2alpha1"
    assert preferring.rest_mapping(GroupKind("bar", "Foo")).group_version_kind.version == "v2alpha1"
