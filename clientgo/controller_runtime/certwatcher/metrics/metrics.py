"""Counters of certificate reads. Mirrors pkg/certwatcher/metrics/metrics.go."""

from __future__ import annotations

from clientgo.controller_runtime.metrics.registry import new_counter_vec

__all__ = ["READ_CERTIFICATE_ERRORS", "READ_CERTIFICATE_TOTAL"]

READ_CERTIFICATE_TOTAL = new_counter_vec(
    "certwatcher_read_certificate_total", "Total number of certificate reads", []
).labels()
READ_CERTIFICATE_ERRORS = new_counter_vec(
    "certwatcher_read_certificate_errors_total", "Total number of certificate read errors", []
).labels()
