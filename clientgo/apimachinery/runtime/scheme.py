"""The scheme: which class stands for which group, version and kind. Mirrors runtime/scheme.go.

Objects here are documents in their versioned form, so what Go's scheme does for internal versions (conversion functions
between Go structs, defaulting functions, label conversion) has little to do: a conversion is registered per pair of
classes and copies by default. A class names its own kind (`GROUP_VERSION_KIND`); the scheme is what makes the names of
kinds in documents into classes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

from clientgo.apimachinery.runtime import conversion
from clientgo.apimachinery.runtime.converter import DEFAULT_UNSTRUCTURED_CONVERTER, deep_copy_json
from clientgo.apimachinery.runtime.documents import copied_document_of, refill
from clientgo.apimachinery.runtime.error import (
    new_missing_kind_err,
    new_missing_version_err,
    new_not_registered_err_for_kind,
    new_not_registered_err_for_target,
    new_not_registered_err_for_type,
)
from clientgo.apimachinery.runtime.interfaces import API_VERSION_INTERNAL, GroupVersioner, Unstructured
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind
from clientgo.golang.functions import raise_returned

FieldLabelConversionFunc = Callable[[str, str], tuple[str, str]]


class Scheme:
    """A registry that maps kinds to classes and classes to kinds. Go: runtime.Scheme.

    Fill it at start; afterwards any number of threads may read it. Registration takes a lock, reading needs none. The
    scheme registers the types of `add_known_types_later` on the first request for their group version, which therefore
    takes longer.

    Invariants:
      * classes[gvk] is cls  <=>  gvk in kinds[cls]
    """

    def __init__(self, name: str = "") -> None:
        self._name = name or "unnamed scheme"
        # Guards registration; readers see dicts that only grow.
        self._lock = threading.Lock()
        self._classes: dict[GroupVersionKind, type[Object]] = {}
        self._kinds: dict[type[Object], list[GroupVersionKind]] = {}
        self._unversioned: dict[type[Object], GroupVersionKind] = {}
        self._unversioned_kinds: dict[str, type[Object]] = {}
        self._label_conversions: dict[GroupVersionKind, FieldLabelConversionFunc] = {}
        self._defaulters: dict[type[Object], Callable[[Any], None]] = {}
        self._conversions: dict[tuple[type, type], Callable[[Any, Any], None]] = {}
        self._version_priority: dict[str, list[str]] = {}
        self._observed_versions: list[GroupVersion] = []
        # Held while a group version is filled in, by the thread that then registers its kinds, so taken before _lock.
        self._filling = threading.RLock()
        # Guarded by _filling: the packages of group versions that are still to be filled in, until they are; which
        # one is under way. Readers look at the dict without the lock.
        self._later: dict[GroupVersion, str] = {}
        self._under_way: GroupVersion | None = None

    # --- registration ---

    def add_known_types(self, group_version: GroupVersion, *classes: type[Object]) -> None:
        """Register classes under their own names as kinds. Go: AddKnownTypes."""
        for cls in classes:
            self.add_known_type_with_name(group_version.with_kind(cls.__name__), cls)

    def add_known_type_with_name(self, gvk: GroupVersionKind, cls: type[Object]) -> None:
        """Register `cls` as `gvk`. Raises ValueError when another class has the kind. Go: AddKnownTypeWithName."""
        if not gvk.version:
            raise ValueError(f"version is required on all types: {gvk} {cls.__name__}")
        if self._classes.get(gvk) is cls:
            return
        self._fill(gvk.group_version())
        with self._lock:
            present = self._classes.get(gvk)
            if present is not None and present is not cls:
                raise ValueError(
                    f"Double registration of different types for {gvk}: "
                    f"old={present.__module__}.{present.__qualname__}, new={cls.__module__}.{cls.__qualname__} "
                    f"in scheme {self._name!r}"
                )
            self._observe(gvk.group_version())
            self._classes[gvk] = cls
            kinds = self._kinds.setdefault(cls, [])
            if gvk not in kinds:
                kinds.append(gvk)

    def add_known_types_later(self, group_version: GroupVersion, package: str) -> None:
        """Let the package's `add_to_scheme` register the kinds of the group version when one is first asked for.

        It may register nothing else. Until then the package need not be imported: all groups of Kubernetes take a tenth
        of a second. No Go name.
        """
        with self._filling, self._lock:
            self._observe(group_version)
            self._later[group_version] = package
            taken = any(
                gvk == cls.GROUP_VERSION_KIND and cls not in self._unversioned
                for gvk, cls in self._classes.items()
                if gvk.group == group_version.group and gvk.version == group_version.version
            )
        if taken:  # Whether a kind has two classes is said at once.
            self._fill(group_version)

    def _fill(self, group_version: GroupVersion) -> None:
        package = self._later.get(group_version)
        if package is None:
            return
        # Not under the lock: another thread may be importing it, and wait for us when it registers.
        add_to_scheme = import_module(package).add_to_scheme
        with self._filling:
            if group_version not in self._later or group_version == self._under_way:
                return
            self._under_way = group_version
            try:
                add_to_scheme(self)
                del self._later[group_version]
            finally:
                self._under_way = None

    def _fill_all(self, group: str | None = None) -> None:
        for group_version in list(self._later):
            if group is None or group_version.group == group:
                self._fill(group_version)

    def _fill_for(self, cls: type[Object]) -> None:
        if self._later and cls.GROUP_VERSION_KIND is not None:
            self._fill(cls.GROUP_VERSION_KIND.group_version())

    def add_unversioned_types(self, group_version: GroupVersion, *classes: type[Object]) -> None:
        """Register kinds that are the same in every version. Go: AddUnversionedTypes."""
        self.add_known_types(group_version, *classes)
        with self._lock:
            for cls in classes:
                gvk = group_version.with_kind(cls.__name__)
                self._unversioned[cls] = gvk
                self._unversioned_kinds[gvk.kind] = cls

    def _observe(self, group_version: GroupVersion) -> None:
        internal = group_version.version in ("", API_VERSION_INTERNAL)
        if not internal and group_version not in self._observed_versions:
            self._observed_versions.append(group_version)

    # --- looking up ---

    def new(self, gvk: GroupVersionKind) -> Object:
        """Return an empty object of the kind. Raises the not-registered error. Go: New."""
        return self.class_for(gvk)()

    def class_for(self, gvk: GroupVersionKind) -> type[Object]:
        """Return the class of the kind. Raises the not-registered error."""
        cls = self._class(gvk) or self._unversioned_kinds.get(gvk.kind)
        if cls is None:
            raise new_not_registered_err_for_kind(self._name, gvk)
        return cls

    def _class(self, gvk: GroupVersionKind) -> type[Object] | None:
        cls = self._classes.get(gvk)
        if cls is None:
            # Looked for again in any case: another thread may just have filled in the last one.
            self._fill(gvk.group_version())
            cls = self._classes.get(gvk)
        return cls

    def object_kinds(self, obj: Object) -> tuple[list[GroupVersionKind], bool]:
        """Return the kinds that `obj` may be written as, and whether it is unversioned. Go: ObjectKinds.

        An unstructured object names its kind itself. Raises the missing-kind or missing-version error when it names
        none.
        """
        cls = type(obj)
        if not hasattr(cls, "GROUP_VERSION_KIND"):  # no object of the API
            raise new_not_registered_err_for_type(self._name, cls)
        self._fill_for(cls)
        if cls.GROUP_VERSION_KIND is None and cls not in self._kinds:
            return [self._own_kind(obj)], False
        kinds = self._kinds.get(cls)
        if not kinds:
            raise new_not_registered_err_for_type(self._name, cls)
        return list(kinds), cls in self._unversioned

    def _own_kind(self, obj: Object) -> GroupVersionKind:
        gvk = obj.group_version_kind()
        if not gvk.kind:
            raise new_missing_kind_err("unstructured object has no kind")
        if not gvk.version:
            raise new_missing_version_err("unstructured object has no version")
        return gvk

    def recognizes(self, gvk: GroupVersionKind) -> bool:
        """Report whether the kind is registered. Go: Recognizes."""
        return self._class(gvk) is not None

    def is_unversioned(self, obj: Object) -> tuple[bool, bool]:
        """Return whether the object's class is unversioned, and whether it is registered. Go: IsUnversioned."""
        self._fill_for(type(obj))
        known = type(obj) in self._kinds
        return known and type(obj) in self._unversioned, known

    def unversioned_kind(self, cls: type[Object]) -> GroupVersionKind | None:
        """Return the kind that objects of an unversioned class are written as; None for all other classes."""
        self._fill_for(cls)
        return self._unversioned.get(cls)

    def is_group_registered(self, group: str) -> bool:
        """Report whether the scheme has versions of the group. Go: IsGroupRegistered."""
        return any(version.group == group for version in self._observed_versions)

    def is_version_registered(self, group_version: GroupVersion) -> bool:
        """Report whether the scheme has the version. Go: IsVersionRegistered."""
        return group_version in self._observed_versions

    def known_types(self, group_version: GroupVersion) -> dict[str, type[Object]]:
        """Return the class of each kind in one group version. Go: KnownTypes."""
        self._fill(group_version)
        return {gvk.kind: cls for gvk, cls in list(self._classes.items()) if gvk.group_version() == group_version}

    def all_known_types(self) -> dict[GroupVersionKind, type[Object]]:
        """Return every type by its kind. Go: AllKnownTypes."""
        self._fill_all()
        return dict(self._classes)

    def version_for_group_kind(self, group_kind: Any) -> list[GroupVersion]:
        """Return the versions in which a kind is registered, by priority. Go: VersionsForGroupKind."""
        self._fill_all(group_kind.group)
        available = [gvk.group_version() for gvk in list(self._classes) if gvk.group_kind() == group_kind]
        ordered = [version for version in self.prioritized_versions_for_group(group_kind.group) if version in available]
        return ordered + [version for version in available if version not in ordered]

    versions_for_group_kind = version_for_group_kind

    def name(self) -> str:
        """Return the scheme's name, for messages. Go: Name."""
        return self._name

    # --- version priority ---

    def set_version_priority(self, *versions: GroupVersion) -> None:
        """Order the versions of one group, most preferred first; raises ValueError for mixed groups.

        Go: SetVersionPriority.
        """
        if not versions:
            return
        group = versions[0].group
        for version in versions:
            if version.group != group:
                raise ValueError(f"must register versions for only one group: got {group!r} and {version.group!r}")
            if not version.version:
                raise ValueError("internal versions cannot be prioritized")
        with self._lock:
            self._version_priority[group] = [version.version for version in versions]

    def prioritized_versions_for_group(self, group: str) -> list[GroupVersion]:
        """Return a group's versions: those with a priority first, the rest as registered. Go:
        PrioritizedVersionsForGroup.
        """
        ordered = [GroupVersion(group, version) for version in self._version_priority.get(group, ())]
        return ordered + [
            version for version in self._observed_versions if version.group == group and version not in ordered
        ]

    def prioritized_versions_all_groups(self) -> list[GroupVersion]:
        """Return the versions of all groups, the preferred versions of each group first.

        Go: PrioritizedVersionsAllGroups.
        """
        groups = dict.fromkeys([*self._version_priority, *(version.group for version in self._observed_versions)])
        return [version for group in groups for version in self.prioritized_versions_for_group(group)]

    def preferred_version_all_groups(self) -> list[GroupVersion]:
        """Return the preferred version of every group. Go: PreferredVersionAllGroups."""
        groups = dict.fromkeys([*self._version_priority, *(version.group for version in self._observed_versions)])
        return [self.prioritized_versions_for_group(group)[0] for group in groups]

    # --- defaulting and conversion ---

    def add_type_defaulting_func(self, cls: type[Object], func: Callable[[Any], None]) -> None:
        """Register the function that sets the defaults of a type. Go: AddTypeDefaultingFunc."""
        with self._lock:
            self._defaulters[cls] = func

    def default(self, obj: Object) -> None:
        """Fill in defaults, where a function for the class is registered. Go: Default."""
        defaulter = self._defaulters.get(type(obj))
        if defaulter is not None:
            defaulter(obj)

    def add_conversion_func(self, source: type, target: type, func: Callable[[Any, Any], None]) -> None:
        """Register `func(source_object, target_object)`. Go: AddConversionFunc."""
        with self._lock:
            self._conversions[source, target] = func

    def convert(self, source: Any, target: Any, context: Any = None) -> None:
        """Fill `target` from `source`: by a registered function, or by copying the document of the same class.

        An unstructured target takes any object of a kind, one of an internal version in that which `context`, a
        GroupVersioner, chooses; an unstructured source is first made an object of the class that its kind has.
        Raises the not-registered error when there is no way. Go: Convert.
        """
        if isinstance(target, Unstructured):
            self._convert_to_unstructured(source, target, context)
            return
        if isinstance(source, Unstructured):
            source = self._unstructured_to_typed(source)
        func = self._conversions.get((type(source), type(target)))
        if func is not None:
            raise_returned(func(source, target))
            return
        if type(source) is not type(target):
            raise new_not_registered_err_for_target(self._name, type(source), type(target).__name__)
        refill(target, copied_document_of(source))

    def _convert_to_unstructured(self, source: Any, target: Any, context: GroupVersioner | None) -> None:
        if isinstance(source, Unstructured):
            # A copy, where Go hands over the document itself: this one may be of a cache.
            target.set_unstructured_content(deep_copy_json(source.unstructured_content()))
            return
        if not isinstance(source, Object):
            kind = type(source).__name__
            raise TypeError(f"unable to convert object type {kind} to Unstructured, must be a runtime.Object")
        kinds, unversioned = self.object_kinds(source)
        if unversioned or kinds[0].version != API_VERSION_INTERNAL:
            target.set_unstructured_content(copied_document_of(source))
            target.set_group_version_kind(kinds[0])
            return
        if context is None:
            raise ValueError(
                f"unable to convert the internal object type {type(source).__name__} to Unstructured without "
                "providing a preferred version to convert to"
            )
        target.set_unstructured_content(copied_document_of(self.unsafe_convert_to_version(source, context)))

    def _unstructured_to_typed(self, source: Any) -> Object:
        typed = self.new(self._own_kind(source))
        DEFAULT_UNSTRUCTURED_CONVERTER.from_unstructured(source.unstructured_content(), typed)
        return typed

    def convert_to_version(self, obj: Object, target: GroupVersioner) -> Object:
        """Return a copy of `obj` in the version that `target`, usually a GroupVersion, chooses. Go: ConvertToVersion.
        """
        return self.unsafe_convert_to_version(obj.deep_copy(), target)

    def unsafe_convert_to_version(self, obj: Object, target: GroupVersioner) -> Object:
        """Return `obj` in the version that `target` chooses, without the copy that `convert_to_version` makes.

        The result may be `obj` itself. Go: UnsafeConvertToVersion.
        """
        if isinstance(obj, Unstructured):
            obj = self._unstructured_to_typed(obj)
        kinds, unversioned = self.object_kinds(obj)
        chosen, found = target.kind_for_group_version_kinds(kinds)
        if not (found and chosen in kinds) and unversioned:
            own = self._unversioned[type(obj)]
            chosen, found = target.kind_for_group_version_kinds([own])
            chosen = chosen if found else own
        elif not found:
            raise new_not_registered_err_for_target(self._name, type(obj), str(target))
        elif chosen not in kinds:
            converted = self.new(chosen)
            self.convert(obj, converted, target)
            obj = converted
        # An object of an internal version does not say so.
        obj.set_group_version_kind(GroupVersionKind() if chosen.version == API_VERSION_INTERNAL else chosen)
        return obj

    def add_field_label_conversion_func(self, gvk: GroupVersionKind, func: FieldLabelConversionFunc) -> None:
        """Register the function that converts the field labels of a kind. Go: AddFieldLabelConversionFunc."""
        with self._lock:
            self._label_conversions[gvk] = func

    def convert_field_label(self, gvk: GroupVersionKind, label: str, value: str) -> tuple[str, str]:
        """Return a field selector's label and value in the kind's version. Raises ValueError for an unknown label.

        Go: ConvertFieldLabel.
        """
        func = self._label_conversions.get(gvk, conversion.default_meta_v1_field_selector_conversion)
        return func(label, value)

    def __repr__(self) -> str:
        return f"<Scheme {self._name}: {len(self.all_known_types())} kinds in {len(self._observed_versions)} versions>"


def new_scheme() -> Scheme:
    """Return an empty scheme. Go: NewScheme."""
    return Scheme()
