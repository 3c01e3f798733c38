"""Asking a person for credentials."""

from __future__ import annotations

import getpass
import io
import json
import os
import stat

import pytest

from clientgo.tools.clientcmd import new_default_auth_loader, new_prompting_auth_loader


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", type("Terminal", (io.StringIO,), {"isatty": lambda self: True})())
    monkeypatch.setattr(getpass, "getpass", lambda prompt: "typed")


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("text", ["me\n", "\n \n  me  \n", "me and more\n", "me"])
def test_the_first_word_is_the_user(text, capsys):
    """Go's Fscan skips blank lines and reads up to the next blank."""
    info = new_prompting_auth_loader(io.StringIO(text)).prompt()
    assert (info.user, info.password) == ("me", "typed")
    assert capsys.readouterr().out == "Please enter Username: "


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("text", ["", "\n\n"])
def test_end_of_input(text):
    with pytest.raises(EOFError, match="^EOF$"):
        new_prompting_auth_loader(io.StringIO(text)).prompt()


def test_a_password_needs_a_terminal():
    with pytest.raises(ValueError, match="error reading input for Password"):
        new_prompting_auth_loader(io.StringIO("me\n")).prompt()


@pytest.mark.usefixtures("terminal")
def test_what_was_typed_is_kept_for_this_user_alone(tmp_path):
    path = tmp_path / "auth"
    loader = new_prompting_auth_loader(io.StringIO("me\n"))
    assert loader.load_auth(str(path)).user == "me"
    assert json.loads(path.read_text())["Password"] == "typed"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert loader.load_auth(str(path)).user == "me", "nobody is asked again"
    assert new_default_auth_loader().load_auth(str(path)).password == "typed"
