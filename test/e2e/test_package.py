"""The project as something to install: a clone, a wheel, a program far away from the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from patience import PATIENCE
from processes import ROOT
from wheel import build_wheel, clone_into, run

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


def test_a_clone_runs_the_demo_and_runs_it_again(tmp_path: Path) -> None:
    """What a person types first. The second time the environment is there already."""
    clone = clone_into(tmp_path)

    first = run(clone / "hack" / "demo", "--quiet", cwd=tmp_path)
    second = run(clone / "hack" / "demo", "--quiet", cwd=tmp_path)

    assert "12 of 12 checks hold" in first
    assert "12 of 12 checks hold" in second
    assert run("git", "status", "--short", cwd=clone) == ""


def test_without_a_python_that_is_new_enough_a_message_says_so(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "dirname", "cat", "cksum", "rm", "env"):
        (tools / name).symlink_to(shutil.which(name) or "")
    old = tools / "python3"
    old.write_text("#!/bin/bash\nexit 1\n")
    old.chmod(0o755)

    done = subprocess.run(
        [tools / "bash", ROOT / "hack" / "demo"],
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    assert done.returncode == 1
    assert "clientgo needs Python 3.11 or newer" in done.stderr


def test_the_wheel_of_a_fresh_clone_works_without_the_checkout(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    wheel = build_wheel(tmp_path_factory)
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    # By this pip; the environment has none.
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", wheel, cwd=elsewhere)

    printed = run(python, "-c", PROGRAM, cwd=elsewhere)

    assert "kube-system" in printed
    # The code generators are part of it.
    shutil.copytree(ROOT / "cmd" / "sample-controller" / "pkg" / "apis", elsewhere / "pkg" / "apis")
    generate = ["-m", "clientgo.codegen", "--output", "pkg.generated", "pkg.apis.samplecontroller.v1alpha1"]
    assert "24 generated files, 24 changed" in run(python, *generate, cwd=elsewhere)
    run(python, "-c", "from pkg.generated.clientset import versioned; versioned.new_for_config", cwd=elsewhere)
