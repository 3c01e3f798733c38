"""JSON as Go writes it (k8s.io/apimachinery/pkg/util/json)."""

from clientgo.apimachinery.util.json.deep import MAX_DEPTH, TooDeepError, limit_of_stack, limited_by_stack
from clientgo.apimachinery.util.json.json import (
    encode,
    escape_html,
    marshal,
    scan,
    scan_at_any_depth,
    unmarshal,
    unmarshal_literals,
    without_lone_surrogates,
)

__all__ = [
    "MAX_DEPTH",
    "TooDeepError",
    "encode",
    "escape_html",
    "limit_of_stack",
    "limited_by_stack",
    "marshal",
    "scan",
    "scan_at_any_depth",
    "unmarshal",
    "unmarshal_literals",
    "without_lone_surrogates",
]
