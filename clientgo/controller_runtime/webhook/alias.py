"""The most used names of admission webhooks. Mirrors pkg/webhook/alias.go."""

from clientgo.apimachinery.util.jsonpatch import Operation as JSONPatchOp
from clientgo.controller_runtime.webhook.admission import (
    CustomDefaulter,
    CustomValidator,
    allowed,
    denied,
    errored,
    patched,
)
from clientgo.controller_runtime.webhook.admission import Decoder as AdmissionDecoder
from clientgo.controller_runtime.webhook.admission import Handler as AdmissionHandler
from clientgo.controller_runtime.webhook.admission import Request as AdmissionRequest
from clientgo.controller_runtime.webhook.admission import Response as AdmissionResponse
from clientgo.controller_runtime.webhook.admission import Webhook as Admission

__all__ = [
    "Admission",
    "AdmissionDecoder",
    "AdmissionHandler",
    "AdmissionRequest",
    "AdmissionResponse",
    "CustomDefaulter",
    "CustomValidator",
    "JSONPatchOp",
    "allowed",
    "denied",
    "errored",
    "patched",
]
