"""The command line, in kubebuilder's words and flags."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from clientgo.golang.strconv import parse_bool
from clientgo.scaffold import names, scaffolds
from clientgo.scaffold.names import Refused
from clientgo.scaffold.project import VERSION, Project, Webhooks
from clientgo.scaffold.scaffolds import Done

_PROG = "python -m clientgo.scaffold"
_DESCRIPTION = """Make an operator's project, and add to it, in the words of kubebuilder and operator-sdk: `init` in an
empty folder, then `create api`, and `create webhook` for who needs it; `generate` after each change of the types. What
you wrote is never overwritten, but with --force."""


def main(arguments: Sequence[str] | None = None, prog: str = _PROG) -> int:
    """Run one command in the current folder; the result is the exit code: 0, 1 when it was refused, 2 for bad usage.

    `prog` is the command in the help and in the hints for the next step.
    """
    given = parser(prog).parse_args(arguments)
    try:
        root = Path.cwd()
    except OSError as err:
        print(f"error: the current folder cannot be found: {err.strerror}", file=sys.stderr)
        return 1
    try:
        return int(given.run(root, given))
    except Refused as err:
        print(f"error: {err}", file=sys.stderr)
    except OSError as err:
        # The error of a write names no file.
        print(f"error: {err.strerror or err}: {err.filename or root}, nothing was changed", file=sys.stderr)
    return 1


def _init(root: Path, given: argparse.Namespace) -> int:
    try:
        name = names.project(given.project_name or root.name.lower())
    except Refused as err:
        if given.project_name:
            raise
        reason = str(err) if root.name else f"{root} has no name for the project"
        raise Refused(f"{reason}; name the project with --project-name") from None
    project = Project(domain=names.domain(given.domain), name=name, repo=names.repo(given.repo or name))
    _report(root, scaffolds.init(root, project))
    print(f"Next: define a resource with:\n$ {given.prog} create api")
    return 0


def _create_api(root: Path, given: argparse.Namespace) -> int:
    resource = scaffolds.resource_of(
        Project.load(root), given.group, given.version, given.kind, plural=given.plural, namespaced=given.namespaced
    )
    done = scaffolds.create_api(
        root, resource, with_resource=given.resource, with_controller=given.controller, force=given.force
    )
    _report(root, done)
    print(f"Next: edit the types and the controller; after a change of types or markers:\n$ {given.prog} generate")
    return 0


def _create_webhook(root: Path, given: argparse.Namespace) -> int:
    wanted = Webhooks(
        defaulting=given.defaulting,
        validation=given.programmatic_validation,
        conversion=given.conversion,
        spoke=tuple(names.version(each) for each in given.spoke),
    )
    done = scaffolds.create_webhook(root, given.group, given.version, given.kind, wanted, force=given.force)
    _report(root, done)
    print("Next: say in the webhooks what they fill in and refuse; after a change of markers:")
    print(f"$ {given.prog} generate")
    return 0


def _generate(root: Path, given: argparse.Namespace) -> int:
    done = scaffolds.regenerate(root, verify=given.verify)
    if given.verify and done.changed:
        print(f"not as generated, run {given.prog} generate:\n" + "\n".join(f"  {name}" for name in done.changed))
        return 1
    print(f"{len(done.changed)} generated files changed")
    return 0


def _new(root: Path, given: argparse.Namespace) -> int:
    """Run `operator-sdk new NAME`: create a project in a folder of that name."""
    name = names.project(given.name)
    project = Project(domain=names.domain(given.domain), name=name, repo=names.repo(given.repo or name))
    folder = root / name
    made = not folder.exists()
    if made:
        folder.mkdir()
    try:
        _report(folder, scaffolds.init(folder, project))
    except BaseException:
        if made:
            folder.rmdir()
        raise
    print(f"Next: define a resource with:\n$ cd {name} && {given.prog} add api")
    return 0


def _add_api(root: Path, given: argparse.Namespace) -> int:
    """Run `operator-sdk add api`, which creates the type, or `add controller`, which creates its controller."""
    full, _, version = given.api_version.rpartition("/")
    group, _, domain = full.partition(".")
    if not domain:
        raise Refused(f"the API version {given.api_version!r}: expected group and version, timers.example.com/v1alpha1")
    project = Project.load(root)
    resource = scaffolds.resource_of(
        project, group, version, given.kind, plural="", namespaced=True, domain=names.domain(domain)
    )
    controller = given.what == "controller"
    done = scaffolds.create_api(
        root, resource, with_resource=not controller, with_controller=controller, force=False
    )
    _report(root, done)
    return 0


def _version(root: Path, given: argparse.Namespace) -> int:
    print(f"clientgo {importlib.metadata.version('clientgo')}")
    return 0


def _report(root: Path, done: Done) -> None:
    generated = [name for name in done.changed if "/generated/" in name]
    for name in done.changed:
        if name not in generated:
            print(f"{root.name}/{name}")
    if generated:
        print(f"{root.name}/{generated[0].partition('/')[0]}/generated: {len(generated)} files")
    for name in done.kept:
        print(f"{root.name}/{name}: yours, kept")


def parser(prog: str = _PROG) -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    made = argparse.ArgumentParser(prog, description=_DESCRIPTION, allow_abbrev=False)
    made.set_defaults(prog=prog)
    commands = made.add_subparsers(metavar="COMMAND", required=True)
    init = _add(commands, "init", "a new project in the current, empty folder", _init)
    init.add_argument("--domain", default="my.domain", help="the domain of its API groups (default my.domain)")
    init.add_argument(
        "--repo", default="", help="its Python package, or its repository, after whose last part the package is named"
    )
    init.add_argument("--project-name", default="", help="(default: the name of the folder)")
    init.add_argument("--project-version", choices=[VERSION], default=VERSION, help=argparse.SUPPRESS)

    create = commands.add_parser("create", help="add an API or a webhook", allow_abbrev=False)
    created = create.add_subparsers(metavar="WHAT", required=True)
    api = _add(created, "api", "a kind with its type, clients, definition, and a controller", _create_api)
    _add_kind(api)
    api.add_argument("--plural", default="", help="the name of the resource in paths (default: the kind's plural)")
    _add_boolean(api, "--namespaced", True, "whether its objects are in namespaces (default true)")
    _add_boolean(api, "--resource", None, "whether to create the type (default true)")
    _add_boolean(api, "--controller", None, "whether to create a controller (default: unless another version has one)")
    _add_boolean(api, "--force", False, "overwrite files")

    webhook = _add(created, "webhook", "webhooks for a kind", _create_webhook)
    _add_kind(webhook)
    _add_boolean(webhook, "--defaulting", False, "one that fills in")
    _add_boolean(webhook, "--programmatic-validation", False, "one that refuses")
    _add_boolean(webhook, "--conversion", False, "one that converts between versions, through this one")
    webhook.add_argument("--spoke", action="append", default=[], help="a version that converts to and from this one")
    _add_boolean(webhook, "--force", False, "overwrite files")

    generate = _add(commands, "generate", "clients, definitions, role and webhook configurations anew", _generate)
    generate.add_argument("--verify", action="store_true", help="change nothing; fail when a file is not as generated")
    generate.add_argument("what", nargs="?", choices=["k8s", "crds", "openapi"], help="of older texts; it is all")
    _add(commands, "version", "the version of clientgo", _version)
    _add_older(commands)
    return made


def _add_older(commands: Any) -> None:
    """Add the commands that operator-sdk had before it adopted kubebuilder's."""
    new = _add(commands, "new", "in older texts: a folder, and `init` in it", _new)
    new.add_argument("name", help="of the folder and the project")
    new.add_argument("--domain", default="my.domain", help="(default my.domain)")
    new.add_argument("--repo", default="", help="(default: the name)")
    add = _add(commands, "add", "in older texts: `create api`, of the type or of the controller", _add_api)
    add.add_argument("what", choices=["api", "controller"])
    add.add_argument("--api-version", required=True, help="timers.example.com/v1alpha1")
    add.add_argument("--kind", required=True, help="Timer")


def _add(
    commands: Any, name: str, text: str, run: Callable[[Path, argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
    parser.set_defaults(run=run)
    return parser


def _add_kind(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--group", required=True, help="the API group, without the domain: shop")
    parser.add_argument("--version", required=True, help="v1, v1beta1")
    parser.add_argument("--kind", required=True, help="Order")


def _add_boolean(parser: argparse.ArgumentParser, name: str, default: bool | None, text: str) -> None:
    """Add a boolean flag with Go's forms: --force, --force=true, --force=false."""
    parser.add_argument(name, nargs="?", type=_boolean, const=True, default=default, metavar="BOOL", help=text)


def _boolean(text: str) -> bool:
    try:
        return parse_bool(text)
    except ValueError as err:
        raise argparse.ArgumentTypeError(f"expected true or false, found {text!r}") from err
