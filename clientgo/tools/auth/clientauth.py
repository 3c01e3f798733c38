"""Credentials in a JSON file, an old format that kubeconfigs replace. Mirrors tools/auth/clientauth.go."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from clientgo.apimachinery.util.json import unmarshal
from clientgo.golang.io import read_file
from clientgo.rest.config import Config, copy_config


@dataclass(kw_only=True)
class Info:
    """A client's credentials. The JSON names are Go's field names in any case."""

    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    bearer_token: str = field(default="", repr=False)
    insecure: bool | None = None

    def merge_with_config(self, c: Config) -> Config:
        """Return a copy of the config with these credentials instead of its own. Go: MergeWithConfig."""
        config = copy_config(c)
        config.username = self.user
        config.password = self.password
        config.ca_file = self.ca_file
        config.cert_file = self.cert_file
        config.key_file = self.key_file
        config.bearer_token = self.bearer_token
        if self.insecure is not None:
            config.insecure = self.insecure
        return config

    def complete(self) -> bool:
        """Report whether there are credentials. Go: Complete."""
        return bool(self.user or self.cert_file or self.bearer_token)

    def to_json(self) -> bytes:
        """Return the content of a file."""
        return json.dumps({name: getattr(self, attr) for name, attr in _NAMES.items()}).encode()


_NAMES = {
    "User": "user",
    "Password": "password",
    "CAFile": "ca_file",
    "CertFile": "cert_file",
    "KeyFile": "key_file",
    "BearerToken": "bearer_token",
    "Insecure": "insecure",
}


def load_from_file(path: str) -> Info:
    """Read the file. Raises OSError, and ValueError without the file's content. Go: LoadFromFile."""
    data = read_file(path)
    try:
        document: Any = unmarshal(data)
    except ValueError:
        raise ValueError(f"{path} is not valid JSON") from None
    if not isinstance(document, dict):
        raise ValueError(f"{path} is not a JSON object")
    attrs = {name.lower(): attr for name, attr in _NAMES.items()}
    known = {attrs[key.lower()]: value for key, value in document.items() if key.lower() in attrs}
    return Info(**{attr: value for attr, value in known.items() if value is not None})
