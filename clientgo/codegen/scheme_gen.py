"""Write a clientset's scheme: `scheme/register.py`, which knows the kinds of all its API groups."""

from __future__ import annotations

from clientgo.codegen.client_gen import GENERATED, render_front_door
from clientgo.codegen.clients import Clientset

_IMPORTS = [
    "from clientgo.apimachinery import runtime",
    "from clientgo.apimachinery.apis.meta import v1 as metav1",
    "from clientgo.apimachinery.runtime.schema import GroupVersion",
    "from clientgo.apimachinery.runtime.serializer import PARAMETER_CODEC, new_codec_factory",
]


def render(title: str, clientset: Clientset) -> str:
    """scheme/register.py.

    Of the built-in groups each is imported when one of its kinds is first asked for, since a program uses a few of
    fifty. The packages of a project may do more to a scheme than register kinds, and are few.
    """
    groups = clientset.groups
    if clientset.package:
        lines = [*(f"from {g.parent} import {g.version} as {g.alias}" for g in groups), *_IMPORTS]
        listed = "\n".join(f"    {g.alias}.add_to_scheme," for g in groups)
        table = f"_BUILDER = runtime.new_scheme_builder(\n{listed}\n)"
        add = "    _BUILDER.add_to_scheme(scheme)"
    else:
        lines = _IMPORTS
        listed = "\n".join(f'    GroupVersion("{g.group}", "{g.version}"): "{g.module}",' for g in groups)
        table = f"# Each is imported when one of its kinds is first asked for.\n_PACKAGES = {{\n{listed}\n}}"
        add = """\
    for group_version, package in _PACKAGES.items():
        metav1.add_to_group_version(scheme, group_version)
        scheme.add_known_types_later(group_version, package)"""
    imports = "\n".join(sorted(lines, key=lambda line: line.split()[1]))
    return f'''"""{title}. Mirrors scheme/register.go.

{GENERATED}"""

from __future__ import annotations

{imports}

SCHEME = runtime.Scheme("{clientset.clientset}.scheme")

{table}


def add_to_scheme(scheme: runtime.Scheme) -> None:
    """Make all kinds of this clientset known to another scheme. Go: AddToScheme."""
{add}


metav1.add_to_group_version(SCHEME, GroupVersion("", "v1"))
add_to_scheme(SCHEME)

CODECS = new_codec_factory(SCHEME)

__all__ = ["CODECS", "PARAMETER_CODEC", "SCHEME", "add_to_scheme"]
'''


def render_init(clientset: Clientset) -> str:
    """scheme/__init__.py."""
    modules = [(f"{clientset.clientset}.scheme.register", ["CODECS", "PARAMETER_CODEC", "SCHEME", "add_to_scheme"])]
    return render_front_door("The scheme of this clientset.", modules)
