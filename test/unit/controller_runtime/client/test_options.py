"""The options of calls: each kind of option changes what it is about, and becomes what is sent.

Go: client: Client > CreateOptions
Go: client: Client > DeleteOptions
Go: client: Client > DeleteCollectionOptions
Go: client: Client > GetOptions
Go: client: Client > ListOptions
Go: client: Client > UpdateOptions
Go: client: Client > PatchOptions
"""

from __future__ import annotations

from dataclasses import fields as fields_of
from typing import Any

import pytest

from clientgo.apimachinery import fields, labels
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake

ALL = [metav1.DRY_RUN_ALL]
APP = labels.parse("app=web")
NODE = fields.parse_selector("spec.nodeName=n1")

EACH = {
    "create": client.CreateOptions,
    "update": client.UpdateOptions,
    "patch": client.PatchOptions,
    "apply": client.ApplyOptions,
    "delete": client.DeleteOptions,
    "delete_all_of": client.DeleteAllOfOptions,
    "get": client.GetOptions,
    "list": client.ListOptions,
    "sub_resource_create": client.SubResourceCreateOptions,
    "sub_resource_update": client.SubResourceUpdateOptions,
    "sub_resource_patch": client.SubResourcePatchOptions,
    "sub_resource_apply": client.SubResourceApplyOptions,
    "sub_resource_get": client.SubResourceGetOptions,
}

# What can be said of every call of a kind.
FULL: dict[str, list[Any]] = {
    "create": [
        client.CreateOptions(dry_run=ALL),
        client.CreateOptions(field_manager="me"),
        client.CreateOptions(field_validation="Strict"),
        client.CreateOptions(raw=metav1.CreateOptions()),
    ],
    "update": [
        client.UpdateOptions(dry_run=ALL),
        client.UpdateOptions(field_manager="me"),
        client.UpdateOptions(field_validation="Warn"),
        client.UpdateOptions(raw=metav1.UpdateOptions()),
    ],
    "patch": [
        client.PatchOptions(dry_run=ALL),
        client.PatchOptions(force=True),
        client.PatchOptions(field_manager="me"),
        client.PatchOptions(field_validation="Ignore"),
        client.PatchOptions(raw=metav1.PatchOptions()),
    ],
    "apply": [
        client.ApplyOptions(dry_run=ALL),
        client.ApplyOptions(force=True),
        client.ApplyOptions(field_manager="me"),
    ],
    "delete": [
        client.DeleteOptions(grace_period_seconds=42),
        client.DeleteOptions(preconditions=metav1.Preconditions(uid="u")),
        client.DeleteOptions(propagation_policy="Foreground"),
        client.DeleteOptions(raw=metav1.DeleteOptions()),
        client.DeleteOptions(dry_run=ALL),
    ],
    "get": [client.GetOptions(raw=metav1.GetOptions()), client.GetOptions(unsafe_disable_deep_copy=True)],
    "list": [
        client.ListOptions(label_selector=APP),
        client.ListOptions(field_selector=NODE),
        client.ListOptions(namespace="ns"),
        client.ListOptions(raw=metav1.ListOptions(field_selector="a=b")),
        client.ListOptions(limit=25),
        client.ListOptions(continue_="next"),
        client.ListOptions(unsafe_disable_deep_copy=True),
    ],
}


@pytest.mark.parametrize(("verb", "given"), [(verb, each) for verb, several in FULL.items() for each in several])
def test_options_given_as_an_option_set_what_they_say_and_keep_the_rest(verb: str, given: Any) -> None:
    """
    Go: client: ListOptions > Should set
    Go: client: GetOptions
    Go: client: ApplyOptions
    Go: client: CreateOptions > Should set
    Go: client: DeleteOptions > Should set
    Go: client: UpdateOptions > Should set
    Go: client: PatchOptions > Should set
    """
    options = EACH[verb]()
    getattr(given, f"apply_to_{verb}")(options)
    assert options == given

    # Said on top of all that can be said, it changes this one field only.
    everything = EACH[verb]()
    everything.apply_options(FULL[verb])
    again = EACH[verb]()
    again.apply_options([*FULL[verb], given])
    assert again == everything
    assert all(getattr(everything, each.name) for each in fields_of(everything) if each.name != "raw")


