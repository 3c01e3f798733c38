"""Write what an API package needs besides its types: `register.py`, `lists.py` and `__init__.py`.

The counterpart of Go's register-gen and of the List types, which Go's projects write by hand. The user writes `types.py`
or several `*_types.py`. A file without the generators' mark belongs to the user and is never changed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from clientgo.apimachinery.runtime import ListObject, ResourceObject, Struct
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.codegen import naming
from clientgo.codegen.checks import import_api
from clientgo.codegen.client_gen import GENERATED
from clientgo.codegen.writer import Output

_OF_REGISTER = ("GROUP_NAME", "SCHEME_GROUP_VERSION", "add_to_scheme", "kind", "resource")


@dataclass(frozen=True)
class _Package:
    """An API package and the classes of its types, by the module that defines them."""

    name: str
    group: str
    classes: Mapping[str, list[type[Struct]]]

    @property
    def version(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def title(self) -> str:
        return f"{self.group}/{self.version}"

    def kinds(self) -> list[type[ResourceObject]]:
        """Return the kinds, without their Lists."""
        return list(_kinds(cls for classes in self.classes.values() for cls in classes))

    def names(self) -> set[str]:
        return {cls.__name__ for classes in self.classes.values() for cls in classes}

    def missing_lists(self) -> list[type[ResourceObject]]:
        """Return the kinds that clients list and that have no List."""
        names = self.names()
        return [cls for cls in self.kinds() if _is_listed(cls) and f"{cls.__name__}List" not in names]


def _is_listed(cls: type[ResourceObject]) -> bool:
    genclient = getattr(cls, "GENCLIENT", None)
    return genclient is not None and "list" in genclient.verbs


def complete(output: Output, root: Path, api: str) -> None:
    """Write the missing modules of the package `api`, a dotted name relative to `root`, and renew generated ones.

    Does nothing for a package whose `__init__.py` the user has written, and for a folder without types. Raises
    ValueError for kinds of different group versions, and for a failing import with the line.
    """
    folder = root.joinpath(*api.split("."))
    modules = sorted({*folder.glob("types.py"), *folder.glob("*_types.py")})
    if not modules or not _is_ours(folder / "__init__.py"):
        return
    registers = _is_ours(folder / "register.py")
    with _Bare(api, folder):
        classes = {path.stem: list(_own_classes(import_api(f"{api}.{path.stem}", root))) for path in modules}
        offered = _OF_REGISTER if registers else _offered(import_api(f"{api}.register", root))
    package = _Package(api, _group(api, classes), classes)
    exported = {stem: [cls.__name__ for cls in own] for stem, own in classes.items()}
    if registers:
        lists = package.missing_lists()
        exported["lists"] = [f"{cls.__name__}List" for cls in lists]
        _write_lists(output, folder / "lists.py", package, lists)
        output.put(folder / "register.py", _render_register(package, lists))
    output.put(folder / "__init__.py", _render_init(package, exported, offered))
    importlib.invalidate_caches()


def _is_ours(path: Path) -> bool:
    """Report whether a generator may write the file: it is missing, empty or generated."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return not text.strip() or GENERATED in text


class _Bare:
    """The package without its `__init__.py`, which may be missing or stale, for the time of a `with` block."""

    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        self._folder = folder

    def __enter__(self) -> None:
        parent = self._name.rpartition(".")[0]
        if parent:
            importlib.import_module(parent)
        self._forget()
        package = ModuleType(self._name)
        package.__path__ = [str(self._folder)]
        sys.modules[self._name] = package

    def __exit__(self, *_: object) -> None:
        self._forget()

    def _forget(self) -> None:
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{self._name}.")]:
            del sys.modules[name]


def _own_classes(module: ModuleType) -> Iterator[type[Struct]]:
    """Yield the public API types that a module defines, in its order."""
    for name, cls in vars(module).items():
        if isinstance(cls, type) and issubclass(cls, Struct) and cls.__module__ == module.__name__ and name[0] != "_":
            yield cls


def _kinds(classes: Iterable[type[Struct]]) -> Iterator[type[ResourceObject]]:
    for cls in classes:
        if issubclass(cls, ResourceObject) and not issubclass(cls, ListObject) and cls.GROUP_VERSION_KIND is not None:
            yield cls


def _gvk(cls: type[ResourceObject]) -> GroupVersionKind:
    assert cls.GROUP_VERSION_KIND is not None, f"{cls.__name__} is a kind"
    return cls.GROUP_VERSION_KIND


def _offered(register: ModuleType) -> tuple[str, ...]:
    return tuple(name for name in _OF_REGISTER if hasattr(register, name))


