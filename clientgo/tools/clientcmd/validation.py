"""Validation of kubeconfigs. Mirrors tools/clientcmd/validation.go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from clientgo.apimachinery.util import validation
from clientgo.apimachinery.util.errors import AggregateError
from clientgo.golang.http import redacted_url
from clientgo.golang.strconv import quote
from clientgo.klog.exceptions import operational_error
from clientgo.tools.clientcmd.api import (
    AuthInfo,
    Cluster,
    Config,
    Context,
    ExecConfig,
    ExecInteractiveMode,
    is_config_empty,
)
from clientgo.tools.clientcmd.helpers import file_error, parse_proxy_url


@operational_error
class ErrNoContext(Exception):
    """Raised if no context was chosen."""

    def __init__(self) -> None:
        super().__init__("no context chosen")


@operational_error
class _EmptyConfigError(Exception):
    """Raised for an empty config, which `is_empty_config` detects."""


class ErrEmptyConfig(_EmptyConfigError):
    """Raised if no configuration was given."""

    def __init__(self) -> None:
        super().__init__("no configuration has been provided, try setting KUBERNETES_MASTER environment variable")


@operational_error
class ErrEmptyCluster(Exception):
    """Raised if the cluster is empty."""

    def __init__(self) -> None:
        super().__init__("cluster has no server defined")


@operational_error
class _ContextNotFoundError(Exception):
    def __init__(self, context_name: str) -> None:
        self.context_name = context_name
        super().__init__(f"context was not found for specified context: {context_name}")


@operational_error
class _ConfigurationInvalidError(AggregateError):
    """Raised with all problems of a config."""

    def __str__(self) -> str:
        return f"invalid configuration: {super().__str__()}"


def new_empty_config_error(message: str) -> Exception:
    """Return an error that `is_empty_config` detects. Go: NewEmptyConfigError."""
    return _EmptyConfigError(message)


def is_context_not_found(err: BaseException | None) -> bool:
    """Report whether the error means that a context is missing. Go: IsContextNotFound."""
    if err is None:
        return False
    known = isinstance(err, (_ContextNotFoundError, ErrNoContext))
    return known or "context was not found for specified context" in str(err)


def is_empty_config(err: BaseException | None) -> bool:
    """Report whether the error means only that there is no configuration. Go: IsEmptyConfig."""
    if isinstance(err, _ConfigurationInvalidError):
        errors = err.errors()
        return len(errors) == 1 and isinstance(errors[0], _EmptyConfigError)
    return isinstance(err, _EmptyConfigError)


def is_configuration_invalid(err: BaseException | None) -> bool:
    """Report whether the error means that the configuration is invalid. Go: IsConfigurationInvalid."""
    return isinstance(err, (_ContextNotFoundError, _ConfigurationInvalidError)) or is_context_not_found(err)


def raise_if_invalid(errors: Sequence[BaseException]) -> None:
    """Raise one error with all problems, if there are any."""
    if errors:
        raise _ConfigurationInvalidError(errors)


def validate(config: Config) -> None:
    """Validate all of a config. Raises one error with all problems. Go: Validate."""
    if is_config_empty(config):
        raise_if_invalid([ErrEmptyConfig()])
    errors: list[BaseException] = []
    if config.current_context and config.current_context not in config.contexts:
        errors.append(_ContextNotFoundError(config.current_context))
    for name, context in config.contexts.items():
        errors += _validate_context(name, context, config)
    for name, info in config.auth_infos.items():
        errors += validate_auth_info(name, info)
    for name, cluster in config.clusters.items():
        errors += validate_cluster_info(name, cluster)
    raise_if_invalid(errors)


def confirm_usable(config: Config, passed_context_name: str) -> None:
    """Validate the entries of a context, by default the current one. Raises the errors of `validate`.

    Go: ConfirmUsable.
    """
    if is_config_empty(config):
        raise_if_invalid([ErrEmptyConfig()])
    name = passed_context_name or config.current_context
    if not name:
        raise ErrNoContext
    context = config.contexts.get(name)
    if context is None:
        raise_if_invalid([_ContextNotFoundError(name)])
    context = cast(Context, context)
    raise_if_invalid(
        [
            *_validate_context(name, context, config),
            *validate_auth_info(context.auth_info, config.auth_infos.get(context.auth_info) or AuthInfo()),
            *validate_cluster_info(context.cluster, config.clusters.get(context.cluster)),
        ]
    )


def context_not_found(context_name: str) -> Exception:
    """Return the error for a missing context."""
    return _ContextNotFoundError(context_name)


def validate_cluster_info(cluster_name: str, cluster: Cluster | None) -> list[BaseException]:
    """Return the errors of a cluster. None means a missing cluster, which differs from an empty one."""
    if cluster == Cluster():
        return [ErrEmptyCluster()]
    cluster = cluster or Cluster()
    errors: list[BaseException] = []
    if not cluster.server:
        message = (
            f"no server found for cluster {quote(cluster_name)}"
            if cluster_name
            else "default cluster has no server defined"
        )
        errors.append(ValueError(message))
    if cluster.proxy_url:
        try:
            parse_proxy_url(cluster.proxy_url)
        except ValueError as err:
            where = f"invalid 'proxy-url' {quote(redacted_url(cluster.proxy_url))} for cluster {quote(cluster_name)}"
            errors.append(ValueError(f"{where}: {err}"))
    if cluster.certificate_authority and cluster.certificate_authority_data:
        errors.append(
            ValueError(
                f"certificate-authority-data and certificate-authority are both specified for {cluster_name}. "
                "certificate-authority-data will override."
            )
        )
    errors += _unreadable("certificate-authority", cluster.certificate_authority, cluster_name)
    return errors


def _unreadable(field: str, path: str, name: str) -> list[BaseException]:
    if not path:
        return []
    try:
        with open(path, "rb"):
            return []
    except OSError as err:
        cause = file_error("open", path, err)
        wrapped = ValueError(f"unable to read {field} {path} for {name} due to {cause}")
        wrapped.__cause__ = cause
        return [wrapped]


def validate_auth_info(name: str, info: AuthInfo) -> list[BaseException]:
    """Return the errors of a user."""
    errors: list[BaseException] = []
    if info.client_certificate or info.client_certificate_data:
        errors += _validate_client_certificate(name, info)
    if info.exec is not None:
        errors += _validate_exec(name, info, info.exec)
    methods = ["token"] if info.token else []
    if info.username or info.password:
        methods.append("basicAuth")
    if len(methods) > 1:
        found = f"[{' '.join(methods)}]"
        message = f"more than one authentication method found for {name}; found {found}, only one is allowed"
        errors.append(ValueError(message))
    if (info.impersonate_uid or info.impersonate_groups or info.impersonate_user_extra) and not info.impersonate:
        errors.append(ValueError(f"requesting uid, groups or user-extra for {name} without impersonating a user"))
    return errors


def _validate_client_certificate(name: str, info: AuthInfo) -> list[BaseException]:
    errors: list[BaseException] = []
    if info.client_certificate and info.client_certificate_data:
        message = f"client-cert-data and client-cert are both specified for {name}. client-cert-data will override."
        errors.append(ValueError(message))
    if info.client_key and info.client_key_data:
        message = f"client-key-data and client-key are both specified for {name}; client-key-data will override"
        errors.append(ValueError(message))
    if not info.client_key and not info.client_key_data:
        message = f"client-key-data or client-key must be specified for {name}"
        errors.append(ValueError(f"{message} to use the clientCert authentication method."))
    errors += _unreadable("client-cert", info.client_certificate, name)
    errors += _unreadable("client-key", info.client_key, name)
    return errors


def _validate_exec(name: str, info: AuthInfo, config: ExecConfig) -> list[BaseException]:
    from clientgo.plugin.pkg.client.auth.exec import validate_plugin_policy

    messages = []
    if info.auth_provider is not None:
        messages.append(f"authProvider cannot be provided in combination with an exec plugin for {name}")
    suffix = f"must be specified for {name} to use exec authentication plugin"
    if not config.command:
        messages.append(f"command {suffix}")
    if not config.api_version:
        messages.append(f"apiVersion {suffix}")
    messages += [f"env variable name {suffix}" for variable in config.env if not variable.name]
    known = (ExecInteractiveMode.NEVER, ExecInteractiveMode.IF_AVAILABLE, ExecInteractiveMode.ALWAYS)
    if not config.interactive_mode:
        messages.append(f"interactiveMode {suffix}")
    elif config.interactive_mode not in known:
        messages.append(f"invalid interactiveMode for {name}: {quote(config.interactive_mode)}")
    errors: list[BaseException] = [ValueError(message) for message in messages]
    return errors + _failures(lambda: validate_plugin_policy(config.plugin_policy), "allowlist misconfiguration")


def _failures(check: Callable[[], None], prefix: str) -> list[BaseException]:
    try:
        check()
    except ValueError as err:
        return [ValueError(f"{prefix}: {err}")]
    return []


def _validate_context(name: str, context: Context, config: Config) -> list[BaseException]:
    """Return the errors of a context, without those of its user and cluster."""
    messages = []
    if not name:
        messages.append(f"empty context name for {context!r} is not allowed")
    if not context.auth_info:
        messages.append(f"user was not specified for context {quote(name)}")
    elif context.auth_info not in config.auth_infos:
        messages.append(f"user {quote(context.auth_info)} was not found for context {quote(name)}")
    if not context.cluster:
        messages.append(f"cluster was not specified for context {quote(name)}")
    elif context.cluster not in config.clusters:
        messages.append(f"cluster {quote(context.cluster)} was not found for context {quote(name)}")
    if context.namespace and validation.is_dns1123_label(context.namespace):
        where = f"namespace {quote(context.namespace)} for context {quote(name)}"
        messages.append(f"{where} does not conform to the kubernetes DNS_LABEL rules")
    return [ValueError(message) for message in messages]
