"""The project as something to install: a clone, a wheel, a program far away from the checkout."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import urllib.request
import venv
from pathlib import Path

import pytest
from patience import PATIENCE
from processes import ROOT
from wheel import build_wheel, clone_into, run

import clientgo

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


@pytest.mark.takes_turns(2)
def test_a_clone_shows_the_tour_and_runs_the_demo_each_with_one_command(tmp_path: Path) -> None:
    """These are a new user's first commands. The first makes the environment; the others find it."""
    clone = clone_into(tmp_path)
    command = [str(clone / "hack" / "tour"), "--no-browser"]
    stamp = clone / ".venv" / ".stamp"

    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tour:
        assert tour.stdout is not None and tour.stderr is not None
        line = tour.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+", line)
        assert found is not None, line + tour.stderr.read()
        with urllib.request.urlopen(found[0], timeout=PATIENCE) as response:
            assert b"The informer tour" in response.read()
        # The demo needs the same environment, and would make it if it were out of date and no other command used it.
        made = stamp.read_text()
        stamp.write_text("another version")
        with pytest.raises(AssertionError, match=r"\.venv has to be made anew, and another run is using it"):
            run(clone / "hack" / "demo", "--quiet", cwd=tmp_path)
        stamp.write_text(made)
        tour.send_signal(signal.SIGINT)
        assert tour.wait(PATIENCE) == 0
        assert "Making a virtual environment" in tour.stderr.read()

    # Its Python runs the program that the tour is attached to, too.
    program = "from clientgo import tour; print('attached')"
    (tmp_path / "program.py").write_text(program)
    attached = run(command[0], "--no-browser", "--", "python", str(tmp_path / "program.py"), cwd=tmp_path)
    assert "attached" in attached
    assert "12 of 12 checks hold" in run(clone / "hack" / "demo", "--quiet", cwd=tmp_path)
    assert stamp.read_text() == made
    assert run("git", "status", "--short", cwd=clone) == ""


def test_the_tour_without_the_library_prints_one_line_with_the_command_to_type(tmp_path: Path) -> None:
    clone = clone_into(tmp_path)
    venv.create(tmp_path / "bare", with_pip=False)

    done = subprocess.run(
        [tmp_path / "bare" / "bin" / "python", "cmd/informer-tour", "--no-browser"],
        cwd=clone,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    assert done.returncode == 1 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "clientgo" in line and line.endswith("Type: ./hack/tour")
    assert (clone / "hack" / "tour").exists()


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


@pytest.mark.takes_turns(2)
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
    # The command runs from anywhere, with the programs that it needs.
    command = tmp_path / "venv" / "bin" / "clientgo"
    assert run(command, "version", cwd=elsewhere).startswith(f"clientgo {clientgo.__version__} ")
    assert "12 of 12 checks hold" in run(command, "demo", "--quiet", cwd=elsewhere)
    assert "usage: clientgo tour [flags]" in run(command, "tour", "--help", cwd=elsewhere)
    # The code generators are part of it.
    shutil.copytree(ROOT / "cmd" / "sample-controller" / "pkg" / "apis", elsewhere / "pkg" / "apis")
    generate = ["-m", "clientgo.codegen", "--output", "pkg.generated", "pkg.apis.samplecontroller.v1alpha1"]
    assert "27 generated files, 27 changed" in run(python, *generate, cwd=elsewhere)
    run(python, "-c", "from pkg.generated.clientset import versioned; versioned.new_for_config", cwd=elsewhere)
