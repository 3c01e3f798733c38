"""JSON as Go writes it (k8s.io/apimachinery/pkg/util/json)."""

from clientgo.apimachinery.util.json.json import escape_html, marshal, scan, unmarshal

__all__ = ["escape_html", "marshal", "scan", "unmarshal"]
