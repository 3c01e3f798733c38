"""The tour around a program that the command line names: what runs, with which arguments, and what is refused."""

from __future__ import annotations

import json
import runpy
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clientgo.tour import attach

PROGRAM = "import sys\nprint('ran', __name__, sys.argv[1:], sys.path[0])\n"


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore what a program's start changes."""
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_a_file_runs_with_its_arguments_from_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    assert attach.main(["--no-browser", "--", str(tmp_path / "program.py"), "-m", "--flag"]) == 0
    out, err = capsys.readouterr()
    assert out == f"ran __main__ ['-m', '--flag'] {tmp_path}\n"
    assert err.startswith("The informer tour is at http://127.0.0.1:")


def test_a_module_runs_with_its_arguments_from_the_working_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toured_program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    assert attach.main(["--no-browser", "--", "-m", "toured_program", "a", "--", "b"]) == 0
    assert capsys.readouterr().out.startswith("ran __main__ ['a', '--', 'b']")


def test_a_recording_names_the_program_without_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("pass\n")
    recording = tmp_path / "recording.jsonl"
    arguments = ["--no-browser", "--record", str(recording), "--", str(tmp_path / "program.py"), "--password=secret"]
    assert attach.main(arguments) == 0
    text = recording.read_text()
    assert "program.py" in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [([], "which program?"), (["--"], "which program?"), (["--", "-m"], "which module?"), (["--nope"], "unrecognized")],
)
def test_a_command_line_without_a_program_is_refused(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        attach.main(arguments)
    assert text in f"{caught.value} {capsys.readouterr().err}"


def test_a_port_or_a_file_that_cannot_be_had_is_named_and_the_program_does_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    program = ["--no-browser", "--", str(tmp_path / "program.py")]
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert attach.main(["--port", str(port), *program]) == 1
    assert f"cannot listen on 127.0.0.1:{port}: " in capsys.readouterr().err
    file = tmp_path / "none" / "recording"
    assert attach.main(["--record", str(file), *program]) == 1
    out, err = capsys.readouterr()
    assert err == f"cannot record into {file}: No such file or directory\n" and out == ""


@pytest.mark.parametrize(
    ("place", "is_there"),
    [("clientgo.tour.attach:split", True), ("clientgo.tour.attach:none", False), ("no_such_module:f", False)],
)
def test_a_function_to_watch_is_looked_up_before_the_program_runs(place: str, is_there: bool) -> None:
    if is_there:
        tap = attach._worker(place)
        assert (tap.module, tap.function, tap.find()) == ("clientgo.tour.attach", "split", attach.split)
    else:
        with pytest.raises(SystemExit, match=f"--worker={place}: "):
            attach._worker(place)


@pytest.mark.parametrize(("flags", "is_opened"), [([], True), (["--no-browser"], False)])
def test_a_browser_is_opened_unless_a_flag_says_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], is_opened: bool
) -> None:
    opened: list[str] = []

    @contextmanager
    def browser_on(url: str) -> Iterator[None]:
        opened.append(url)
        yield

    monkeypatch.setattr(attach, "browser_on", browser_on)
    (tmp_path / "program.py").write_text("pass\n")
    assert attach.main([*flags, "--", str(tmp_path / "program.py")]) == 0
    assert bool(opened) == is_opened and all(url.startswith("http://127.0.0.1:") for url in opened)


@pytest.mark.parametrize(("arguments", "code"), [(["--no-browser", "--", "program.py"], 0), (["program.py"], 2)])
def test_the_module_is_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["clientgo.tour.attach", *arguments])
    monkeypatch.setattr("clientgo.tour.web.browser_on", lambda url: pytest.fail("it opens a browser"))
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(attach.__file__, run_name="__main__")
    assert caught.value.code == code and ("ran __main__ []" in capsys.readouterr().out) == (code == 0)


def test_a_recording_names_the_module_without_its_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recorded_module.py").write_text("pass\n")
    monkeypatch.chdir(tmp_path)
    recording = tmp_path / "recording.jsonl"
    program = ["-m", "recorded_module", "--password=secret"]
    assert attach.main(["--no-browser", "--record", str(recording), "--", *program]) == 0
    assert json.loads(recording.read_text().splitlines()[0])["program"] == "recorded_module"
