"""The base classes of typed clients, and of their fakes. Mirrors k8s.io/client-go/gentype.

The fakes are imported on first use, so that a program's clients do not import those of its tests.
"""

from typing import TYPE_CHECKING

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
from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.gentype.fake import (
        FakeClient,
        FakeClientWithApply,
        FakeClientWithList,
        FakeClientWithListAndApply,
        from_pointer_slice,
        new_fake_client,
        new_fake_client_with_apply,
        new_fake_client_with_list,
        new_fake_client_with_list_and_apply,
        to_pointer_slice,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "fake": [
                "FakeClient",
                "FakeClientWithApply",
                "FakeClientWithList",
                "FakeClientWithListAndApply",
                "from_pointer_slice",
                "new_fake_client",
                "new_fake_client_with_apply",
                "new_fake_client_with_list",
                "new_fake_client_with_list_and_apply",
                "to_pointer_slice",
            ]
        },
    )

__all__ = [
    "Client",
    "ClientWithApply",
    "ClientWithList",
    "ClientWithListAndApply",
    "FakeClient",
    "FakeClientWithApply",
    "FakeClientWithList",
    "FakeClientWithListAndApply",
    "from_pointer_slice",
    "methods_take_context",
    "new_client",
    "new_client_with_apply",
    "new_client_with_list",
    "new_client_with_list_and_apply",
    "new_fake_client",
    "new_fake_client_with_apply",
    "new_fake_client_with_list",
    "new_fake_client_with_list_and_apply",
    "takes_context",
    "to_pointer_slice",
]
