"""Field sets, owners and server-side apply, as pure functions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.apimachinery.util import managedfields
from clientgo.apimachinery.util.managedfields import Writer, fieldmanager, typed
from clientgo.apimachinery.util.managedfields.schema import Node
from clientgo.applyconfigurations import internal

Json = dict[str, Any]
DEPLOYMENT_NODE = internal.of_type("k8s.io/api/apps/v1", "Deployment")

paths = st.frozensets(
    st.lists(st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"z"']), min_size=1, max_size=4).map(tuple)
)


@given(paths)
def test_field_sets_survive_their_json_form(members: frozenset[managedfields.Path]) -> None:
    """Go: TestFieldsRoundTrip."""
    assert managedfields.parse_set(managedfields.format_set(set(members))) == members


def managed(entries: list[Json]) -> dict[str, Json]:
    return {entry["manager"]: entry["fieldsV1"] for entry in entries}


def run_apply(
    live: Json, config: Json, entries: list[Json], manager: str, force: bool = False
) -> tuple[Json, list[Json]]:
    node = managedfields.of_schema(
        {"type": "object", "properties": {"spec": {"type": "object", "additionalProperties": {}}}}, True
    )
    return managedfields.applied(
        node, live, config, entries, Writer(manager, "v1"), "now", force=force, created=not entries
    )


def test_apply_owns_what_it_says_and_removes_what_it_no_longer_says() -> None:
    """Go: TestApplyNewObject, TestApplyDoesNotStripLabels, TestApplySuccessWithNoManagedFields,
    TestNoUpdateBeforeFirstApply.
    """
    live, entries = run_apply({}, {"spec": {"a": 1, "b": 2}}, [], "one")
    live, entries = run_apply(live, {"spec": {"b": 2}}, entries, "one")
    assert (live, managed(entries)) == ({"spec": {"b": 2}}, {"one": {"f:spec": {"f:b": {}}}})


def test_unowned_fields_survive_an_apply_that_removes_others() -> None:
    live, entries = run_apply({}, {"spec": {"a": 1, "b": {"c": 1}}}, [], "one")
    live = {"spec": {**live["spec"], "default": {"d": 1}}}
    live, _ = run_apply(live, {"spec": {"a": 1}}, entries, "one")
    assert live == {"spec": {"a": 1, "default": {"d": 1}}}


def test_a_conflict_names_the_manager_and_force_takes_over() -> None:
    """Go: TestUpdateApplyConflict, TestNewConflictError."""
    live, entries = run_apply({}, {"spec": {"a": 1}}, [], "one")
    with pytest.raises(
        managedfields.ConflictError, match=r'^Apply failed with 1 conflict: conflict with "one": \.spec\.a$'
    ) as raised:
        run_apply(live, {"spec": {"a": 2}}, entries, "two")
    assert raised.value.causes == [(".spec.a", 'conflict with "one"')]
    live, entries = run_apply(live, {"spec": {"a": 2}}, entries, "two", force=True)
    assert (live, managed(entries)) == ({"spec": {"a": 2}}, {"two": {"f:spec": {"f:a": {}}}})


def test_several_conflicts_are_listed() -> None:
    """Go: TestNewConflictError."""
    live, entries = run_apply({}, {"spec": {"a": 1, "b": 1}}, [], "one")
    with pytest.raises(
        managedfields.ConflictError, match=r"(?s)^Apply failed with 2 conflicts: .*- \.spec\.a\n- \.spec\.b$"
    ):
        run_apply(live, {"spec": {"a": 2, "b": 2}}, entries, "two")


def test_conflicts_of_a_map_come_before_those_further_down() -> None:
    """Go: fieldpath.Set.Iterate."""
    live, entries = run_apply({}, {"spec": {"a": {"x": 1}, "b": 1, "c": {"x": {"y": 1}, "z": 1}}}, [], "one")
    with pytest.raises(managedfields.ConflictError) as raised:
        run_apply(live, {"spec": {"a": {"x": 2}, "b": 2, "c": {"x": {"y": 2}, "z": 2}}}, entries, "two")
    assert [field for field, _ in raised.value.causes] == [".spec.b", ".spec.a.x", ".spec.c.z", ".spec.c.x.y"]


def test_equal_values_are_owned_together() -> None:
    live, entries = run_apply({}, {"spec": {"a": 1}}, [], "one")
    live, entries = run_apply(live, {"spec": {"a": 1}}, entries, "two")
    assert sorted(managed(entries)) == ["one", "two"]
    live, entries = run_apply(live, {"spec": {}}, entries, "one")
    assert live["spec"] == {"a": 1}


def test_an_item_whose_parts_others_own_stays() -> None:
    def apply(live: Json, config: Json, entries: list[Json], manager: str) -> tuple[Json, list[Json]]:
        writer = Writer(manager, "apps/v1")
        return managedfields.applied(
            DEPLOYMENT_NODE, live, config, entries, writer, "now", force=False, created=not live
        )

    template = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "1"}]}}}}
    live, entries = apply({}, template, [], "one")
    args = {"spec": {"template": {"spec": {"containers": [{"name": "web", "args": ["x"]}]}}}}
    live, entries = apply(live, args, entries, "two")
    nothing: Json = {"spec": {}}
    live, entries = apply(live, nothing, entries, "one")
    assert live["spec"]["template"]["spec"]["containers"] == [{"name": "web", "args": ["x"]}]


def test_an_empty_map_that_others_have_filled_stays() -> None:
    live, entries = run_apply({}, {"spec": {"a": {}}}, [], "one")
    live, entries = run_apply(live, {"spec": {"a": {"b": 1}}}, entries, "two")
    live, entries = run_apply(live, {"spec": {}}, entries, "one")
    assert (live, list(managed(entries))) == ({"spec": {"a": {"b": 1}}}, ["one", "two"])


ITEMS = Node("assoc", keys=("name",), elem=Node("map"))
VALUE = Node("struct", fields={"items": ITEMS, "tags": Node("set"), "map": Node("map")})
X = ("f:items", 'k:{"name":"x"}')


def test_lists_are_merged_by_key_or_value_and_shared_items_come_as_the_configuration_has_them() -> None:
    live = {"items": [{"name": "x", "v": 1}, {"name": "y"}], "tags": ["a", "b"], "map": {"k": 1, "l": 2}}
    config = {"items": [{"name": "z"}, {"name": "x", "v": 2}], "tags": ["c", "b"], "map": {"k": 3}}
    assert typed.merge(VALUE, live, config) == {
        "items": [{"name": "z"}, {"name": "x", "v": 2}, {"name": "y"}],
        "tags": ["a", "c", "b"],
        "map": {"k": 3, "l": 2},
    }
    assert typed.merge(VALUE, {"tags": ["a", "b", "c"]}, {"tags": ["c", "a"]}) == {"tags": ["b", "c", "a"]}


def test_null_takes_the_shape_of_what_is_there() -> None:
    assert typed.merge(VALUE, {"map": {"k": 1}, "tags": ["a"]}, {"map": None, "tags": None}) == {
        "map": {"k": 1},
        "tags": ["a"],
    }
    assert typed.merge(VALUE, {"map": {"k": 1}}, {"map": {"k": None}}) == {"map": {"k": None}}
    assert typed.merge(VALUE, {"map": {}}, {"map": None}) == {"map": None}


def test_what_is_removed_leaves_null_where_nothing_is_left() -> None:
    value = {"items": [{"name": "x"}], "tags": ["a"], "map": {"k": {"l": 1}}, "none": {}}
    gone = {X, ("f:tags", 'v:"a"'), ("f:map", "f:k", "f:l")}
    assert typed.remove(VALUE, value, gone) == {"items": None, "tags": None, "map": {"k": None}, "none": {}}
    assert typed.remove(VALUE, {"map": {"k": 1}}, {("f:map",)}) is None
    assert typed.remove(VALUE, {"items": [{"name": "x"}, {"name": "y"}]}, {X}) == {"items": [{"name": "y"}]}


def test_a_configuration_owns_no_empty_list_but_the_keys_of_its_maps() -> None:
    config = {"items": [{"name": "x"}, {}], "tags": [], "map": {"k": {"l": 1}, "none": None}}
    assert typed.field_set(VALUE, config) == {
        X,
        (*X, "f:name"),
        ("f:items", "k:{}"),
        ("f:map", "f:k"),
        ("f:map", "f:k", "f:l"),
        ("f:map", "f:none"),
    }


def test_a_comparison_lists_added_modified_and_removed_fields() -> None:
    old: Json = {"items": [{"name": "x", "v": 1}], "tags": ["a"], "map": {"k": 1, "gone": None}}
    new: Json = {"items": [{"name": "x", "v": 2}], "tags": ["b"], "map": {"k": None, "null": None}}
    found = typed.compare(VALUE, old, new)
    assert found.added == {("f:tags", 'v:"b"'), ("f:map", "f:null")}
    assert found.modified == {(*X, "f:v"), ("f:map", "f:k")}
    assert found.removed == {("f:tags", 'v:"a"'), ("f:map", "f:gone")}
    found = typed.compare(VALUE, {"items": []}, {"items": [{"name": "x"}]})
    assert (found.added, found.modified, found.removed) == ({X, (*X, "f:name")}, set(), set())
    found = typed.compare(VALUE, {"tags": None, "map": {"k": [1]}}, {"tags": [], "map": {"k": {"l": 1}}})
    assert found.modified == {("f:tags",), ("f:map", "f:k")}, "an empty list is not null"
    assert found.added == {("f:map", "f:k", "f:l")}
    twice = [{"name": "x"}, {"name": "x", "v": 1}]
    assert typed.compare(VALUE, {"items": twice}, {"items": twice[:1]}).modified == {X}
    assert not typed.compare(VALUE, old, dict(old))


def test_the_owner_of_a_scales_replicas_owns_the_objects() -> None:
    path = ("f:spec", "f:replicas")

    def entry(manager: str, operation: str, fields: Json) -> Json:
        head = {"manager": manager, "operation": operation, "apiVersion": "apps/v1", "time": "t1"}
        return {**head, "fieldsType": "FieldsV1", "fieldsV1": fields}

    other = entry("two", "Update", {"f:spec": {"f:paused": {}}})
    replicas = {"f:spec": {"f:replicas": {}}}
    owner = entry("one", "Apply", replicas)
    handler = managedfields.ScaleHandler([owner, other], "apps/v1", {"apps/v1": path})
    (shown,) = handler.to_subresource()
    assert (shown["manager"], shown["apiVersion"], shown["fieldsV1"]) == ("one", "autoscaling/v1", replicas)
    assert handler.to_parent([shown]) == [owner, other]
    thief = {**shown, "manager": "three", "operation": "Update", "subresource": "scale"}
    taken = handler.to_parent([thief])
    assert [(e["manager"], e["apiVersion"], e.get("subresource"), "time" in e) for e in taken] == [
        ("three", "apps/v1", "scale", False),
        ("two", "apps/v1", None, True),
    ]


def test_an_update_starts_from_what_was_sent_if_one_can_read_it() -> None:
    """Go: TestResetManagedFieldsEmptyItem, TestUpdateViaSubresources."""
    sent, kept = [{**ENTRY, "manager": "sent"}], [ENTRY]
    assert managedfields.live_or_new(sent, kept) is sent
    assert managedfields.live_or_new(None, kept) is kept
    assert managedfields.live_or_new([{**ENTRY, "operation": "Bad"}], kept) is kept
    assert managedfields.live_or_new(sent, kept, subresource=True) is kept
    bad = [{**ENTRY, "fieldsV1": {"spec": {}}}]
    assert managedfields.live_or_new(None, bad) == managedfields.live_or_new(sent, bad, subresource=True) == []


@pytest.mark.parametrize("given", [[], [{}], [None], [{"manager": "", "fieldsV1": None, "time": None}]])
def test_an_update_can_clear_all_entries(given: Any) -> None:
    """Go: TestResetManagedFieldsEmptyList, TestResetManagedFieldsEmptyItem."""
    assert managedfields.live_or_new(given, [ENTRY]) == []
    assert managedfields.live_or_new([{"manager": "", "fieldsV1": {}}], [ENTRY]) == [ENTRY]


def test_an_update_takes_fields_from_other_managers() -> None:
    node = DEPLOYMENT_NODE
    live: Json = {"spec": {"replicas": 1}}
    entries = managedfields.updated(node, {"spec": {}}, live, [], Writer("one", "apps/v1"), "t1")
    entries = managedfields.updated(node, live, {"spec": {"replicas": 2}}, entries, Writer("two", "apps/v1"), "t2")
    assert managed(entries) == {"two": {"f:spec": {"f:replicas": {}}}}


def test_an_update_that_changes_nothing_keeps_times() -> None:
    """Go: TestNoOpChanges, TestUpdateDoesNotChangeManagedFields."""
    live: Json = {"spec": {"replicas": 1}}
    entries = managedfields.updated(DEPLOYMENT_NODE, {"spec": {}}, live, [], Writer("one", "apps/v1"), "t1")
    assert managedfields.updated(DEPLOYMENT_NODE, live, live, entries, Writer("two", "apps/v1"), "t2") == entries


def test_what_a_request_cannot_write_it_does_not_own() -> None:
    new: Json = {"spec": {"replicas": 1}, "status": {"replicas": 1}}
    writer = Writer("one", "apps/v1")
    assert managedfields.updated(DEPLOYMENT_NODE, {}, {"status": {"replicas": 1}}, [], writer, "t1", ("status",)) == []
    (entry,) = managedfields.updated(DEPLOYMENT_NODE, {}, new, [], writer, "t1", ("status",))
    assert entry["fieldsV1"] == {"f:spec": {".": {}, "f:replicas": {}}}


def test_identifying_fields_have_no_owner() -> None:
    """Go: TestApplyStripsFields."""
    metadata = {"name": "b", "namespace": "b", "uid": "b", "generation": 1, "resourceVersion": "b"}
    new = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {**metadata, "creationTimestamp": "t0"}}
    writer = Writer("one", "apps/v1")
    assert managedfields.updated(DEPLOYMENT_NODE, {}, new, [], writer, "t1") == []
    _, entries = managedfields.applied(DEPLOYMENT_NODE, {}, new, [], writer, "t1", force=False, created=True)
    assert entries == []


def test_a_manager_before_the_first_apply_owns_existing_fields() -> None:
    """Go: TestUpdateBeforeFirstApply, TestNoTrackManagedFieldsForClientSideApply."""
    live: Json = {"metadata": {"labels": {"app": "old"}}}
    config: Json = {"metadata": {"labels": {"app": "new"}}, "spec": {"replicas": 1}}

    def apply(force: bool) -> tuple[Json, list[Json]]:
        writer = Writer("one", "apps/v1")
        return managedfields.applied(DEPLOYMENT_NODE, live, config, [], writer, "t1", force=force, created=False)

    with pytest.raises(managedfields.ConflictError) as caught:
        apply(force=False)
    assert caught.value.causes == [(".metadata.labels.app", 'conflict with "before-first-apply" using apps/v1')]
    merged, entries = apply(force=True)
    assert merged == config
    assert [(each["manager"], each["operation"]) for each in entries] == [
        ("one", "Apply"),
        ("before-first-apply", "Update"),
    ]


def written(operation: str, manager: str, labels: Json, live: Json, entries: list[Json], now: str) -> list[Json]:
    """Return the entries after a write of these labels."""
    writer, new = Writer(manager, "apps/v1"), {"metadata": {"labels": labels}}
    if operation == "Update":
        return managedfields.updated(DEPLOYMENT_NODE, live, new, entries, writer, now)
    return managedfields.applied(DEPLOYMENT_NODE, live, new, entries, writer, now, force=True, created=not entries)[1]


@pytest.mark.parametrize("operation", ["Update", "Apply"])
def test_the_time_of_an_entry_is_when_its_manager_last_changed_something(operation: str) -> None:
    """Go: TestManagedFieldsUpdateDoesModifyTime, TestManagedFieldsApplyDoesModifyTime,
    TestManagedFieldsUpdateWithoutChangesDoesNotModifyTime, TestManagedFieldsApplyWithoutChangesDoesNotModifyTime,
    TestApplyDoesNotChangeManagedFields.
    """
    old, new = {"a": "1"}, {"a": "2"}
    first = written(operation, "one", old, {}, [], "t1")
    assert written(operation, "one", old, {"metadata": {"labels": old}}, first, "t2") == first
    (entry,) = written(operation, "one", new, {"metadata": {"labels": old}}, first, "t2")
    assert (first[0]["time"], entry["time"]) == ("t1", "t2")


@pytest.mark.parametrize("operation", ["Update", "Apply"])
def test_a_manager_that_loses_a_field_keeps_its_time(operation: str) -> None:
    """Go: TestTakingOverManagedFieldsDuringUpdateDoesNotModifyPreviousManagerTime,
    TestTakingOverManagedFieldsDuringApplyDoesNotModifyPreviousManagerTime, TestNonManagedFieldsUpdateDoesNotModifyTime,
    TestNonManagedFieldsApplyDoesNotModifyTime, TestLiveObjectManagedFieldsNotRemoved.
    """
    live: Json = {"a": "1", "b": "1"}
    entries = written(operation, "one", live, {}, [], "t1")
    taken = written(operation, "two", {**live, "b": "2"}, {"metadata": {"labels": live}}, entries, "t2")
    assert {each["manager"]: each["time"] for each in taken} == {"one": "t1", "two": "t2"}
    assert "f:b" not in managed(taken)["one"]["f:metadata"]["f:labels"]


def test_a_key_that_an_item_leaves_out_has_its_default() -> None:
    ports = Node("assoc", keys=("port", "protocol"), elem=Node("map"), defaults={"protocol": "TCP"})
    assert typed.item_element(ports, {"port": 80}) == typed.item_element(ports, {"port": 80, "protocol": "TCP"})
    assert typed.item_element(ports, {"port": 80, "protocol": "UDP"}) == 'k:{"port":80,"protocol":"UDP"}'


def test_many_updaters_are_folded_into_one() -> None:
    """Go: TestCapManagersManagerMergesEntries."""
    live: Json = {"metadata": {"labels": {}}}
    entries: list[Json] = []
    for i in range(14):
        new = {"metadata": {"labels": {**live["metadata"]["labels"], f"l{i}": "x"}}}
        entries = managedfields.updated(
            DEPLOYMENT_NODE, live, new, entries, Writer(f"m{i:02d}", "apps/v1"), f"t{i:02d}"
        )
        live = new
        assert len(entries) == min(i + 1, fieldmanager.MAX_UPDATE_MANAGERS)
    assert {"ancient-changes", "m13", "m12"} <= set(managed(entries))


def numbered(*managers: tuple[str, str, int, str]) -> list[Json]:
    """Return entries for tuples of manager, version, hour and owned fields."""
    head = {"operation": "Update", "fieldsType": "FieldsV1"}
    return [
        {
            **head,
            "manager": manager,
            "apiVersion": version,
            "time": f"t{hour}",
            "fieldsV1": {f"f:{x}": {} for x in owned},
        }
        for manager, version, hour, owned in managers
    ]


# Go: TestCapUpdateManagers
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            numbered(("m1", "v1", 1, "a"), ("m2", "v1", 2, "b"), ("m3", "v1", 3, "c"), ("m4", "v1", 4, "d")),
            numbered(("ancient-changes", "v1", 2, "ab"), ("m3", "v1", 3, "c"), ("m4", "v1", 4, "d")),
            id="one version, no ancient changes",
        ),
        pytest.param(
            numbered(
                ("ancient-changes", "v1", 2, "ab"), ("m3", "v1", 3, "c"), ("m4", "v1", 4, "d"), ("m5", "v1", 5, "e")
            ),
            numbered(("ancient-changes", "v1", 3, "abc"), ("m4", "v1", 4, "d"), ("m5", "v1", 5, "e")),
            id="one version, one ancient changes",
        ),
        pytest.param(
            numbered(
                ("m1", "v1", 1, "a"),
                ("m2", "v2", 2, "b"),
                ("m3", "v1", 3, "c"),
                ("m4", "v1", 4, "d"),
                ("m5", "v1", 5, "e"),
            ),
            numbered(("m2", "v2", 2, "b"), ("ancient-changes", "v1", 4, "acd"), ("m5", "v1", 5, "e")),
            id="two versions, no ancient changes",
        ),
        pytest.param(
            numbered(
                ("m2", "v2", 2, "b"),
                ("ancient-changes", "v1", 4, "acd"),
                ("m5", "v1", 5, "e"),
                ("m6", "v3", 6, "f"),
                ("m7", "v2", 7, "g"),
            ),
            numbered(("ancient-changes", "v1", 5, "acde"), ("m6", "v3", 6, "f"), ("ancient-changes", "v2", 7, "bg")),
            id="three versions, one ancient changes",
        ),
        pytest.param(
            numbered(
                ("ancient-changes", "v1", 5, "a"),
                ("m6", "v3", 6, "f"),
                ("ancient-changes", "v2", 7, "b"),
                ("m8", "v3", 8, "h"),
            ),
            numbered(
                ("ancient-changes", "v1", 5, "a"), ("ancient-changes", "v2", 7, "b"), ("ancient-changes", "v3", 8, "fh")
            ),
            id="three versions, two ancient changes",
        ),
        pytest.param(
            numbered(
                ("ancient-changes", "v1", 5, "a"),
                ("m6", "v3", 6, "f"),
                ("ancient-changes", "v2", 7, "b"),
                ("m8", "v4", 8, "h"),
            ),
            numbered(
                ("ancient-changes", "v1", 5, "a"),
                ("m6", "v3", 6, "f"),
                ("ancient-changes", "v2", 7, "b"),
                ("m8", "v4", 8, "h"),
            ),
            id="four versions, two ancient changes",
        ),
    ],
)
def test_the_oldest_updaters_of_a_version_are_folded(
    before: list[Json], after: list[Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fieldmanager, "MAX_UPDATE_MANAGERS", 3)
    managers = managedfields.Managers(before)
    managers.cap()
    assert managers.encode() == after
    managers.cap()
    assert managers.encode() == after, "twice is as good as once"


def test_paths_read_as_in_messages() -> None:
    path = ("f:spec", "f:containers", 'k:{"name":"web"}', "f:image")
    assert managedfields.path_text(path) == '.spec.containers[name="web"].image'
    assert managedfields.path_text(("f:metadata", "f:finalizers", 'v:"a"')) == '.metadata.finalizers[="a"]'


ENTRY: Json = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"operation": "Take"}, "operation must be `Apply` or `Update`"),
        ({"apiVersion": ""}, "apiVersion must not be empty"),
        ({"fieldsType": ""}, "missing fieldsType in managed fields entry 1"),
        ({"fieldsType": "FieldsV2"}, 'invalid fieldsType "FieldsV2" in managed fields entry 1'),
        ({"fieldsV1": {"f:a": {"b": {}}}}, "error decoding managed fields entry 1: key must be 2 characters long:"),
        ({"fieldsV1": {"f:a": {"spec": {}}}}, "error decoding managed fields entry 1: missing colon: spec"),
        ({"fieldsV1": {'k:["name"]': {}}}, 'error decoding managed fields entry 1: not an object: ["name"]'),
        (
            {"fieldsV1": {"i:x": {}}},
            'error decoding managed fields entry 1: strconv.ParseInt: parsing "x": invalid syntax',
        ),
        ({"fieldsV1": {"f:a": []}}, "error decoding managed fields entry 1: not an object"),
    ],
)
def test_managed_fields_that_cannot_be_read_are_found(change: Json, message: str) -> None:
    """Go: TestHasFieldsType, TestHasAPIVersion, TestHasOperation."""
    good = {**ENTRY, "fieldsV1": {"f:a": {".": {}, 'k:{"name":"x"}': {}, 'v:"z"': {}, "i:0": {}}}}
    managedfields.validate_managed_fields([good, {**ENTRY, "operation": "Apply"}])
    with pytest.raises(ValueError) as caught:
        managedfields.validate_managed_fields([good, {**good, **change}])
    assert str(caught.value) == message


def test_entries_come_back_as_they_were() -> None:
    """Also with indices, and with values that are no texts. Go: TestRoundTripManagedFields."""
    by_value = {"v:3": {"f:a": {}}, "v:3.1415": {"f:b": {}}, "v:false": {"f:c": {}}}
    entries = [
        {
            **ENTRY,
            "manager": "foo",
            "operation": "Apply",
            "fieldsV1": {"f:x": {'k:{"name":"c"}': {".": {}, "f:y": {}}}},
        },
        {**ENTRY, "fieldsV1": {"f:spec": {"f:replicas": {}}}, "subresource": "scale"},
        {**ENTRY, "time": "2001-02-03T04:05:06Z", "fieldsV1": by_value},
        {**ENTRY, "time": "2011-12-13T14:15:16Z", "apiVersion": "v1beta1", "fieldsV1": {"i:5": {"f:i": {}}}},
    ]
    assert managedfields.Managers(entries).encode() == entries


def test_a_manager_is_known_by_its_name_operation_and_subresource_and_an_updater_by_the_version_too() -> None:
    """Go: TestBuildManagerIdentifier."""
    key = managedfields.Managers.key
    assert key("foo", "Update", "v1", "") != key("foo", "Update", "v2", "")
    assert key("foo", "Apply", "v1", "") == key("foo", "Apply", "v2", "") != key("foo", "Apply", "v1", "scale")


def test_entries_are_in_order_of_operation_time_and_name() -> None:
    """Go: TestSortEncodedManagedFields."""
    wanted = [
        ("a", "Apply", ""),
        ("b", "Apply", ""),
        ("a", "Apply", "2001-01-01T01:00:00Z"),
        ("c", "Update", "2001-01-01T01:00:00Z"),
        ("d", "Update", "2001-01-01T01:00:00Z"),
        ("a", "Update", "2002-01-01T01:00:00Z"),
    ]
    entries = [
        {**ENTRY, "manager": manager, "operation": operation, "time": time, "apiVersion": "v1", "fieldsV1": {"f:a": {}}}
        for manager, operation, time in reversed(wanted)
    ]
    # An applier is known by its name in all versions: its second entry here is of a subresource.
    entries[3]["subresource"] = "status"
    found = managedfields.Managers(entries).encode()
    assert [(each["manager"], each["operation"], each.get("time", "")) for each in found] == wanted


# Go: TestPathElementRoundTrip
@pytest.mark.parametrize(
    "element",
    [
        "i:0",
        "i:1234",
        "f:",
        "f:spec",
        "f:more-complicated-string",
        'k:{"name":"my-container"}',
        'k:{"port":"8080","protocol":"TCP"}',
        'k:{"optionalField":null}',
        'k:{"jsonField":{"A":1,"B":null,"C":"D","E":{"F":"G"}}}',
        'k:{"listField":["1","2","3"]}',
        "v:null",
        'v:"some-string"',
        "v:1234",
        'v:{"some":"json"}',
    ],
)
def test_an_element_of_a_path_survives(element: str) -> None:
    assert managedfields.format_set(managedfields.parse_set({element: {}})) == {element: {}}


# Go: TestPathElementIgnoreUnknown, TestDeserializePathElementError
@pytest.mark.parametrize(
    ("trie", "members"),
    [
        ({"r:Hello": {"f:inside": {}}, "f:a": {}}, {("f:a",)}),
        ({"f:a": {"r:Hello": {}}}, {("f:a",)}),
        ({"f:a": {"r:Hello": {}, "f:b": None}}, {("f:a", "f:b")}),
        ({".": {}, "f:a": {".": {}, "f:b": {}}}, {("f:a",), ("f:a", "f:b")}),
        ({'k:{"b":1.0, "a":"<"}': {}}, {('k:{"a":"\\u003c","b":1}',)}),
        ({"v:1e3": {}, "i:07": {}, 'k:null': {}}, {("v:1000",), ("i:7",), ("k:{}",)}),
        (None, set()),
    ],
)
def test_what_a_later_version_may_know_is_left_out(trie: Any, members: set[tuple[str, ...]]) -> None:
    assert managedfields.parse_set(trie) == members


_BAD = ["", "x", "no-colon", "i:index", "i:1.23", 'k:{"a"', "k:7", "v:a", "v:NaN", f"v:{'[' * 10**5}"]
# As large as no number is: it would be written as Infinity, which no reader takes.
_BAD += ["v:-1e999", 'k:{"a":1e999}']


@pytest.mark.parametrize("element", _BAD, ids=lambda text: text[:9])
def test_what_no_version_can_know_is_refused(element: str) -> None:
    """Go: TestDeserializePathElementError."""
    with pytest.raises(ValueError):
        managedfields.parse_set({"f:a": {element: {}}})


# Go: TestPathString, TestToString
@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("f:spec", 'k:{"name":"a<b","port":80}', "f:x"), '.spec[name="a<b",port=80].x'),
        (("f:a", 'v:"x"'), '.a[="x"]'),
        (("f:a", "v:true", "i:5"), ".a[=true][5]"),
        (("v:1.5", "v:null", 'v:[1,"b"]'), '[=1.5][=null][=[1,"b"]]'),
    ],
)
def test_a_path_is_formatted_as_in_a_servers_conflicts(path: tuple[str, ...], text: str) -> None:
    assert managedfields.path_text(path) == text
