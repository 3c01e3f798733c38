"""The Dockerfile in artifacts/deploy, carried out line by line, and what it builds run as in the Deployment's pod."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import samplecontroller  # noqa: F401  # makes the controller's own packages importable
from dockerfile import Image, build
from processes import ROOT
from wheel import build_tools

from clientgo import context, kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.authentication import v1 as authenticationv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment, read_manifests
from pkg.apis.samplecontroller import v1alpha1
from pkg.generated.clientset import versioned as clientset

CTX = context.background()
ARTIFACTS = ROOT / "cmd/sample-controller/artifacts"
NAME = "sample-controller"
MANIFESTS = [ARTIFACTS / "deploy" / file for file in ("0-namespace.yaml", "rbac.yaml", "deployment.yaml")]
(DEPLOYMENT,) = [appsv1.Deployment.from_dict(each) for each in read_manifests(MANIFESTS[2:])]
(CONTAINER,) = DEPLOYMENT.spec.template.spec.containers

pytestmark = pytest.mark.takes_turns(3, together=True)

# The folder of the service account is part of Kubernetes, and no program can be told another one. Python runs this
# module before the program, as long as it finds it.
IN_POD = """
from clientgo.rest import config
config.in_cluster_config.__defaults__ = ({service_account!r},)
"""


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> list[Image]:
    tools = build_tools(tmp_path_factory)
    return build(ARTIFACTS / "deploy/Dockerfile", ROOT, tmp_path_factory.mktemp("image"), **tools)


@pytest.fixture
def image(stages: list[Image]) -> Iterator[Image]:
    """Yield the image's folder. It is read-only, as in the Deployment."""
    before = files(stages[-1])
    yield stages[-1]
    assert files(stages[-1]) == before


def files(image: Image) -> dict[str, float]:
    return {str(path.relative_to(image.root)): path.lstat().st_mtime for path in image.root.rglob("*")}


@pytest.fixture
def env() -> Iterator[Environment]:
    with Environment(crd_paths=[ARTIFACTS / "examples/crd.yaml"]) as environment:
        for document in read_manifests(MANIFESTS):
            environment.create(document)
        yield environment


def test_the_image_is_made_of_what_the_controller_needs(stages: list[Image], image: Image) -> None:
    top = {path.name for path in image.root.iterdir()}
    assert top == {"venv", "sample-controller"}
    assert not any("__pycache__" in name for name in files(image) if name.startswith("sample-controller"))
    # A virtual environment cannot move to another Python.
    assert len({stage.base for stage in stages}) == 1
    required = configparser.ConfigParser()
    required.read(ROOT / "setup.cfg")
    minor = int(required["options"]["python_requires"].removeprefix(">=3."))
    tag = re.fullmatch(r"python:3\.(\d+)-slim", image.base)
    assert tag is not None
    assert int(tag[1]) >= minor


def test_its_user_is_the_one_of_the_deployment(image: Image) -> None:
    context = DEPLOYMENT.spec.template.spec.security_context
    assert context is not None
    assert image.user == f"{context.run_as_user}:{context.run_as_group}", "runAsNonRoot wants a number"


def test_help_lists_the_flags(image: Image) -> None:
    with image.start("-help") as program:
        assert program.wait() == 0, program.output
    assert "usage: sample-controller" in program.output
    assert "-leader-elect" in program.output


def test_outside_of_a_cluster_it_says_what_is_missing(image: Image) -> None:
    with image.start() as program:
        assert program.wait() == 1, program.output
    assert "Error building kubeconfig" in program.output
    assert "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined" in program.output


def test_it_works_in_a_pod(image: Image, env: Environment, tmp_path: Path) -> None:
    kube, sample = kubernetes.new_for_config(env.config), clientset.new_for_config(env.config)
    try:
        request = authenticationv1.TokenRequest(spec=authenticationv1.TokenRequestSpec())
        issued = kube.core_v1().service_accounts(NAME).create_token(CTX, NAME, request)
        (tmp_path / "token").write_text(issued.status.token)
        (tmp_path / "ca.crt").write_text(env.server.ca_certificate)
        (tmp_path / "sitecustomize.py").write_text(IN_POD.format(service_account=str(tmp_path)))
        server = urlsplit(env.server.tls_url)
        pod = {
            "KUBERNETES_SERVICE_HOST": str(server.hostname),
            "KUBERNETES_SERVICE_PORT": str(server.port),
            "PYTHONPATH": str(tmp_path),
        }
        with image.start(*CONTAINER.args, **pod) as controller:
            controller.wait_for("Started workers")
            foo = v1alpha1.Foo(
                metadata=metav1.ObjectMeta(name="foo"), spec=v1alpha1.FooSpec(deployment_name="foo", replicas=1)
            )
            sample.samplecontroller_v1alpha1().foos("default").create(CTX, foo)
            controller.wait_for('Successfully synced.*"default/foo"')
            assert controller.stop() == 0, controller.output
        assert "forbidden" not in controller.output
        assert [each.get_name() for each in kube.apps_v1().deployments("default").list(CTX).items] == ["foo"]
        lease = kube.coordination_v1().leases(NAME).get(CTX, NAME)
        assert not lease.spec.holder_identity
    finally:
        kube.close()
        sample.close()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("COPY nowhere .", "there is no .*nowhere"),
        ("COPY setup.cfg LICENSE etc", "several sources need a folder"),
        ("COPY test/conftest.py .", r"\.dockerignore keeps .*conftest.py out"),
        ("RUN python -c 'print(\"oh\"); exit(3)'", r"(?s)exit code 3\noh"),
        ("RUN test -e /venv/bin/python", "exit code 1"),
        ("HEALTHCHECK NONE", "nobody has taught this test what 'HEALTHCHECK NONE' does"),
    ],
)
def test_a_line_that_docker_would_fail_at_fails_here(line: str, complaint: str, tmp_path: Path) -> None:
    dockerfile = tmp_path / "Dockerfile"
    dockerfile.write_text(f"FROM python:3.13-slim\nWORKDIR /src\n{line}\n")
    with pytest.raises(AssertionError, match=complaint):
        build(dockerfile, ROOT, tmp_path)
