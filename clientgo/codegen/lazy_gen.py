"""Write packages that import a name on its first use, since a program uses few kinds of a group."""

from __future__ import annotations

from clientgo.codegen import naming


def render_lazy_imports(package: str, imports: list[tuple[str, list[str]]]) -> str:
    """Return the late imports of a package that re-exports names of its modules, followed by two empty lines."""
    if not imports:
        return ""
    hints, rows = [], []
    for module, names in sorted(imports):
        ordered = sorted(names, key=lambda name: (not name[0].isupper(), name.lower()))
        hints.append(f"    from {module} import {', '.join(ordered)}")
        quoted = ", ".join(f'"{name}"' for name in ordered)
        rows.append(f'            "{module.removeprefix(f"{package}.")}": [{quoted}],')
    return f"""\
from clientgo.lazy_loader import attach

if TYPE_CHECKING:
{chr(10).join(hints)}
else:
    __getattr__, __dir__ = attach(
        __name__,
        {{
{chr(10).join(rows)}
        }},
    )

"""


def render_front_door(docstring: str, package: str, imports: list[tuple[str, list[str]]]) -> str:
    """Return the text of an `__init__.py` that only re-exports names of its modules."""
    listed = "".join(
        f'    "{name}",\n' for name in naming.sort_exports({name for _, names in imports for name in names})
    )
    typing = "from typing import TYPE_CHECKING\n\n" if imports else ""
    return f'''"""{docstring}"""

{typing}{render_lazy_imports(package, imports)}__all__ = [
{listed}]
'''
