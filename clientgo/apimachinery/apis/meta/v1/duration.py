"""metav1.Duration: a length of time with Go's text form, such as 1m30s.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/duration.go. The API of this library uses float seconds for durations;
`parse_duration` and `format_duration` in clientgo.golang.duration convert them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from clientgo.apimachinery.apis.meta.v1.time import _require_string
from clientgo.golang.duration import format_nanoseconds, parse_nanoseconds


@dataclass(frozen=True, order=True, slots=True)
class Duration:
    """A duration, exact to the nanosecond. Go: metav1.Duration."""

    nanoseconds: int = 0

    @classmethod
    def unmarshal_json(cls, b: str | bytes) -> Duration:
        """Parse the JSON form. Raises ValueError with Go's text. Go: Duration.UnmarshalJSON."""
        value = json.loads(b)
        return cls(parse_nanoseconds("" if value is None else _require_string(value)))

    def marshal_json(self) -> str:
        """Return the JSON form. Go: Duration.MarshalJSON."""
        return f'"{self}"'

    def to_unstructured(self) -> str:
        """Return the value for an unstructured object. Go: Duration.ToUnstructured."""
        return str(self)

    def seconds(self) -> float:
        """Return the duration in seconds. Go: time.Duration.Seconds."""
        return self.nanoseconds / 1_000_000_000

    @staticmethod
    def openapi_schema_type() -> list[str]:
        """Return the OpenAPI types of a duration. Go: Duration.OpenAPISchemaType."""
        return ["string"]

    @staticmethod
    def openapi_schema_format() -> str:
        """Return the OpenAPI format of a duration. Go: Duration.OpenAPISchemaFormat."""
        return ""

    def __str__(self) -> str:
        return format_nanoseconds(self.nanoseconds)
