"""The server's OpenAPI v3 documents. Mirrors k8s.io/client-go/openapi."""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach
from clientgo.openapi.client import Client, new_client
from clientgo.openapi.groupversion import CONTENT_TYPE_OPENAPI_V3_PB, GroupVersion

if TYPE_CHECKING:
    from clientgo.openapi.typeconverter import new_type_converter
else:
    __getattr__, __dir__ = attach(__name__, {"typeconverter": ["new_type_converter"]})

__all__ = ["CONTENT_TYPE_OPENAPI_V3_PB", "Client", "GroupVersion", "new_client", "new_type_converter"]
