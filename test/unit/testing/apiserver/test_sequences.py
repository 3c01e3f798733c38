"""Sequences of requests that a kube-apiserver 1.36.2 answered, sent to the embedded API server one sequence at a time.

`sequences/` has the recorded data; support/replay_cases.py sends the requests and compares the answers. These sequences
come on top of those in test/conformance/server_cases. `sequences/differs.json` lists the requests with other answers,
by sequence: no other answer may differ, and an answer that begins to agree must leave the list.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import replay_cases as replay

from clientgo.testing.apiserver import Server, kubeconfig_text, write_kubeconfig
from clientgo.testing.apiserver.admission.chain import UNDONE_BY_CONTROLLERS

pytestmark = [pytest.mark.shared_server, pytest.mark.takes_turns(2)]
FOLDER = Path(__file__).with_name("sequences")
CASES = list(replay.load(sorted(FOLDER.glob("*.json.gz"))))
# Recorded with the feature gate on. A watch takes seconds, and so does a list of a future version: these are the rest.
SHARDING = Path(__file__).parents[3] / "conformance" / "server_cases" / "gate_on" / "sharding.json.gz"
SHARDED = [
    case
    for case in replay.load([SHARDING])
    if not case["name"].startswith("sharding/versions")
    and not any("watch" in step or "open" in step or "watch=" in step.get("path", "") for step in case["steps"])
]
DIFFERS: dict[str, list[int]] = json.loads((FOLDER / "differs.json").read_text(encoding="utf-8"))


@contextlib.contextmanager
def serving(folder: Path, **gates: bool) -> Iterator[replay.Server]:
    # The program enables the same admission plugins as kube-apiserver.
    with Server(enable_admission_plugins=UNDONE_BY_CONTROLLERS, feature_gates=gates) as server:
        file = folder / "kubeconfig"
        write_kubeconfig(file, kubeconfig_text(server.url, server.token))
        yield replay.Server(str(file))


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[replay.Server]:
    with serving(tmp_path_factory.mktemp("sequences")) as server:
        yield server


@pytest.fixture(scope="module")
def sharding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[replay.Server]:
    with serving(tmp_path_factory.mktemp("sharding"), ShardedListAndWatch=True) as server:
        yield server


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_sequence_of_requests_is_answered_as_recorded(target: replay.Server, case: dict[str, Any]) -> None:
    # A pause waits for the caches of kube-apiserver's admission plugins; the embedded server reads its store.
    steps = [{key: value for key, value in step.items() if key != "pause"} for step in case["steps"]]
    played = {**case, "steps": steps}
    differ = {step: found for step, found in replay.compare_case(played, replay.run_case(target, played)) if found}
    allowed = DIFFERS.get(case["name"], [])
    assert {step: found for step, found in differ.items() if step not in allowed} == {}
    assert sorted(differ) == allowed, "these answers agree now: take them out of differs.json"


@pytest.mark.parametrize("case", SHARDED, ids=[case["name"] for case in SHARDED])
def test_a_sequence_with_shard_selectors_is_answered_as_recorded(sharding: replay.Server, case: dict[str, Any]) -> None:
    compared = list(replay.compare_case(case, replay.run_case(sharding, case)))
    assert compared
    assert [(step, found) for step, found in compared if found] == []


def test_the_list_of_differing_answers_names_sequences_that_exist() -> None:
    assert len(CASES) > 400
    assert SHARDED
    assert DIFFERS.keys() <= {case["name"] for case in CASES}
