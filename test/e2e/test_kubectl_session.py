"""A working day with kubectl against the embedded API server and its workload simulator, by one kubectl or another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from certificates import Authority
from processes import (
    KUBECTL_MINORS,
    Program,
    children,
    environment,
    eventually,
    kubectl,
    kubectl_binary,
    kubectl_in_turn,
    start_apiserver,
)
from signingrequests import request_pem

from clientgo import context, kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import clientcmd

pytestmark = [pytest.mark.kubectl, pytest.mark.shared_server]
CTX = context.background()
Run = Callable[..., str]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test with one version of kubectl, and `test_a_little_with_every_kubectl` with all."""
    if "minor" in metafunc.fixturenames:
        metafunc.parametrize("minor", kubectl_in_turn(metafunc.function.__name__))


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kubectl") / "kubeconfig"


@pytest.fixture(scope="module")
def server(kubeconfig: Path) -> Iterator[None]:
    """Run an API server with simulated workloads."""
    with start_apiserver(kubeconfig, "--simulate-workloads", "--simulate-delay=0.1") as server:
        yield
        assert server.stop() == 0, server.output
    assert children() == []


@pytest.fixture
def run(server: None, kubeconfig: Path, minor: int | None) -> Run:
    """Return a function that runs kubectl on that server. `fails=True` is for commands that must fail."""

    def command(*arguments: str, fails: bool = False) -> str:
        return kubectl(kubeconfig, *arguments, minor=minor, check=not fails)

    return command


@pytest.fixture(scope="module")
def client(server: None, kubeconfig: Path) -> Iterator[kubernetes.Clientset]:
    """Return a client for what every test needs, since kubectl would take a second each time."""
    made = kubernetes.new_for_config(clientcmd.build_config_from_flags("", str(kubeconfig)))
    yield made
    made.close()


WEB = appsv1.Deployment.from_dict(
    {
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "example.com/web:1"}]},
            },
        },
    }
)


@pytest.fixture
def web(client: kubernetes.Clientset) -> Iterator[str]:
    """Yield a Deployment that has rolled out."""
    deployments = client.apps_v1().deployments("default")

    def rolled_out() -> bool:
        found = deployments.get(CTX, "web")
        status = found.status
        current = status.observed_generation == found.metadata.generation
        return current and (status.replicas, status.available_replicas) == (2, 2)

    deployments.create(CTX, WEB)
    eventually("the Deployment to roll out", rolled_out)
    yield "deploy/web"
    if deployments.list(CTX).items:
        deployments.delete(CTX, "web", metav1.DeleteOptions(propagation_policy="Foreground"))
    eventually("the Deployment to go", lambda: not deployments.list(CTX).items)


def test_a_deployment_comes_and_goes(run: Run) -> None:
    run("create", "deployment", "web", "--image=example.com/web:1", "--replicas=2")
    assert "successfully rolled out" in run("rollout", "status", "deploy/web", "--timeout=240s")
    run("delete", "deploy", "web", "--cascade=foreground")
    assert "No resources found" in run("get", "deploy,rs,pods", "-l", "app=web")
    run("delete", "deploy", "web", "--cascade=foreground", "--ignore-not-found")


def test_outputs_of_get(run: Run, web: str) -> None:
    assert run("get", web, "-o", "jsonpath={.spec.replicas}") == "2"
    assert run("get", web, "-o", "name").strip() == "deployment.apps/web"
    assert run("get", web, "-o", "custom-columns=N:.metadata.name").split() == ["N", "web"]
    assert run("get", web, "-o", "go-template={{.kind}}") == "Deployment"
    assert "example.com/web:1" in run("get", web, "-o", "wide")
    assert "\nkind: Deployment\n" in run("get", web, "-o", "yaml")
    assert "managedFields:" in run("get", web, "-o", "yaml", "--show-managed-fields")
    assert run("get", "pods", "-l", "app=web", "--field-selector=status.phase=Running", "-o", "name").count("pod/") == 2
    assert "Available      True" in run("describe", web)


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("json", '"replicas": 2'),
        ("jsonpath-as-json={.metadata.name}", '"web"'),
        ("template={{.metadata.name}}", "web"),
        ("custom-columns=IMAGE:.spec.template.spec.containers[*].image", "example.com/web:1"),
        ("yaml", "name: web"),
    ],
)
def test_more_outputs_of_get(run: Run, web: str, form: str, wanted: str) -> None:
    assert wanted in run("get", web, "-o", form)


