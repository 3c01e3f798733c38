"""Names that become part of a URL path (k8s.io/apimachinery/pkg/api/validate/content/path.go)."""

from __future__ import annotations


def is_path_segment_name(name: str) -> list[str]:
    """[] when the text may be one segment of a URL path, else what is wrong. Go: content.IsPathSegmentName."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return is_path_segment_prefix(name)


def is_path_segment_prefix(name: str) -> list[str]:
    """[] when a path segment may begin with the text, else what is wrong. Go: content.IsPathSegmentPrefix."""
    return [f"may not contain '{char}'" for char in "/%" if char in name]
