"""Names and amounts of resources: cpu, memory, huge pages, and extended resources."""

from __future__ import annotations

from clientgo.apimachinery.api import resource as quantities
from clientgo.apimachinery.util.validation import is_qualified_name
from clientgo.testing.apiserver.kinds.validation.fields import NOT_NEGATIVE, named
from clientgo.testing.apiserver.wire.errors import FieldError, field_forbidden, field_invalid, field_required
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.utils.shortcache import short_cache

_HUGE = "hugepages-"
_CONTAINER = {"cpu", "memory", "ephemeral-storage"}
# Things that are counted, and never come in halves.
COUNTED = {
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
}
_STANDARD = _CONTAINER | COUNTED | {"storage"}
_REQUESTS_OR_LIMITS = {f"{kind}.{name}" for kind in ("requests", "limits") for name in _CONTAINER}
_QUOTA = _CONTAINER | COUNTED | _REQUESTS_OR_LIMITS | {"requests.storage"}


def parse(amount: str) -> quantities.Quantity:
    return _parsed(str(amount))


# The same few amounts are written everywhere; quantities do not change.
_parsed = short_cache(maxsize=1024)(quantities.parse_quantity)


def is_standard(name: str) -> bool:
    return name in _STANDARD or name in _REQUESTS_OR_LIMITS or name == "requests.storage" or _is_huge_in_quota(name)


def is_huge(name: str) -> bool:
    return name.startswith(_HUGE)


def _is_huge_in_quota(name: str) -> bool:
    """Report whether a quota limits huge pages by this name. Go: IsQuotaHugePageResourceName."""
    return is_huge(name.removeprefix("requests."))


def is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Report whether this is an extended resource of a node, which has its own domain and whole amounts."""
    return not is_native(name) and not name.startswith("requests.") and not is_qualified_name(f"requests.{name}")


def container_name(name: str, field: str) -> list[FieldError]:
    """Validate the name of a container's resource."""
    errors = resource_name(name, field)
    if "/" not in name:
        if name not in _CONTAINER and not is_huge(name):
            errors.append(field_invalid(field, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        errors.append(field_invalid(field, name, "doesn't follow extended resource name standard"))
    return errors


def resource_name(name: str, field: str) -> list[FieldError]:
    errors = named(name, field, is_qualified_name)
    if not errors and "/" not in name and not is_standard(name):
        errors.append(field_invalid(field, name, "must be a standard resource type or fully qualified"))
    return errors


def quota_name(name: str, field: str) -> list[FieldError]:
    errors = resource_name(name, field)
    if "/" not in name and name not in _QUOTA and not _is_huge_in_quota(name):
        errors.append(field_invalid(field, name, "must be a standard resource for quota"))
    return errors


def amount_of(name: str, amount: str, field: str) -> list[FieldError]:
    """Validate that an amount is not negative, and is an integer for resources that cannot be divided."""
    quantity = parse(amount)
    errors = []
    if quantity.sign() < 0:
        errors.append(field_invalid(field, amount, NOT_NEGATIVE))
    if (name in COUNTED or is_extended(name)) and quantity.milli_value() % 1000:
        errors.append(field_invalid(field, amount, "must be an integer"))
    return errors


def requirements(wanted: Json, field: str) -> list[FieldError]:
    """Validate a container's requests and limits."""
    errors = []
    limits, requests = wanted.get("limits") or {}, wanted.get("requests") or {}
    for name, amount in limits.items():
        where = f"{field}.limits[{name}]"
        errors += container_name(name, where) + amount_of(name, amount, where) + _whole_pages(name, amount, where)
    for name, amount in requests.items():
        where = f"{field}.requests[{name}]"
        errors += container_name(name, where) + amount_of(name, amount, where)
        errors += _within(name, amount, limits.get(name), field)
        errors += _whole_pages(name, amount, where)
    names = {*limits, *requests}
    if any(map(is_huge, names)) and not names & {"cpu", "memory"}:
        errors.append(field_forbidden(field, "HugePages require cpu or memory"))
    return errors


def _within(name: str, amount: str, limit: str | None, field: str) -> list[FieldError]:
    """Validate that a resource that cannot be overcommitted has equal request and limit."""
    overcommits = is_native(name) and not is_huge(name)
    if limit is None:
        text = "Limit must be set for non overcommitable resources"
        return [] if overcommits else [field_required(f"{field}.limits", text)]
    order = parse(amount).cmp(parse(limit))
    if order and not overcommits:
        return [field_invalid(f"{field}.requests", amount, f"must be equal to {name} limit of {limit}")]
    if order > 0:
        return [field_invalid(f"{field}.requests", amount, f"must be less than or equal to {name} limit of {limit}")]
    return []


def _whole_pages(name: str, amount: str, field: str) -> list[FieldError]:
    if not is_huge(name):
        return []
    try:
        page = parse(name.removeprefix(_HUGE)).value()
    except ValueError:
        return []
    if page > 0 and parse(amount).value() % page == 0:
        return []
    return [field_invalid(field, amount, f"{amount} is not positive integer multiple of {name}")]