def test_sorted_and_without_headers(run: Run) -> None:
    for name, size in (("first", "3"), ("second", "1"), ("third", "2")):
        run("create", "configmap", name, f"--from-literal=size={size}")
        run("label", "configmap", name, "of=sizes")
    lines = run("get", "configmaps", "-l", "of=sizes", "--sort-by=.data.size", "--no-headers").splitlines()
    assert [line.split()[0] for line in lines] == ["second", "third", "first"]
    run("delete", "configmaps", "-l", "of=sizes")


def test_watching(run: Run, web: str, kubeconfig: Path, minor: int | None) -> None:
    command = [kubectl_binary(minor), f"--kubeconfig={kubeconfig}", "get", "deploy", "web", "-w", "-o", "name"]
    with Program(*command, env=environment(HOME=str(kubeconfig.parent / "home"))) as watch:
        watch.wait_for("deployment.apps/web")
        seen = len(watch.output.splitlines())
        run("label", web, "seen=yes")
        eventually("the change in the watch", lambda: len(watch.output.splitlines()) > seen)


def test_describing(run: Run, web: str) -> None:
    (pod, *_) = run("get", "pods", "-l", "app=web", "-o", "name").split()
    assert "Controlled By:  ReplicaSet/web-" in run("describe", pod)
    assert "Roles:" in run("describe", "node", "simulated-node")
    assert "Status:       Active" in run("describe", "namespace", "default")
    assert "system:masters" in run("describe", "clusterrolebinding", "cluster-admin")


def test_editing(run: Run, web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBE_EDITOR", "sed -i s/replicas:.2/replicas:\\ 1/")
    assert "edited" in run("edit", web)
    assert run("get", web, "-o", "jsonpath={.spec.replicas}") == "1"
    assert "no changes made" in run("edit", web)
    run("set", "env", web, "A=b")
    assert "A=b" in run("set", "env", web, "--list")


def test_rolling_out_and_back(run: Run, web: str) -> None:
    run("set", "image", web, "web=example.com/web:2")
    run("rollout", "status", web, "--timeout=240s")
    assert run("rollout", "history", web).count("<none>") == 2
    run("rollout", "undo", web)
    run("rollout", "status", web, "--timeout=240s")
    assert run("get", web, "-o", "jsonpath={.spec.template.spec.containers[0].image}") == "example.com/web:1"
    run("rollout", "restart", web)
    run("rollout", "status", web, "--timeout=240s")
    run("scale", web, "--replicas=1")
    run("wait", web, "--for=jsonpath={.status.replicas}=1", "--timeout=240s")


def test_patches_labels_and_annotations(run: Run, web: str) -> None:
    run("patch", web, "-p", '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"s:1"}]}}}}')
    assert run("get", web, "-o", "jsonpath={.spec.template.spec.containers[*].name}") == "side web"
    run("patch", web, "--type=merge", "-p", '{"spec":{"minReadySeconds":1}}')
    run("patch", web, "--type=json", "-p", '[{"op":"remove","path":"/spec/minReadySeconds"}]')
    assert run("get", web, "-o", "jsonpath={.spec.minReadySeconds}") == ""
    run("label", web, "tier=front")
    run("annotate", web, "note=x")
    assert "tier=front" in run("get", "deploy", "-l", "tier=front", "--show-labels")


def test_apply_client_and_server_side(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "cm.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {a: '1', b: '2'}\n")
    assert "created" in run("apply", "-f", str(file))
    assert "unchanged" in run("apply", "-f", str(file))
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {a: '3'}\n")
    assert '+  a: "3"' in run("diff", "-f", str(file), fails=True)
    assert "configured" in run("apply", "-f", str(file))
    assert run("get", "cm", "conf", "-o", "jsonpath={.data}") == '{"a":"3"}'
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {a: '1'}\n")
    assert "serverside-applied" in run("apply", "--server-side", "-f", str(file))
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {a: '2'}\n")
    refused = run("apply", "--server-side", "--field-manager=else", "-f", str(file), fails=True)
    assert 'conflict with "kubectl": .data.a' in refused
    run("apply", "--server-side", "--field-manager=else", "--force-conflicts", "-f", str(file))
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\nbogus: 1\n")
    assert 'unknown field "bogus"' in run("apply", "-f", str(file), fails=True)
    run("delete", "cm", "conf", "other")


def test_explain_and_discovery(run: Run) -> None:
    assert "rollingUpdate" in run("explain", "deployment.spec.strategy")
    assert "containerPort" in run("explain", "pods.spec.containers.ports")
    assert "deployments" in run("api-resources", "--api-group=apps")
    assert "apps/v1" in run("api-versions").split()
    assert '"minor": "36"' in run("get", "--raw", "/version")


WIDGETS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: What the widget should be.
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How big it is.}
              color: {type: string, default: red, enum: [red, blue]}
          status: {type: object, properties: {size: {type: integer}}}