def _group(api: str, classes: Mapping[str, list[type[Struct]]]) -> str:
    """Return the group of all kinds. Raises ValueError if they have several, or another version than the package."""
    version = api.rpartition(".")[2]
    groups: dict[str, type[ResourceObject]] = {}
    for cls in _kinds(cls for own in classes.values() for cls in own):
        gvk = _gvk(cls)
        if gvk.version != version:
            raise ValueError(f"{api} must be named after its version, which {cls.__name__} says is {gvk.version}")
        groups.setdefault(gvk.group, cls)
    if len(groups) > 1:
        listed = ", ".join(f"{cls.__name__} is of {group}" for group, cls in groups.items())
        raise ValueError(f"{api} has kinds of several groups: {listed}")
    if not groups:
        raise ValueError(f"{api} has no class with a GROUP_VERSION_KIND")
    return next(iter(groups))


def _write_lists(output: Output, path: Path, package: _Package, lists: list[type[ResourceObject]]) -> None:
    """Write or remove `lists.py`. Raises ValueError if the user has a file of that name."""
    if not lists:
        if path.exists() and _is_ours(path):
            output.remove(path)
        return
    if not _is_ours(path):
        names = ", ".join(f"{cls.__name__}List" for cls in lists)
        raise ValueError(f"{path}: the generator needs this file for {names}; rename it, or write the lists in types.py")
    output.put(path, _render_lists(package, lists))


def _render_lists(package: _Package, kinds: list[type[ResourceObject]]) -> str:
    imports = "".join(f"from {cls.__module__} import {cls.__name__}\n" for cls in kinds)
    return f'''"""The lists of the kinds of {package.title}. {GENERATED}"""

from __future__ import annotations

from collections.abc import MutableSequence

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema
{imports}{"".join(_render_list(cls) for cls in kinds)}'''


def _render_list(cls: type[ResourceObject]) -> str:
    gvk, name = _gvk(cls), cls.__name__
    return f'''

class {name}List(runtime.ListObject):
    """A list of objects of the kind {name}."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("{gvk.group}", "{gvk.version}", "{gvk.kind}List")
    ITEM = {name}

    metadata: metav1.ListMeta = runtime.field("metadata", "metav1.ListMeta", default=runtime.EMPTY)
    items: MutableSequence[{name}] = runtime.field("items", "[]{name}", default=runtime.EMPTY)
'''


def _render_register(package: _Package, lists: list[type[ResourceObject]]) -> str:
    known = [cls for own in package.classes.values() for cls in own if getattr(cls, "GROUP_VERSION_KIND", None) is not None]
    names = sorted([cls.__name__ for cls in known] + [f"{cls.__name__}List" for cls in lists])
    imports = [f"from {cls.__module__} import {cls.__name__}" for cls in known]
    imports += [f"from {package.name}.lists import {cls.__name__}List" for cls in lists]
    listed = "".join(f"        {name},\n" for name in names)
    return f'''"""The group version {package.title} and its kinds. {GENERATED}"""

from __future__ import annotations

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource, GroupVersion
{_merged(imports)}
GROUP_NAME = "{package.group}"
SCHEME_GROUP_VERSION = GroupVersion(GROUP_NAME, "{package.version}")


def kind(name: str) -> GroupKind:
    """Return a kind of this group. Go: Kind."""
    return SCHEME_GROUP_VERSION.with_kind(name).group_kind()


def resource(name: str) -> GroupResource:
    """Return a resource of this group. Go: Resource."""
    return SCHEME_GROUP_VERSION.with_resource(name).group_resource()


def add_to_scheme(scheme: runtime.Scheme) -> None:
    """Make the kinds known to `scheme`. Go: AddToScheme."""
    scheme.add_known_types(
        SCHEME_GROUP_VERSION,
{listed}    )
    metav1.add_to_group_version(scheme, SCHEME_GROUP_VERSION)
'''


def _merged(imports: Iterable[str]) -> str:
    """Return import statements, one for each module."""
    names: dict[str, set[str]] = {}
    for line in imports:
        module, _, name = line.removeprefix("from ").partition(" import ")
        names.setdefault(module, set()).add(name)
    return "".join(f"from {module} import {', '.join(sorted(found))}\n" for module, found in sorted(names.items()))


def _render_init(package: _Package, exported: Mapping[str, list[str]], offered: tuple[str, ...]) -> str:
    modules = {**exported, "register": list(offered)}
    imports = "".join(
        f"from {package.name}.{stem} import {', '.join(naming.sort_exports(set(names)))}\n"
        for stem, names in sorted(modules.items())
        if names
    )
    defined = "" if "GROUP_NAME" in offered else f'\nGROUP_NAME = "{package.group}"\n'
    names = naming.sort_exports({"GROUP_NAME", *(name for found in modules.values() for name in found)})
    listed = "".join(f'    "{name}",\n' for name in names)
    return f'"""{package.title}. {GENERATED}"""\n\n{imports}{defined}\n__all__ = [\n{listed}]\n'
