"""Run the conformance checks, which record the behaviour of kube-apiserver 1.36, against the embedded API server.

Every check has to pass. A skipped one counts as a failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from patience import PATIENCE

from clientgo.testing.apiserver import Server, User, admin_user

SCRIPT = Path(__file__).with_name("apiserver_conformance.py")
CHECKS = 235
TOKENS = {
    "admin-of-the-checks": admin_user(),
    "bob-without-rights": User("bob", "", ("system:authenticated",)),
}
# The checks fill in {rv}.
COMPACT = (
    "{python} -c 'import requests; requests.post(\"{url}/debug/compact?resourceVersion={rv}\", "
    "headers=dict(Authorization=\"Bearer admin-of-the-checks\")).raise_for_status()'"
)


def test_every_check_passes(tmp_path: Path) -> None:
    with Server(tokens=TOKENS) as server:
        compact = COMPACT.replace("{python}", sys.executable).replace("{url}", server.url)
        command = [
            sys.executable, str(SCRIPT),
            "--server", server.url,
            "--token", "admin-of-the-checks",
            "--user-token", "bob-without-rights",
            "--optional",
            "--compact-cmd", compact,
            "--json", str(tmp_path / "results.json"),
        ]  # fmt: skip
        subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE)
        server.store.check()
    results = json.loads((tmp_path / "results.json").read_text())
    failed = [f"{check['name']}: {check['detail']}" for check in results["checks"] if check["result"] != "pass"]
    assert failed == []
    assert results["passed"] == CHECKS
