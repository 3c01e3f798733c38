"""The command `clientgo`: its help, its exit codes, its completion."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import clientgo
from clientgo.cli import command, completion, main
from clientgo.pkg import version


def test_the_help_fits_a_screen_and_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--help"], ["help"]):
        assert main(arguments) == 0
        printed = capsys.readouterr().out
        assert all(f"  {name} " in printed for name in command.COMMANDS)
        assert len(printed.splitlines()) <= 24
        assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.parametrize("name", sorted(command.COMMANDS))
def test_every_command_has_a_help(name: str) -> None:
    help_of = [sys.executable, "-m", "clientgo", name, "--help"]
    done = subprocess.run(help_of, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")


def test_the_version_is_one_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert f"clientgo {clientgo.__version__} (client-go v{clientgo.__version__})" in capsys.readouterr().out
    assert version.get().git_version == f"v{clientgo.__version__}"
    assert clientgo.__version__.startswith(f"{version.get().major}.{version.get().minor}.")


def test_an_unknown_command_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aply"]) == 2
    assert capsys.readouterr().err == "clientgo: unknown command 'aply'; see clientgo --help\n"


def test_a_command_that_the_user_interrupts_prints_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(command.COMMANDS, "demo", command.Command("", interrupted))
    assert main(["demo"]) == 130


def test_the_programs_of_a_clone_are_those_of_cmd() -> None:
    assert command.programs() == Path(clientgo.__file__).parents[1] / "cmd"
    assert (command.programs() / "demo" / "__main__.py").exists()
    assert (command.programs() / "informer-tour" / "__main__.py").exists()


def test_bash_completes_commands_and_options() -> None:
    script = completion.script("bash")
    ask = """
    COMP_WORDS=({words}); COMP_CWORD={at}; COMPREPLY=(); _clientgo; echo "${{COMPREPLY[@]}}"
    """
    lines = [script, ask.format(words="clientgo ex", at=1), ask.format(words="clientgo explain --rec", at=2)]
    done = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.split() == ["explain", "--recursive"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_completions_name_every_command(shell: str) -> None:
    script = completion.script(shell)
    assert all(name in script for name in command.COMMANDS)
    assert "recursive" in script
    if found := shutil.which(shell):
        assert subprocess.run([found, "-n", "-c", script], timeout=60).returncode == 0
