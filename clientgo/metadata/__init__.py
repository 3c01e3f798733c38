"""A client of the metadata of any resource. Mirrors k8s.io/client-go/metadata."""

from clientgo.metadata.interface import Getter, Interface, ResourceInterface
from clientgo.metadata.metadata import (
    Client,
    config_for,
    new_for_config,
    new_for_config_and_client,
    new_for_config_or_die,
)

__all__ = [
    "Client",
    "Getter",
    "Interface",
    "ResourceInterface",
    "config_for",
    "new_for_config",
    "new_for_config_and_client",
    "new_for_config_or_die",
]
