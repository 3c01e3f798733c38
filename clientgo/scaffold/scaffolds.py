"""The commands: which files they create from which templates, and which lines they add to those that are there."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from clientgo.apimachinery.runtime import ResourceObject
from clientgo.codegen import naming
from clientgo.codegen.clients import RESERVED_ALIASES, RESERVED_GROUPS
from clientgo.scaffold import names, workspace
from clientgo.scaffold.generate import generate
from clientgo.scaffold.marks import mark
from clientgo.scaffold.names import Refused
from clientgo.scaffold.project import FILE, Project, Resource, Webhooks
from clientgo.scaffold.templates import render
from clientgo.scaffold.workspace import Workspace

# The files of a new project. The name in braces is the project's package.
_PROJECT_FILES = {
    "pyproject.toml": "project/pyproject.toml",
    "conftest.py": "project/root_conftest.py",
    "requirements.txt": "project/requirements.txt",
    "Dockerfile": "project/Dockerfile",
    "config/namespace.yaml": "project/namespace.yaml",
    "config/manager/manager.yaml": "project/manager.yaml",
    "config/rbac/service_account.yaml": "project/service_account.yaml",
    "config/rbac/role_binding.yaml": "project/role_binding.yaml",
    "config/rbac/leader_election_role.yaml": "project/leader_election_role.yaml",
    "{package}/__init__.py": "project/init.py",
    "{package}/__main__.py": "project/dunder_main.py",
    "{package}/flags.py": "project/flags.py",
    "{package}/main.py": "project/main.py",
    "test/unit/test_main.py": "project/test_main.py",
    "test/e2e/conftest.py": "project/conftest.py",
    "test/e2e/test_operator.py": "project/test_operator.py",
}
_OTHER_FILES = ("{package}/py.typed", "hack/ci", "config/rbac/role.yaml")
# Those that a new folder may well have: the user's stay.
_KEPT_FILES = {
    "README.md": "project/README.md",
    ".gitignore": "project/gitignore",
    ".dockerignore": "project/dockerignore",
}
# What else may be in the folder of a new project: as for kubebuilder, and a virtual environment.
_HARMLESS = re.compile(r"\..*|.*\.md|[A-Z]+|venv")

_ARGS = """\
- --webhook-cert-path=/tmp/k8s-webhook-server/serving-certs"""
_CONTAINER = """\
ports:
  - containerPort: 9443
    name: webhook-server
    protocol: TCP
volumeMounts:
  - mountPath: /tmp/k8s-webhook-server/serving-certs
    name: webhook-certs
    readOnly: true"""
_POD = """\
volumes:
  - name: webhook-certs
    secret:
      secretName: {project}-webhook-server-cert"""


@dataclass(frozen=True)
class Done:
    """The result of a command: the files in the order in which they were written."""

    changed: list[str]
    # Those that the user had already, and that stay.
    kept: Sequence[str] = ()


def init(root: Path, project: Project) -> Done:
    """Create a project in the folder. Raises Refused or OSError, and then leaves the folder unchanged."""
    names.domain(project.domain)
    if names.is_installed(project.package):
        raise Refused(f"the repo {project.repo!r}: there is a module {project.package!r} already, which it would hide")
    if (root / FILE).exists():
        raise Refused(f"{root} has a {FILE} file: it is a project already")
    foreign = sorted(each.name for each in root.iterdir() if not _HARMLESS.fullmatch(each.name))
    if not _are_of_killed_init(root, project, foreign):
        raise Refused(f"{root} is not empty, it has {', '.join(foreign[:10])}: a project begins in a folder of its own")
    with workspace.opened(root) as work:
        values = _values(project)
        for path, template in _PROJECT_FILES.items():
            work.create(path.format(package=project.package), render(template, values))
        for path, template in _KEPT_FILES.items():
            work.create(path, render(template, values), keep=True)
        work.create(f"{project.package}/py.typed", "")
        work.create("hack/ci", render("project/ci", values), executable=True)
        return _finish(work, project)


def create_api(
    root: Path, resource: Resource, *, with_resource: bool | None, with_controller: bool | None, force: bool
) -> Done:
    """Add a kind's type, its controller, or both. None means that the user did not choose. Raises Refused, OSError."""
    project = Project.load(root)
    there = project.find(*resource.gvk)
    siblings = project.versions_of(resource.group, resource.kind)
    if with_controller is None:
        # One controller serves all versions of a kind.
        with_controller = force or not any(each.controller for each in siblings)
    wants_resource = with_resource is not False
    if wants_resource and there is not None and there.api and not force:
        raise Refused(f"{there} is in the project already; --force writes its files anew, --resource=false keeps them")
    if not wants_resource and not with_controller:
        raise Refused("neither a resource nor a controller is asked for")
    if not wants_resource:
        resource = there or _of_kubernetes(resource)
    else:
        _check_new(project, resource)
    owner = next((each for each in siblings if each.controller and each.gvk != resource.gvk), None)
    if with_controller and owner is not None:
        raise Refused(f"{owner} has a controller, which serves all versions: say --controller=false")
    resource = replace(
        resource,
        api=wants_resource or resource.api,
        controller=with_controller or (there is not None and there.controller),
        webhooks=there.webhooks if there is not None else Webhooks(),
    )
    with _opened(root, project) as work:
        if force:
            work.overwrite()
        if wants_resource:
            _create_types(work, project, resource, stored=not any(each.api for each in siblings if each != there))
        if with_controller:
            _create_controller(work, project, resource)
        return _finish(work, project.with_resource(resource))


