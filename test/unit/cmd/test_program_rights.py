"""The rights of the programs whose end-to-end tests run with them: these, and no others.

The end-to-end tests fail if a right is missing. This table fails if a program gets one more, which they do not notice.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

CMD = Path(__file__).parents[3] / "cmd"

# Verbs by role and resource. The comments in the files state what needs each of them.
RIGHTS: dict[str, dict[str, dict[str, str]]] = {
    "pod-controller/rbac": {"pod-controller": {"pods": "list watch"}},
    "network-controller/rbac": {
        "network-controller": {"networks.samplecrd.k8s.io": "list watch", "events": "create patch"}
    },
    "guestbook-operator/config/rbac": {
        "guestbook-operator": {
            "guestbooks.webapp.example.com": "list update watch",
            "guestbooks/status.webapp.example.com": "patch",
            "guestbooks/finalizers.webapp.example.com": "update",
            "deployments.apps": "create list update watch",
            "services": "create list update watch",
            "events.events.k8s.io": "create patch",
        },
        "guestbook-operator-leader-election": {
            "leases.coordination.k8s.io": "create get update",
            "events": "create patch",
        },
    },
}


def documents(folder: str) -> list[dict[str, Any]]:
    return [each for path in sorted((CMD / folder).glob("*.yaml")) for each in yaml.safe_load_all(path.read_text())]


def rights(role: dict[str, Any]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for rule in role["rules"]:
        assert set(rule) == {"apiGroups", "resources", "verbs"}, "a right for all names, or for a path"
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                found.setdefault(f"{resource}.{group}".rstrip("."), set()).update(rule["verbs"])
    return {resource: " ".join(sorted(verbs)) for resource, verbs in found.items()}


@pytest.mark.parametrize("folder", RIGHTS)
def test_a_program_has_the_rights_that_it_needs_and_no_others(folder: str) -> None:
    roles = [each for each in documents(folder) if each["kind"] in ("Role", "ClusterRole")]
    assert {role["metadata"]["name"]: rights(role) for role in roles} == RIGHTS[folder]


@pytest.mark.parametrize("folder", RIGHTS)
def test_only_the_programs_own_account_has_its_rights(folder: str) -> None:
    (account,) = (each["metadata"] for each in documents(folder) if each["kind"] == "ServiceAccount")
    bindings = [each for each in documents(folder) if each["kind"].endswith("Binding")]
    assert {each["roleRef"]["name"] for each in bindings} == set(RIGHTS[folder])
    for binding in bindings:
        (subject,) = binding["subjects"]
        assert (subject["kind"], subject["name"], subject["namespace"]) == (
            "ServiceAccount",
            account["name"],
            account["namespace"],
        )


FOLDERS = sorted({str(path.parent.relative_to(CMD)) for path in CMD.glob("*/**/*.yaml")})


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_that_makes_its_namespace_makes_it_first(folder: str) -> None:
    # kubectl applies the files of a folder by name.
    applied = documents(folder)
    made = [each["metadata"]["name"] for each in applied if each["kind"] == "Namespace"]
    missing = set(made)
    for each in applied:
        assert each["metadata"].get("namespace") not in missing, f"{each['kind']} before its namespace"
        if each["kind"] == "Namespace":
            missing.discard(each["metadata"]["name"])


def test_folders_that_make_namespaces_are_found() -> None:
    assert [each for each in FOLDERS if any(document["kind"] == "Namespace" for document in documents(each))] == [
        "elasticsearch-operator/config/rbac",
        "guestbook-operator/config/rbac",
        "operator-patterns/config/rbac",
        "sample-controller/artifacts/deploy",
    ]
