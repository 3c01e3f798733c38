"""The generators' command, for a project's own API packages."""

from __future__ import annotations

import argparse
import keyword
import sys
from collections.abc import Sequence
from pathlib import Path

from clientgo.codegen import crds, register_gen
from clientgo.codegen.checks import check_fields, import_api
from clientgo.codegen.writer import Output, generate_own

_PROG = "python -m clientgo.codegen"
_DESCRIPTION = """Write clients, informers, listers and CustomResourceDefinitions for the API packages of your project, whose types are written by
hand. The README shows such a package."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("apis", nargs="*", help="the API packages of your project, one a version: shop.apis.shop.v1")
    parser.add_argument("--root", type=Path, default=Path(), help="the folder your packages are imported from; here")
    parser.add_argument("--output", help="the package to write: shop.generated")
    parser.add_argument("--crds", type=Path, metavar="DIR", help="the folder to write CustomResourceDefinitions to")
    parser.add_argument("--verify", action="store_true", help="change nothing; fail when a file is not as generated")


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    """Generate the requested files and return the exit code: 2, after a message, for an error in the types."""
    if not (arguments.apis and (arguments.output or arguments.crds)):
        parser.error("a project's own API packages and --output or --crds go together")
    if arguments.output and not all(map(_is_package, arguments.output.split("."))):
        parser.error(f"--output {arguments.output}: not the name of a Python package")
    output = Output(arguments.root, arguments.verify, parser.prog)
    sys.path.insert(0, str(arguments.root))
    try:
        _generate(output, arguments)
    except (ImportError, ValueError) as err:
        parser.error(str(err))
    print(output.summary())
    return 1 if output.stale else 0


def _is_package(name: str) -> bool:
    """Report whether a package may have this name; `__init__` and the like are Python's own."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")


def _generate(output: Output, arguments: argparse.Namespace) -> None:
    for api in arguments.apis:
        register_gen.complete(output, arguments.root, api)
    if output.stale:  # What --verify finds missing cannot be imported.
        return
    for api in arguments.apis:
        module = import_api(api, arguments.root)
        if hasattr(module, "__all__"):  # The generator that needs it reports it.
            check_fields(module)
    # All definitions are made before anything is written.
    definitions = crds.crds_of(arguments.apis) if arguments.crds else []
    if arguments.output:
        title = f"The clients of {arguments.output.split('.')[0]}'s own API groups"
        generate_own(output, arguments.root, arguments.output, arguments.apis, title)
    for crd in definitions:
        crds.write(output, arguments.crds / crds.file_name(crd), crd)


def parser(prog: str = _PROG) -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    made = argparse.ArgumentParser(prog, description=_DESCRIPTION)
    add_arguments(made)
    return made


def main(argv: Sequence[str] | None = None, prog: str = _PROG) -> int:
    """Generate the requested files and return the exit code. `prog` is the command in the help and in messages."""
    own = parser(prog)
    return run(own, own.parse_args(argv))
