"""`python -m clientgo.codegen`: a project's own API types get clients, informers and listers."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

pytestmark = pytest.mark.takes_turns(2)

ROOT = Path(__file__).resolve().parents[3]

# Uses what is generated for an API group of one's own: a clientset, its fake, an informer factory and a lister.
PROGRAM = """
from clientgo import context
from clientgo.apimachinery.apis.meta import v1 as metav1
from shop.apis.samplecontroller import v1alpha1
from shop.generated.applyconfigurations.samplecontroller.v1alpha1 import extract_foo
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
applied = v1alpha1.Foo(metadata=metav1.ObjectMeta(name="a"), spec=v1alpha1.FooSpec(deployment_name="mine"))
client.samplecontroller_v1alpha1().foos("ns").apply(ctx, applied, metav1.ApplyOptions(field_manager="me"))
print(extract_foo(client.samplecontroller_v1alpha1().foos("ns").get(ctx, "a"), "me").spec)
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

    assert "27 generated files, 27 changed" in written.stdout, written.stderr
    assert codegen(*arguments, "--verify").returncode == 0
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": f"{shop}:{ROOT}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.stdout == "FooSpec(replicas=2)\nFooSpec(deployment_name='mine')\n", ran.stderr
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


ORDERS = """
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema


class OrderSpec(runtime.Struct):
    items: int = runtime.field("items", "int32", default=0)


class Order(runtime.ResourceObject):
    GROUP_VERSION_KIND = schema.GroupVersionKind("shop.example.com", "v1", "Order")
    GENCLIENT = runtime.Genclient("orders")

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    spec: OrderSpec = runtime.field("spec", "OrderSpec", default=runtime.EMPTY)
"""
OWN_LIST = """
from collections.abc import MutableSequence


class OrderList(runtime.ListObject):
    GROUP_VERSION_KIND = schema.GroupVersionKind("shop.example.com", "v1", "OrderList")
    ITEM = Order

    metadata: metav1.ListMeta = runtime.field("metadata", "metav1.ListMeta", default=runtime.EMPTY)
    items: MutableSequence[Order] = runtime.field("items", "[]Order", default=runtime.EMPTY)
"""
USE_ORDERS = """
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import background
from shop.apis.shop import v1
from shop.generated.clientset.versioned import fake

client = fake.new_clientset(v1.Order(metadata=metav1.ObjectMeta(name="a", namespace="ns"), spec=v1.OrderSpec(items=3)))
orders = client.shop_v1().orders("ns").list(background(), metav1.ListOptions())
print(type(orders).__name__, [order.spec.items for order in orders.items], v1.GROUP_NAME, v1.resource("orders"))
print(v1.__all__)
"""


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    """Return the folder of an API package that contains nothing but the types."""
    folder = tmp_path / "shop/apis/shop/v1"
    folder.mkdir(parents=True)
    (folder / "types.py").write_text(ORDERS)
    return folder


def generate_orders(orders: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return codegen("--root", orders.parents[3], "--output", "shop.generated", *arguments, "shop.apis.shop.v1")


def use_orders(orders: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", USE_ORDERS],
        env={"PYTHONPATH": f"{orders.parents[3]}:{ROOT}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_types_alone_are_enough(orders: Path) -> None:
    written = generate_orders(orders)

    assert written.returncode == 0, written.stderr
    assert sorted(path.name for path in orders.glob("*.py")) == ["__init__.py", "lists.py", "register.py", "types.py"]
    assert use_orders(orders) == [
        "OrderList [3] shop.example.com orders.shop.example.com",
        "['GROUP_NAME', 'SCHEME_GROUP_VERSION', 'Order', 'OrderList', 'OrderSpec', "
        "'add_to_scheme', 'kind', 'resource']",
    ]
    assert generate_orders(orders, "--verify").returncode == 0


def test_a_new_kind_and_an_own_list_renew_the_generated_modules(orders: Path) -> None:
    assert generate_orders(orders).returncode == 0
    (orders / "bill_types.py").write_text(ORDERS.replace("Order", "Bill").replace("orders", "bills"))
    (orders / "types.py").write_text(ORDERS + OWN_LIST)

    stale = generate_orders(orders, "--verify")
    renewed = generate_orders(orders)

    assert stale.returncode == 1
    assert "shop/apis/shop/v1/lists.py" in stale.stdout
    assert renewed.returncode == 0, renewed.stderr
    assert "class OrderList" not in (orders / "lists.py").read_text()
    assert "class BillList" in (orders / "lists.py").read_text()
    (orders / "bill_types.py").unlink()
    assert generate_orders(orders).returncode == 0
    assert not (orders / "lists.py").exists()
    assert use_orders(orders)[0] == "OrderList [3] shop.example.com orders.shop.example.com"


def test_modules_of_the_user_are_never_changed(orders: Path) -> None:
    assert generate_orders(orders).returncode == 0
    register = (orders / "register.py").read_text().replace("; do not edit", " once, and edited")
    (orders / "register.py").write_text(register)
    (orders / "types.py").write_text(ORDERS + OWN_LIST)
    own = '"""Written by the user."""\n' + (orders / "__init__.py").read_text().replace("lists import", "types import")
    (orders / "__init__.py").write_text(own.replace("; do not edit", ""))
    (orders / "register.py").write_text(register.replace("v1.lists import", "v1.types import"))
    before = {path.name: path.read_text() for path in orders.glob("*.py") if path.name != "lists.py"}

    assert generate_orders(orders).returncode == 0

    assert {path.name: path.read_text() for path in orders.glob("*.py") if path.name != "lists.py"} == before


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"v1", "Order"', '"v2", "Order"', "v1 must be named after its version, which Order says is v2"),
        ("    GROUP_VERSION_KIND =", "    _KIND =", "shop.apis.shop.v1 has no class with a GROUP_VERSION_KIND"),
        ("class OrderSpec(", "class OrderSpec)(", "types.py:7: unmatched ')'"),
        ("runtime.Struct", "runtime.Strukt", "types.py:7: AttributeError"),
    ],
)
def test_types_that_cannot_be_registered_are_reported(orders: Path, old: str, new: str, complaint: str) -> None:
    (orders / "types.py").write_text(ORDERS.replace(old, new))

    done = generate_orders(orders)

    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in orders.glob("*.py")] == ["types.py"]


def test_kinds_of_two_groups_are_reported(orders: Path) -> None:
    (orders / "bill_types.py").write_text(ORDERS.replace("Order", "Bill").replace("shop.example", "bank.example"))

    done = generate_orders(orders)

    assert done.returncode == 2
    assert "kinds of several groups: Bill is of bank.example.com, Order is of shop.example.com" in done.stderr


def test_a_file_of_the_user_where_the_lists_belong_is_reported(orders: Path) -> None:
    (orders / "lists.py").write_text("# the user's\n")

    done = generate_orders(orders)

    assert done.returncode == 2
    assert "lists.py: the generator needs this file for OrderList" in done.stderr
    assert (orders / "lists.py").read_text() == "# the user's\n"
