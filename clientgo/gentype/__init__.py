"""The base classes of typed clients. Mirrors k8s.io/client-go/gentype.

Their fakes, which are in the same package in Go, are in clientgo.gentype.fake: they need clientgo.testing, whose other
modules need typed clients.
"""

from clientgo.gentype.first_argument import methods_take_context, takes_context
from clientgo.gentype.type import (
    Client,
    ClientWithApply,
    ClientWithList,
    ClientWithListAndApply,
    new_client,
    new_client_with_apply,
    new_client_with_list,
    new_client_with_list_and_apply,
)

__all__ = [
    "Client",
    "ClientWithApply",
    "ClientWithList",
    "ClientWithListAndApply",
    "methods_take_context",
    "new_client",
    "new_client_with_apply",
    "new_client_with_list",
    "new_client_with_list_and_apply",
    "takes_context",
]
