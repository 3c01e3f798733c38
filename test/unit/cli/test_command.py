"""The command `clientgo`: its help, its exit codes, its completion."""

from __future__ import annotations

import errno
import importlib
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from types import SimpleNamespace

import pytest

import clientgo
from clientgo import rest
from clientgo.cli import command, completion, main, shell
from clientgo.klog.output import SETTINGS
from clientgo.pkg import version
from clientgo.testing.apiserver import __main__ as apiserver_main


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
    terminal = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(help_of, capture_output=True, text=True, timeout=120, env=terminal)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: clientgo {name} ")
    # A screen of 24 lines, with the command and the next prompt.
    lines = done.stdout.splitlines()
    assert len(lines) <= 22
    assert max(map(len, lines)) <= 80


def test_the_whole_help_of_the_server_has_the_flags_that_the_short_one_leaves_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for option in ("--help", "--help-all"):
        with pytest.raises(SystemExit) as end:
            main(["apiserver", option])
        assert end.value.code == 0
    short, _, whole = capsys.readouterr().out.partition("--help-all ")[2].partition("usage: clientgo apiserver")
    assert "-log_backtrace_at" not in short
    assert "-log_backtrace_at" in whole and "--feature-gates" in whole


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


def test_the_programs_are_copied_to_a_new_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "cmd"

    assert main(["programs", str(folder)]) == 0
    assert "Copied the programs" in capsys.readouterr().out
    assert (folder / "sample-controller/artifacts/examples/crd.yaml").exists()
    assert (folder / "README.md").exists()
    assert list(folder.rglob("__pycache__")) == []

    # A copy that the user has changed stays as it is.
    (folder / "README.md").write_text("mine")
    assert main(["programs", str(folder)]) == 1
    assert capsys.readouterr().err == f"clientgo programs: {folder} exists; name a new folder\n"
    assert (folder / "README.md").read_text() == "mine"


def test_programs_that_cannot_be_copied_are_an_error_on_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["programs", str(tmp_path / "file" / "cmd")]) == 1
    assert capsys.readouterr().err.endswith("/file/cmd: Not a directory\n")

    def full(source: str, target: str, **_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copy2", full)
    monkeypatch.setattr(shutil.copytree, "__defaults__", (False, None, full, False, False))
    assert main(["programs", str(tmp_path / "cmd")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"clientgo programs: cannot copy to {tmp_path / 'cmd'}: ")
    assert "No space left on device" in line
    assert not (tmp_path / "cmd").exists(), "a half of the programs was left"


def test_the_programs_of_a_clone_are_not_copied_onto_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["programs", str(command.programs())]) == 0
    assert "has the programs already" in capsys.readouterr().out


def test_without_a_folder_the_programs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["programs"]) == 0
    listed = [Path(line).name for line in capsys.readouterr().out.splitlines()]
    assert {"demo", "sample-controller", "guestbook-operator"} <= set(listed)


