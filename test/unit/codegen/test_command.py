"""`python -m clientgo.codegen`: a project's own API types get clients, informers and listers."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[3]

# Uses what is generated for an API group of one's own: a clientset, its fake, an informer factory and a lister.
PROGRAM = """
from clientgo import context
from clientgo.apimachinery.apis.meta import v1 as metav1
from shop.apis.samplecontroller import v1alpha1
from shop.generated.clientset import versioned
from shop.generated.clientset.versioned import fake
from shop.generated.informers import externalversions as informers

foo = v1alpha1.Foo(metadata=metav1.ObjectMeta(name="a", namespace="ns"), spec=v1alpha1.FooSpec(replicas=2))
client: versioned.Interface = fake.new_clientset(foo)
factory = informers.new_shared_informer_factory(client, 0.0)
foos = factory.samplecontroller().v1alpha1().foos()
foos.informer()
ctx, cancel = context.with_cancel(context.background())
factory.start(ctx.done())
assert all(factory.wait_for_cache_sync(ctx.done()).values())
print(foos.lister().foos("ns").get("a").spec)
cancel()
factory.shutdown()
"""


def codegen(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "clientgo.codegen", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a user's project: the API types of the sample-controller in a package of another name."""
    apis = tmp_path / "shop" / "apis"
    shutil.copytree(ROOT / "cmd/sample-controller/pkg/apis", apis, ignore=shutil.ignore_patterns("__pycache__"))
    for module in apis.rglob("*.py"):
        module.write_text(module.read_text().replace("pkg.apis", "shop.apis"))
    (apis.parent / "__init__.py").touch()
    return tmp_path


def test_a_project_of_ones_own_gets_clients_informers_and_listers(shop: Path) -> None:
    arguments = ("--root", shop, "--output", "shop.generated", "shop.apis.samplecontroller.v1alpha1")

    written = codegen(*arguments)

    assert "24 generated files, 24 changed" in written.stdout, written.stderr
    assert codegen(*arguments, "--verify").returncode == 0
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": f"{shop}:{ROOT}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.stdout == "FooSpec(replicas=2)\n", ran.stderr
    foo = shop / "shop/generated/listers/samplecontroller/v1alpha1/foo.py"
    foo.write_text("changed")
    assert "shop/generated/listers/samplecontroller/v1alpha1/foo.py" in codegen(*arguments, "--verify").stdout


