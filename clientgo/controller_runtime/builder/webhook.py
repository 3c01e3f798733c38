"""Build the webhooks of one kind. Mirrors pkg/builder/webhook.go.

    ctrl.new_webhook_managed_by(mgr, Foo).with_defaulter(Defaults()).with_validator(Rules()).complete()

serves /mutate-<group>-<version>-<kind> and /validate-<group>-<version>-<kind>, with dashes for the dots of the group.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from clientgo.apimachinery.runtime import Object, Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context
from clientgo.controller_runtime.builder.controller import Completable
from clientgo.controller_runtime.client.apiutil import gvk_for_object
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.controller_runtime.manager.manager import Manager
from clientgo.controller_runtime.webhook import admission, conversion
from clientgo.controller_runtime.webhook.admission.webhook import LogConstructor, default_log_constructor
from clientgo.golang.http.server import Request
from clientgo.klog import Logger

__all__ = ["WebhookBuilder", "webhook_managed_by"]

ObjectT = TypeVar("ObjectT", bound=Object)

_LOG = RUNTIME_LOG.with_name("builder").with_name("webhook")
_CONVERT = "/convert"
_PATH = re.compile(r"((/[a-zA-Z0-9\-_]+)+|/)")


def webhook_managed_by(m: Manager, object: type[ObjectT]) -> WebhookBuilder[ObjectT]:
    """Return a builder of webhooks for a kind, which the manager's webhook server serves. Go: WebhookManagedBy."""
    return WebhookBuilder(m, object)


