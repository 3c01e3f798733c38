"""Temporary changes of feature gates in tests. Mirrors client-go/features/testing/features.go."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, cast

from clientgo import features

__all__ = ["set_feature_during_test"]


class _SettableGates(features.Gates, Protocol):
    def set_for_testing(self, feature_name: features.Feature, feature_value: bool) -> None: ...


# Guards _overridden.
_lock = threading.Lock()
_overridden: set[features.Feature] = set()


@contextmanager
def set_feature_during_test(feature: features.Feature, feature_value: bool) -> Iterator[None]:
    """Return a context manager that sets a feature, even a locked one.

    The gates are global: one test at a time may change a feature, and a second raises RuntimeError. Raises TypeError if
    the current gates cannot be set.
    """
    gates = features.feature_gates()
    if not hasattr(gates, "set_for_testing"):
        raise TypeError(f"feature_gates(): {type(gates).__name__} has no method set_for_testing")
    settable = cast(_SettableGates, gates)
    original = settable.enabled(feature)
    with _lock:
        if feature in _overridden:
            raise RuntimeError(f'client-go feature "{feature}" is currently overridden by another test')
        _overridden.add(feature)
    try:
        settable.set_for_testing(feature, feature_value)
        yield
    finally:
        settable.set_for_testing(feature, original)
        with _lock:
            _overridden.discard(feature)
