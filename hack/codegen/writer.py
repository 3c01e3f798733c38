"""Put generated text in its place, and run the generators in the order they need each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from codegen import naming, types_gen
from codegen.source import META, ROOT, Package, packages

if TYPE_CHECKING:
    from codegen.clients import Clientset

SAMPLE_CONTROLLER = ROOT / "cmd" / "sample-controller"


@dataclass
class Output:
    """Where generated files go: to disk, or, when verifying, into a comparison with what is on disk."""

    verify: bool = False
    # The folder the paths of messages are relative to.
    root: Path = ROOT
    written: int = 0
    total: int = 0
    stale: list[str] = field(default_factory=list)

    def put(self, path: Path, text: str) -> None:
        self.total += 1
        text = naming.wrap_imports(text)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return
        if self.verify:
            self.stale.append(str(path.relative_to(self.root)))
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.written += 1

    def summary(self) -> str:
        if self.stale:
            return "not as generated, run hack/update-codegen:\n" + "\n".join(f"  {path}" for path in self.stale)
        return f"{self.total} generated files, {self.written} changed"


def generate(output: Output) -> None:
    """Types first: the other generators import them."""
    write_types(output)
    from codegen.clients import Clientset, GroupVersion

    built_in = [GroupVersion(package.module) for package in packages() if package.parent.startswith("clientgo.api.")]
    groups = tuple(group for group in built_in if group.kinds())
    write_clientset(
        output,
        ROOT,
        Clientset(
            title="The clients of the built-in API groups",
            clientset="clientgo.kubernetes",
            informers="clientgo.informers",
            listers="clientgo.listers",
            groups=groups,
        ),
    )
    sample = "The clients of sample-controller's own API group"
    generate_own(output, SAMPLE_CONTROLLER, "pkg.generated", ["pkg.apis.samplecontroller.v1alpha1"], sample)


def generate_own(output: Output, root: Path, package: str, apis: Sequence[str], title: str) -> None:
    """A project's own clientset, informers and listers, in `package`, for the API packages `apis`.

    Both are dotted names from the folder `root` on. Raises ValueError for an API package that lacks something.
    """
    from codegen.clients import Clientset, GroupVersion

    groups = tuple(GroupVersion(name) for name in apis)
    for group in groups:
        group.check()
    write_clientset(
        output,
        root,
        Clientset(
            title=title,
            clientset=f"{package}.clientset.versioned",
            informers=f"{package}.informers.externalversions",
            listers=f"{package}.listers",
            groups=groups,
            package=package,
        ),
    )


def write_types(output: Output) -> None:
    parents: dict[str, str] = {}
    for package in packages():
        text = types_gen.TypesModule(package).render()
        output.put(package.directory / "types.py", text)
        # apis/meta/v1 has hand-written neighbours, so its register.py and __init__.py are hand-written too.
        if package.go == META:
            continue
        write_package(output, package, text)
        parents[package.parent] = package.group or "core"
    for parent, group in parents.items():
        if parent != "clientgo.apimachinery.apis.meta":
            path = ROOT / parent.replace(".", "/") / "__init__.py"
            output.put(path, f'"""The API group {group}, one package a version."""\n')
    output.put(ROOT / "clientgo/api/__init__.py", '"""k8s.io/api: the built-in API types, one package a group."""\n')


def write_package(output: Output, package: Package, types: str) -> None:
    output.put(package.directory / "register.py", types_gen.render_register(package))
    output.put(package.directory / "__init__.py", types_gen.render_init(package, naming.public_names(types)))


def write_clientset(output: Output, root: Path, clientset: Clientset) -> None:
    """Everything generated for one clientset; `root` is the folder its dotted packages start from."""
    from codegen import client_gen, fake_gen, informer_gen, lister_gen, scheme_gen

    def put(module: str, text: str) -> None:
        output.put(root / (module.replace(".", "/") + ".py"), text)

    for package in clientset.parents():
        put(f"{package}.__init__", f'"""Generated code of the clientset. {client_gen.GENERATED}"""\n')
    title = clientset.title
    put(f"{clientset.clientset}.scheme.register", scheme_gen.render(f"The kinds of {title[0].lower()}{title[1:]}", clientset))
    put(f"{clientset.clientset}.scheme.__init__", scheme_gen.render_init(clientset))
    put(f"{clientset.clientset}.clientset", client_gen.render_clientset(clientset))
    put(f"{clientset.clientset}.__init__", client_gen.render_clientset_init(clientset))
    put(f"{clientset.clientset}.fake.clientset_generated", fake_gen.render_clientset(clientset))
    put(f"{clientset.clientset}.fake.__init__", fake_gen.render_init(clientset))
    put(f"{clientset.clientset}.typed.__init__", f'"""The typed clients, one package an API group. {client_gen.GENERATED}"""\n')
    put(f"{clientset.informers}.factory", informer_gen.render_factory(clientset))
    put(f"{clientset.informers}.generic", informer_gen.render_generic(clientset))
    put(f"{clientset.informers}.__init__", informer_gen.render_init(clientset))
    for directory, versions in clientset.by_directory().items():
        group = versions[0].group or "core"
        for package, what in ((f"{clientset.clientset}.typed", "clients"), (clientset.listers, "listers")):
            put(f"{package}.{directory}.__init__", f'"""The {what} of the API group {group}. {client_gen.GENERATED}"""\n')
        put(f"{clientset.informers}.{directory}.__init__", informer_gen.render_group_interface(clientset, directory, versions))
    for group in clientset.groups:
        place = f"{group.directory}.{group.version}"
        typed = f"{clientset.clientset}.typed.{place}"
        put(f"{typed}.{group.directory}_client", client_gen.render_group_client(clientset, group))
        put(f"{typed}.__init__", client_gen.render_group_init(clientset, group))
        put(f"{clientset.listers}.{place}.__init__", lister_gen.render_group_init(clientset, group))
        put(f"{clientset.informers}.{place}.__init__", informer_gen.render_version_interface(clientset, group))
        for kind in group.kinds():
            put(f"{typed}.{kind.module}", client_gen.render_kind(group, kind))
            if kind.listable:
                put(f"{clientset.listers}.{place}.{kind.module}", lister_gen.render_kind(group, kind))
            if kind.watchable:
                put(f"{clientset.informers}.{place}.{kind.module}", informer_gen.render_kind(clientset, group, kind))
