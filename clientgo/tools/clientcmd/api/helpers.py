"""Functions that minify, flatten, shorten or redact kubeconfigs. Mirrors tools/clientcmd/api/helpers.go.

Difference: flatten_content returns the path and the contents instead of changing them through pointers.
"""

from __future__ import annotations

import base64
import os
from dataclasses import fields, is_dataclass
from typing import Any

from clientgo.golang.io import read_file
from clientgo.tools.clientcmd.api.types import Config

# The result of decoding a text that Go's base64 encoder then prints.
_DATA_OMITTED = base64.b64decode("DATA+OMITTED")


def is_config_empty(config: Config) -> bool:
    """Report whether the config is empty. Go: IsConfigEmpty."""
    preferences = config.preferences
    return not (
        config.auth_infos
        or config.clusters
        or config.contexts
        or config.current_context
        or preferences.extensions
        or preferences.colors
        or config.extensions
    )


def minify_config(config: Config) -> None:
    """Keep only the entries of the current context. Raises ValueError if one is missing. Go: MinifyConfig."""
    if not config.current_context:
        raise ValueError("current-context must exist in order to minify")
    context = config.contexts.get(config.current_context)
    if context is None:
        raise ValueError(f"cannot locate context {config.current_context}")
    if context.cluster and context.cluster not in config.clusters:
        raise ValueError(f"cannot locate cluster {context.cluster}")
    if context.auth_info and context.auth_info not in config.auth_infos:
        raise ValueError(f"cannot locate user {context.auth_info}")
    config.auth_infos = {name: info for name, info in config.auth_infos.items() if name == context.auth_info}
    config.clusters = {name: cluster for name, cluster in config.clusters.items() if name == context.cluster}
    config.contexts = {config.current_context: context}


def shorten_config(config: Config) -> None:
    """Replace data and tokens by short texts for display. Go: ShortenConfig."""
    for info in config.auth_infos.values():
        if info.client_key_data:
            info.client_key_data = _DATA_OMITTED
        if info.client_certificate_data:
            info.client_certificate_data = _DATA_OMITTED
        if info.token:
            info.token = "REDACTED"
    for cluster in config.clusters.values():
        if cluster.certificate_authority_data:
            cluster.certificate_authority_data = _DATA_OMITTED


def flatten_config(config: Config) -> None:
    """Replace file references by their content, so that the config is self-contained. Go: FlattenConfig.

    Raises OSError, ValueError.
    """
    for info in config.auth_infos.values():
        base = make_abs(os.path.dirname(info.location_of_origin), "")
        info.client_certificate, info.client_certificate_data = flatten_content(
            info.client_certificate, info.client_certificate_data, base
        )
        info.client_key, info.client_key_data = flatten_content(info.client_key, info.client_key_data, base)
    for cluster in config.clusters.values():
        base = make_abs(os.path.dirname(cluster.location_of_origin), "")
        cluster.certificate_authority, cluster.certificate_authority_data = flatten_content(
            cluster.certificate_authority, cluster.certificate_authority_data, base
        )


def flatten_content(path: str, contents: bytes, base_dir: str) -> tuple[str, bytes]:
    """Return "" and the file's content, or both arguments unchanged without a path. Go: FlattenContent.

    Raises OSError, ValueError.
    """
    if not path:
        return path, contents
    if contents:
        raise ValueError("cannot have values for both path and contents")
    return "", read_file(resolve_path(path, base_dir))


def resolve_path(path: str, base: str) -> str:
    """Return the path below `base`, unless it is absolute or empty. Go: ResolvePath."""
    return os.path.normpath(os.path.join(base, path)) if path and not os.path.isabs(path) else path


def make_abs(path: str, base: str) -> str:
    """Return the path below `base`, by default the working directory, unless it is absolute. Go: MakeAbs."""
    return path if os.path.isabs(path) else os.path.normpath(os.path.join(base or os.getcwd(), path))


def redact_secrets(config: Config) -> None:
    """Replace every secret by "REDACTED". Go: RedactSecrets."""
    _redact(config)


def _redact(value: Any) -> None:
    if isinstance(value, dict):
        for item in value.values():
            _redact(item)
    elif isinstance(value, list):
        for item in value:
            _redact(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            held = getattr(value, each.name)
            if "datapolicy" not in each.metadata:
                _redact(held)
            elif held:
                setattr(value, each.name, b"REDACTED" if isinstance(held, bytes) else "REDACTED")
