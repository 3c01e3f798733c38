"""A client whose calls a test answers itself. Mirrors pkg/client/interceptor."""

from clientgo.controller_runtime.client.interceptor.intercept import (
    Funcs,
    new_client,
)

__all__ = [
    "Funcs",
    "new_client",
]