class WebhookBuilder(Completable, Generic[ObjectT]):
    """A builder of the webhooks of one kind; `complete` registers them. Not thread-safe. Go: builder.WebhookBuilder."""

    def __init__(self, mgr: Manager, object: type[ObjectT]) -> None:
        super().__init__("complete()")
        self._mgr = mgr
        self._cls = object
        self._defaulter: admission.Defaulter[ObjectT] | None = None
        self._defaulter_options: tuple[admission.DefaulterOption, ...] = ()
        self._defaulter_path = ""
        self._validator: admission.Validator[ObjectT] | None = None
        self._validator_path = ""
        self._converter: Callable[[Scheme], conversion.Converter] | None = None
        self._log_constructor: LogConstructor | None = None
        self._context_func: Callable[[Context, Request], Context] | None = None
        self._recover_panic: bool | None = None

    def with_defaulter(
        self, defaulter: admission.Defaulter[ObjectT], *opts: admission.DefaulterOption
    ) -> WebhookBuilder[ObjectT]:
        """Let `defaulter` change objects before they are stored. Raises ValueError for a second one.

        Go: WithDefaulter.
        """
        if self._defaulter is not None:
            raise ValueError("only one of WithDefaulter and WithCustomDefaulter may be called, and once")
        self._defaulter, self._defaulter_options = defaulter, opts
        return self

    def with_custom_defaulter(
        self, defaulter: admission.CustomDefaulter, *opts: admission.DefaulterOption
    ) -> WebhookBuilder[ObjectT]:
        """Deprecated: `with_defaulter`. Go: WithCustomDefaulter."""
        return self.with_defaulter(defaulter, *opts)

    def with_validator(self, validator: admission.Validator[ObjectT]) -> WebhookBuilder[ObjectT]:
        """Let `validator` accept or reject objects. Raises ValueError for a second one. Go: WithValidator."""
        if self._validator is not None:
            raise ValueError("only one of WithValidator and WithCustomValidator may be called, and once")
        self._validator = validator
        return self

    def with_custom_validator(self, validator: admission.CustomValidator) -> WebhookBuilder[ObjectT]:
        """Deprecated: `with_validator`. Go: WithCustomValidator."""
        return self.with_validator(validator)

    def with_converter(self, converter: Callable[[Scheme], conversion.Converter]) -> WebhookBuilder[ObjectT]:
        """Convert between the kind's versions with the converter that this function makes, not with methods of the
        types.

        Go: WithConverter.
        """
        self._converter = converter
        return self

    def with_log_constructor(self, log_constructor: LogConstructor) -> WebhookBuilder[ObjectT]:
        """Set the function that makes the loggers of requests. Go: WithLogConstructor."""
        self._log_constructor = log_constructor
        return self

    def with_context_func(self, context_func: Callable[[Context, Request], Context]) -> WebhookBuilder[ObjectT]:
        """Set the function that derives the contexts of requests. Go: WithContextFunc."""
        self._context_func = context_func
        return self

    def recover_panic(self, recover_panic: bool) -> WebhookBuilder[ObjectT]:
        """Set Go's flag for panics. It has no effect: an exception in a handler always becomes an error response.

        Go: RecoverPanic.
        """
        self._recover_panic = recover_panic
        return self

    def with_defaulter_custom_path(self, custom_path: str) -> WebhookBuilder[ObjectT]:
        """Serve the defaulter at this path. Go: WithDefaulterCustomPath."""
        self._defaulter_path = custom_path
        return self

    def with_validator_custom_path(self, custom_path: str) -> WebhookBuilder[ObjectT]:
        """Serve the validator at this path. Go: WithValidatorCustomPath."""
        self._validator_path = custom_path
        return self

    def complete(self) -> None:
        """Register the webhooks. Paths that the server already serves keep their handlers. Go: Complete.

        Raises ValueError for an invalid path, PartialImplementationError when only some versions of the kind convert.
        """
        self._waits_for_complete = False
        gvk = gvk_for_object(self._cls, self._mgr.get_scheme())
        self._register_defaulter(gvk)
        self._register_validator(gvk)
        self._register_conversion(gvk)

    def _register_defaulter(self, gvk: GroupVersionKind) -> None:
        if self._defaulter is None:
            _LOG.info("skip registering a mutating webhook, WithDefaulter wasn't called", GVK=gvk)
            return
        webhook = admission.with_defaulter(
            self._mgr.get_scheme(), self._cls, self._defaulter, *self._defaulter_options
        )
        self._register("mutating", self._path("mutate", gvk, self._defaulter_path), gvk, webhook)

    def _register_validator(self, gvk: GroupVersionKind) -> None:
        if self._validator is None:
            _LOG.info("skip registering a validating webhook, WithValidator wasn't called", GVK=gvk)
            return
        webhook = admission.with_validator(self._mgr.get_scheme(), self._cls, self._validator)
        self._register("validating", self._path("validate", gvk, self._validator_path), gvk, webhook)

    def _register(self, kind: str, path: str, gvk: GroupVersionKind, webhook: admission.Webhook) -> None:
        webhook.log_constructor = self._log_constructor or _log_constructor_for(gvk)
        webhook.with_context_func = self._context_func
        webhook.recover_panic = self._recover_panic
        server = self._mgr.get_webhook_server()
        if server.webhook_mux().handles(path):
            return
        _LOG.info(f"Registering a {kind} webhook", GVK=gvk, path=path)
        server.register(path, webhook)

    @staticmethod
    def _path(verb: str, gvk: GroupVersionKind, custom: str) -> str:
        if not custom:
            return f"/{verb}-{gvk.group.replace('.', '-')}-{gvk.version}-{gvk.kind.lower()}"
        if not _PATH.fullmatch(custom):
            raise ValueError(f'customPath "{custom}" does not match this regex: ^{_PATH.pattern}$')
        return custom

    def _register_conversion(self, gvk: GroupVersionKind) -> None:
        scheme = self._mgr.get_scheme()
        if self._converter is not None:
            self._mgr.get_converter_registry().register_converter(gvk.group_kind(), self._converter(scheme))
        elif not conversion.is_convertible(scheme, self._cls()):
            return
        server = self._mgr.get_webhook_server()
        if not server.webhook_mux().handles(_CONVERT):
            handler = conversion.new_webhook_handler(scheme, self._mgr.get_converter_registry())
            server.register(_CONVERT, handler)
        _LOG.info("Conversion webhook enabled", GVK=gvk)


def _log_constructor_for(gvk: GroupVersionKind) -> LogConstructor:
    def construct(base: Logger, req: Any) -> Logger:
        return default_log_constructor(base.with_values(webhookGroup=gvk.group, webhookKind=gvk.kind), req)

    return construct
