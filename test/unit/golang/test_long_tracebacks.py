"""Tracebacks of long chains of exceptions, and of an exception that is raised again and again."""

from __future__ import annotations

import time

import pytest

from clientgo import klog
from clientgo.golang import callers

LINKS = 5_000


def chain(links: int, *, explicit: bool) -> BaseException:
    """Return an exception that was raised from another one, or while it was handled, that was raised from ..."""
    err: BaseException = KeyError("the burrow")
    for number in range(links):
        try:
            try:
                raise err
            except Exception:
                if explicit:
                    raise ValueError(f"layer {number}") from err
                raise ValueError(f"layer {number}")  # noqa: B904
        except ValueError as newer:
            err = newer
    return err


@pytest.mark.parametrize("explicit", [True, False])
def test_a_long_chain_shows_the_newest_exceptions_and_the_root_cause(explicit: bool) -> None:
    err = chain(LINKS, explicit=explicit)
    began = time.process_time()

    text = callers.format_exception(err)

    assert time.process_time() - began < 0.5
    assert len(text) < 20_000
    shown = [line for line in text.splitlines() if line.startswith(("KeyError", "ValueError", "..."))]
    oldest = [f"ValueError: layer {number}" for number in range(9)]
    newest = [f"ValueError: layer {number}" for number in range(LINKS - 10, LINKS)]
    assert shown == ["KeyError: 'the burrow'", *oldest, f"... {LINKS + 1 - 20} more exceptions ...", *newest]
    separator = "the direct cause of the following" if explicit else "During handling of the above exception"
    assert text.count(separator) == 19


def test_a_chain_of_twenty_is_formatted_as_python_does() -> None:
    err = chain(19, explicit=True)

    assert callers.format_exception(err).count("ValueError: layer") == 19
    assert "more exceptions" not in callers.format_exception(err)
    assert "more exceptions" in callers.format_exception(chain(20, explicit=True))


def test_the_first_line_about_a_long_chain_names_the_newest_exception_the_root_cause_and_its_place() -> None:
    failure = klog.failure_of(chain(LINKS, explicit=True))

    assert failure is not None
    assert (failure.text, failure.cause) == (f"ValueError: layer {LINKS - 1}", "KeyError: 'the burrow'")
    assert failure.at.startswith("test_long_tracebacks.py:") and failure.at.endswith(" in chain")


def test_the_traceback_of_an_exception_that_is_raised_again_and_again_stays_bounded() -> None:
    shared = ValueError("the same")

    def reconcile() -> None:
        raise shared

    for _ in range(20_000):
        with pytest.raises(ValueError):
            reconcile()
    began = time.process_time()
    failure = klog.failure_of(shared)

    assert time.process_time() - began < 1.0
    assert failure is not None
    assert failure.at.endswith(" in reconcile")
    assert len(failure.stacktrace) < 200_000
    assert " more frames ...\n" in failure.stacktrace
    assert failure.stacktrace.endswith("ValueError: the same\n")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_a_long_chain_from_an_exception_without_text_is_shown() -> None:
    err = Mute()
    err.__cause__ = chain(50, explicit=True)
    err.add_note("the note")

    text = callers.format_exception(err)

    assert text.endswith(f"\n{Mute.__module__}.Mute: <exception str() failed>\nthe note\n")


class Untrue(Exception):
    def __bool__(self) -> bool:
        raise RuntimeError("neither true nor false")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("incomparable")

    def __hash__(self) -> int:
        raise RuntimeError("no hash")


def test_an_exception_without_a_truth_value_has_a_traceback() -> None:
    try:
        raise Untrue("the wombat")
    except Untrue as err:
        failure = klog.failure_of(err)

    assert failure is not None
    assert failure.stacktrace.startswith("Traceback (most recent call last):\n  File ")
    assert failure.stacktrace.endswith('    raise Untrue("the wombat")\n' + f"{__name__}.Untrue: the wombat\n")