def create_webhook(root: Path, group: str, version: str, kind: str, wanted: Webhooks, *, force: bool) -> Done:
    """Add webhooks for a kind of the project. Raises Refused, OSError."""
    project = Project.load(root)
    resource = project.find(names.group(group), names.version(version), names.kind(kind))
    if resource is None or not resource.api:
        raise Refused(f"the project has no {group}/{version}, Kind={kind}: begin with `create api`")
    if not (wanted.defaulting or wanted.validation or wanted.conversion):
        raise Refused("say at least one of --defaulting, --programmatic-validation and --conversion")
    had = resource.webhooks
    _check_conversion(project, resource, wanted)
    both = Webhooks(
        defaulting=had.defaulting or wanted.defaulting,
        validation=had.validation or wanted.validation,
        conversion=had.conversion or wanted.conversion,
        spoke=tuple(dict.fromkeys([*had.spoke, *wanted.spoke])),
    )
    if both == had and not force:
        raise Refused(f"{resource} has these webhooks already; --force writes their files anew")
    with _opened(root, project) as work:
        if force:
            work.overwrite()
        resource = replace(resource, webhooks=both)
        _create_webhooks(work, project, resource, wanted, is_new=force or had == Webhooks())
        return _finish(work, project.with_resource(resource))


def regenerate(root: Path, *, verify: bool) -> Done:
    """Write the generated files again; with `verify`, only return the changes. Raises Refused or OSError."""
    project = Project.load(root)
    with _opened(root, project) as work:
        generate(work, project)
        return Done(work.changes() if verify else work.commit())


def _opened(root: Path, project: Project) -> AbstractContextManager[Workspace]:
    return workspace.opened(root, FILE, project.package, "config", "test")


def _finish(work: Workspace, project: Project) -> Done:
    work.check()
    generate(work, project)
    work.write(FILE, project.to_yaml())
    return Done(work.commit(), work.kept)


def _are_of_killed_init(root: Path, project: Project, found: Sequence[str]) -> bool:
    """Report whether an interrupted `init` wrote all files in the folder. `init` compares them before it continues."""
    ours = {path.format(package=project.package) for path in [*_PROJECT_FILES, *_OTHER_FILES]}
    # Without this, `init` in / would walk the whole disk.
    if not {path.partition("/")[0] for path in ours}.issuperset(found):
        return False
    files = (path for name in found for path in [root / name, *(root / name).rglob("*")] if not path.is_dir())
    return all(path.relative_to(root).as_posix() in ours for path in files)


