"""Webhooks, which the API server calls for admission, conversion and authentication. Mirrors pkg/webhook."""

from clientgo.controller_runtime.webhook.alias import (
    Admission,
    AdmissionDecoder,
    AdmissionHandler,
    AdmissionRequest,
    AdmissionResponse,
    CustomDefaulter,
    CustomValidator,
    JSONPatchOp,
    allowed,
    denied,
    errored,
    patched,
)
from clientgo.controller_runtime.webhook.server import DEFAULT_PORT, DefaultServer, Options, Server, new_server

__all__ = [
    "DEFAULT_PORT",
    "Admission",
    "AdmissionDecoder",
    "AdmissionHandler",
    "AdmissionRequest",
    "AdmissionResponse",
    "CustomDefaulter",
    "CustomValidator",
    "DefaultServer",
    "JSONPatchOp",
    "Options",
    "Server",
    "allowed",
    "denied",
    "errored",
    "new_server",
    "patched",
]
