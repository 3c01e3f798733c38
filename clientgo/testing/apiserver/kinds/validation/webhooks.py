"""Validation of webhook configurations. Mirrors pkg/apis/admissionregistration/validation."""

from __future__ import annotations

from urllib.parse import urlsplit

from clientgo.apimachinery.util.validation import is_dns1123_subdomain
from clientgo.testing.apiserver.kinds.validation.fields import choice, label_selector, named
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_invalid,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

_REVIEWS = ("v1", "v1beta1")
_OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]
_DESIRED = "desired format: https://host[/path]"


def configuration(obj: Json) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, hook in enumerate(obj.get("webhooks") or ()):
        where, name = f"webhooks[{i}]", hook.get("name", "")
        errors += _webhook(hook, where)
        errors += _reviews(hook.get("admissionReviewVersions") or [], f"{where}.admissionReviewVersions")
        if name and name in seen:
            errors.append(field_duplicate(f"{where}.name", name))
        seen.add(name)
    return errors


def _reviews(versions: list[str], field: str) -> list[FieldError]:
    if not versions:
        return [field_required(field, "must specify one of v1, v1beta1")]
    errors = []
    for i, version in enumerate(versions):
        if version in versions[:i]:
            errors.append(field_invalid(f"{field}[{i}]", version, "duplicate version"))
    if not set(versions) & set(_REVIEWS):
        errors.append(field_invalid(field, versions, f"must include at least one of {', '.join(_REVIEWS)}"))
    return errors


def _webhook(hook: Json, field: str) -> list[FieldError]:
    errors = _domain(hook.get("name", ""), f"{field}.name")
    for i, rule in enumerate(hook.get("rules") or ()):
        errors += _rule(rule, f"{field}.rules[{i}]")
    errors += choice(hook, field, "failurePolicy", ["Fail", "Ignore"])
    errors += choice(hook, field, "matchPolicy", ["Equivalent", "Exact"])
    effects = hook.get("sideEffects")
    if effects is None:
        errors.append(field_required(f"{field}.sideEffects", "must specify one of None, NoneOnDryRun"))
    elif effects not in ("None", "NoneOnDryRun"):
        errors.append(field_not_supported(f"{field}.sideEffects", effects, ["None", "NoneOnDryRun"]))
    seconds = hook.get("timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= 30:
        text = "the timeout value must be between 1 and 30 seconds"
        errors.append(field_invalid(f"{field}.timeoutSeconds", seconds, text))
    for name in ("namespaceSelector", "objectSelector"):
        errors += label_selector(hook.get(name), f"{field}.{name}")
    errors += client_config(hook.get("clientConfig") or {}, f"{field}.clientConfig")
    errors += choice(hook, field, "reinvocationPolicy", ["IfNeeded", "Never"])
    return errors


def _domain(name: str, field: str) -> list[FieldError]:
    if not name:
        return [field_required(field)]
    errors = named(name, field, is_dns1123_subdomain)
    if not errors and name.count(".") < 2:
        errors.append(field_invalid(field, name, "should be a domain with at least three segments separated by dots"))
    return errors


def _rule(rule: Json, field: str) -> list[FieldError]:
    operations = rule.get("operations") or []
    errors = [] if operations else [field_required(f"{field}.operations")]
    if len(operations) > 1 and "*" in operations:
        text = "if '*' is present, must not specify other operations"
        errors.append(field_invalid(f"{field}.operations", operations, text))
    for i, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            errors.append(field_not_supported(f"{field}.operations[{i}]", operation, _OPERATIONS))
    for name, plural in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values = rule.get(name) or []
        if not values:
            errors.append(field_required(f"{field}.{name}"))
        if len(values) > 1 and "*" in values:
            text = f"if '*' is present, must not specify other {plural}"
            errors.append(field_invalid(f"{field}.{name}", values, text))
    return (
        errors
        + _resources(rule.get("resources") or [], f"{field}.resources")
        + choice(rule, field, "scope", ["*", "Cluster", "Namespaced"])
    )


def _resources(values: list[str], field: str) -> list[FieldError]:
    if not values:
        return [field_required(field)]
    errors = []
    for i, value in enumerate(values):
        if not value:
            errors.append(field_required(f"{field}[{i}]"))
    if len(values) > 1 and "*/*" in values:
        text = "if '*/*' is present, must not specify other resources"
        errors.append(field_invalid(field, values, text))
    plain = [value for value in values if "/" not in value]
    if "*" in plain and len(plain) > 1:
        text = "if '*' is present, must not specify other resources without subresources"
        errors.append(field_invalid(field, values, text))
    return errors


def client_config(config: Json, field: str) -> list[FieldError]:
    """Validate the address of a webhook: a URL or a service."""
    if (config.get("url") is None) == (config.get("service") is None):
        return [field_required(field, "exactly one of url or service is required")]
    if config.get("url") is not None:
        return _url(config["url"], f"{field}.url")
    service, where = config["service"], f"{field}.service"
    # Go takes one for the other.
    swapped = {"name": "namespace", "namespace": "name"}
    errors = [field_required(f"{where}.{swapped[name]}") for name in ("namespace", "name") if not service.get(name)]
    port = service.get("port", 443)
    if not 0 < port < 65536:
        text = "port is not valid: must be between 1 and 65535, inclusive"
        errors.append(field_invalid(f"{where}.port", port, text))
    path = service.get("path")
    if path is not None and path != "" and path != "/":
        errors += _path(path, f"{where}.path")
    return errors


def _path(path: str, field: str) -> list[FieldError]:
    if not path.startswith("/"):
        return [field_invalid(field, path, "must start with a '/'")]
    errors = []
    steps = path[1:].removesuffix("/").split("/")
    for i, step in enumerate(steps):
        if not step:
            errors.append(field_invalid(field, path, f"segment[{i}] may not be empty"))
        else:
            errors += [field_invalid(field, path, f"segment[{i}]: {text}") for text in is_dns1123_subdomain(step)]
    return errors


def _url(url: str, field: str) -> list[FieldError]:
    if not url:
        return [field_required(field, f"url must be specified; {_DESIRED}")]
    try:
        parts = urlsplit(url)
    except ValueError as err:
        return [field_required(field, f"url must be a valid URL: {err}; {_DESIRED}")]
    errors = []
    if parts.scheme != "https":
        text = f"'https' is the only allowed URL scheme; {_DESIRED}"
        errors.append(field_invalid(field, parts.scheme, text))
    if not parts.netloc.rpartition("@")[2]:
        errors.append(field_invalid(field, "", f"host must be specified; {_DESIRED}"))
    if "@" in parts.netloc:
        user = parts.netloc.rpartition("@")[0]
        errors.append(field_invalid(field, user, "user information is not permitted in the URL"))
    if parts.fragment:
        errors.append(field_invalid(field, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        errors.append(field_invalid(field, parts.query, "query parameters are not permitted in the URL"))
    return errors