def _check_new(project: Project, resource: Resource) -> None:
    """Raise Refused for a kind whose names are those of another one, or of what generated code imports."""
    if (alias := f"{resource.package}{resource.version}") in RESERVED_ALIASES:
        raise Refused(f"the group {resource.group!r}: generated code imports another package as {alias}")
    if _word(resource) in RESERVED_GROUPS:
        raise Refused(f"the group {resource.group!r}: a factory of informers has a {_word(resource)!r} of its own")
    for each in project.resources:
        if not each.api or each.gvk == resource.gvk:
            continue
        same_group = each.qualified_group == resource.qualified_group
        if not same_group and each.package == resource.package:
            raise Refused(f"the group {resource.group!r}: its package {each.package!r} is that of {each}")
        if not same_group and _word(each) == _word(resource):
            raise Refused(f"the group {resource.group!r}: in the clients it is named as the group of {each}")
        if not same_group:
            continue
        if each.kind == resource.kind and (each.plural, each.namespaced) != (resource.plural, resource.namespaced):
            raise Refused(f"{resource} differs from {each} in plural or scope, which all versions share")
        if each.kind != resource.kind and each.plural == resource.plural:
            raise Refused(f"the plural {resource.plural!r} is that of {each}")
        if each.version == resource.version and _classes(each) & _classes(resource):
            raise Refused(f"the kind {resource.kind!r}: its classes are named as those of {each}")
        if each.version == resource.version and each.kind.lower() == resource.kind.lower():
            raise Refused(f"the kind {resource.kind!r}: its files are named as those of {each}")


def _requirements() -> list[str]:
    """Return the packages that the installed clientgo needs, without those of its extras."""
    return [each for each in metadata.requires("clientgo") or () if "extra ==" not in each]


def _word(resource: Resource) -> str:
    """Return the name of the group in the clients, which is its first word."""
    return resource.qualified_group.partition(".")[0].replace("-", "")


def _classes(resource: Resource) -> set[str]:
    return {f"{resource.kind}{suffix}" for suffix in ("", "List", "Spec", "Status")}


def _of_kubernetes(resource: Resource) -> Resource:
    """Complete a resource that names a built-in kind. Raises Refused when there is no such kind."""
    path = f"clientgo.api.{resource.package}.{resource.version}"
    try:
        cls = getattr(importlib.import_module(path), resource.kind, None)
    except ImportError:
        cls = None
    if not (isinstance(cls, type) and issubclass(cls, ResourceObject) and cls.GROUP_VERSION_KIND and cls.GENCLIENT):
        raise Refused(
            f"neither the project nor Kubernetes has {resource.group}/{resource.version}, Kind={resource.kind}: "
            "a controller needs a type"
        )
    group = cls.GROUP_VERSION_KIND.group
    return replace(
        resource,
        domain=group.partition(".")[2],
        plural=cls.GENCLIENT.resource,
        namespaced=cls.GENCLIENT.namespaced,
        path=path,
    )


def _check_conversion(project: Project, resource: Resource, wanted: Webhooks) -> None:
    if not wanted.conversion:
        if wanted.spoke:
            raise Refused("--spoke goes with --conversion")
        return
    versions = {each.version: each for each in project.versions_of(resource.group, resource.kind) if each.api}
    hub = next((each for each in versions.values() if each.webhooks.conversion and each != resource), None)
    if hub is not None:
        raise Refused(f"{hub} is the hub already")
    if not wanted.spoke:
        raise Refused(f"--conversion needs --spoke: the versions that convert to and from {resource.version}")
    for spoke in wanted.spoke:
        if spoke == resource.version or spoke not in versions:
            raise Refused(f"the spoke {spoke!r}: {resource.kind} has no other version of that name")
    left = set(versions) - {resource.version, *wanted.spoke, *resource.webhooks.spoke}
    if left:
        raise Refused(f"all versions of {resource.kind} have to convert: --spoke {' --spoke '.join(sorted(left))}")


def _create_types(work: Workspace, project: Project, resource: Resource, *, stored: bool) -> None:
    package, api = project.package, _folder(resource.path)
    values = _values(project, resource) | {"storage": "" if stored else "\n        storage=False,"}
    _once(work, f"{package}/api/__init__.py", "api/package_init.py", values)
    _once(work, f"{package}/api/{resource.package}/__init__.py", "api/group_init.py", values)
    _once(work, f"{api}/__init__.py", "api/version_init.py", values)
    _once(work, f"{api}/groupversion_info.py", "api/groupversion_info.py", values)
    work.create(f"{api}/{values['module']}_types.py", render("api/types.py", values))
    classes = sorted(_classes(resource))
    line = f"from {resource.path}.{values['module']}_types import {', '.join(classes)}"
    work.add_import(f"{api}/__init__.py", line, package)
    work.export(f"{api}/__init__.py", classes)
    main, alias = f"{package}/main.py", f"{resource.package}{resource.version}"
    work.add_import(main, f"from {package}.api.{resource.package} import {resource.version} as {alias}", package)
    work.insert(main, "scheme", [f"{alias}.add_to_scheme(scheme)"])
    for role in ("admin", "editor", "viewer"):
        work.create(f"config/rbac/{values['prefix_']}_{role}_role.yaml", render(f"api/{role}_role.yaml", values))
    sample = f"config/samples/{resource.package}_{resource.version}_{values['module']}.yaml"
    work.create(sample, render("api/sample.yaml", values))


