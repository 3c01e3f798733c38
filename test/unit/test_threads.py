"""Every thread that the library starts has a name and does not keep the process alive."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from processes import ROOT

# The modules whose threads are made daemonic elsewhere, and how.
DAEMONIC_OTHERWISE = {
    "clientgo/tools/cache/controller.py": "by the loop that starts them",
    "clientgo/testing/workqueue_machine/interleaving.py": "by synctest, which ends all threads of a bubble",
}


def threads(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Return the place of each thread that a module creates, with what the call says."""
    source = path.read_bytes()
    for node in ast.walk(ast.parse(source)) if b"Thread(" in source else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("threading.Thread", "Thread"):
            said = {f"{each.arg}={each.value.value}" for each in node.keywords if isinstance(each.value, ast.Constant)}
            yield f"{path.relative_to(ROOT)}:{node.lineno}", said | {str(each.arg) for each in node.keywords}


def test_threads_have_names_and_do_not_keep_the_process_alive() -> None:
    found = [thread for path in sorted((ROOT / "clientgo").rglob("*.py")) for thread in threads(path)]

    assert len(found) > 50
    assert [place for place, said in found if "name" not in said] == []
    lasting = {place.rpartition(":")[0] for place, said in found if "daemon=True" not in said}
    assert lasting == set(DAEMONIC_OTHERWISE)