@pytest.mark.parametrize("verb", FULL)
def test_options_that_say_nothing_change_nothing(verb: str) -> None:
    """
    Go: client: ListOptions > Should not set anything
    Go: client: CreateOptions > Should not set anything
    Go: client: DeleteOptions > Should not set anything
    Go: client: UpdateOptions > Should not set anything
    Go: client: PatchOptions > Should not set anything
    """
    full = EACH[verb]().apply_options(FULL[verb])
    expected = EACH[verb]().apply_options(FULL[verb])
    getattr(EACH[verb](), f"apply_to_{verb}")(full)
    assert full == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (client.CreateOptions().as_create_options(), metav1.CreateOptions()),
        (client.UpdateOptions().as_update_options(), metav1.UpdateOptions()),
        (client.PatchOptions().as_patch_options(), metav1.PatchOptions()),
        (client.DeleteOptions().as_delete_options(), metav1.DeleteOptions()),
        (client.GetOptions().as_get_options(), metav1.GetOptions()),
        (client.ListOptions().as_list_options(), metav1.ListOptions()),
        (
            client.CreateOptions().apply_options([client.DRY_RUN_ALL, client.FieldOwner("me")]).as_create_options(),
            metav1.CreateOptions(dry_run=ALL, field_manager="me"),
        ),
        (
            client.UpdateOptions().apply_options([client.DRY_RUN_ALL, client.FieldOwner("me")]).as_update_options(),
            metav1.UpdateOptions(dry_run=ALL, field_manager="me"),
        ),
        (
            client.PatchOptions()
            .apply_options([client.DRY_RUN_ALL, client.FORCE_OWNERSHIP, client.FieldOwner("me")])
            .as_patch_options(),
            metav1.PatchOptions(dry_run=ALL, force=True, field_manager="me"),
        ),
        (
            client.DeleteOptions()
            .apply_options(
                [
                    client.GracePeriodSeconds(42),
                    client.Preconditions(uid="u", resource_version="7"),
                    client.PropagationPolicy("Foreground"),
                    client.DRY_RUN_ALL,
                ]
            )
            .as_delete_options(),
            metav1.DeleteOptions(
                grace_period_seconds=42,
                preconditions=metav1.Preconditions(uid="u", resource_version="7"),
                propagation_policy="Foreground",
                dry_run=ALL,
            ),
        ),
        (
            client.GetOptions(raw=metav1.GetOptions(resource_version="RV0")).as_get_options(),
            metav1.GetOptions(resource_version="RV0"),
        ),
        (
            client.ListOptions()
            .apply_options(
                [client.MatchingLabels(app="web"), client.MatchingFields({"spec.nodeName": "n1"}), client.Limit(3)]
            )
            .as_list_options(),
            metav1.ListOptions(label_selector="app=web", field_selector="spec.nodeName=n1", limit=3),
        ),
        (
            client.ListOptions(continue_="next", raw=metav1.ListOptions(resource_version="8")).as_list_options(),
            metav1.ListOptions(continue_="next", resource_version="8"),
        ),
    ],
)
def test_options_become_what_is_sent(options: object, expected: object) -> None:
    assert options == expected


def test_a_watch_takes_no_limit_and_no_continue() -> None:
    raw = metav1.ListOptions(watch=True)
    assert client.ListOptions(limit=1, continue_="next", raw=raw).as_list_options() == metav1.ListOptions(watch=True)


def test_what_is_sent_is_not_the_users_raw_options() -> None:
    raw = metav1.ListOptions()
    client.ListOptions(label_selector=APP, raw=raw).as_list_options()
    assert raw == metav1.ListOptions()


