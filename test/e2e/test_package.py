"""The project as something to install: a clone, a wheel, a program far away from the checkout."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from processes import ROOT, environment

PROGRAM = """
import clientgo, pathlib, sys
from clientgo import context, informers, kubernetes, rest
from clientgo.api.core import v1 as corev1
from clientgo.tools import cache, record
from clientgo.util import workqueue
from clientgo.testing import apiserver

assert "site-packages" in clientgo.__file__, clientgo.__file__
assert (pathlib.Path(clientgo.__file__).parent / "py.typed").exists()
with apiserver.Environment() as env:
    client = kubernetes.new_for_config(env.config)
    factory = informers.new_shared_informer_factory(client, 0.0)
    names = factory.core().v1().namespaces()
    names.informer()
    ctx, cancel = context.with_cancel(context.background())
    factory.start_with_context(ctx)
    assert all(factory.wait_for_cache_sync_with_context(ctx).synced.values())
    print(sorted(names.informer().get_indexer().list_keys()))
    cancel()
    factory.shutdown()
    client.close()
"""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=600,
        env={key: value for key, value in environment().items() if key != "PYTHONPATH"},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_wheel_of_a_fresh_clone_works_without_the_checkout(tmp_path: Path) -> None:
    clone, elsewhere = tmp_path / "clone", tmp_path / "elsewhere"
    elsewhere.mkdir()
    run("git", "clone", "--quiet", ROOT, clone, cwd=tmp_path)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, clone, cwd=tmp_path)
    (wheel,) = tmp_path.glob("clientgo-*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=elsewhere)

    printed = run(python, "-c", PROGRAM, cwd=elsewhere)

    assert "kube-system" in printed