def _create_controller(work: Workspace, project: Project, resource: Resource) -> None:
    package, values = project.package, _values(project, resource)
    of_core = "" if resource.api else "_of_core"
    _once(work, f"{package}/controller/__init__.py", "controller/package_init.py", values)
    _once(work, f"{package}/controller/{resource.package}/__init__.py", "controller/group_init.py", values)
    work.create(f"{_folder(values['controller'])}.py", render(f"controller/controller{of_core}.py", values))
    test = f"test/unit/test_{values['prefix_']}_controller.py"
    work.create(test, render(f"controller/test_controller{of_core}.py", values))
    if resource.api:
        work.create(f"test/e2e/test_{values['prefix_']}_in_cluster.py", render("controller/test_e2e.py", values))
    main, reconciler = f"{package}/main.py", f"{resource.kind}Reconciler"
    imported = reconciler
    if any(each.kind == resource.kind and each.group != resource.group for each in project.resources):
        reconciler = f"{resource.package.title()}{reconciler}"
        imported += f" as {reconciler}"
    work.add_import(main, f"from {values['controller']} import {imported}", package)
    work.insert(main, "builder", [f"{reconciler}(mgr.get_client(), mgr.get_scheme()).setup_with_manager(mgr)"])


def _create_webhooks(
    work: Workspace, project: Project, resource: Resource, wanted: Webhooks, *, is_new: bool
) -> None:
    package, values = project.package, _values(project, resource)
    file = f"{_folder(values['webhook'])}.py"
    _once(work, f"{package}/webhook/__init__.py", "webhook/package_init.py", values)
    _once(work, f"{package}/webhook/{resource.package}/__init__.py", "webhook/group_init.py", values)
    _once(work, f"{_folder(values['webhook'].rpartition('.')[0])}/__init__.py", "webhook/version_init.py", values)
    bare = render("webhook/webhook.py", values)
    if is_new:
        work.create(file, bare)
    if wanted.defaulting:
        _add_defaulter(work, file, package, values)
    if wanted.validation:
        _add_validator(work, file, package, values)
    if wanted.conversion:
        _add_conversion(work, file, project, resource, wanted)
    setup = f"setup_{values['module']}_webhook_with_manager"
    alias = f"setup_{resource.package}_{resource.version}_{values['module']}_webhook"
    main = f"{package}/main.py"
    work.add_import(main, f"from {values['webhook']} import {setup} as {alias}", package)
    work.insert(main, "webhooks", [f"{alias}(mgr)"])
    _serve_in_cluster(work, values)


def _add_defaulter(work: Workspace, file: str, package: str, values: dict[str, str]) -> None:
    work.add_import(file, "from clientgo.context import Context", package)
    work.insert(file, "builder", [f"builder.with_defaulter({values['kind']}CustomDefaulter())"])
    work.insert(file, "webhooks", render("webhook/defaulter.py", values).splitlines())
    _add_webhook_test(work, "defaulter", values)


def _add_validator(work: Workspace, file: str, package: str, values: dict[str, str]) -> None:
    work.add_import(file, "from clientgo.context import Context", package)
    work.add_import(file, "from clientgo.controller_runtime.webhook import admission", package)
    work.insert(file, "builder", [f"builder.with_validator({values['kind']}CustomValidator())"])
    work.insert(file, "webhooks", render("webhook/validator.py", values).splitlines())
    _add_webhook_test(work, "validator", values)


def _add_webhook_test(work: Workspace, kind: str, values: dict[str, str]) -> None:
    work.create(f"test/unit/test_{values['versioned']}_{kind}.py", render(f"webhook/test_{kind}.py", values))
    _once(work, f"test/e2e/test_{values['versioned']}_webhooks.py", "webhook/test_webhooks_e2e.py", values)


