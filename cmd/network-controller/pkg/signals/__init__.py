"""Turning signals into a done context. Mirrors pkg/signals."""

from pkg.signals.signal import setup_signal_handler

__all__ = ["setup_signal_handler"]
