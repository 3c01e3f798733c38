"""Kubeconfigs are loaded, merged, overridden and checked as Go does (golden/clientcmd/kubeconfig.jsonl)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from goldenfile import cases

from clientgo import rest
from clientgo.tools import clientcmd
from clientgo.tools.clientcmd import api

OVERRIDES = {"auth": "auth_info", "cluster": "cluster_info", "context": "context"}
FIELDS = {"user": "auth_info"}


class Case:
    """One case: the files on disk, and the loader and overrides its config describes."""

    def __init__(self, case: dict[str, Any], folder: Path) -> None:
        self.folder = folder
        config = case["config"]
        for name, content in config["files"].items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        self.rules = clientcmd.ClientConfigLoadingRules(
            explicit_path=self._path(config["explicit_path"]),
            precedence=[self._path(name) for name in config["precedence"] or []],
        )
        self.overrides = clientcmd.ConfigOverrides(current_context=config["current_context_override"])
        for key, value in (config["overrides"] or {}).items():
            self._override(key, value)

    def _path(self, name: str) -> str:
        return str(self.folder / name) if name else ""

    def _override(self, key: str, value: Any) -> None:
        section, _, attr = key.partition(".")
        if not attr:
            setattr(self.overrides, section, value)
            return
        target = getattr(self.overrides, OVERRIDES[section])
        setattr(target, FIELDS.get(attr, attr) if section == "context" else attr, value)

    def deferred(self) -> clientcmd.ClientConfig:
        return clientcmd.new_non_interactive_deferred_loading_client_config(self.rules, self.overrides)

    def shown(self, text: str) -> str:
        return text.replace(str(self.folder), "$DIR")

    def check_error(self, found: str | None, expected: str | None) -> None:
        assert found == expected


def attempt(case: Case, fn: Any) -> tuple[Any, str | None, Exception | None]:
    try:
        return fn(), None, None
    except Exception as err:
        return None, case.shown(str(err)), err


def show_config(case: Case, config: api.Config) -> dict[str, Any]:
    return {
        "clusters": {
            name: {
                "certificate_authority": case.shown(cluster.certificate_authority),
                "insecure_skip_tls_verify": cluster.insecure_skip_tls_verify,
                "server": cluster.server,
            }
            for name, cluster in config.clusters.items()
        },
        "contexts": {
            name: {"cluster": context.cluster, "namespace": context.namespace, "user": context.auth_info}
            for name, context in config.contexts.items()
        },
        "current_context": config.current_context,
        "users": {
            name: {
                "client_certificate": case.shown(info.client_certificate),
                "client_key": case.shown(info.client_key),
                "token": info.token,
                "token_file": case.shown(info.token_file),
                "username": info.username,
            }
            for name, info in config.auth_infos.items()
        },
    }


def show_rest_config(case: Case, config: rest.Config) -> dict[str, Any]:
    provider = config.exec_provider
    auth_provider = config.auth_provider
    return {
        "api_path": config.api_path,
        "auth_provider": None
        if auth_provider is None
        else {"name": auth_provider.name, "config": auth_provider.config or None},
        "bearer_token": config.bearer_token,
        "bearer_token_file": case.shown(config.bearer_token_file),
        "disable_compression": config.disable_compression,
        "exec_provider": None
        if provider is None
        else {
            "api_version": provider.api_version,
            "args": provider.args or None,
            "command": case.shown(provider.command),
            "config": provider.config is not None,
            "env": [{"name": variable.name, "value": variable.value} for variable in provider.env],
            "install_hint": provider.install_hint,
            "interactive_mode": provider.interactive_mode,
            "provide_cluster_info": provider.provide_cluster_info,
            "stdin_unavailable": provider.stdin_unavailable,
        },
        "has_proxy": config.proxy is not None,
        "host": config.host,
        "impersonate": {
            "extra": config.impersonate.extra or None,
            "groups": config.impersonate.groups or None,
            "uid": config.impersonate.uid,
            "user_name": config.impersonate.user_name,
        },
        "password": config.password,
        "timeout_ns": round(config.timeout * 1_000_000_000),
        "tls": {
            "ca_data": config.ca_data.decode(),
            "ca_file": case.shown(config.ca_file),
            "cert_data": config.cert_data.decode(),
            "cert_file": case.shown(config.cert_file),
            "insecure": config.insecure,
            "key_data": config.key_data.decode(),
            "key_file": case.shown(config.key_file),
            "server_name": config.server_name,
        },
        "username": config.username,
    }


def normalised(expected: Any) -> Any:
    """Go's empty maps and nil maps are one thing here."""
    if isinstance(expected, dict):
        cleaned = {key: normalised(value) for key, value in expected.items()}
        for key in ("extra", "groups", "config", "args"):
            if key in cleaned and cleaned[key] in ({}, []):
                cleaned[key] = None
        return cleaned
    return expected


def op_load(case: Case, args: dict[str, Any], expect: dict[str, Any]) -> None:
    config, text, err = attempt(case, case.rules.load)
    case.check_error(text, expect["error"])
    if "clusters" not in expect:
        return  # there is nothing to load from
    if config is None:
        config = getattr(err, "config", api.Config())
    assert show_config(case, config) == {key: value or type(value)() for key, value in expect.items() if key != "error"}


def op_client_config(case: Case, args: dict[str, Any], expect: dict[str, Any]) -> None:
    config, text, err = attempt(case, case.deferred().client_config)
    case.check_error(text, expect["error"])
    shown = None if config is None else show_rest_config(case, config)
    assert shown == normalised(expect["config"])
    assert clientcmd.is_configuration_invalid(err) == expect["is_configuration_invalid"]
    assert clientcmd.is_context_not_found(err) == expect["is_context_not_found"]
    assert clientcmd.is_empty_config(err) == expect["is_empty_config"]


def op_namespace(case: Case, args: dict[str, Any], expect: dict[str, Any]) -> None:
    found, text, _ = attempt(case, case.deferred().namespace)
    case.check_error(text, expect["error"])
    assert (found or ("", False)) == (expect["namespace"], expect["overridden"])


def loaded(case: Case) -> api.Config:
    config, _, err = attempt(case, case.rules.load)
    return config if config is not None else getattr(err, "config", api.Config())


def op_validate(case: Case, args: dict[str, Any], expect: dict[str, Any]) -> None:
    _, text, _ = attempt(case, lambda: clientcmd.validate(loaded(case)))
    case.check_error(text, expect["error"])


def op_confirm_usable(case: Case, args: dict[str, Any], expect: dict[str, Any]) -> None:
    _, text, _ = attempt(case, lambda: clientcmd.confirm_usable(loaded(case), args["context"]))
    case.check_error(text, expect["error"])


def op_rest_config_from_kubeconfig(case: Case, args: dict[str, Any], expect: dict[str, Any]) -> None:
    content = (case.folder / args["file"]).read_bytes()
    config, text, _ = attempt(case, lambda: clientcmd.rest_config_from_kube_config(content))
    case.check_error(text, expect["error"])
    shown = None if config is None else show_rest_config(case, config)
    assert shown == normalised(expect["config"])


@pytest.mark.parametrize("case", cases("clientcmd/kubeconfig.jsonl"))
def test_kubeconfig(case, tmp_path, monkeypatch):
    for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBERNETES_MASTER", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
    prepared = Case(case, tmp_path)
    for step in case["steps"]:
        globals()[f"op_{step['op']}"](prepared, step["args"], step["expect"])
