"""Put generated text in its place, and run the generators in the order they need each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clientgo.codegen import apply_gen, client_gen, fake_gen, informer_gen, lister_gen, naming, scheme_gen
from clientgo.codegen.checks import check_fields, import_api
from clientgo.codegen.clients import Clientset, GroupVersion


@dataclass
class Output:
    """The destination of generated files: the disk, or a comparison with the files on disk (`verify`)."""

    # The folder the paths of messages are relative to.
    root: Path
    verify: bool = False
    # What messages say writes the files.
    command: str = "python -m clientgo.codegen"
    written: int = 0
    total: int = 0
    stale: list[str] = field(default_factory=list)

    def put(self, path: Path, text: str) -> None:
        """Write a file, or compare it. Creates the folder."""
        self.total += 1
        if path.suffix == ".py":
            text = naming.wrap_imports(text)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return
        if self.verify:
            self._report(path)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.written += 1

    def remove(self, path: Path) -> None:
        """Remove a generated file that is no longer needed, if it exists; `verify` reports it."""
        if not path.exists():
            return
        if self.verify:
            self._report(path)
            return
        path.unlink()

    def _report(self, path: Path) -> None:
        self.stale.append(str(path.relative_to(self.root) if path.is_relative_to(self.root) else path))

    def summary(self) -> str:
        if self.stale:
            return f"not as generated, run {self.command}:\n" + "\n".join(f"  {path}" for path in self.stale)
        return f"{self.total} generated files, {self.written} changed"


def generate_own(output: Output, root: Path, package: str, apis: Sequence[str], title: str) -> None:
    """Generate a project's own clientset, informers, listers and extract functions in `package` for the API packages `apis`.

    All are dotted names relative to the folder `root`. Raises ValueError for an incomplete API package.
    """
    groups = tuple(GroupVersion(name) for name in apis)
    for group in groups:
        module = import_api(group.module, root)
        group.check()
        check_fields(module)
    write_clientset(
        output,
        root,
        Clientset(
            title=title,
            clientset=f"{package}.clientset.versioned",
            informers=f"{package}.informers.externalversions",
            listers=f"{package}.listers",
            applyconfigurations=f"{package}.applyconfigurations",
            groups=groups,
            package=package,
        ),
    )


def write_clientset(output: Output, root: Path, clientset: Clientset) -> None:
    """Write all generated files of one clientset. Its dotted packages are relative to the folder `root`."""
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
        for package, contents in ((f"{clientset.clientset}.typed", "clients"), (clientset.listers, "listers")):
            put(f"{package}.{directory}.__init__", f'"""The {contents} of the API group {group}. {client_gen.GENERATED}"""\n')
        put(f"{clientset.informers}.{directory}.__init__", informer_gen.render_group_interface(clientset, directory, versions))
    for version in clientset.groups:
        place = f"{version.directory}.{version.version}"
        typed = f"{clientset.clientset}.typed.{place}"
        put(f"{typed}.{version.directory}_client", client_gen.render_group_client(clientset, version))
        put(f"{typed}.__init__", client_gen.render_group_init(clientset, version))
        put(f"{clientset.listers}.{place}.__init__", lister_gen.render_group_init(clientset, version))
        put(f"{clientset.informers}.{place}.__init__", informer_gen.render_version_interface(clientset, version))
        for kind in version.kinds():
            put(f"{typed}.{kind.module}", client_gen.render_kind(clientset, version, kind))
            if kind.listable:
                put(f"{clientset.listers}.{place}.{kind.module}", lister_gen.render_kind(version, kind))
            if kind.watchable:
                put(f"{clientset.informers}.{place}.{kind.module}", informer_gen.render_kind(clientset, version, kind))
        write_extractors(output, root, clientset.applyconfigurations, version)


def write_extractors(output: Output, root: Path, package: str, version: GroupVersion) -> None:
    """Write the functions below `package` that extract the fields a manager owns, if a kind of the version has one."""
    text = apply_gen.render_version(version)
    if text:
        folder = root / package.replace(".", "/") / version.directory
        title = f"The extract functions of the API group {version.group or 'core'}. {client_gen.GENERATED}"
        output.put(folder / "__init__.py", f'"""{title}"""\n')
        output.put(folder / f"{version.version}.py", text)
