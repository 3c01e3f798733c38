"""Fixtures of the browser tests."""

from tourbrowser import browser, chromium

__all__ = ["browser", "chromium"]
