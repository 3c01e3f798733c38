"""The counter of panics in admission webhooks. Mirrors pkg/webhook/admission/metrics/metrics.go."""

from __future__ import annotations

from clientgo.controller_runtime.metrics.registry import new_counter_vec

__all__ = ["WEBHOOK_PANICS"]

WEBHOOK_PANICS = new_counter_vec(
    "controller_runtime_webhook_panics_total", "Total number of webhook panics", []
).labels()
