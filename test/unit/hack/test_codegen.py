"""The code generators: names, and that what is committed is what they write."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))

from codegen import naming  # noqa: E402

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


def update_codegen(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "hack" / "update-codegen", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_generated_code_is_current() -> None:
    done = update_codegen("--verify")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Somebody else's project: the sample-controller's API types, in a package of another name."""
    apis = tmp_path / "shop" / "apis"
    shutil.copytree(ROOT / "cmd/sample-controller/pkg/apis", apis, ignore=shutil.ignore_patterns("__pycache__"))
    for module in apis.rglob("*.py"):
        module.write_text(module.read_text().replace("pkg.apis", "shop.apis"))
    (apis.parent / "__init__.py").touch()
    return tmp_path


def test_a_project_of_ones_own_gets_clients_informers_and_listers(shop: Path) -> None:
    arguments = ("--root", shop, "--output", "shop.generated", "shop.apis.samplecontroller.v1alpha1")

    written = update_codegen(*arguments)

    assert "24 generated files, 24 changed" in written.stdout, written.stderr
    assert update_codegen(*arguments, "--verify").returncode == 0
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": f"{shop}:{ROOT}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.stdout == "FooSpec(replicas=2)\n", ran.stderr
    foo = shop / "shop/generated/listers/samplecontroller/v1alpha1/foo.py"
    foo.write_text("changed")
    assert "shop/generated/listers/samplecontroller/v1alpha1/foo.py" in update_codegen(*arguments, "--verify").stdout


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

    done = update_codegen("--root", shop, "--output", "shop.generated", "shop.apis.samplecontroller.v1alpha1")

    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not (shop / "shop" / "generated").exists()


@pytest.mark.parametrize(
    ("go", "python"),
    [
        ("ClusterIPs", "cluster_ips"),
        ("HostIPC", "host_ipc"),
        ("CoreV1", "core_v1"),
        ("AutoscalingV2beta1", "autoscaling_v2beta1"),
        ("OpenAPIV3", "openapi_v3"),
        ("CABundle", "ca_bundle"),
        ("From", "from_"),
        ("UIDs", "uids"),
        ("ServerAddressByClientCIDRs", "server_address_by_client_cidrs"),
    ],
)
def test_names_follow_the_rule(go: str, python: str) -> None:
    assert naming.snake(go) == python


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Pod", "pods"),
        ("Endpoints", "endpoints"),
        ("Ingress", "ingresses"),
        ("NetworkPolicy", "networkpolicies"),
        ("StorageClass", "storageclasses"),
        ("ComponentStatus", "componentstatuses"),
        ("Gateway", "gateways"),
    ],
)
def test_plurals_are_those_of_kubernetes(kind: str, plural: str) -> None:
    assert naming.plural(kind) == plural


def test_constants_lose_the_name_of_their_type() -> None:
    assert naming.constant("StatusReasonNotFound", "StatusReason") == "NOT_FOUND"
    assert naming.constant("JSONPatchType", "PatchType") == "JSON"
    assert naming.constant("ConditionTrue", "ConditionStatus") == "CONDITION_TRUE"
