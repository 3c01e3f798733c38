"""Helpers for event recorders (k8s.io/client-go/tools/record/util)."""

from clientgo.tools.record.util.util import generate_event_name, is_key_not_found_error, validate_event_type

__all__ = ["generate_event_name", "is_key_not_found_error", "validate_event_type"]