def test_api_packages_and_what_to_write_go_together(tmp_path: Path) -> None:
    for arguments in ([], ["shop.apis.shop.v1"], ["--output", "shop.generated"], ["--crds", "crds"]):
        done = codegen("--root", tmp_path, *arguments)

        assert done.returncode == 2
        assert "a project's own API packages and --output or --crds go together" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("import Foo, FooList,", "import Foo,", "exports Foo, but no FooList"),
        ('    "Foo",\n', "", "exports no class with a GENCLIENT"),
        ("import SCHEME_GROUP_VERSION,", "import", "has no SCHEME_GROUP_VERSION"),
        ("from shop", "from other", "No module named 'other'"),
    ],
)
def test_what_an_api_package_lacks_is_said_in_words(shop: Path, old: str, new: str, complaint: str) -> None:
    package = shop / "shop/apis/samplecontroller/v1alpha1/__init__.py"
    package.write_text(package.read_text().replace(old, new))

    done = codegen("--root", shop, "--output", "shop.generated", "shop.apis.samplecontroller.v1alpha1")

    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not (shop / "shop" / "generated").exists()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            '"replicas", "*int32"',
            '"replicas", "integer"',
            'FooSpec.replicas is declared as "integer", and there is no such',
        ),
        (
            '"replicas", "*int32"',
            '"replicas", "*string"',
            'FooSpec.replicas is declared as "*string", and annotated as int',
        ),
        (
            "replicas: int | None",
            "replicas: str | None",
            'FooSpec.replicas is declared as "*int32", and annotated as str',
        ),
        ('"items", "[]Foo"', '"items", "[]Fooo"', 'FooList.items is declared as "[]Fooo", and there is no such type'),
        ('"items", "[]Foo"', '"items", "[]FooSpec"', 'FooList.items is declared as "[]FooSpec", and annotated as '),
        (
            '"items", "[]Foo"',
            '"items", "map[string]Foo"',
            'FooList.items is declared as "map[string]Foo", and annotated',
        ),
        (
            '"replicas", "*int32", default=None',
            '"replicas", "*int32", default=runtime.EMPTY',
            "a *int32 is never EMPTY",
        ),
        ("replicas: int | None = runtime", "replicas: int | None = runtim", "NameError: name 'runtim' is not defined"),
        ("class FooSpec(", "class FooSpec)(", "unmatched ')'"),
    ],
)
def test_an_error_in_the_types_points_to_their_line(shop: Path, old: str, new: str, complaint: str) -> None:
    types = shop / "shop/apis/samplecontroller/v1alpha1/types.py"
    text = types.read_text()
    assert old in text
    types.write_text(text.replace(old, new))
    lines = types.read_text().splitlines()
    line = 1 + next(index for index, line in enumerate(lines) if new in line)

    done = codegen("--root", shop, "--output", "shop.generated", "shop.apis.samplecontroller.v1alpha1")

    assert done.returncode == 2
    assert f"{types}:{line}: " in done.stderr or ("EMPTY" in complaint and f"{types}:" in done.stderr)
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not (shop / "shop" / "generated").exists()


@pytest.mark.parametrize("kind", ["ListOptions", "GetOptions", "DeleteOptions", "CreateOptions"])
def test_a_kind_that_every_group_has_is_refused(shop: Path, kind: str) -> None:
    for module in (shop / "shop/apis").rglob("*.py"):
        module.write_text(re.sub(r"\bFoo(?=List\b|\b)", kind, module.read_text()))

    refused = codegen("--root", shop, "--output", "shop.generated", "shop.apis.samplecontroller.v1alpha1")

    assert refused.returncode == 2
    assert f"the kind {kind!r} is in every group" in refused.stderr
    assert not (shop / "shop/generated").exists()


@pytest.mark.parametrize("group", ["start", "shutdown", "namespace"])
def test_a_group_that_is_named_as_a_member_of_the_factory_is_refused(shop: Path, group: str) -> None:
    for module in (shop / "shop/apis").rglob("*.py"):
        module.write_text(module.read_text().replace("samplecontroller.k8s.io", f"{group}.example.com"))

    refused = codegen("--root", shop, "--output", "shop.generated", "shop.apis.samplecontroller.v1alpha1")

    assert refused.returncode == 2
    assert f"a factory of informers has a {group!r} of its own" in refused.stderr


def test_a_package_that_is_imported_under_a_name_of_the_generated_code_is_refused(shop: Path) -> None:
    (shop / "shop/apis/samplecontroller").rename(shop / "shop/apis/meta")
    (shop / "shop/apis/meta/v1alpha1").rename(shop / "shop/apis/meta/v1")
    for module in (shop / "shop/apis").rglob("*.py"):
        text = module.read_text().replace("shop.apis.samplecontroller", "shop.apis.meta")
        module.write_text(text.replace("v1alpha1", "v1"))

    refused = codegen("--root", shop, "--output", "shop.generated", "shop.apis.meta.v1")

    assert refused.returncode == 2
    assert "generated code imports another package as metav1" in refused.stderr


@pytest.mark.parametrize("package", ["shop.__init__", "shop.class", "shop.", "../shop"])
def test_an_output_that_is_no_package_is_refused(shop: Path, package: str) -> None:
    refused = codegen("--root", shop, "--output", package, "shop.apis.samplecontroller.v1alpha1")
    assert refused.returncode == 2
    assert f"--output {package}: not the name of a Python package" in refused.stderr
