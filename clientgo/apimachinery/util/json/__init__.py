"""JSON as Go writes it (k8s.io/apimachinery/pkg/util/json)."""

from clientgo.apimachinery.util.json.json import encode, escape_html, marshal, scan, unmarshal

__all__ = ["encode", "escape_html", "marshal", "scan", "unmarshal"]
