"""Generate the code of this repository: the built-in API types with their clients, and those of the programs."""

from __future__ import annotations

from dataclasses import dataclass

from clientgo.codegen import crds, naming
from clientgo.codegen.clients import Clientset, GroupVersion
from clientgo.codegen.importing import ImportedFolder
from clientgo.codegen.writer import Output, generate_own, write_clientset, write_extractors
from codegen import numbers_gen, types_gen
from codegen.source import META, ROOT, Package, packages


@dataclass(frozen=True)
class Program:
    """A program with API groups of its own."""

    # The package that is generated, "" for a program without, and the API packages it is generated from.
    package: str
    apis: list[str]
    # The file of each definition.
    crds: dict[str, str]


PROGRAMS = {
    "sample-controller": Program(
        "pkg.generated",
        ["pkg.apis.samplecontroller.v1alpha1"],
        {"foos.samplecontroller.k8s.io": "artifacts/examples/crd.yaml"},
    ),
    "network-controller": Program(
        "pkg.client",
        ["pkg.apis.samplecrd.v1"],
        {"networks.samplecrd.k8s.io": "crd/network.yaml"},
    ),
    "guestbook-operator": Program("", ["api.v1"], {"guestbooks.webapp.example.com": "config/crd/guestbooks.yaml"}),
    "operator-patterns": Program("", ["api.v1alpha1"], {"sites.patterns.example.com": "config/crd/sites.yaml"}),
    "cockroach-operator": Program(
        "",
        ["api.v1alpha1"],
        {"crdbclusters.crdb.cockroachlabs.com": "config/crd/crdbclusters.yaml"},
    ),
    "elasticsearch-operator": Program(
        "", ["api.v1"], {"elasticsearches.elasticsearch.k8s.elastic.co": "config/crd/elasticsearches.yaml"}
    ),
}


def generate(output: Output) -> None:
    """Generate the built-in API types and their clients. The types come first, because the other generators import
    them.
    """
    write_types(output)
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
            applyconfigurations="clientgo.applyconfigurations",
            groups=groups,
            prefers_protobuf=True,
        ),
    )
    for group in built_in:
        if group not in groups:  # a kind without a client, such as ImageReview
            write_extractors(output, ROOT, "clientgo.applyconfigurations", group)
    for name in PROGRAMS:
        generate_program(output, name)


def generate_program(output: Output, name: str) -> None:
    """Generate the clients and the CustomResourceDefinitions of a program under cmd."""
    program, root = PROGRAMS[name], ROOT / "cmd" / name
    with ImportedFolder(root):
        if program.package:
            generate_own(output, root, program.package, program.apis, f"The clients of {name}'s own API group")
        for crd in crds.crds_of(program.apis):
            crds.write(output, root / program.crds[crd.name], crd)


def write_types(output: Output) -> None:
    parents: dict[str, str] = {}
    for package in packages():
        text = types_gen.TypesModule(package).render()
        output.put(package.directory / "types.py", text)
        numbers = numbers_gen.NumbersModule(package).render()
        if numbers:
            output.put(package.directory / "generated_pb.py", numbers)
        # apis/meta/v1 also has hand-written modules, so its register.py and __init__.py are hand-written.
        if package.go == META:
            continue
        write_package(output, package, text)
        parents[package.parent] = package.group or "core"
    for parent, group in parents.items():
        if parent != "clientgo.apimachinery.apis.meta":
            path = ROOT / parent.replace(".", "/") / "__init__.py"
            output.put(path, f'"""The API group {group}, one package per version."""\n')
    output.put(ROOT / "clientgo/api/__init__.py", '"""k8s.io/api: the built-in API types, one package per group."""\n')


def write_package(output: Output, package: Package, types: str) -> None:
    output.put(package.directory / "register.py", types_gen.render_register(package))
    output.put(package.directory / "__init__.py", types_gen.render_init(package, naming.public_names(types)))