def test_selectors_stand_in_delete_all_of_and_its_rest_is_sent_too() -> None:
    """
    Go: client: DeleteAllOfOptions
    """
    options = client.DeleteAllOfOptions().apply_options(
        [
            client.InNamespace("ns"),
            client.MatchingLabelsSelector(APP),
            client.MatchingFieldsSelector(NODE),
            client.GracePeriodSeconds(1),
            client.PropagationPolicy("Orphan"),
            client.Preconditions(uid="u"),
        ]
    )
    assert options.list_options == client.ListOptions(namespace="ns", label_selector=APP, field_selector=NODE)
    assert options.list_options.as_list_options().label_selector == "app=web"
    assert options.delete_options.as_delete_options() == metav1.DeleteOptions(
        grace_period_seconds=1, propagation_policy="Orphan", preconditions=metav1.Preconditions(uid="u")
    )

    given = client.DeleteAllOfOptions().apply_options([options])
    assert given == options


def test_a_missing_selector_chooses_nothing() -> None:
    chosen = client.ListOptions().apply_options([client.MatchingLabelsSelector()])
    assert chosen.label_selector is not None
    assert not chosen.label_selector.matches({})
    chosen = client.ListOptions().apply_options([client.MatchingFieldsSelector()])
    assert chosen.field_selector is not None
    assert not chosen.field_selector.matches({})


def test_labels_are_asked_for_beside_a_selector_that_is_there() -> None:
    """
    Go: client: MatchingLabels > Should add matchingLabels to existing selector
    Go: client: HasLabels
    """

    def selector(*opts: client.ListOption) -> str:
        return str(client.ListOptions().apply_options(opts).label_selector)

    assert selector(client.HasLabels(["b", "a"])) == "a,b"
    assert selector(client.HasLabels(["a"]), client.HasLabels(["b"])) == "a,b"
    assert selector(client.MatchingLabels(k="v"), client.HasLabels(["a"])) == "a,k=v"
    assert selector(client.MatchingLabels(k="v"), client.MatchingLabels(l="w")) == "k=v,l=w"


def test_a_label_that_cannot_be_is_sent_for_the_server_to_refuse() -> None:
    """
    Go: client: MatchingLabels > Should produce an invalid selector when given invalid input
    """
    too_long = "a" * 64
    options = client.ListOptions().apply_options([client.MatchingLabels(k=too_long)])
    assert options.as_list_options().label_selector == f"k={too_long}"


WRITES = ["create", "update", "patch", "apply", *(f"sub_resource_{verb}" for verb in ("create", "update", "patch"))]


@pytest.mark.parametrize("verb", [*WRITES, "sub_resource_apply", "delete", "delete_all_of"])
def test_dry_run_can_be_said_of_every_write(verb: str) -> None:
    """
    Go: client: DryRunAll
    """
    options = EACH[verb]()
    getattr(client.DRY_RUN_ALL, f"apply_to_{verb}")(options)
    assert getattr(options, "delete_options", options).dry_run == ALL


@pytest.mark.parametrize("verb", [*WRITES, "sub_resource_apply"])
def test_the_owner_can_be_said_of_every_write(verb: str) -> None:
    """
    Go: client: FieldOwner
    """
    options = EACH[verb]()
    getattr(client.FieldOwner("me"), f"apply_to_{verb}")(options)
    assert options.field_manager == "me"


@pytest.mark.parametrize("verb", ["patch", "apply", "sub_resource_patch", "sub_resource_apply"])
def test_fields_can_be_taken_from_others_where_they_have_owners(verb: str) -> None:
    """
    Go: client: ForceOwnership
    """
    options = EACH[verb]()
    getattr(client.FORCE_OWNERSHIP, f"apply_to_{verb}")(options)
    assert options.force is True


