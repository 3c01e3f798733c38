"""Actions on cluster-scoped resources, with and without options, and the protocols that all actions fulfil."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.testing import actions

NODES = GroupVersionResource("", "v1", "nodes")
NODE = corev1.Node(metadata=metav1.ObjectMeta(name="n"))
SELECTED = metav1.ListOptions(label_selector="a=b")

ROOT: list[tuple[Callable[[], Any], tuple[str, str, str]]] = [
    (lambda: actions.new_root_get_subresource_action(NODES, "status", "n"), ("get", "status", "n")),
    (lambda: actions.new_root_create_action(NODES, NODE), ("create", "", "")),
    (lambda: actions.new_root_create_subresource_action(NODES, "n", "proxy", NODE), ("create", "proxy", "n")),
    (lambda: actions.new_root_update_action(NODES, NODE), ("update", "", "")),
    (lambda: actions.new_root_update_subresource_action(NODES, "status", NODE), ("update", "status", "")),
    (lambda: actions.new_root_delete_action(NODES, "n"), ("delete", "", "n")),
    (lambda: actions.new_root_delete_subresource_action(NODES, "status", "n"), ("delete", "status", "n")),
    (lambda: actions.new_root_delete_collection_action(NODES, SELECTED), ("delete-collection", "", "")),
    (
        lambda: actions.new_root_delete_collection_action_with_options(NODES, metav1.DeleteOptions(), SELECTED),
        ("delete-collection", "", ""),
    ),
    (lambda: actions.new_root_watch_action_with_options(NODES, SELECTED), ("watch", "", "")),
]


@pytest.mark.parametrize(("make", "expected"), ROOT)
def test_an_action_on_a_cluster_scoped_object(make: Callable[[], Any], expected: tuple[str, str, str]) -> None:
    action = make()
    assert (action.get_verb(), action.get_subresource(), getattr(action, "name", "")) == expected
    assert (action.get_namespace(), action.get_resource()) == ("", NODES)
    assert action.matches(expected[0].upper(), f"NODES/{expected[1]}" if expected[1] else "nodes")
    assert action.deep_copy() == action


def test_actions_keep_the_selectors_of_their_options() -> None:
    deletion = actions.new_root_delete_collection_action(NODES, SELECTED)
    watch = actions.new_root_watch_action_with_options(NODES, SELECTED)
    assert str(deletion.get_list_restrictions().labels) == str(watch.get_watch_restrictions().labels) == "a=b"


def test_actions_keep_their_objects_and_options() -> None:
    dry = ["All"]
    get = actions.new_get_action_with_options(NODES, "", "n", metav1.GetOptions(resource_version="7"))
    create = actions.new_root_create_action_with_options(NODES, NODE, metav1.CreateOptions(dry_run=dry))
    update = actions.new_root_update_action_with_options(NODES, NODE, metav1.UpdateOptions(dry_run=dry))
    patch = actions.new_root_patch_action_with_options(
        NODES, "n", PatchType.MERGE, b"{}", metav1.PatchOptions(dry_run=dry)
    )
    assert get.get_get_options().resource_version == "7"
    assert create.get_create_options().dry_run == update.get_update_options().dry_run == dry
    assert patch.get_patch_options().dry_run == dry
    assert create.get_object() is update.get_object() is NODE
    deletion = actions.new_delete_subresource_action(NODES, "status", "ns", "n")
    assert (deletion.get_namespace(), deletion.get_name()) == ("ns", "n")
    assert deletion.get_delete_options() == metav1.DeleteOptions()
