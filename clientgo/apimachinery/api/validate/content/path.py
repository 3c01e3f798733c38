"""Names that become part of a URL path (k8s.io/apimachinery/pkg/api/validate/content/path.go)."""

from __future__ import annotations


def is_path_segment_name(name: str) -> list[str]:
    """Check that the text is a segment of a URL path; return the problems. Go: content.IsPathSegmentName."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return is_path_segment_prefix(name)


def is_path_segment_prefix(name: str) -> list[str]:
    """Check that the text is a prefix of a path segment; return the problems. Go: content.IsPathSegmentPrefix."""
    return [f"may not contain '{char}'" for char in "/%" if char in name]
