"""The counter of panics in conversion webhooks. Mirrors pkg/webhook/conversion/metrics/metrics.go."""

from __future__ import annotations

from clientgo.controller_runtime.metrics.registry import new_counter_vec

__all__ = ["WEBHOOK_PANICS"]

WEBHOOK_PANICS = new_counter_vec(
    "controller_runtime_conversion_webhook_panics_total", "Total number of conversion webhook panics", []
).labels()