def test_the_tour_starts_in_a_folder_with_modules_of_the_users_own(tmp_path: Path) -> None:
    for name in ("controller", "main", "pkg"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported by mistake')\n")
    root = str(Path(clientgo.__file__).parents[1])
    program = [sys.executable, "-m", "clientgo", "tour", "--help"]
    done = subprocess.run(
        program, capture_output=True, text=True, timeout=120, cwd=tmp_path, env={**os.environ, "PYTHONPATH": root}
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_copy_of_the_tour_does_not_name_a_script_that_is_not_there(tmp_path: Path) -> None:
    assert main(["programs", str(tmp_path / "cmd")]) == 0
    venv.create(tmp_path / "bare", with_pip=False)
    bare = tmp_path / "bare/bin/python"
    done = subprocess.run(
        [bare, "cmd/informer-tour"], cwd=tmp_path, env={"PATH": "/usr/bin"}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert done.stderr.endswith(f"Type: {bare} -m pip install ./clientgo-*.whl\n")


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


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")
def test_zsh_accepts_its_completion() -> None:
    script = "autoload -U compinit; compinit -D\n" + completion.script("zsh") + "\necho $_comps[clientgo]\n"
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("_clientgo\n", "")


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish")
def test_fish_completes_commands_and_options(tmp_path: Path) -> None:
    asked = ["clientgo ex", "clientgo tour --no", "clientgo scaffold cre"]
    script = completion.script("fish") + "".join(f"complete -C '{each}'\n" for each in asked)
    home = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, timeout=60, env=home)
    words = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert (words, done.stderr) == (["explain", "--no-breaks", "--no-browser", "create"], "")


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize("name", sorted(command.COMMANDS))
def test_the_completion_of_a_command_has_the_words_of_its_help(name: str) -> None:
    helps = {"scaffold": [[], ["init"], ["create"], ["create", "api"], ["create", "webhook"], ["generate"]]}
    options, commands = set[str](), set[str]()
    for more in helps.get(name, [[]]):
        line = [sys.executable, "-m", "clientgo", name, *more, "--help"]
        printed = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True).stdout
        options |= set(re.findall(r"(?m)^  (?:-\w[\w-]*(?: \S+)?, )?(--[\w-]+)", printed))
        commands |= set(re.findall(r"(?m)^    ([a-z]+) ", printed)) if name == "scaffold" else set()
    case = re.search(rf'(?m)^  {name}\) .*-W "(.*?)"', completion.script("bash"))
    assert case
    words = case[1].split()
    assert {"--help", *(word for word in words if word.startswith("--"))} == options
    # `new` and `add` are the names of older texts.
    assert commands - {"new", "add"} <= set(words)
    assert len(words) == len(set(words))


PRINTING = [
    [],
    ["--help"],
    ["version"],
    ["completion", "bash"],
    ["apiserver", "--help-all"],
    ["tour", "--help"],
    ["explain", "--help"],
    ["unknown"],
]


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_enough_ends_the_output_in_silence(arguments: list[str], unbuffered: str) -> None:
    # As in `clientgo --help | head -1`, with a reader that has ended before the first line.
    reading, writing = os.pipe()
    os.close(reading)
    given = [sys.executable, "-m", "clientgo", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(given, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120, env=environment)
    os.close(writing)
    if arguments == ["unknown"]:
        assert (done.returncode, done.stderr) == (2, "clientgo: unknown command 'unknown'; see clientgo --help\n")
        return
    assert done.stderr == ""
    # argparse ignores the error of a help that it could not print.
    assert done.returncode in ({0, 141} if unbuffered and "--help" in arguments else {141})


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_full_disk_is_an_error_on_one_line() -> None:
    with open("/dev/full", "w") as full:
        given = [sys.executable, "-m", "clientgo", "dashboard"]
        done = subprocess.run(given, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (1, "error: cannot write the output: No space left on device\n")


@pytest.mark.parametrize(("encoding", "printed"), [("ascii", b"? a?b\n"), ("utf-8", b"\xe2\x9c\x93 a\\udcffb\n")])
def test_a_text_that_the_terminal_cannot_express_is_printed_in_part(encoding: str, printed: bytes) -> None:
    program = "from clientgo.cli.start import exit_code_of; exit_code_of(lambda: print('\\u2713 a\\udcffb'))"
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120, env=environment)
    assert (done.stdout, done.stderr) == (printed, b"")


def test_a_shell_without_a_standard_input_is_an_error_on_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(shell, "namespace", lambda kubeconfig: {"config": rest.Config(host="localhost")})
    assert shell.main([]) == 1
    assert capsys.readouterr().err == "clientgo shell: there is no standard input; use -c CODE\n"


LOGS_WITHOUT_END = """
import sys, threading
from clientgo import klog
from clientgo.cli.start import run_program

def main():
    while True:
        thread = threading.Thread(target=klog.info_s, args=("Syncing",), name="worker")
        thread.start()
        thread.join()

sys.modules["program"] = sys.modules["__main__"]
sys.exit(run_program("program"))
"""


def test_a_controller_ends_once_nobody_reads_its_log() -> None:
    # As in `python cmd/sample-controller 2>&1 | head -3`: SIGPIPE would end the Go program.
    started = subprocess.Popen([sys.executable, "-c", LOGS_WITHOUT_END], stderr=subprocess.PIPE, text=True)
    assert started.stderr is not None
    lines = [started.stderr.readline() for _ in range(3)]
    started.stderr.close()
    try:
        assert started.wait(timeout=120) == 141
    finally:
        started.kill()
    assert all(line.endswith('"Syncing"\n') for line in lines)


def test_a_server_whose_log_nobody_reads_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(main=lambda arguments, prog: SETTINGS.exit_code_without_reader or 0)
    monkeypatch.setattr(importlib, "import_module", lambda name: module)
    monkeypatch.setattr(SETTINGS, "exit_code_without_reader", None)
    assert command.COMMANDS["apiserver"].run([]) == 141


def test_a_server_whose_first_output_has_no_reader_reports_no_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def announce(*arguments: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(apiserver_main, "_announce", announce)
    monkeypatch.setattr(apiserver_main, "_on_signal", lambda stop: None)
    with pytest.raises(BrokenPipeError):
        apiserver_main.main([])
    assert "Could not start" not in caplog.text
