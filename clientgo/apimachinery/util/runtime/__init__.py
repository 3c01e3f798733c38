"""Handling of crashes and of errors without a caller. Mirrors k8s.io/apimachinery/pkg/util/runtime.

Usually imported as `from clientgo.apimachinery.util import runtime as utilruntime`. Programs can read and set the
changeable names of `runtime.runtime` through this package as well.
"""

import sys
from types import ModuleType

from clientgo.apimachinery.util.runtime import runtime as _runtime
from clientgo.apimachinery.util.runtime.runtime import (
    ErrorHandler,
    PanicHandler,
    error_to_string,
    get_caller,
    handle_crash,
    handle_crash_with_context,
    handle_crash_with_logger,
    handle_error,
    handle_error_with_context,
    handle_error_with_logger,
    must,
    recover_from_panic,
)

ERROR_HANDLERS: list[ErrorHandler]
PANIC_HANDLERS: list[PanicHandler]
REALLY_CRASH: bool

__all__ = [
    "ERROR_HANDLERS",
    "PANIC_HANDLERS",
    "REALLY_CRASH",
    "ErrorHandler",
    "PanicHandler",
    "error_to_string",
    "get_caller",
    "handle_crash",
    "handle_crash_with_context",
    "handle_crash_with_logger",
    "handle_error",
    "handle_error_with_context",
    "handle_error_with_logger",
    "must",
    "recover_from_panic",
]

_CHANGEABLE = frozenset({"ERROR_HANDLERS", "PANIC_HANDLERS", "REALLY_CRASH"})


class _Package(ModuleType):
    """A module that forwards assignments such as `utilruntime.REALLY_CRASH = True` to the module that uses the names.
    """

    def __getattr__(self, name: str) -> object:
        if name in _CHANGEABLE:
            return getattr(_runtime, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_CHANGEABLE})

    def __setattr__(self, name: str, value: object) -> None:
        if name in _CHANGEABLE:
            setattr(_runtime, name, value)
        else:
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
