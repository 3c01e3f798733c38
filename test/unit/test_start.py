"""What a program loads before its first informer runs: its start is mostly that. `test/bench/start` has the time."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from clientgo import informers, kubernetes, rest

clientset = kubernetes.new_for_config(rest.Config(host="http://127.0.0.1:1"))
informers.new_shared_informer_factory(clientset, 30.0).core().v1().pods().informer()

import sys
print("\\n".join(sys.modules))
"""
# Each is a tenth of a second or two hundredths, and not needed yet, if at all.
LATER = {"requests", "urllib3", "yaml", "hypothesis", "pytest", "unittest", "asyncio", "sqlite3", "http.server"}


def test_an_informer_is_made_with_few_modules_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True)
    loaded = set(done.stdout.split())

    assert "clientgo.tools.cache.shared_informer" in loaded
    assert loaded & LATER == set()
    ours = {name for name in loaded if name.partition(".")[0] == "clientgo"}
    assert len(ours) <= 310, "more than before: does each have to be there for every program?"
    kinds = {name for name in ours if name.startswith(("clientgo.api.", "clientgo.kubernetes.typed."))}
    assert all(".core" in name or name.count(".") < 3 for name in kinds), sorted(kinds)
