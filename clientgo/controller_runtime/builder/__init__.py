"""sigs.k8s.io/controller-runtime/pkg/builder: builders of controllers and webhooks."""

from clientgo.controller_runtime.builder.controller import (
    Builder,
    ForInput,
    OwnsInput,
    TypedBuilder,
    WatchesInput,
    controller_managed_by,
    typed_controller_managed_by,
)
from clientgo.controller_runtime.builder.options import (
    MATCH_EVERY_OWNER,
    ONLY_METADATA,
    ForOption,
    OwnsOption,
    Predicates,
    WatchesOption,
    with_predicates,
)
from clientgo.controller_runtime.builder.webhook import WebhookBuilder, webhook_managed_by

__all__ = [
    "MATCH_EVERY_OWNER",
    "ONLY_METADATA",
    "Builder",
    "ForInput",
    "ForOption",
    "OwnsInput",
    "OwnsOption",
    "Predicates",
    "TypedBuilder",
    "WatchesInput",
    "WatchesOption",
    "WebhookBuilder",
    "controller_managed_by",
    "typed_controller_managed_by",
    "webhook_managed_by",
    "with_predicates",
]
