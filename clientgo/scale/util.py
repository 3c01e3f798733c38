"""The kinds of scale subresources and their conversion. Mirrors client-go's scale/util.go."""

from __future__ import annotations

import threading
from typing import Protocol

from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.codec import new_multi_group_versioner
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.runtime.serializer import CodecFactory, new_codec_factory
from clientgo.discovery import ServerResourcesInterface
from clientgo.scale import scheme as scalescheme
from clientgo.scale.scheme import (
    appsint,
    appsv1beta1,
    appsv1beta2,
    autoscalingv1,
    extensionsint,
    extensionsv1beta1,
)

__all__ = [
    "PreferredResourceMapper",
    "ScaleConverter",
    "ScaleKindResolver",
    "new_discovery_scale_kind_resolver",
    "new_scale_converter",
]


# The packages of the known versions of Scale.
_VERSIONS = (autoscalingv1, scalescheme, extensionsv1beta1, extensionsint, appsint, appsv1beta1, appsv1beta2)


class PreferredResourceMapper(Protocol):
    """A mapper to the preferred version of a resource; every meta.RESTMapper is one. Go: PreferredResourceMapper."""

    def resource_for(self, resource: GroupVersionResource) -> GroupVersionResource:
        """Return the preferred version of a partial resource. May block. Go: ResourceFor."""
        ...


class ScaleKindResolver(Protocol):
    """A resolver of the kind of a resource's scale subresource. Thread-safe. Go: ScaleKindResolver."""

    def scale_for_resource(self, resource: GroupVersionResource) -> GroupVersionKind:
        """Return the kind of the scale subresource. May block. Raises ValueError if there is none.

        Go: ScaleForResource.
        """
        ...


class _DiscoveryScaleResolver:
    """A resolver that reads discovery at each call."""

    def __init__(self, client: ServerResourcesInterface) -> None:
        self._client = client

    def scale_for_resource(self, resource: GroupVersionResource) -> GroupVersionKind:
        group_version = resource.group_version()
        try:
            listed = self._client.server_resources_for_group_version(str(group_version))
        except Exception as err:
            raise ValueError(f"unable to fetch discovery information for {resource}: {err}") from err
        for found in listed.api_resources:
            if found.name == f"{resource.resource}/scale":
                has_own_version = bool(found.group and found.version)
                scale_version = GroupVersion(found.group, found.version) if has_own_version else group_version
                return scale_version.with_kind(found.kind)
        raise ValueError(f"could not find scale subresource for {resource} in discovery information")


class _CachedScaleKindResolver:
    """A cache of found kinds, not of errors. Two threads may fetch the same kind."""

    def __init__(self, base: ScaleKindResolver) -> None:
        self._base = base
        # Guards _kinds; not held during a request.
        self._lock = threading.Lock()
        self._kinds: dict[GroupVersionResource, GroupVersionKind] = {}

    def scale_for_resource(self, resource: GroupVersionResource) -> GroupVersionKind:
        with self._lock:
            known = self._kinds.get(resource)
        if known is None:
            known = self._base.scale_for_resource(resource)
            with self._lock:
                self._kinds[resource] = known
        return known

    def __repr__(self) -> str:
        return f"<resolver of scale kinds, {len(self._kinds)} cached>"


def new_discovery_scale_kind_resolver(client: ServerResourcesInterface) -> ScaleKindResolver:
    """Return a resolver that reads kinds from discovery and caches them. Go: NewDiscoveryScaleKindResolver."""
    return _CachedScaleKindResolver(_DiscoveryScaleResolver(client))


class ScaleConverter:
    """A converter between the versions of Scale. Thread-safe. Go: scale.ScaleConverter."""

    def __init__(self) -> None:
        self._scheme = Scheme("clientgo.scale")
        for module in _VERSIONS:
            module.add_to_scheme(self._scheme)
        self._codecs = new_codec_factory(self._scheme)
        groups = (extensionsv1beta1, autoscalingv1, appsv1beta1, appsv1beta2)
        self._internal_versioner = new_multi_group_versioner(
            scalescheme.SCHEME_GROUP_VERSION, *(GroupKind(module.GROUP_NAME, "Scale") for module in groups)
        )

    def scheme(self) -> Scheme:
        """Return the scheme with all versions. Go: Scheme."""
        return self._scheme

    def codecs(self) -> CodecFactory:
        """Return the codecs of the scheme. Go: Codecs."""
        return self._codecs

    def scale_versions(self) -> list[GroupVersion]:
        """Return the known group versions of Scale. Go: ScaleVersions."""
        return [module.SCHEME_GROUP_VERSION for module in _VERSIONS]

    def convert_to_version(self, obj: Object, out_version: GroupVersion) -> Object:
        """Return a copy of a Scale in another group version. Go: ConvertToVersion.

        Raises ValueError for an invalid selector, NotRegisteredError for another kind or an unknown version.
        """
        internal = self._scheme.convert_to_version(obj, self._internal_versioner)
        return self._scheme.convert_to_version(internal, out_version)

    def __repr__(self) -> str:
        return f"<ScaleConverter of {len(self.scale_versions())} versions>"


def new_scale_converter() -> ScaleConverter:
    """Return a converter with a scheme of its own. Go: scale.NewScaleConverter."""
    return ScaleConverter()
