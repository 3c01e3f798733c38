"""A client with methods that a test replaces. Mirrors pkg/client/interceptor."""

from clientgo.controller_runtime.client.interceptor.intercept import (
    Funcs,
    new_client,
)

__all__ = [
    "Funcs",
    "new_client",
]