@pytest.mark.parametrize("value", [True, False])
def test_copies_can_be_spared_by_an_option(value: bool) -> None:
    option = client.UnsafeDisableDeepCopyOption(value)
    assert client.GetOptions().apply_options([option]).unsafe_disable_deep_copy is value
    assert client.ListOptions().apply_options([option]).unsafe_disable_deep_copy is value


def test_an_option_of_another_call_is_refused_by_its_type() -> None:
    with pytest.raises(AttributeError, match="apply_to_create"):
        client.CreateOptions().apply_options([client.Limit(1)])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "option",
    [
        client.MatchingLabels(app="web"),
        client.HasLabels(["app"]),
        client.MatchingFields({"spec.nodeName": "n1"}),
        client.MatchingFieldsSelector(NODE),
        client.MatchingLabelsSelector(APP),
        client.InNamespace("ns"),
    ],
    ids=lambda option: type(option).__name__,
)
def test_what_chooses_objects_of_a_list_chooses_those_to_delete(option: Any) -> None:
    listed = client.ListOptions().apply_options([option])
    deleted = client.DeleteAllOfOptions().apply_options([option]).list_options
    assert (deleted.namespace, str(deleted.label_selector), str(deleted.field_selector)) == (
        listed.namespace,
        str(listed.label_selector),
        str(listed.field_selector),
    )
    assert deleted != client.ListOptions()


def test_a_label_name_that_cannot_be_leaves_the_others() -> None:
    options = client.ListOptions().apply_options([client.HasLabels(["a b", "app"])])
    assert str(options.label_selector) == "app"


def test_a_limit_of_one_is_a_limit() -> None:
    assert client.ListOptions().apply_options([client.ListOptions(limit=1)]).limit == 1
    assert client.ListOptions(limit=5).apply_options([client.ListOptions()]).limit == 5


def test_a_namespace_can_be_a_field_selector() -> None:
    assert str(client.InNamespace("ns").as_selector()) == "metadata.namespace=ns"


def test_options_without_fields_show_their_names() -> None:
    assert (repr(client.DRY_RUN_ALL), repr(client.FORCE_OWNERSHIP)) == ("DRY_RUN_ALL", "FORCE_OWNERSHIP")


def test_what_is_sent_has_each_set_value() -> None:
    update = client.UpdateOptions(dry_run=ALL, field_manager="me", field_validation="Strict").as_update_options()
    assert (update.dry_run, update.field_manager, update.field_validation) == (ALL, "me", "Strict")
    patch = client.PatchOptions(force=True, field_manager="me", field_validation="Warn").as_patch_options()
    assert (patch.force, patch.field_manager, patch.field_validation) == (True, "me", "Warn")


@pytest.mark.parametrize("option", ["FieldOwner", "FieldValidation", "PropagationPolicy", "InNamespace", "Continue"])
@pytest.mark.parametrize("value", [None, 5, ["a"]])
def test_an_option_of_a_text_refuses_other_values(option: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"^{option}: expected str, got "):
        getattr(client, option)(value)


def test_a_single_text_is_no_list_of_label_names() -> None:
    with pytest.raises(TypeError, match="expected a list of names, got 'app'"):
        client.HasLabels("app")


@pytest.mark.parametrize("option", ["MatchingLabelsSelector", "MatchingFieldsSelector"])
def test_a_text_is_no_selector(option: str) -> None:
    with pytest.raises(TypeError, match=r"expected a selector, got 'a=b'; \w+\.parse\w* makes one"):
        getattr(client, option)("a=b")


@pytest.mark.parametrize("value", [None, 5])
def test_clients_with_a_namespace_or_an_owner_refuse_other_values(value: Any) -> None:
    c = fake.new_client_builder().build()
    with pytest.raises(TypeError, match="expected the name of a namespace"):
        client.new_namespaced_client(c, value)
    with pytest.raises(TypeError, match="FieldOwner: expected str"):
        client.with_field_owner(c, value)
