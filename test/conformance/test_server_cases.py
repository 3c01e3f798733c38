"""The embedded API server against sequences of requests that a real one was recorded to answer.

`server_cases/` has a part of them, data only; support/replay_cases.py sends and compares them, to any server.
What still differs stands in server_cases/differs.json by cause: nothing else may differ, and what begins to agree must
leave the list (`PYTHONPATH=.:test/support python test/conformance/test_server_cases.py` writes it anew).
"""

from __future__ import annotations

import concurrent.futures
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import replay_cases as replay

from clientgo.testing.apiserver import Server, kubeconfig_text, write_kubeconfig
from clientgo.testing.apiserver.admission.chain import UNDONE_BY_CONTROLLERS

FOLDER = Path(__file__).parent / "server_cases"
DIFFERS = FOLDER / "differs.json"
WORKERS = 16  # most of the time a watch waits for its timeout
Json = dict[str, Any]

# The first that fits the first place that differs, and what it shows there.
CAUSES = (
    ("tables: the descriptions and types of columns", r"columnDefinitions|rows\["),
    ("managed fields and their times", r"managedFields"),
    ("quota and limit ranges at admission", r"exceeded quota|limit-ranger|Requests?Ratio|per Container"),
    ("admission policies", r"ValidatingAdmissionPolicy|PodSecurity"),
    ("warnings", r"headers\.warning"),
    ("apply: conflicts and what cannot be applied", r"Apply failed|failed to create"),
    ("texts of requests that cannot be understood", r'"BadRequest"|NotAcceptable|UnsupportedMediaType'),
    ("what validation finds, or in which order", r"details\.causes|is invalid"),
    ("the version or generation after what was refused elsewhere", r"resourceVersion|generation"),
    ("the code of the answer", r"^code|\bcode:"),
    ("what is stored or shown", r""),
)


def cause_of(differences: list[Any]) -> str:
    text = "\n".join(f"{place}: {json.dumps(want)} {json.dumps(got)}" for place, want, got in differences)
    return next(cause for cause, pattern in CAUSES if re.search(pattern, text))


def replay_all(
    files: Sequence[Path] = (), feature_gates: Mapping[str, bool] | None = None
) -> tuple[int, dict[str, list[str]]]:
    """Return the number of compared requests, and those that differ, by cause."""
    cases = list(replay.load(files or sorted(FOLDER.glob("*.json.gz"))))
    found: dict[str, list[str]] = defaultdict(list)
    count = 0
    # The program enables the same admission plugins as kube-apiserver.
    started = Server(enable_admission_plugins=UNDONE_BY_CONTROLLERS, feature_gates=feature_gates)
    with started as server, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kubeconfig"
        write_kubeconfig(file, kubeconfig_text(server.url, server.token))
        target = replay.Server(str(file))
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for case, answers in zip(cases, pool.map(lambda case: replay.run_case(target, case), cases)):
                for step, differences in replay.compare_case(case, answers):
                    count += 1
                    if differences:
                        found[cause_of(differences)].append(f"{case['name']}#{step}")
    return count, {cause: sorted(steps) for cause, steps in sorted(found.items())}


def test_requests_are_answered_as_recorded() -> None:
    count, found = replay_all()
    allowed = {step for steps in json.loads(DIFFERS.read_text()).values() for step in steps}
    differs = {step for steps in found.values() for step in steps}
    assert count > 900
    assert sorted(differs - allowed) == [], "these have agreed before"
    assert sorted(allowed - differs) == [], f"these agree now: take them out of {DIFFERS.name}"


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize(("folder", "gate", "requests"), [("gate_on", True, 603), ("gate_off", False, 375)])
def test_sharded_requests_are_answered_as_recorded_with_the_gate_on_and_off(
    folder: str, gate: bool, requests: int
) -> None:
    count, found = replay_all([FOLDER / folder / "sharding.json.gz"], {"ShardedListAndWatch": gate})
    assert count == requests
    assert found == {}


if __name__ == "__main__":
    DIFFERS.write_text(json.dumps(replay_all()[1], indent=1) + "\n")
    sys.exit(0)
