"""The response to /version. Mirrors apimachinery/pkg/version/types.go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Info:
    """The release and build of a program."""

    major: str = ""
    minor: str = ""
    git_version: str = ""
    git_commit: str = ""
    git_tree_state: str = ""
    build_date: str = ""
    go_version: str = ""
    compiler: str = ""
    platform: str = ""

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Parse the JSON form; ignores unknown fields."""
        names = {each.name.replace("_", ""): each.name for each in fields(cls)}
        known = {names[key.lower()]: value for key, value in document.items() if key.lower() in names}
        return cls(**known)

    def __str__(self) -> str:
        return self.git_version
