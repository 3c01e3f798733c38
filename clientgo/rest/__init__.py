"""The HTTP client for the Kubernetes API. Mirrors k8s.io/client-go/rest."""

from typing import TYPE_CHECKING

from clientgo.golang.http import URLError
from clientgo.lazy_loader import attach
from clientgo.rest.client import ClientContentConfig, Interface, RESTClient, new_rest_client
from clientgo.rest.config import (
    DEFAULT_BURST,
    DEFAULT_QPS,
    Config,
    ContentConfig,
    ErrNotInCluster,
    ImpersonationConfig,
    TLSClientConfig,
    add_user_agent,
    anonymous_client_config,
    codec_factory_for_generated_client,
    copy_config,
    default_kubernetes_user_agent,
    in_cluster_config,
    is_config_transport_tls,
    load_tls_files,
    rest_client_for,
    rest_client_for_config_and_client,
    set_kubernetes_defaults,
    unversioned_rest_client_for,
    unversioned_rest_client_for_config_and_client,
)
from clientgo.rest.plugin import (
    AuthProvider,
    AuthProviderConfigPersister,
    Factory,
    get_auth_provider,
    register_auth_provider_plugin,
)
from clientgo.rest.request import (
    NAME_MAY_NOT_BE,
    NAME_MAY_NOT_CONTAIN,
    HTTPClient,
    Request,
    RequestConstructionError,
    ResponseWrapper,
    Result,
    is_valid_path_segment_name,
    is_valid_path_segment_prefix,
    new_request,
    new_request_with_client,
    validate_path_segment_name,
)
from clientgo.rest.sharding import with_sharding_server
from clientgo.rest.transport import http_client_for, http_wrappers_for_config, tls_config_for, transport_for
from clientgo.rest.url_utils import default_server_url, default_server_url_for, default_versioned_api_path
from clientgo.rest.urlbackoff import BackoffManager, BackoffManagerWithContext, NoBackoff, URLBackoff
from clientgo.rest.warnings import (
    NoWarnings,
    WarningHandler,
    WarningHandlerWithContext,
    WarningLogger,
    WarningWriterOptions,
    new_warning_writer,
    set_default_warning_handler,
    set_default_warning_handler_with_context,
)
from clientgo.rest.with_retry import IsRetryableErrorFunc, RetryAfter, WithRetry

if TYPE_CHECKING:
    from clientgo.rest.exec import config_to_exec_cluster, exec_cluster_to_config
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "exec": ["config_to_exec_cluster", "exec_cluster_to_config"],
        },
    )

__all__ = [
    "DEFAULT_BURST",
    "DEFAULT_QPS",
    "NAME_MAY_NOT_BE",
    "NAME_MAY_NOT_CONTAIN",
    "AuthProvider",
    "AuthProviderConfigPersister",
    "BackoffManager",
    "BackoffManagerWithContext",
    "ClientContentConfig",
    "Config",
    "ContentConfig",
    "ErrNotInCluster",
    "Factory",
    "HTTPClient",
    "ImpersonationConfig",
    "Interface",
    "IsRetryableErrorFunc",
    "NoBackoff",
    "NoWarnings",
    "RESTClient",
    "Request",
    "RequestConstructionError",
    "ResponseWrapper",
    "Result",
    "RetryAfter",
    "TLSClientConfig",
    "URLBackoff",
    "URLError",
    "WarningHandler",
    "WarningHandlerWithContext",
    "WarningLogger",
    "WarningWriterOptions",
    "WithRetry",
    "add_user_agent",
    "anonymous_client_config",
    "codec_factory_for_generated_client",
    "config_to_exec_cluster",
    "copy_config",
    "default_kubernetes_user_agent",
    "default_server_url",
    "default_server_url_for",
    "default_versioned_api_path",
    "exec_cluster_to_config",
    "get_auth_provider",
    "http_client_for",
    "http_wrappers_for_config",
    "in_cluster_config",
    "is_config_transport_tls",
    "is_valid_path_segment_name",
    "is_valid_path_segment_prefix",
    "load_tls_files",
    "new_request",
    "new_request_with_client",
    "new_rest_client",
    "new_warning_writer",
    "register_auth_provider_plugin",
    "rest_client_for",
    "rest_client_for_config_and_client",
    "set_default_warning_handler",
    "set_default_warning_handler_with_context",
    "set_kubernetes_defaults",
    "tls_config_for",
    "transport_for",
    "unversioned_rest_client_for",
    "unversioned_rest_client_for_config_and_client",
    "validate_path_segment_name",
    "with_sharding_server",
]
