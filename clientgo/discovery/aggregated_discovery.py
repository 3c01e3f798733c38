"""Conversion of aggregated discovery to groups and resource lists. Mirrors discovery/aggregated_discovery.go.

Difference: the aggregated document is plain JSON; its two versions have the same fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.klog.exceptions import operational_error

Resources = dict[GroupVersion, metav1.APIResourceList]
Failures = dict[GroupVersion, Exception]


@operational_error
class StaleGroupVersionError(Exception):
    """Raised if the aggregation layer could not reach the server of a group version."""

    def __init__(self, gv: GroupVersion) -> None:
        self.gv = gv
        super().__init__(f"stale GroupVersion discovery: {gv}")


def split_groups_and_resources(aggregated_groups: Mapping[str, Any]) -> tuple[metav1.APIGroupList, Resources, Failures]:
    """Return the groups, the resources by group version, and the stale group versions. Go: SplitGroupsAndResources."""
    groups: list[dict[str, Any]] = []
    resources: Resources = {}
    failed: Failures = {}
    for aggregated in aggregated_groups.get("items") or ():
        groups.append(_convert_api_group(aggregated, resources, failed))
    return metav1.APIGroupList.from_dict({"groups": groups}), resources, failed


def split_groups_and_resources_v2beta1(
    aggregated_groups: Mapping[str, Any],
) -> tuple[metav1.APIGroupList, Resources, Failures]:
    """Return the same as `split_groups_and_resources`, for v2beta1. Go: SplitGroupsAndResourcesV2Beta1."""
    return split_groups_and_resources(aggregated_groups)


def _convert_api_group(aggregated: Mapping[str, Any], resources: Resources, failed: Failures) -> dict[str, Any]:
    name = (aggregated.get("metadata") or {}).get("name") or ""
    group: dict[str, Any] = {"name": name, "versions": []}
    for version in aggregated.get("versions") or ():
        gv = GroupVersion(name, version.get("version") or "")
        if version.get("freshness") == "Stale":
            failed[gv] = StaleGroupVersionError(gv)
            continue
        entry = {"groupVersion": str(gv), "version": gv.version}
        group["versions"].append(entry)
        # The first version that is not stale is preferred.
        group.setdefault("preferredVersion", dict(entry))
        document = {"groupVersion": str(gv), "resources": _convert_api_resources(version.get("resources") or ())}
        resources[gv] = metav1.APIResourceList.from_dict(document)
    return group


def _convert_api_resources(aggregated: Any) -> list[dict[str, Any]]:
    resources = []
    for resource in aggregated:
        converted = _convert_api_resource(resource)
        # A resource without a kind is only the parent of its subresources.
        if _kind(resource):
            resources.append(converted)
        for subresource in resource.get("subresources") or ():
            if _kind(subresource):
                resources.append(_convert_api_subresource(converted, subresource))
    return resources


def _convert_api_resource(resource: Mapping[str, Any]) -> dict[str, Any]:
    converted = {
        "name": resource.get("resource") or "",
        "singularName": resource.get("singularResource") or "",
        "namespaced": resource.get("scope") == "Namespaced",
        "verbs": list(resource.get("verbs") or ()),
        **_kind(resource),
    }
    for key in ("shortNames", "categories"):
        if resource.get(key):
            converted[key] = list(resource[key])
    return converted


def _convert_api_subresource(parent: Mapping[str, Any], subresource: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": f"{parent['name']}/{subresource.get('subresource') or ''}",
        "singularName": parent["singularName"],
        "namespaced": parent["namespaced"],
        "verbs": list(subresource.get("verbs") or ()),
        **_kind(subresource),
    }


def _kind(resource: Mapping[str, Any]) -> dict[str, str]:
    kind = resource.get("responseKind") or {}
    return {key: kind.get(key) or "" for key in ("group", "version", "kind")} if any(kind.values()) else {}
