"""From the document of a kubeconfig file to the config in memory and back.

Mirrors tools/clientcmd/api/v1/conversion.go.

A file lists named clusters, users and contexts; in memory they stand in dicts. The tables below say what types.go of
both packages say in struct tags: the name in the file, and the type there.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from clientgo.tools.clientcmd.api.types import (
    AuthInfo,
    AuthProviderConfig,
    Cluster,
    Config,
    Context,
    ExecConfig,
    ExecEnvVar,
    Preferences,
)
from clientgo.tools.clientcmd.api.v1.defaults import set_defaults_exec_config

T = TypeVar("T")


class _Field(NamedTuple):
    attr: str
    name: str
    load: Callable[[Any, str], Any]
    dump: Callable[[Any], Any]
    omit_empty: bool = True


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _mismatch(value, where, "string")
    return value


def _bool(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise _mismatch(value, where, "bool")
    return value


_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")


def _bytes(value: Any, where: str) -> bytes:
    text = _string(value, where).replace("\n", "").replace("\r", "")
    legal = _BASE64.match(text)
    assert legal is not None
    if legal.end() != len(text) or len(text) % 4:
        raise ValueError(f"illegal base64 data at input byte {legal.end()}")
    return base64.b64decode(text)


def _strings(value: Any, where: str) -> list[str]:
    return [_string(item, where) for item in _list(value, where)]


def _string_map(value: Any, where: str) -> dict[str, str]:
    return {key: _string(item, where) for key, item in _map(value, where).items()}


def _strings_map(value: Any, where: str) -> dict[str, list[str]]:
    return {key: _strings(item, where) for key, item in _map(value, where).items()}


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _mismatch(value, where, "list")
    return value


def _map(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _mismatch(value, where, "map")
    return value


def _mismatch(value: Any, where: str, wanted: str) -> ValueError:
    names = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    found = names.get(type(value), type(value).__name__)
    return ValueError(f"json: cannot unmarshal {found} into {where} of type {wanted}")


def _same(value: Any) -> Any:
    return value


def _dump_bytes(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _dump_list(value: list[Any]) -> list[Any] | None:
    return list(value) or None


def _load_extensions(value: Any, where: str) -> dict[str, Any]:
    return _named(value, where, "extension", lambda item, _: item)


def _dump_extensions(extensions: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "extension": extensions[name]} for name in sorted(extensions)]


_EXTENSIONS = _Field("extensions", "extensions", _load_extensions, _dump_extensions)

_PREFERENCES = (_Field("colors", "colors", _bool, _same), _EXTENSIONS)

_CLUSTER = (
    _Field("server", "server", _string, _same, omit_empty=False),
    _Field("tls_server_name", "tls-server-name", _string, _same),
    _Field("insecure_skip_tls_verify", "insecure-skip-tls-verify", _bool, _same),
    _Field("certificate_authority", "certificate-authority", _string, _same),
    _Field("certificate_authority_data", "certificate-authority-data", _bytes, _dump_bytes),
    _Field("proxy_url", "proxy-url", _string, _same),
    _Field("disable_compression", "disable-compression", _bool, _same),
    _EXTENSIONS,
)

_CONTEXT = (
    _Field("cluster", "cluster", _string, _same, omit_empty=False),
    _Field("auth_info", "user", _string, _same, omit_empty=False),
    _Field("namespace", "namespace", _string, _same),
    _EXTENSIONS,
)

_AUTH_PROVIDER = (
    _Field("name", "name", _string, _same, omit_empty=False),
    _Field("config", "config", _string_map, lambda value: dict(value) or None, omit_empty=False),
)

_ENV_VAR = (
    _Field("name", "name", _string, _same, omit_empty=False),
    _Field("value", "value", _string, _same, omit_empty=False),
)

_EXEC = (
    _Field("command", "command", _string, _same, omit_empty=False),
    _Field("args", "args", _strings, _dump_list, omit_empty=False),
    _Field(
        "env",
        "env",
        lambda value, where: [_load(ExecEnvVar, _ENV_VAR, item, where) for item in _list(value, where)],
        lambda value: [_dump(_ENV_VAR, item) for item in value] or None,
        omit_empty=False,
    ),
    _Field("api_version", "apiVersion", _string, _same),
    _Field("install_hint", "installHint", _string, _same),
    _Field("provide_cluster_info", "provideClusterInfo", _bool, _same, omit_empty=False),
    _Field("interactive_mode", "interactiveMode", _string, str),
)


def _load_exec(value: Any, where: str) -> ExecConfig:
    config = _load(ExecConfig, _EXEC, value, where)
    set_defaults_exec_config(config)
    return config


_AUTH_INFO = (
    _Field("client_certificate", "client-certificate", _string, _same),
    _Field("client_certificate_data", "client-certificate-data", _bytes, _dump_bytes),
    _Field("client_key", "client-key", _string, _same),
    _Field("client_key_data", "client-key-data", _bytes, _dump_bytes),
    _Field("token", "token", _string, _same),
    _Field("token_file", "tokenFile", _string, _same),
    _Field("impersonate", "as", _string, _same),
    _Field("impersonate_uid", "as-uid", _string, _same),
    _Field("impersonate_groups", "as-groups", _strings, _same),
    _Field("impersonate_user_extra", "as-user-extra", _strings_map, _same),
    _Field("username", "username", _string, _same),
    _Field("password", "password", _string, _same),
    _Field(
        "auth_provider",
        "auth-provider",
        lambda value, where: _load(AuthProviderConfig, _AUTH_PROVIDER, value, where),
        lambda value: _dump(_AUTH_PROVIDER, value),
    ),
    _Field("exec", "exec", _load_exec, lambda value: _dump(_EXEC, value)),
    _EXTENSIONS,
)


def _load(cls: type[T], table: tuple[_Field, ...], value: Any, where: str) -> T:
    """Fill the class from a map; null leaves a field as it is, and what the table does not name is ignored."""
    document = _map(value, where)
    obj = cls()
    for attr, name, load, _, _ in table:
        raw = document.get(name)
        if raw is not None:
            setattr(obj, attr, load(raw, f"{where}.{name}"))
    return obj


def _dump(table: tuple[_Field, ...], obj: Any) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for attr, name, _, dump, omit_empty in table:
        value = getattr(obj, attr)
        if value or not omit_empty:
            document[name] = dump(value)
    return document


def _named(value: Any, where: str, key: str, load: Callable[[Any, str], Any]) -> dict[str, Any]:
    """A list of {"name": ..., key: ...} as a dict. Raises ValueError for a name that comes twice."""
    result: dict[str, Any] = {}
    for item in _list(value, where):
        entry = _map(item, where)
        name = _string(entry.get("name") or "", f"{where}.name")
        if name in result:
            raise ValueError(f'error converting {where}: duplicate name "{name}" in list')
        result[name] = load(entry.get(key) if key == "extension" else entry.get(key) or {}, f"{where}.{key}")
    return result


def from_document(document: Mapping[str, Any]) -> Config:
    """The config a kubeconfig's document describes. Raises ValueError for fields of a wrong type."""
    config = Config()
    if (preferences := document.get("preferences")) is not None:
        config.preferences = _load(Preferences, _PREFERENCES, preferences, "Config.preferences")
    for attr, key, entry, cls, table in _NAMED:
        value = document.get(key)
        if value is not None:
            setattr(config, attr, _named(value, f"Config.{key}", entry, _loader(cls, table)))
    config.current_context = _string(document.get("current-context") or "", "Config.current-context")
    if (extensions := document.get("extensions")) is not None:
        config.extensions = _load_extensions(extensions, "Config.extensions")
    return config


def _loader(cls: type[T], table: tuple[_Field, ...]) -> Callable[[Any, str], T]:
    return lambda value, where: _load(cls, table, value, where)


_NAMED: tuple[tuple[str, str, str, type[Any], tuple[_Field, ...]], ...] = (
    ("clusters", "clusters", "cluster", Cluster, _CLUSTER),
    ("auth_infos", "users", "user", AuthInfo, _AUTH_INFO),
    ("contexts", "contexts", "context", Context, _CONTEXT),
)


def to_document(config: Config) -> dict[str, Any]:
    """The document to write into a file; lists are sorted by name."""
    document: dict[str, Any] = {"kind": "Config", "apiVersion": "v1", "current-context": config.current_context}
    for attr, key, entry, _, table in _NAMED:
        named: dict[str, Any] = getattr(config, attr)
        document[key] = [{"name": name, entry: _dump(table, named[name])} for name in sorted(named)] or None
    if preferences := _dump(_PREFERENCES, config.preferences):
        document["preferences"] = preferences
    if config.extensions:
        document["extensions"] = _dump_extensions(config.extensions)
    return document
