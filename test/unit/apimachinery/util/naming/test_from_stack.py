"""An object without a name is named after the line that created it."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import pytest

from clientgo import context
from clientgo.apimachinery.util import naming
from clientgo.apimachinery.util.naming import from_stack
from clientgo.testing import synctest
from clientgo.tools import cache

HERE = __name__.replace(".", "/") + ".py:"


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(from_stack, "_never", from_stack._never)
    yield


def test_the_nearest_caller_gives_the_name() -> None:
    assert naming.get_name_from_callsite(default="").startswith(HERE)


def test_a_caller_in_a_module_to_be_ignored_gives_none() -> None:
    assert not naming.get_name_from_callsite(__name__, default="").startswith(HERE)


def test_without_a_caller_the_default_is_the_name() -> None:
    names: list[str] = []
    thread = threading.Thread(
        target=lambda: names.append(naming.get_name_from_callsite(__name__, "threading", default="nobody"))
    )
    thread.start()
    thread.join()

    assert names == ["nobody"]


def test_a_module_that_runs_others_functions_is_ignored_in_every_name() -> None:
    naming.never_name_after(__name__)
    naming.never_name_after(__name__)

    assert not naming.get_name_from_callsite(default="").startswith(HERE)
    assert from_stack._never.count(__name__) == 1


def test_what_runs_in_a_thread_of_a_bubble_is_not_named_after_the_bubble() -> None:
    with synctest.bubble() as bubble:
        ctx, cancel = context.with_cancel(context.background())
        informer = cache.new_shared_informer(cache.ListWatch(), None, 0.0)
        # This thread's stack has no frame of the program, so the line that created the informer counts.
        running = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer")
        running.start()
        bubble.wait()
        (name,) = [thread.name for thread in threading.enumerate() if re.fullmatch(r"reflector \S+", thread.name)]
        cancel()
        running.join()

    assert name.startswith(f"reflector {HERE}")


def test_code_in_a_programs_place_supplies_the_name() -> None:
    with naming.call_site("shouter"):
        assert naming.get_name_from_callsite(default="") == "shouter"
    assert naming.get_name_from_callsite(default="").startswith(HERE)
