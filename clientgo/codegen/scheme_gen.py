"""Write a clientset's scheme: `scheme/register.py`, which registers the kinds of all its API groups."""

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
    """Return the text of scheme/register.py.

    The built-in scheme imports a group on the first request for one of its kinds, since a program uses few of the fifty
    groups. A project's scheme imports its packages immediately: they are few and may do more than register kinds.
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
        table = f"# The scheme imports a package on the first request for one of its kinds.\n_PACKAGES = {{\n{listed}\n}}"
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
    """Register all kinds of this clientset in another scheme. Go: AddToScheme."""
{add}


metav1.add_to_group_version(SCHEME, GroupVersion("", "v1"))
add_to_scheme(SCHEME)

CODECS = new_codec_factory(SCHEME)

__all__ = ["CODECS", "PARAMETER_CODEC", "SCHEME", "add_to_scheme"]
'''


def render_init(clientset: Clientset) -> str:
    """Return the text of scheme/__init__.py."""
    modules = [(f"{clientset.clientset}.scheme.register", ["CODECS", "PARAMETER_CODEC", "SCHEME", "add_to_scheme"])]
    return render_front_door("The scheme of this clientset.", modules)
