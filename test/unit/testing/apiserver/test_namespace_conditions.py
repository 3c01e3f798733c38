"""Conditions of a namespace that is being deleted, row by row, and when their times change."""

from __future__ import annotations

from clientgo.testing.apiserver.controllers.namespace_conditions import Remains, with_conditions

NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def test_an_empty_namespace_has_all_five_conditions_and_each_is_false() -> None:
    status = with_conditions({"metadata": {}, "status": {"phase": "Terminating"}}, Remains(), NOW)["status"]

    assert status["phase"] == "Terminating"
    conditions = {each["type"]: (each["status"], each["reason"], each["message"]) for each in status["conditions"]}
    assert conditions == {
        "NamespaceDeletionDiscoveryFailure": (
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        "NamespaceDeletionGroupVersionParsingFailure": (
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        "NamespaceDeletionContentFailure": (
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        "NamespaceContentRemaining": ("False", "ContentRemoved", "All content successfully removed"),
        "NamespaceFinalizersRemaining": (
            "False",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    }


def test_a_condition_has_the_time_since_when_its_status_holds() -> None:
    remains = Remains()
    remains.resources["pods."] = 1
    before = with_conditions({}, remains, NOW)

    after = with_conditions(before, Remains(), LATER)

    since = {each["type"]: each["lastTransitionTime"] for each in after["status"]["conditions"]}
    assert since.pop("NamespaceContentRemaining") == LATER
    assert set(since.values()) == {NOW}
