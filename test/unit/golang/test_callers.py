"""The text of an exception is that of Python's traceback, whether or not an observer has inserted frames."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import pytest

from clientgo.golang import callers


def chained() -> None:
    try:
        raise SystemExit(4)
    except SystemExit as err:
        wrapped = RuntimeError("the function called sys.exit(4)")
        wrapped.__cause__ = err
        raise ValueError("cannot index") from wrapped


def suppressed() -> None:
    try:
        raise KeyError("tide")
    except KeyError:
        raise OSError("out") from None


def grouped() -> None:
    try:
        chained()
    except ValueError as err:
        raise ExceptionGroup("several", [err, TypeError("second")]) from err


def circular() -> None:
    first, second = KeyError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    raise first


@pytest.mark.parametrize("fail", [chained, suppressed, grouped, circular])
def test_inserted_frames_change_nothing_else_in_the_text(
    fail: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Exception) as raised:
        fail()
    plain = callers.format_exception(raised.value)
    assert plain == "".join(traceback.format_exception(raised.value))
    monkeypatch.setattr(callers, "_inserted", frozenset({"<an observer>"}))
    assert callers.format_exception(raised.value) == plain
