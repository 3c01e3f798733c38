"""Write the functions that extract the fields a manager owns, one module per group and version.

Replaces the Extract functions of k8s.io/code-generator's applyconfiguration-gen.
"""

from __future__ import annotations

import importlib

from clientgo.codegen import naming
from clientgo.codegen.client_gen import GENERATED
from clientgo.codegen.clients import GroupVersion

# The columns of a line of the generated code, as everywhere here.
_WIDTH = 120


def extractable(group: GroupVersion) -> list[str]:
    """Return the kinds with clients whose objects the server stores: not reviews, which can only be created."""
    module = importlib.import_module(group.module)
    genclients = {name: getattr(getattr(module, name), "GENCLIENT", None) for name in sorted(module.__all__)}
    return [name for name, genclient in genclients.items() if genclient is not None and genclient.verbs != ("create",)]


def render_version(group: GroupVersion) -> str:
    """Return the text of <group>/<version>.py; "" without kinds."""
    kinds = extractable(group)
    if not kinds:
        return ""
    functions = "".join(_function(kind, f"{group.alias}.{kind}") for kind in kinds)
    listed = "".join(f'    "{name}",\n' for name in sorted(map(_name, kinds)))
    return f'''"""The fields of objects of {group.group or "core"}/{group.version} that a field manager owns. {GENERATED}

`clientgo.applyconfigurations` explains when to use them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clientgo.applyconfigurations.builders import extract

if TYPE_CHECKING:
    from {group.parent} import {group.version} as {group.alias}

__all__ = [
{listed}]
{functions}'''


def _name(kind: str) -> str:
    return f"extract_{naming.snake(kind)}"


def _function(kind: str, typed: str) -> str:
    parameters = f'obj: {typed}, field_manager: str, subresource: str = ""'
    head = f"def {_name(kind)}({parameters}) -> {typed}:"
    if len(head) > _WIDTH:
        head = f"def {_name(kind)}(\n    {parameters}\n) -> {typed}:"
    return f'''

{head}
    """Return the {kind} with only the fields that the manager owns by Apply. See `extract`.

    Go: Extract{kind}, Extract{kind}From.
    """
    return extract(obj, field_manager, subresource)
'''