def _add_conversion(work: Workspace, file: str, project: Project, resource: Resource, wanted: Webhooks) -> None:
    package, kind = project.package, resource.kind
    module = "clientgo.controller_runtime.webhook.conversion"
    work.add_import(file, f"from {module} import new_hub_spoke_converter, new_spoke_converter", package)
    head = ["builder.with_converter(", "    new_hub_spoke_converter(", f"        {kind},"]
    work.insert(file, "builder", [*head, f"        {mark('spokes')}", "    )", ")"], unless="with_converter(")
    for version in wanted.spoke:
        spoke = project.find(resource.group, version, kind)
        assert spoke is not None  # _check_conversion
        values = _values(project, spoke) | {"hub_version": resource.version, "hub_path": resource.path}
        module = f"{values['module']}_conversion"
        work.create(f"{_folder(spoke.path)}/{module}.py", render("webhook/conversion.py", values))
        test = f"test/e2e/test_{values['versioned']}_conversion.py"
        work.create(test, render("webhook/test_conversion.py", values))
        work.add_import(file, f"from {spoke.path} import {kind} as {kind}{version.title()}", package)
        work.add_import(file, f"from {spoke.path} import {module} as {version}", package)
        made = f"{kind}{version.title()}, {version}.convert_from_hub, {version}.convert_to_hub"
        work.insert(file, "spokes", [f"new_spoke_converter({made}),"])


def _serve_in_cluster(work: Workspace, values: dict[str, str]) -> None:
    """Add the parts that webhooks need in a cluster: a certificate, a Service and a flag."""
    manager = "config/manager/manager.yaml"
    if not (work.root / "config/webhook/service.yaml").exists():
        work.insert(manager, "args", _ARGS.splitlines())
        work.insert(manager, "container", _CONTAINER.splitlines())
        work.insert(manager, "pod", _POD.format(project=values["project"]).splitlines())
    _once(work, "config/webhook/service.yaml", "webhook/service.yaml", values)
    _once(work, "config/certmanager/certificate.yaml", "webhook/certificate.yaml", values)


def _once(work: Workspace, name: str, template: str, values: dict[str, str]) -> None:
    """Create a file that several commands need, unless it exists already."""
    if not (work.copy / name).exists():
        work.create(name, render(template, values))


def _folder(package: str) -> str:
    return package.replace(".", "/")


def _values(project: Project, resource: Resource | None = None) -> dict[str, str]:
    """Return the values for the placeholders of the templates."""
    values = {
        "clientgo": metadata.version("clientgo"),
        "requirements": "\n".join(_requirements()),
        "domain": project.domain,
        "namespace": project.namespace,
        "package": project.package,
        "project": project.name,
    }
    if resource is None:
        return values
    module, package, group = resource.kind.lower(), project.package, resource.package
    return values | {
        "api": resource.path,
        "cluster_scope": "" if resource.namespaced else ", namespaced=False",
        "controller": f"{package}.controller.{group}.{module}_controller",
        "controller_name": f"{group}-{module}",
        "dashed": f"{resource.qualified_group.replace('.', '-')}-{resource.version}-{module}",
        "kind": resource.kind,
        "module": module,
        "path": resource.path,
        "plural": resource.plural,
        "prefix": f"{group}-{module}",
        "prefix_": f"{group}_{module}",
        "qualified_group": resource.qualified_group,
        "rbac_group": resource.qualified_group if resource.group != "core" else "core",
        "singular": module,
        "test_namespace": "default" if resource.namespaced else "",
        "variable": names.variable(resource.kind),
        "version": resource.version,
        "versioned": f"{group}_{resource.version}_{module}",
        "webhook": f"{package}.webhook.{group}.{resource.version}.{module}_webhook",
    }


def resource_of(
    project: Project, group: str, version: str, kind: str, *, plural: str, namespaced: bool, domain: str = ""
) -> Resource:
    """Return the resource that the command line names. Raises Refused for invalid names."""
    names.group(group), names.version(version), names.kind(kind)
    return Resource(
        group=group,
        version=version,
        kind=kind,
        domain=domain or project.domain,
        plural=names.plural(plural or naming.plural(kind)),
        path=f"{project.package}.api.{names.group_package(group)}.{version}",
        namespaced=namespaced,
    )
