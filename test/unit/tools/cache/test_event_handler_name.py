"""Names of handlers tell where they come from."""

from __future__ import annotations

from functools import partial
from typing import Any

from clientgo.tools import cache
from clientgo.tools.cache.event_handler_name import name_for_handler

Funcs = cache.ResourceEventHandlerFuncs


class Handler:
    def on_add(self, obj: Any, is_in_initial_list: bool) -> None: ...
    def on_update(self, old_obj: Any, new_obj: Any) -> None: ...
    def on_delete(self, obj: Any) -> None: ...


def test_functions_are_named_after_what_encloses_them() -> None:
    """Go: TestNameForHandler/add, Go: TestNameForHandler/update, Go: TestNameForHandler/delete,
    Go: TestNameForHandler/all, Go: TestNameForHandler/ptrToFuncs"""

    def add(obj: Any) -> None: ...
    def update(old_obj: Any, new_obj: Any) -> None: ...

    here = f"{__name__}.test_functions_are_named_after_what_encloses_them"
    assert name_for_handler(Funcs(add_func=add)) == here
    assert name_for_handler(Funcs(update_func=update)) == here
    assert name_for_handler(Funcs(delete_func=lambda obj: None)) == here
    assert name_for_handler(Funcs(add_func=add, update_func=update, delete_func=lambda obj: None)) == here


def test_functions_of_different_places_are_all_named() -> None:
    """Go: TestNameForHandler/mixture"""
    name = name_for_handler(Funcs(add_func=Funcs().on_delete, delete_func=lambda obj: None))
    assert name == (
        "clientgo.tools.cache.controller.ResourceEventHandlerFuncs.on_delete"
        f"+{__name__}.test_functions_of_different_places_are_all_named.<locals>.<lambda>"
    )


def test_other_handlers_are_named_after_their_class() -> None:
    """Go: TestNameForHandler/struct, Go: TestNameForHandler/ptrToStruct, Go: TestNameForHandler/stored-nil"""
    assert name_for_handler(Handler()) == f"{__name__}.Handler"
    assert name_for_handler(Funcs()) == "clientgo.tools.cache.controller.ResourceEventHandlerFuncs"


def test_no_handler() -> None:
    """Go: TestNameForHandler/nil"""
    assert name_for_handler(None) == "<nil>"


def test_a_partial_is_named_after_its_function() -> None:
    handler = Handler()
    assert name_for_handler(Funcs(add_func=partial(handler.on_add, is_in_initial_list=True))) == f"{__name__}.Handler"


def test_a_handler_that_calls_another_one_says_that_ones_name() -> None:
    class Wrapper(Handler):
        def handler_name(self) -> str:
            return "the inner handler"

    assert name_for_handler(Wrapper()) == "the inner handler"


def test_a_filter_and_a_detailed_handler_are_named_after_the_functions_that_they_call() -> None:
    """A line about a handler that blocks leads to the user's code, not to a class of this package."""

    def add(obj: Any, is_in_initial_list: bool) -> None: ...
    def keep(obj: Any) -> bool:
        return True

    here = f"{__name__}.test_a_filter_and_a_detailed_handler_are_named_after_the_functions_that_they_call"
    detailed = cache.ResourceEventHandlerDetailedFuncs(add_func=add)
    assert name_for_handler(detailed) == here
    assert name_for_handler(cache.FilteringResourceEventHandler(keep, detailed)) == here
    assert name_for_handler(cache.FilteringResourceEventHandler(keep, Funcs())) == here
    assert name_for_handler(cache.FilteringResourceEventHandler(keep, Handler())) == f"{here}+{__name__}.Handler"
    twice = cache.FilteringResourceEventHandler(keep, cache.FilteringResourceEventHandler(keep, Handler()))
    assert name_for_handler(twice) == f"{here}+{here}+{__name__}.Handler"
