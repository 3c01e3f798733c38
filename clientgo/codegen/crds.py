"""CustomResourceDefinitions from API types, which is what controller-gen does for Go's.

    crd = crds.crd_for(v1.Order, v1beta1.Order)
    print(crds.to_yaml(crd))

The fields and their markers give the schema ([structural.py](structural.py)), `CRD` and `GENCLIENT` of the class all
else. No Go file: controller-gen is a program, and its output is what stands here.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from clientgo.apiextensions import v1 as apiextensionsv1
from clientgo.apimachinery.runtime import CustomResource, JSONObject, PrinterColumn, ResourceObject
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersionKind
from clientgo.codegen import naming
from clientgo.codegen.commented import dump
from clientgo.codegen.structural import schema_of
from clientgo.codegen.writer import Output

API_VERSION = "apiextensions.k8s.io/v1"


def crd_for(cls: type[ResourceObject], *others: type[ResourceObject]) -> apiextensionsv1.CustomResourceDefinition:
    """Return the definition of a kind. `others` are the same kind in other versions.

    Names, scope and conversion come from the stored version. Raises ValueError for classes that are not kinds with
    clients
    or do not fit together, and, with the line, for a field that no schema can express.
    """
    versions = (cls, *others)
    stored = [each for each in versions if _settings(each).storage]
    if len(stored) != 1:
        raise ValueError(f"{_names(versions)}: {len(stored)} of them are stored, and exactly one must be (CRD.storage)")
    gvk, settings = _gvk(stored[0]), _settings(stored[0])
    plural, namespaced = _resource(stored[0])
    for each in versions:
        if (_gvk(each).group_kind(), _resource(each)) != (gvk.group_kind(), (plural, namespaced)):
            raise ValueError(f"{_names(versions)}: they differ in group, kind, resource or scope")
    if len({_gvk(each).version for each in versions}) < len(versions):
        raise ValueError(f"{_names(versions)}: a version is there twice")
    metadata: JSONObject = {"name": f"{plural}.{gvk.group}"}
    _put(metadata, annotations=dict(settings.annotations), labels=dict(settings.labels))
    spec: JSONObject = {
        "group": gvk.group,
        "scope": "Namespaced" if namespaced else "Cluster",
        "names": _resource_names(gvk.kind, plural, settings),
    }
    _put(spec, conversion=dict(settings.conversion))
    spec["versions"] = [_version(each) for each in versions]
    return apiextensionsv1.CustomResourceDefinition.from_dict(
        {"apiVersion": API_VERSION, "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec}
    )


def to_yaml(crd: apiextensionsv1.CustomResourceDefinition, existing: str = "") -> str:
    """Return the definition as YAML, with the comments of the `existing` text. The result is deterministic."""
    return dump(crd.to_dict(), existing)


def write(output: Output, path: Path, crd: apiextensionsv1.CustomResourceDefinition) -> None:
    """Write the definition to its file and keep the user's comments. Raises ValueError if the file is not YAML."""
    existing = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        text = to_yaml(crd, existing)
    except ValueError as err:
        raise ValueError(f"{path}: {err}") from err
    output.put(path, text)


def crds_of(apis: Iterable[str]) -> list[apiextensionsv1.CustomResourceDefinition]:
    """Return the definitions of all classes in the packages' `__all__` that have a `CRD` or a `GENCLIENT`.

    Classes with equal group and kind are versions of each other. Raises ValueError as `crd_for` does, and for a package
    without kinds.
    """
    kinds: dict[GroupKind, list[type[ResourceObject]]] = {}
    for name in apis:
        found = list(_kinds_of(name))
        if not found:
            raise ValueError(f"{name} exports no class with a CRD or a GENCLIENT in its __all__")
        for cls in found:
            kinds.setdefault(_gvk(cls).group_kind(), []).append(cls)
    return [crd_for(*versions) for versions in kinds.values()]


def _kinds_of(api: str) -> Iterator[type[ResourceObject]]:
    module = importlib.import_module(api)
    for name in sorted(getattr(module, "__all__", ())):
        cls = getattr(module, name, None)
        if isinstance(cls, type) and issubclass(cls, ResourceObject) and (cls.CRD or cls.GENCLIENT):
            yield cls


def file_name(crd: apiextensionsv1.CustomResourceDefinition) -> str:
    """Return the name that controller-gen gives the file: shop.example.com_orders.yaml."""
    return f"{crd.spec.group}_{crd.spec.names.plural}.yaml"


def _names(versions: Sequence[type]) -> str:
    return ", ".join(f"{each.__module__}.{each.__name__}" for each in versions)


def _gvk(cls: type[ResourceObject]) -> GroupVersionKind:
    if cls.GROUP_VERSION_KIND is None:
        raise ValueError(f"{_names([cls])} has no GROUP_VERSION_KIND")
    return cls.GROUP_VERSION_KIND


def _resource(cls: type[ResourceObject]) -> tuple[str, bool]:
    """Return the resource's name and whether it is namespaced."""
    settings, genclient = _settings(cls), cls.GENCLIENT
    name = settings.resource or (genclient.resource if genclient else naming.plural(_gvk(cls).kind))
    if settings.namespaced is not None:
        return name, settings.namespaced
    return name, genclient is None or genclient.namespaced


def _settings(cls: type[ResourceObject]) -> CustomResource:
    return cls.CRD or CustomResource()


def _put(document: JSONObject, **fields: Any) -> None:
    """Add the fields that are not empty."""
    document.update({key: value for key, value in fields.items() if value})


def _resource_names(kind: str, plural: str, settings: CustomResource) -> JSONObject:
    names: JSONObject = {"kind": kind, "plural": plural}
    _put(
        names,
        singular=settings.singular,
        listKind=settings.list_kind,
        shortNames=list(settings.short_names),
        categories=list(settings.categories),
    )
    return names


def _version(cls: type[ResourceObject]) -> JSONObject:
    settings = _settings(cls)
    version: JSONObject = {"name": _gvk(cls).version, "served": settings.served, "storage": settings.storage}
    _put(version, deprecated=settings.deprecated, deprecationWarning=settings.deprecation_warning)
    schema = schema_of(cls, descriptions=settings.descriptions, number_formats=settings.number_formats)
    version["schema"] = {"openAPIV3Schema": schema}
    _put(
        version,
        subresources=_subresources(cls, settings, schema),
        additionalPrinterColumns=[_column(column) for column in settings.printer_columns],
        selectableFields=[{"jsonPath": path} for path in settings.selectable_fields],
    )
    return version


def _subresources(cls: type[ResourceObject], settings: CustomResource, schema: JSONObject) -> JSONObject:
    found: JSONObject = {}
    has_status = settings.status
    if has_status is None:
        has_client = cls.GENCLIENT is None or "updateStatus" in cls.GENCLIENT.verbs
        has_status = "status" in schema["properties"] and has_client
    if has_status:
        found["status"] = {}
    if settings.scale is not None:
        found["scale"] = {
            "specReplicasPath": settings.scale.spec_replicas_path,
            "statusReplicasPath": settings.scale.status_replicas_path,
        }
        _put(found["scale"], labelSelectorPath=settings.scale.label_selector_path)
    return found


def _column(column: PrinterColumn) -> JSONObject:
    document: JSONObject = {"name": column.name, "type": column.type, "jsonPath": column.json_path}
    _put(document, description=column.description, format=column.format)
    if column.priority:
        document["priority"] = column.priority
    return document
