"""Fixtures of the browser tests."""

from tourbrowser import browser, chromium, lessons_address

__all__ = ["browser", "chromium", "lessons_address"]
