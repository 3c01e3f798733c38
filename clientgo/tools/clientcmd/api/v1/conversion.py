"""Conversion between the document of a kubeconfig file and the config in memory.

Mirrors tools/clientcmd/api/v1/conversion.go and the preceding step in Go's JSON decoder.

A file lists named clusters, users and contexts; in memory they are dicts. The tables below correspond to the struct
tags of both packages' types.go: the name and the type of each field in the file. As in Go, the error is the first wrong
value of the sorted document, with its struct and its path.

Difference: the error for a duplicate name omits the credentials that Go prints.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from clientgo.golang import base64 as go_base64
from clientgo.golang.fmt import go_value
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


class _Where(NamedTuple):
    """The struct of a value, and the path of fields to it."""

    struct: str = ""
    path: str = ""

    def field(self, struct: str, name: str) -> _Where:
        return _Where(struct, f"{self.path}.{name}" if self.path else name)


class _Type(NamedTuple):
    """A type in the file: Go's name, and the parser of a value that is not null. Null becomes `zero()`."""

    go: str
    load: Callable[[Any, _Where], Any]
    zero: Callable[[], Any]

    def read(self, value: Any, where: _Where) -> Any:
        return self.zero() if value is None else self.load(value, where)


def _mismatch(value: Any, where: _Where, wanted: str) -> ValueError:
    names = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    into = f"struct field {where.struct}.{where.path}" if where.path else "value"
    return ValueError(f"json: cannot unmarshal {names[type(value)]} into Go {into} of type {wanted}")


def _scalar(kind: type, go: str) -> _Type:
    def load(value: Any, where: _Where) -> Any:
        if type(value) is not kind:
            raise _mismatch(value, where, go)
        return value

    return _Type(go, load, kind)


def _list_of(element: _Type) -> _Type:
    def load(value: Any, where: _Where) -> list[Any]:
        if not isinstance(value, list):
            raise _mismatch(value, where, go)
        return [element.read(item, where) for item in value]

    go = f"[]{element.go}"
    return _Type(go, load, list)


def _map_of(element: _Type) -> _Type:
    def load(value: Any, where: _Where) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _mismatch(value, where, go)
        return {key: element.read(value[key], where) for key in sorted(value)}

    go = f"map[string]{element.go}"
    return _Type(go, load, dict)


def _load_bytes(value: Any, where: _Where) -> bytes:
    if not isinstance(value, str):
        raise _mismatch(value, where, "[]uint8")
    return go_base64.decode_string(value)


_STRING = _scalar(str, "string")
_BOOL = _scalar(bool, "bool")
_BYTES = _Type("[]uint8", _load_bytes, bytes)
_STRINGS = _list_of(_STRING)
_ANYTHING = _Type("runtime.RawExtension", lambda value, _: value, lambda: None)


def _same(value: Any) -> Any:
    return value


class _Field(NamedTuple):
    attr: str
    name: str
    type: _Type
    dump: Callable[[Any], Any] = _same
    omit_empty: bool = True


def _struct(cls: Callable[[], T], name: str, table: tuple[_Field, ...]) -> _Type:
    """Return a struct: null keeps a field's value, and fields that are not in the table are ignored."""
    by_name = {field.name: field for field in table}

    def load(value: Any, where: _Where) -> T:
        if not isinstance(value, dict):
            raise _mismatch(value, where, f"v1.{name}")
        obj = cls()
        for key in sorted(value):
            field = by_name.get(key)
            if field is not None and value[key] is not None:
                setattr(obj, field.attr, field.type.load(value[key], where.field(name, key)))
        return obj

    return _Type(f"v1.{name}", load, cls)


class _Named:
    """An entry of a list of named items in the file."""

    def __init__(self, value: Any) -> None:
        self.name = ""
        self.value = value


def _named_list(key: str, struct: str, value: _Type) -> _Type:
    """Return a list of {"name": ..., key: ...}."""
    fields = (_Field("name", "name", _STRING), _Field("value", key, value))
    return _list_of(_struct(lambda: _Named(value.zero()), struct, fields))


