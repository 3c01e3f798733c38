"""The command line flags that win over a kubeconfig."""

from __future__ import annotations

import argparse
import gc
import weakref
from typing import Any

import pytest

from clientgo.tools import clientcmd
from clientgo.tools.clientcmd import overrides
from clientgo.tools.clientcmd.overrides import FlagInfo


class Parser(argparse.ArgumentParser):
    """A parser that records its flags."""

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


@pytest.mark.parametrize(
    ("flag", "place", "value"),
    [
        ("--client-certificate=x", "auth_info.client_certificate", "x"),
        ("--client-key=x", "auth_info.client_key", "x"),
        ("--token=x", "auth_info.token", "x"),
        ("--as=x", "auth_info.impersonate", "x"),
        ("--as-uid=x", "auth_info.impersonate_uid", "x"),
        ("--as-group=x", "auth_info.impersonate_groups", ["x"]),
        ("--username=x", "auth_info.username", "x"),
        ("--password=x", "auth_info.password", "x"),
        ("--server=x", "cluster_info.server", "x"),
        ("--certificate-authority=x", "cluster_info.certificate_authority", "x"),
        ("--insecure-skip-tls-verify", "cluster_info.insecure_skip_tls_verify", True),
        ("--tls-server-name=x", "cluster_info.tls_server_name", "x"),
        ("--proxy-url=x", "cluster_info.proxy_url", "x"),
        ("--disable-compression", "cluster_info.disable_compression", True),
        ("--cluster=x", "context.cluster", "x"),
        ("--user=x", "context.auth_info", "x"),
        ("--namespace=x", "context.namespace", "x"),
        ("-nns/x", "context.namespace", "x"),
        ("--context=x", "current_context", "x"),
        ("--request-timeout=5s", "timeout", "5s"),
    ],
)
def test_each_flag_sets_its_own_override(flag: str, place: str, value: object) -> None:
    """Go: BindOverrideFlags."""
    wanted, found = clientcmd.ConfigOverrides(timeout="0"), clientcmd.ConfigOverrides()
    *way, attr = place.split(".")
    setattr(getattr(wanted, way[0]) if way else wanted, attr, value)
    parser = argparse.ArgumentParser()
    overrides.bind_override_flags(found, parser, overrides.recommended_config_override_flags(""))
    parser.parse_args([flag])
    assert found == wanted


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
