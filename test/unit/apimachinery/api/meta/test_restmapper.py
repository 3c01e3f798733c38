"""The default RESTMapper: the order of its results, partial names, and errors."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource

FIRST, SECOND, PREFIXED = GroupVersion("first", "v1"), GroupVersion("second", "v1"), GroupVersion("first-1", "v1")


def mapper(order: list[GroupVersion], kinds: list[GroupVersionKind]) -> meta.DefaultRESTMapper:
    made = meta.new_default_rest_mapper(order)
    for kind in kinds:
        made.add(kind, meta.REST_SCOPE_NAMESPACE)
    return made


@pytest.mark.parametrize(
    ("name", "known"),
    [("internalobjec", False), ("internalObjec", False), ("internalObject", True), ("internalobjects", True)],
)
def test_a_name_is_a_whole_singular_or_plural_in_any_case(name: str, known: bool) -> None:
    """Go: TestRESTMapperVersionAndKindForResource, TestRESTMapperGroupForResource."""
    kind = FIRST.with_kind("InternalObject")
    if known:
        assert mapper([FIRST], [kind]).kind_for(GroupVersionResource(resource=name)) == kind
        return
    with pytest.raises(meta.NoResourceMatchError):
        mapper([FIRST], [kind]).kind_for(GroupVersionResource(resource=name))


@pytest.mark.parametrize(
    ("order", "asked", "found"),
    [
        pytest.param([PREFIXED, FIRST], ("first", ""), [FIRST], id="groups, with group exact"),
        pytest.param([SECOND, FIRST], ("fir", ""), [FIRST], id="groups, with group prefix"),
        pytest.param([PREFIXED, FIRST], ("fir", ""), [PREFIXED, FIRST], id="groups, with ambiguous group prefix"),
        pytest.param([SECOND, FIRST], ("", ""), [SECOND, FIRST], id="ambiguous groups, with preference order"),
        pytest.param([SECOND, FIRST], ("first", ""), [FIRST], id="ambiguous groups, with explicit group match"),
        pytest.param([FIRST, SECOND], ("", "v1"), [FIRST, SECOND], id="ambiguous groups, with ambiguous version match"),
    ],
)
def test_an_exact_group_comes_before_a_prefix_and_the_preferred_version_first(
    order: list[GroupVersion], asked: tuple[str, str], found: list[GroupVersion]
) -> None:
    """Go: TestRESTMapperKindsFor, TestRESTMapperResourcesFor."""
    kinds = [version.with_kind(kind) for version in reversed(order) for kind in ("Mine", "Yours")]
    m = mapper(order, kinds)
    for name in ("mine", "mines"):
        partial = GroupVersionResource(*asked, name)
        assert m.kinds_for(partial) == [version.with_kind("Mine") for version in found]
        assert m.resources_for(partial) == [version.with_resource("mines") for version in found]
        if len(found) == 1:
            assert m.kind_for(partial) == found[0].with_kind("Mine")
            assert m.resource_for(partial) == found[0].with_resource("mines")
            continue
        with pytest.raises(meta.AmbiguousResourceError, match=" matches multiple kinds "):
            m.kind_for(partial)
        with pytest.raises(meta.AmbiguousResourceError, match=" matches multiple resources "):
            m.resource_for(partial)


@pytest.mark.parametrize(
    ("kind", "plural", "singular"),
    [
        ("Pod", "pods", "pod"),
        ("ReplicationController", "replicationcontrollers", "replicationcontroller"),
        ("ImageRepository", "imagerepositories", "imagerepository"),
        ("miss", "misses", "miss"),
        ("Status", "statuses", "status"),
        ("lowercases", "lowercaseses", "lowercases"),
        ("Endpoints", "endpoints", "endpoints"),
    ],
)
def test_plurals_are_guessed_and_found_back(kind: str, plural: str, singular: str) -> None:
    """Go: TestKindToResource, TestRESTMapperResourceSingularizer."""
    assert meta.unsafe_guess_kind_to_resource(FIRST.with_kind(kind)) == (
        FIRST.with_resource(plural),
        FIRST.with_resource(singular),
    )
    assert mapper([FIRST], [FIRST.with_kind(kind)]).resource_singularizer(plural) == singular


V1, V2, V3 = (GroupVersion("g", version) for version in ("v1", "v2", "v3"))


def test_a_mapping_is_of_the_first_version_asked_for_that_has_the_kind() -> None:
    """Go: TestRESTMapperRESTMapping, TestRESTMapperRESTMappingSelectsVersion,
    TestRESTMapperReportsErrorOnBadVersion.
    """
    m = mapper([V1, V2], [V1.with_kind("One"), V2.with_kind("Two")])
    one, two = GroupKind("g", "One"), GroupKind("g", "Two")
    assert m.rest_mapping(one).resource == V1.with_resource("ones")
    assert m.rest_mapping(one, "v1").group_version_kind == V1.with_kind("One")
    assert m.rest_mapping(two).resource == V2.with_resource("twos")
    assert m.rest_mapping(two, "v3", "v2").group_version_kind == V2.with_kind("Two")
    for kind, versions in ((one, ["v2"]), (two, ["v1"]), (two, ["v3"]), (two, ["v3", "v1"]), (GroupKind("g", "X"), [])):
        with pytest.raises((meta.NoKindMatchError, meta.NoResourceMatchError)):
            m.rest_mapping(kind, *versions)


def test_mappings_are_of_the_versions_asked_for_or_of_the_defaults() -> None:
    """Go: TestRESTMapperRESTMappings."""
    kind = GroupKind("g", "One")

    def found(order: list[GroupVersion], versions: list[GroupVersion], *asked: str) -> list[str]:
        m = mapper(order, [version.with_kind("One") for version in versions])
        return [each.resource.version for each in m.rest_mappings(kind, *asked)]

    assert found([V1], [V2], "v2") == found([V1], [V2], "v3", "v2") == ["v2"]
    assert found([V1, V2], [V1, V2]) == ["v1", "v2"] and found([V2, V1], [V1, V2]) == ["v2", "v1"]
    for order, versions, asked in (([], [], ()), ([V1], [], ()), ([V1], [V1], ("v2",))):
        with pytest.raises((meta.NoKindMatchError, meta.NoResourceMatchError)):
            found(order, versions, *asked)


@pytest.mark.parametrize(
    ("err", "matches"),
    [
        pytest.param(
            meta.AmbiguousResourceError(FIRST.with_resource("r")), meta.is_ambiguous_error, id="AmbiguousResourceError"
        ),
        pytest.param(meta.AmbiguousKindError(FIRST.with_kind("K")), meta.is_ambiguous_error, id="AmbiguousKindError"),
        pytest.param(
            meta.NoResourceMatchError(FIRST.with_resource("r")), meta.is_no_match_error, id="NoResourceMatchError"
        ),
        pytest.param(meta.NoKindMatchError(GroupKind("g", "K"), ["v1"]), meta.is_no_match_error, id="NoKindMatchError"),
    ],
)
def test_lookup_errors_are_recognised_by_type_even_as_causes(err: Exception, matches) -> None:
    """Go: TestErrorMatching."""
    outer = RuntimeError("outer")
    outer.__cause__ = err
    assert matches(err) and matches(outer) and not matches(RuntimeError("other")) and not matches(None)
    assert meta.is_ambiguous_error(err) != meta.is_no_match_error(err)