"""
WIDGET = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: "


def test_custom_resources(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "widget.yaml"

    def apply(text: str, fails: bool = False) -> str:
        file.write_text(text)
        return run("apply", "-f", str(file), fails=fails)

    apply(WIDGETS)
    run("wait", "crd/widgets.example.com", "--for=condition=Established", "--timeout=240s")
    assert "How big it is." in run("explain", "widget.spec")
    apply(WIDGET + "{size: 2}")
    assert run("get", "wd", "w", "-o", "jsonpath={.spec.color}") == "red"
    assert run("get", "wd").split() == ["NAME", "SIZE", "w", "2"]
    assert "widget.example.com/w" in run("get", "all")
    run("scale", "widget", "w", "--replicas=3")
    assert run("get", "wd", "w", "-o", "jsonpath={.spec.size}") == "3"
    run("patch", "wd", "w", "--subresource=status", "--type=merge", "-p", '{"status":{"size":3}}')
    assert 'Unsupported value: "green"' in apply(WIDGET + "{size: 2, color: green}", fails=True)
    assert "should be greater than or equal to 1" in apply(WIDGET + "{size: 0}", fails=True)
    assert "unknown field" in apply(WIDGET + "{size: 2, bogus: 1}", fails=True)
    assert "Required value" in run("create", "--validate=false", "-f", _without_size(tmp_path), fails=True)
    run("delete", "crd", "widgets.example.com", "--timeout=240s")
    # kubectl still knows the resource from its discovery cache, and asks for it.
    assert "the server could not find the requested resource" in run("get", "widgets", fails=True)


def _without_size(folder: Path) -> str:
    file = folder / "no-size.yaml"
    file.write_text(WIDGET.replace("name: w}", "name: other}") + "{color: blue}")
    return str(file)


def test_rights(run: Run) -> None:
    assert run("auth", "can-i", "create", "pods").strip() == "yes"
    assert run("auth", "can-i", "create", "pods", "--as=bob", fails=True).strip() == "no"
    run("create", "serviceaccount", "reader")
    run("create", "role", "reader", "--verb=get", "--resource=pods")
    run("create", "rolebinding", "reader", "--role=reader", "--serviceaccount=default:reader")
    assert run("auth", "can-i", "get", "pods", "--as=system:serviceaccount:default:reader").strip() == "yes"
    assert run("create", "token", "reader").count(".") == 2


def test_other_kinds_are_created(run: Run) -> None:
    run("create", "namespace", "extra")
    run("create", "configmap", "c", "--from-literal=a=b", "-n", "extra")
    run("create", "secret", "generic", "s", "--from-literal=a=b", "-n", "extra")
    run("create", "job", "j", "--image=example.com/job:1", "-n", "extra")
    run("create", "cronjob", "cj", "--image=example.com/job:1", "--schedule=* * * * *", "-n", "extra")
    run("create", "service", "clusterip", "svc", "--tcp=80:80", "-n", "extra")
    run("create", "ingress", "i", "--rule=host/path=svc:80", "-n", "extra")
    run("create", "quota", "q", "--hard=pods=1", "-n", "extra")
    listed = run("get", "cm,secret,job,cronjob,svc,ingress,quota", "-n", "extra", "-o", "name").split()
    assert {"configmap/c", "secret/s", "job.batch/j", "cronjob.batch/cj", "service/svc"} <= set(listed)
    run("delete", "namespace", "extra", "--timeout=240s")
    assert "not found" in run("get", "namespace", "extra", fails=True)
    assert "may not be deleted" in run("delete", "namespace", "default", fails=True)


def test_deleting_with_and_without_dependents(run: Run, web: str) -> None:
    run("delete", web, "--cascade=orphan")
    (left,) = run("get", "rs", "-l", "app=web", "-o", "name").split()
    run("delete", left)
    run("wait", "pods", "-l", "app=web", "--for=delete", "--timeout=240s")


def test_deleting_in_the_background_and_by_force(run: Run, web: str) -> None:
    (pod, *_) = run("get", "pods", "-l", "app=web", "-o", "name").split()
    assert "force deleted" in run("delete", pod, "--force", "--grace-period=0")
    run("rollout", "status", web, "--timeout=240s")
    run("delete", web, "--cascade=background")
    run("wait", "rs,pods", "-l", "app=web", "--for=delete", "--timeout=240s")
    assert "No resources found" in run("get", "rs,pods", "-l", "app=web")


def test_waiting_for_conditions(run: Run, web: str) -> None:
    run("wait", web, "--for=condition=Available", "--timeout=240s")
    run("wait", "pods", "-l", "app=web", "--for=condition=Ready", "--timeout=240s")
    assert "timed out" in run("wait", web, "--for=jsonpath={.spec.replicas}=9", "--timeout=0.2s", fails=True)


def test_a_server_with_a_given_certificate(tmp_path: Path, minor: int | None) -> None:
    pair = Authority(tmp_path).issue("server", "IP:127.0.0.1")
    flags = (f"--tls-cert-file={pair.cert}", f"--tls-private-key-file={pair.key}")
    with start_apiserver(tmp_path / "kubeconfig", *flags) as server:
        assert '"major": "1"' in kubectl(tmp_path / "kubeconfig", "get", "--raw", "/version", minor=minor)
        assert server.stop() == 0


@pytest.mark.parametrize("version", KUBECTL_MINORS)
@pytest.mark.takes_turns(3)
def test_a_little_with_every_kubectl(server: None, kubeconfig: Path, tmp_path: Path, version: int) -> None:
    config = tmp_path / "kubeconfig"  # beside which each version keeps what it has found out of the server
    config.write_bytes(kubeconfig.read_bytes())

    def run(*arguments: str, fails: bool = False) -> str:
        return kubectl(config, *arguments, minor=version, check=not fails)

    file = tmp_path / "cm.yaml"
    for value in ("1", "2"):
        file.write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{a: '{value}'}}\n")
        run("apply", "-f", str(file))
        run("apply", "--server-side", "--force-conflicts", "-f", str(file))
    assert run("diff", "-f", str(file)) == ""
    run("label", "cm", "c", "a=b")
    run("patch", "cm", "c", "--type=merge", "-p", '{"data":{"a":"3"}}')
    assert run("get", "cm", "c", "-o", "jsonpath={.data.a}{.metadata.labels.a}") == "3b"
    assert "DATA" in run("get", "cm", "c")
    assert "rollingUpdate" in run("explain", "deployment.spec.strategy")
    assert "unknown field" in run("create", "--dry-run=server", "-f", bad_manifest(tmp_path), fails=True)
    assert run("auth", "can-i", "list", "pods").strip() == "yes"
    run("create", "serviceaccount", f"with-{version}")
    assert run("create", "token", f"with-{version}").count(".") == 2
    run("delete", "-f", str(file), "--timeout=240s")


def bad_manifest(folder: Path) -> str:
    file = folder / "bad.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\nbogus: 1\n")
    return str(file)


def test_draining_the_node(run: Run, web: str) -> None:
    run("cordon", "simulated-node")
    assert "drained" in run("drain", "simulated-node", "--ignore-daemonsets", "--force", "--timeout=240s")
    run("uncordon", "simulated-node")


def test_a_simulated_container_has_logs_and_runs_commands(run: Run, web: str) -> None:
    (pod, *_) = run("get", "pods", "-l", "app=web", "-o", "name").split()
    assert run("logs", pod) == "web started\n"
    for _ in range(5):  # On a busy machine kubectl may discard what arrives before its streams: test_kubectl_streams.py
        printed = run("exec", pod, "--", "echo", "hello")
        if "Unknown stream id" not in printed:
            break
    assert printed == "hello\n"
    assert run("exec", pod, "--", "false", fails=True)


def test_events_report_scaling(run: Run, web: str) -> None:
    assert "ScalingReplicaSet" in run("get", "events")
    assert "Scaled up replica set web-" in run("events", "--for=deployment/web")


def test_a_job_is_waited_for(run: Run) -> None:
    run("create", "job", "work", "--image=example.com/work:1", "--", "true")
    run("wait", "job/work", "--for=condition=complete", "--timeout=240s")
    assert run("get", "job", "work", "--no-headers").split()[1:3] == ["Complete", "1/1"]
    assert run("get", "pods", "-l", "job-name=work", "--no-headers").split()[1:3] == ["0/1", "Completed"]
    run("delete", "job", "work")


def test_a_budget_speaks_in_describe(run: Run, web: str) -> None:
    run("create", "pdb", "guard", "--selector=app=web", "--min-available=1")
    run("wait", "pdb/guard", "--for=jsonpath={.status.disruptionsAllowed}=1", "--timeout=240s")
    assert "Desired:              1" in run("describe", "pdb", "guard")
    run("delete", "pdb", "guard")


def test_a_namespace_says_why_it_stays(run: Run) -> None:
    run("create", "namespace", "stuck")
    run("create", "configmap", "held", "-n", "stuck")
    run("patch", "cm", "held", "-n", "stuck", "--type=merge", "-p", '{"metadata":{"finalizers":["example.com/hold"]}}')
    run("delete", "namespace", "stuck", "--wait=false")
    remaining = "--for=condition=NamespaceFinalizersRemaining"
    run("wait", "namespace/stuck", remaining, "--timeout=240s")
    assert "example.com/hold in 1 resource instances" in run("describe", "namespace", "stuck")
    run("patch", "cm", "held", "-n", "stuck", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    run("wait", "namespace/stuck", "--for=delete", "--timeout=240s")


def test_a_mistake_in_a_manifest_is_named(run: Run, web: str, tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(run("get", web, "-o", "yaml").replace("replicas:", "replics:", 1))
    assert ".spec.replics: field not declared in schema" in run("apply", "--server-side", "-f", str(file), fails=True)
    assert 'unknown field "spec.replics"' in run("apply", "-f", str(file), fails=True)
    wrong = run("patch", web, "-p", '{"spec":{"replicas":"two"}}', fails=True)
    assert "patch: Invalid value" in wrong
    assert "unrecognized type: int32" in wrong


def test_a_pod_gets_a_container_for_debugging(run: Run, web: str) -> None:
    (pod, *_) = run("get", "pods", "-l", "app=web", "-o", "name").split()
    run("debug", pod, "--image=busybox", "--container=debugger", "--profile=general")
    assert run("get", pod, "-o", "jsonpath={.spec.ephemeralContainers[*].name}") == "debugger"


def test_a_signing_request_is_approved(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "csr.yaml"
    file.write_text(
        "apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {name: bob}\n"
        f"spec: {{request: {request_pem('CN=a')}, signerName: example.com/signer, usages: [client auth]}}\n"
    )
    run("apply", "-f", str(file))
    assert run("get", "csr", "bob", "--no-headers").split()[-3:] == ["kubernetes-admin", "<none>", "Pending"]
    run("certificate", "approve", "bob")
    assert run("get", "csr", "bob", "--no-headers").split()[-1] == "Approved"
    run("delete", "csr", "bob")


def test_what_is_not_done_here_is_said(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: rules.example.org}\n"
        "spec:\n  group: example.org\n  scope: Cluster\n  names: {plural: rules, kind: Rule}\n"
        "  versions:\n  - name: v1\n    served: true\n    storage: true\n    deprecated: true\n    schema:\n"
        "      openAPIV3Schema:\n        type: object\n"
        "        properties: {spec: {type: object, x-kubernetes-validations: [{rule: 'true'}]}}\n"
        "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], "
        "clientConfig: {service: {namespace: a, name: b}}}}\n"
    )
    assert "this server has no cluster network" in run("apply", "-f", str(file))
    run("wait", "crd/rules.example.org", "--for=condition=Established", "--timeout=240s")
    assert "Warning: example.org/v1 Rule is deprecated" in run("get", "rules.example.org")
    assert "v1 Endpoints is deprecated" in run("get", "endpoints")
    run("delete", "crd", "rules.example.org")
