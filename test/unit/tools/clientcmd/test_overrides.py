"""The command line flags that win over a kubeconfig."""

from __future__ import annotations

import argparse
import gc
import weakref
from typing import Any

from clientgo.tools import clientcmd
from clientgo.tools.clientcmd import overrides
from clientgo.tools.clientcmd.overrides import FlagInfo


class Parser(argparse.ArgumentParser):
    """Remembers what was added to it."""

    def __init__(self) -> None:
        self.added: dict[str, argparse.Action] = {}
        super().__init__(add_help=False)

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        action = super().add_argument(*names, **options)
        self.added[names[-1]] = action
        return action

    def secrets(self) -> set[str]:
        return {name for name, action in self.added.items() if getattr(action, "classified", False)}


def bound() -> Parser:
    parser = Parser()
    flags = overrides.recommended_config_override_flags("")
    overrides.bind_override_flags(clientcmd.ConfigOverrides(), parser, flags)
    return parser


def test_the_flags_of_a_user_are_secrets_and_no_others():
    parser = bound()
    assert parser.secrets() == {
        *("--client-certificate", "--client-key", "--token", "--as", "--as-uid", "--as-group"),
        *("--username", "--password"),
    }
    assert "--server" in parser.added


def test_a_secret_of_one_parser_is_none_of_another():
    first, second = Parser(), Parser()
    info = FlagInfo("token")
    for parser in (first, second):
        info.bind_string_flag(parser, argparse.Namespace(), "token")
    assert info.add_secret_annotation(second) is info
    assert (first.secrets(), second.secrets()) == (set(), {"--token"})


def test_a_flag_that_is_not_bound_cannot_be_marked():
    parser = Parser()
    FlagInfo("token").add_secret_annotation(parser)
    FlagInfo().bind_string_flag(parser, argparse.Namespace(), "token").add_secret_annotation(parser)
    assert parser.added == {}


def test_a_parser_with_bound_flags_is_not_kept_alive():
    gone = weakref.ref(bound())
    gc.collect()
    assert gone() is None
