"""Admission webhooks, which default and validate objects before they are stored. Mirrors pkg/webhook/admission."""

from clientgo.controller_runtime.webhook.admission.decode import Decoder, new_decoder
from clientgo.controller_runtime.webhook.admission.defaulter_custom import (
    CustomDefaulter,
    Defaulter,
    DefaulterOption,
    defaulter_remove_unknown_or_omitable_fields,
    with_custom_defaulter,
    with_defaulter,
)
from clientgo.controller_runtime.webhook.admission.multi import multi_mutating_handler, multi_validating_handler
from clientgo.controller_runtime.webhook.admission.response import (
    allowed,
    denied,
    errored,
    patch_response_from_raw,
    patched,
    validation_response,
)
from clientgo.controller_runtime.webhook.admission.validator_custom import (
    CustomValidator,
    Validator,
    Warnings,
    with_custom_validator,
    with_validator,
    with_warnings,
)
from clientgo.controller_runtime.webhook.admission.webhook import (
    Handler,
    HandlerFunc,
    Request,
    Response,
    StandaloneOptions,
    Webhook,
    default_log_constructor,
    new_context_with_request,
    request_from_context,
    standalone_webhook,
)

__all__ = [
    "CustomDefaulter",
    "CustomValidator",
    "Decoder",
    "Defaulter",
    "DefaulterOption",
    "Handler",
    "HandlerFunc",
    "Request",
    "Response",
    "StandaloneOptions",
    "Validator",
    "Warnings",
    "Webhook",
    "allowed",
    "default_log_constructor",
    "defaulter_remove_unknown_or_omitable_fields",
    "denied",
    "errored",
    "multi_mutating_handler",
    "multi_validating_handler",
    "new_context_with_request",
    "new_decoder",
    "patch_response_from_raw",
    "patched",
    "request_from_context",
    "standalone_webhook",
    "validation_response",
    "with_custom_defaulter",
    "with_custom_validator",
    "with_defaulter",
    "with_validator",
    "with_warnings",
]
