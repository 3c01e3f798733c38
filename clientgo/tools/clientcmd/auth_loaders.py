"""Credentials from an old JSON file or a prompt. Mirrors tools/clientcmd/auth_loaders.go."""

from __future__ import annotations

import getpass
import os
import sys
from typing import Protocol, TextIO

from clientgo.tools import auth


class AuthLoader(Protocol):
    """A loader of credentials from a path."""

    def load_auth(self, path: str, /) -> auth.Info: ...


class _DefaultAuthLoader:
    def load_auth(self, path: str) -> auth.Info:
        return auth.load_from_file(path)


class PromptingAuthLoader:
    """A loader that prompts for a name and a password if there is no file. Blocks on the terminal."""

    def __init__(self, reader: TextIO) -> None:
        self._reader = reader

    def load_auth(self, path: str) -> auth.Info:
        """Read the file, or prompt and write it, readable only by the user. Raises OSError, ValueError.

        Go: LoadAuth.
        """
        if os.path.exists(path):
            return auth.load_from_file(path)
        info = self.prompt()
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(info.to_json())
        return info

    def prompt(self) -> auth.Info:
        """Prompt for a user name and a password. Raises EOFError, and ValueError without a terminal. Go: Prompt."""
        sys.stdout.write("Please enter Username: ")
        sys.stdout.flush()
        user = self._next_word()
        if not sys.stdin.isatty():
            raise ValueError("error reading input for Password")
        return auth.Info(user=user, password=getpass.getpass("Please enter Password: "))

    def _next_word(self) -> str:
        for line in iter(self._reader.readline, ""):
            if words := line.split():
                return words[0]
        raise EOFError("EOF")


def new_prompting_auth_loader(reader: TextIO) -> PromptingAuthLoader:
    """Return a loader that prompts; it reads the name from `reader`. Go: NewPromptingAuthLoader."""
    return PromptingAuthLoader(reader)


def new_default_auth_loader() -> AuthLoader:
    """Return a loader that only reads files. Go: NewDefaultAuthLoader."""
    return _DefaultAuthLoader()
