"""The webhook that converts custom resources between their versions. Mirrors pkg/webhook/conversion."""

from clientgo.controller_runtime.webhook.conversion.conversion import (
    PartialImplementationError,
    is_convertible,
    new_webhook_handler,
)
from clientgo.controller_runtime.webhook.conversion.conversion_hubspoke import (
    SpokeConverter,
    new_hub_spoke_converter,
    new_spoke_converter,
)
from clientgo.controller_runtime.webhook.conversion.conversion_registry import Converter, Registry, new_registry
from clientgo.controller_runtime.webhook.conversion.decoder import Decoder, new_decoder

__all__ = [
    "Converter",
    "Decoder",
    "PartialImplementationError",
    "Registry",
    "SpokeConverter",
    "is_convertible",
    "new_decoder",
    "new_hub_spoke_converter",
    "new_registry",
    "new_spoke_converter",
    "new_webhook_handler",
]
