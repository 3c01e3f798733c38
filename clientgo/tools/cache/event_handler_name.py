"""Names of event handlers, for logs.

Mirrors tools/cache/event_handler_name.go.

Differs from Go: a function's name is its module and qualified name, as usual in Python. A handler that calls another
handler can return that handler's name. The handlers of this package that filter, or get the detail of the initial list,
have the names of the functions that they call, where Go has their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clientgo.tools.cache.controller import FilteringResourceEventHandler, ResourceEventHandler


def name_for_handler(handler: ResourceEventHandler | None) -> str:
    """Return a name by which a reader of the log finds `handler`; "<nil>" for None. Go: nameForHandler.

    For a handler made of functions it is the place of their definition, otherwise the class. A handler that calls
    another handler, such as controller-runtime's, returns that handler's name from a method `handler_name`.
    """
    from clientgo.tools.cache.controller import (  # controller builds on this module
        FilteringResourceEventHandler,
        ResourceEventHandlerDetailedFuncs,
        ResourceEventHandlerFuncs,
    )

    if handler is None:
        return "<nil>"
    if callable(handler_name := getattr(handler, "handler_name", None)):
        return str(handler_name())
    name = ""
    if isinstance(handler, (ResourceEventHandlerFuncs, ResourceEventHandlerDetailedFuncs)):
        name = name_for_functions(handler.add_func, handler.update_func, handler.delete_func)
    elif isinstance(handler, FilteringResourceEventHandler):
        name = _name_for_filter(handler)
    return name or name_for_type(type(handler))


def _name_for_filter(handler: FilteringResourceEventHandler) -> str:
    """Return the names of the filter and of the handler behind it; a name that both share appears once."""
    names = [name_for_functions(handler.filter_func), name_for_handler(handler.handler)]
    if names[1].startswith(f"{type(handler).__module__}."):  # without a function of its own
        names.pop()
    return "+".join(dict.fromkeys(names))


def name_for_functions(*functions: Callable[..., Any] | None) -> str:
    """Return the common scope of all functions (a class, a function, a module), or all names if there is none.

    Ignores None. Returns "" without a function.
    """
    names = [name_for_function(function) for function in functions if function is not None]
    qualifiers = {_qualifier(name) for name in names}
    return qualifiers.pop() if len(qualifiers) == 1 else "+".join(names)


def _qualifier(name: str) -> str:
    return name.rpartition(".")[0].removesuffix(".<locals>") or name


def name_for_function(function: Callable[..., Any]) -> str:
    """Return the name of a function with its module; of another callable, its class."""
    while isinstance(function, partial):
        function = function.func
    qualified_name = getattr(function, "__qualname__", None)
    if qualified_name is None:  # an object that can be called
        return name_for_type(type(function))
    module = getattr(function, "__module__", None)
    return f"{module}.{qualified_name}" if module else str(qualified_name)


def name_for_type(cls: type) -> str:
    """Return the name of a class, with its module."""
    return f"{cls.__module__}.{cls.__qualname__}"