def _by_name(entries: list[_Named], struct: str, target: str, show: Callable[[Any], str]) -> dict[str, Any]:
    """Return the entries as a dict. Raises ValueError for a duplicate name."""
    result: dict[str, Any] = {}
    for entry in entries:
        if entry.name in result:
            shown = " ".join(f"{{{each.name} {show(each.value)}}}" for each in entries)
            raise ValueError(
                f"error converting *[]{struct} into *map[string]{target}: "
                f'duplicate name "{entry.name}" in list: [{shown}]'
            )
        result[entry.name] = entry.value
    return result


def _dump_bytes(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _dump_list(value: list[Any]) -> list[Any] | None:
    return list(value) or None


def _dump_extensions(extensions: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "extension": extensions[name]} for name in sorted(extensions)]


def _show_hidden(value: Any) -> str:
    """Return a placeholder for a possible secret."""
    return "{...}"


def _show_listed(value: Any) -> str:
    return "[...]" if value else "[]"


_EXTENSION_LIST = _named_list("extension", "NamedExtension", _ANYTHING)
# Lists until `_convert_extensions`, as in the file's structs: wrong types are reported before duplicate names.
_EXTENSIONS = _Field("extensions", "extensions", _EXTENSION_LIST, _dump_extensions)

_PREFERENCES = (_Field("colors", "colors", _BOOL), _EXTENSIONS)

_CLUSTER = (
    _Field("server", "server", _STRING, omit_empty=False),
    _Field("tls_server_name", "tls-server-name", _STRING),
    _Field("insecure_skip_tls_verify", "insecure-skip-tls-verify", _BOOL),
    _Field("certificate_authority", "certificate-authority", _STRING),
    _Field("certificate_authority_data", "certificate-authority-data", _BYTES, _dump_bytes),
    _Field("proxy_url", "proxy-url", _STRING),
    _Field("disable_compression", "disable-compression", _BOOL),
    _EXTENSIONS,
)

_CONTEXT = (
    _Field("cluster", "cluster", _STRING, omit_empty=False),
    _Field("auth_info", "user", _STRING, omit_empty=False),
    _Field("namespace", "namespace", _STRING),
    _EXTENSIONS,
)

_AUTH_PROVIDER = (
    _Field("name", "name", _STRING, omit_empty=False),
    _Field("config", "config", _map_of(_STRING), lambda value: dict(value) or None, omit_empty=False),
)

_ENV_VAR = (
    _Field("name", "name", _STRING, omit_empty=False),
    _Field("value", "value", _STRING, omit_empty=False),
)

_EXEC = (
    _Field("command", "command", _STRING, omit_empty=False),
    _Field("args", "args", _STRINGS, _dump_list, omit_empty=False),
    _Field(
        "env",
        "env",
        _list_of(_struct(ExecEnvVar, "ExecEnvVar", _ENV_VAR)),
        lambda value: [_dump(_ENV_VAR, item) for item in value] or None,
        omit_empty=False,
    ),
    _Field("api_version", "apiVersion", _STRING),
    _Field("install_hint", "installHint", _STRING),
    _Field("provide_cluster_info", "provideClusterInfo", _BOOL, omit_empty=False),
    _Field("interactive_mode", "interactiveMode", _scalar(str, "v1.ExecInteractiveMode"), str),
)

_AUTH_INFO = (
    _Field("client_certificate", "client-certificate", _STRING),
    _Field("client_certificate_data", "client-certificate-data", _BYTES, _dump_bytes),
    _Field("client_key", "client-key", _STRING),
    _Field("client_key_data", "client-key-data", _BYTES, _dump_bytes),
    _Field("token", "token", _STRING),
    _Field("token_file", "tokenFile", _STRING),
    _Field("impersonate", "as", _STRING),
    _Field("impersonate_uid", "as-uid", _STRING),
    _Field("impersonate_groups", "as-groups", _STRINGS),
    _Field("impersonate_user_extra", "as-user-extra", _map_of(_STRINGS)),
    _Field("username", "username", _STRING),
    _Field("password", "password", _STRING),
    _Field(
        "auth_provider",
        "auth-provider",
        _struct(AuthProviderConfig, "AuthProviderConfig", _AUTH_PROVIDER),
        lambda value: _dump(_AUTH_PROVIDER, value),
    ),
    _Field("exec", "exec", _struct(ExecConfig, "ExecConfig", _EXEC), lambda value: _dump(_EXEC, value)),
    _EXTENSIONS,
)


