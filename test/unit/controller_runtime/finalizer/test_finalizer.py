"""Finalizers by name: added while an object lives, run and removed when it is deleted.

Go: finalizer: TestFinalizer
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util.errors import Aggregate
from clientgo.context import Context
from clientgo.controller_runtime import client, finalizer
from clientgo.controller_runtime.finalizer import Result

CTX = context.background()
NAME = "example.com/clean"


@dataclass
class Cleaner:
    """A finalizer that records the objects it ran for."""

    does: Callable[[], Result] = Result
    ran_for: list[str] = field(default_factory=list)

    def finalize(self, ctx: Context, obj: client.Object) -> Result:
        self.ran_for.append(obj.get_name())
        return self.does()


class FailedError(Exception):
    def __init__(self, result: Result | None = None) -> None:
        super().__init__("no")
        self.result = result


def failing(result: Result | None = None) -> Cleaner:
    def fail() -> Result:
        raise FailedError(result)

    return Cleaner(fail)


def pod(*finalizers: str, deleted: bool = False) -> corev1.Pod:
    meta = metav1.ObjectMeta(name="p", finalizers=list(finalizers))
    if deleted:
        meta.deletion_timestamp = metav1.now()
    return corev1.Pod(metadata=meta)


def registered(**cleaners: Cleaner) -> finalizer.Finalizers:
    finalizers = finalizer.new_finalizers()
    for name, each in cleaners.items():
        finalizers.register(f"example.com/{name}", each)
    return finalizers


def failure(finalizers: finalizer.Finalizers, obj: client.Object) -> Any:
    with pytest.raises(Exception, match="failed") as caught:
        finalizers.finalize(CTX, obj)
    assert isinstance(caught.value, Aggregate)
    return caught.value


def test_a_name_is_taken_once() -> None:
    """
    Go: finalizer: TestFinalizer > Register
    """
    finalizers = registered(clean=Cleaner())
    with pytest.raises(ValueError, match='finalizer for key "example.com/clean" already registered'):
        finalizers.register(NAME, Cleaner())


def test_an_object_that_lives_gets_the_finalizer_and_nothing_runs() -> None:
    cleaner = Cleaner()
    obj = pod()
    assert registered(clean=cleaner).finalize(CTX, obj) == Result(updated=True)
    assert (obj.get_finalizers(), cleaner.ran_for) == ([NAME], [])
    assert registered(clean=cleaner).finalize(CTX, obj) == Result()


def test_a_deleted_object_is_cleaned_up_and_loses_the_finalizer() -> None:
    cleaner = Cleaner()
    obj = pod("other", NAME, deleted=True)
    assert registered(clean=cleaner).finalize(CTX, obj) == Result(updated=True)
    assert (obj.get_finalizers(), cleaner.ran_for) == (["other"], ["p"])


def test_a_deleted_object_without_the_finalizer_is_left_alone() -> None:
    cleaner = Cleaner()
    obj = pod(deleted=True)
    assert registered(clean=cleaner).finalize(CTX, obj) == Result()
    assert (obj.get_finalizers(), cleaner.ran_for) == ([], [])


def test_all_that_are_there_run_and_their_results_add_up() -> None:
    first, second, absent = Cleaner(), Cleaner(lambda: Result(status_updated=True)), Cleaner()
    obj = pod("example.com/a", "example.com/b", deleted=True)
    result = registered(a=first, b=second, c=absent).finalize(CTX, obj)
    assert result == Result(updated=True, status_updated=True)
    assert (obj.get_finalizers(), first.ran_for, second.ran_for, absent.ran_for) == ([], ["p"], ["p"], [])


def test_one_that_fails_stays_and_says_what_it_changed_all_the_same() -> None:
    obj = pod("example.com/a", "example.com/b", deleted=True)
    finalizers = registered(a=failing(Result(status_updated=True)), b=failing())
    err = failure(finalizers, obj)
    assert [str(each) for each in err.errors()] == [
        'finalizer "example.com/a" failed: no',
        'finalizer "example.com/b" failed: no',
    ]
    assert isinstance(err.errors()[0].__cause__, FailedError)
    assert err.result == Result(status_updated=True)
    assert obj.get_finalizers() == ["example.com/a", "example.com/b"]


def test_one_that_fails_does_not_keep_the_others_from_being_done() -> None:
    obj = pod("example.com/a", "example.com/b", deleted=True)
    other = Cleaner()
    assert failure(registered(a=failing(), b=other), obj).result == Result(updated=True)
    assert (obj.get_finalizers(), other.ran_for) == (["example.com/a"], ["p"])


@pytest.mark.parametrize("returned", [None, True, (Result(), None)])
def test_a_finalizer_that_returns_no_result_is_reported_and_stays(returned: Any) -> None:
    obj = pod(NAME, deleted=True)
    with pytest.raises(Exception, match=r'finalizer "example.com/clean" returned .*, not a finalizer.Result') as caught:
        registered(clean=Cleaner(lambda: returned)).finalize(CTX, obj)
    assert isinstance(caught.value, Aggregate)
    assert obj.get_finalizers() == [NAME]
