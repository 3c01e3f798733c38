"""Put generated text in its place, and run the generators in the order they need each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from codegen import naming, types_gen
from codegen.source import META, ROOT, packages


@dataclass
class Output:
    """Where generated files go: to disk, or, when verifying, into a comparison with what is on disk."""

    verify: bool = False
    written: int = 0
    total: int = 0
    stale: list[str] = field(default_factory=list)

    def put(self, path: Path, text: str) -> None:
        self.total += 1
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return
        if self.verify:
            self.stale.append(str(path.relative_to(ROOT)))
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.written += 1

    def summary(self) -> str:
        if self.stale:
            return "not as generated, run hack/update-codegen:\n" + "\n".join(f"  {path}" for path in self.stale)
        return f"{self.total} generated files, {self.written} changed"


def generate(output: Output) -> None:
    parents: dict[str, str] = {}
    for package in packages():
        text = types_gen.TypesModule(package).render()
        output.put(package.directory / "types.py", text)
        # apis/meta/v1 has hand-written neighbours, so its register.py and __init__.py are hand-written too.
        if package.go == META:
            continue
        output.put(package.directory / "register.py", types_gen.render_register(package))
        output.put(package.directory / "__init__.py", types_gen.render_init(package, naming.public_names(text)))
        parents[package.parent] = package.group or "core"
    for parent, group in parents.items():
        if parent == "clientgo.apimachinery.apis.meta":
            continue
        path = ROOT / parent.replace(".", "/") / "__init__.py"
        output.put(path, f'"""The API group {group}, one package a version."""\n')
    output.put(ROOT / "clientgo/api/__init__.py", '"""k8s.io/api: the built-in API types, one package a group."""\n')