class _Section(NamedTuple):
    """A list of the config: its attribute, its key, the key of an entry, and Go's names for both types."""

    attr: str
    key: str
    entry: str
    struct: str
    cls: type[Any]
    table: tuple[_Field, ...]
    show: Callable[[Any], str]


def _show_fields(table: tuple[_Field, ...]) -> Callable[[Any], str]:
    """Return a function that formats a struct as Go's %v does, without secrets."""

    def show_field(field: _Field, value: Any) -> str:
        return _show_listed(value) if field is _EXTENSIONS else go_value(value)

    return lambda obj: f"{{{' '.join(show_field(field, getattr(obj, field.attr)) for field in table)}}}"


# In the order in which Go converts them.
_SECTIONS = (
    _Section("clusters", "clusters", "cluster", "Cluster", Cluster, _CLUSTER, _show_fields(_CLUSTER)),
    _Section("auth_infos", "users", "user", "AuthInfo", AuthInfo, _AUTH_INFO, _show_hidden),
    _Section("contexts", "contexts", "context", "Context", Context, _CONTEXT, _show_fields(_CONTEXT)),
)

_CONFIG = _struct(
    Config,
    "Config",
    (
        _Field("kind", "kind", _STRING),
        _Field("api_version", "apiVersion", _STRING),
        _Field("preferences", "preferences", _struct(Preferences, "Preferences", _PREFERENCES)),
        *(
            _Field(
                each.attr,
                each.key,
                _named_list(each.entry, f"Named{each.struct}", _struct(each.cls, each.struct, each.table)),
            )
            for each in _SECTIONS
        ),
        _Field("current_context", "current-context", _STRING),
        _EXTENSIONS,
    ),
)


def from_document(document: Mapping[str, Any]) -> Config:
    """Return the config of a kubeconfig's document. O(size).

    Raises ValueError for fields of a wrong type and duplicate names.

    >>> from_document({"users": [{"name": "me", "user": {"token": 5}}]})
    Traceback (most recent call last):
    ValueError: json: cannot unmarshal number into Go struct field AuthInfo.users.user.token of type string
    """
    config: Config = _CONFIG.load(dict(document), _Where())
    config.kind = config.api_version = ""  # the config in memory has neither kind nor version
    _convert_extensions(config.preferences)
    for section in _SECTIONS:
        # The list from the file, or the empty dict of a new config.
        entries: list[_Named] = list(getattr(config, section.attr))
        for entry in entries:
            _convert(entry.value)
        named = _by_name(entries, f"Named{section.struct}", f"*api.{section.struct}", section.show)
        setattr(config, section.attr, named)
    _convert_extensions(config)
    return config


def _convert(value: Cluster | AuthInfo | Context) -> None:
    _convert_extensions(value)
    if isinstance(value, AuthInfo) and value.exec is not None:
        set_defaults_exec_config(value.exec)


def _convert_extensions(owner: Any) -> None:
    """Convert the lists of extensions to dicts."""
    if isinstance(owner.extensions, list):
        owner.extensions = _by_name(owner.extensions, "NamedExtension", "runtime.Object", _show_hidden)


def _dump(table: tuple[_Field, ...], obj: Any) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for attr, name, _, dump, omit_empty in table:
        value = getattr(obj, attr)
        if value or not omit_empty:
            document[name] = dump(value)
    return document


def to_document(config: Config) -> dict[str, Any]:
    """Return the document for a file; lists are sorted by name."""
    document: dict[str, Any] = {"kind": "Config", "apiVersion": "v1", "current-context": config.current_context}
    for section in _SECTIONS:
        named: dict[str, Any] = getattr(config, section.attr)
        document[section.key] = [
            {"name": name, section.entry: _dump(section.table, named[name])} for name in sorted(named)
        ] or None
    if preferences := _dump(_PREFERENCES, config.preferences):
        document["preferences"] = preferences
    if config.extensions:
        document["extensions"] = _dump_extensions(config.extensions)
    return document
