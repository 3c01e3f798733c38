"""The hand-written methods of typed clients: their requests, and their fakes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo import context, kubernetes, rest, testing
from clientgo.api.certificates import v1beta1 as certificatesv1beta1
from clientgo.api.core import v1 as corev1
from clientgo.api.events import v1beta1 as eventsv1beta1
from clientgo.api.extensions import v1beta1 as extensionsv1beta1
from clientgo.api.policy import v1 as policyv1
from clientgo.api.policy import v1beta1 as policyv1beta1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import net
from clientgo.golang import http
from clientgo.kubernetes import fake

CTX = context.background()


class Recorder:
    """A round tripper that answers each request with the same document and keeps what was sent."""

    def __init__(self, answer: dict[str, Any] | None = None, status: int = 200) -> None:
        self.answer = json.dumps(answer or {}).encode()
        self.status = status
        self.sent: list[http.Request] = []

    def round_trip(self, request: http.Request) -> http.Response:
        self.sent.append(request)
        headers = http.Header({"Content-Type": "application/json"})
        return http.Response(status_code=self.status, headers=headers, body=http.BytesBody(self.answer))

    @property
    def line(self) -> str:
        """Method and URL of the only request."""
        (request,) = self.sent
        return f"{request.method} {request.url.removeprefix('http://server')}"

    @property
    def body(self) -> Any:
        (request,) = self.sent
        assert isinstance(request.body, bytes)
        return json.loads(request.body)


def client_over(recorder: Recorder) -> kubernetes.Clientset:
    config = rest.Config(host="http://server", qps=-1)
    return kubernetes.new_for_config_and_client(config, http.Client(recorder))


def meta(name: str = "web", namespace: str = "ns") -> metav1.ObjectMeta:
    return metav1.ObjectMeta(name=name, namespace=namespace)


# --- requests ---


def test_bind_posts_the_binding_to_the_pod() -> None:
    sent = Recorder()
    binding = corev1.Binding(metadata=meta(), target=corev1.ObjectReference(kind="Node", name="n"))
    client_over(sent).core_v1().pods("ns").bind(CTX, binding, metav1.CreateOptions(dry_run=["All"]))
    assert sent.line == "POST /api/v1/namespaces/ns/pods/web/binding?dryRun=All"
    assert sent.body["target"] == {"kind": "Node", "name": "n"}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_evict_posts_an_eviction_of_its_version(version: str) -> None:
    sent = Recorder()
    pods = client_over(sent).core_v1().pods("ns")
    if version == "v1":
        pods.evict_v1(CTX, policyv1.Eviction(metadata=meta()))
    else:
        pods.evict(CTX, policyv1beta1.Eviction(metadata=meta()))
    assert sent.line == "POST /api/v1/namespaces/ns/pods/web/eviction"
    assert (sent.body["apiVersion"], sent.body["kind"]) == (f"policy/{version}", "Eviction")


def test_an_eviction_that_a_budget_forbids_raises() -> None:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "TooManyRequests", "code": 429}
    with pytest.raises(apierrors.StatusError) as raised:
        client_over(Recorder(status, 429)).core_v1().pods("ns").evict_v1(CTX, policyv1.Eviction(metadata=meta()))
    assert apierrors.is_too_many_requests(raised.value)


def test_evictions_of_the_policy_group_go_to_the_pod() -> None:
    sent, old = Recorder(), Recorder()
    client_over(sent).policy_v1().evictions("ignored").evict(CTX, policyv1.Eviction(metadata=meta()))
    client_over(old).policy_v1beta1().evictions("").evict(CTX, policyv1beta1.Eviction(metadata=meta()))
    assert sent.line == old.line == "POST /api/v1/namespaces/ns/pods/web/eviction"
    assert (sent.body["apiVersion"], old.body["apiVersion"]) == ("policy/v1", "policy/v1beta1")


def test_get_logs_sends_nothing_before_it_is_read() -> None:
    sent = Recorder({"any": "text"})
    options = corev1.PodLogOptions(container="c", tail_lines=0, follow=True, timestamps=False)
    request = client_over(sent).core_v1().pods("ns").get_logs("web", options)
    assert sent.sent == []
    assert request.stream(CTX).read() == b'{"any": "text"}'
    assert sent.line == "GET /api/v1/namespaces/ns/pods/web/log?container=c&follow=true&tailLines=0"


def test_proxy_get_goes_to_a_port_of_a_pod_or_service() -> None:
    pods, services = Recorder(), Recorder()
    client_over(pods).core_v1().pods("ns").proxy_get("https", "web", "8443", "/a/b", {"q": "1"}).do_raw(CTX)
    client_over(services).core_v1().services("ns").proxy_get("", "web", "", "healthz", {}).stream(CTX).close()
    assert pods.line == "GET /api/v1/namespaces/ns/pods/https:web:8443/proxy/a/b?q=1"
    assert services.line == "GET /api/v1/namespaces/ns/services/web/proxy/healthz"


def test_finalize_puts_the_namespace() -> None:
    sent = Recorder({"metadata": {"name": "ns"}})
    done = (
        client_over(sent).core_v1().namespaces().finalize(CTX, corev1.Namespace(metadata=metav1.ObjectMeta(name="ns")))
    )
    assert done.metadata.name == "ns"
    assert sent.line == "PUT /api/v1/namespaces/ns/finalize"


def test_patch_status_of_a_node_is_a_strategic_merge() -> None:
    sent = Recorder({"metadata": {"name": "n"}})
    patched = client_over(sent).core_v1().nodes().patch_status(CTX, "n", b'{"status":{}}')
    assert isinstance(patched, corev1.Node)
    assert sent.line == "PATCH /api/v1/nodes/n/status"
    assert sent.sent[0].headers["Content-Type"] == "application/strategic-merge-patch+json"
    assert sent.body == {"status": {}}


def test_rollback_posts_to_the_deployment() -> None:
    sent = Recorder()
    rollback = extensionsv1beta1.DeploymentRollback(
        name="web", rollback_to=extensionsv1beta1.RollbackConfig(revision=3)
    )
    client_over(sent).extensions_v1beta1().deployments("ns").rollback(CTX, rollback)
    assert sent.line == "POST /apis/extensions/v1beta1/namespaces/ns/deployments/web/rollback"
    assert sent.body["rollbackTo"] == {"revision": 3}


def test_update_approval_puts_the_request() -> None:
    sent = Recorder({"metadata": {"name": "r"}})
    given = certificatesv1beta1.CertificateSigningRequest(metadata=metav1.ObjectMeta(name="r"))
    client_over(sent).certificates_v1beta1().certificate_signing_requests().update_approval(CTX, given)
    assert sent.line == "PUT /apis/certificates.k8s.io/v1beta1/certificatesigningrequests/r/approval"


@pytest.mark.parametrize(
    ("verb", "line"),
    [
        ("create", "POST /apis/events.k8s.io/v1beta1/namespaces/ns/events"),
        ("update", "PUT /apis/events.k8s.io/v1beta1/namespaces/ns/events/e"),
        ("patch", "PATCH /apis/events.k8s.io/v1beta1/namespaces/ns/events/e"),
    ],
)
def test_events_go_to_their_own_namespace(verb: str, line: str) -> None:
    """Go: TestCreateWithEventNamespace, TestUpdateWithEventNamespace, TestPatchWithEventNamespace."""
    event = eventsv1beta1.Event(metadata=meta("e"))
    more = (b"{}",) if verb == "patch" else ()

    sent = Recorder({"metadata": {"name": "e"}})
    getattr(client_over(sent).events_v1beta1().events(""), f"{verb}_with_event_namespace")(event, *more)
    assert sent.line == line

    sent = Recorder()
    with pytest.raises(ValueError, match=f"can't {verb} an event with namespace 'ns' in namespace 'other'"):
        getattr(client_over(sent).events_v1beta1().events("other"), f"{verb}_with_event_namespace")(event, *more)
    assert sent.sent == []


@pytest.mark.parametrize(("verb", "method"), [("create", "POST"), ("update", "PUT"), ("patch", "PATCH")])
def test_events_of_the_core_group_too(verb: str, method: str) -> None:
    """Go: TestCreateWithEventNamespace, TestUpdateWithEventNamespace, TestPatchWithEventNamespace."""
    event = corev1.Event(metadata=meta("e"), reason="Killing")
    more = (b"{}",) if verb == "patch" else ()
    tail = "" if verb == "create" else "/e"
    for namespace in ("", "ns"):
        sent = Recorder({"metadata": {"name": "e"}})
        client = client_over(sent).core_v1().events(namespace)
        assert getattr(client, f"{verb}_with_event_namespace")(event, *more).get_name() == "e"
        assert sent.line == f"{method} /api/v1/namespaces/ns/events{tail}"
        assert sent.body == {} if verb == "patch" else sent.body["reason"] == "Killing"

    sent = Recorder()
    with pytest.raises(ValueError, match=f"can't {verb} an event with namespace 'ns' in namespace 'other'"):
        getattr(client_over(sent).core_v1().events("other"), f"{verb}_with_event_namespace")(event, *more)
    assert sent.sent == []


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("web", ("", "web", "", True)),
        ("web:80", ("", "web", "80", True)),
        ("https:web:metrics", ("https", "web", "metrics", True)),
        ("https:web:", ("https", "web", "", True)),
        ("ftp:web:21", ("", "", "", False)),
        (":80", ("", "", "", False)),
        ("http::80", ("", "", "", False)),
        ("", ("", "", "", False)),
        ("a:b:c:d", ("", "", "", False)),
    ],
)
def test_scheme_name_and_port(text: str, parts: tuple[str, str, str, bool]) -> None:
    """Go: TestSplitSchemeNamePort."""
    assert net.split_scheme_name_port(text) == parts
    if parts[3]:
        assert net.join_scheme_name_port(*parts[:3]) == text


# --- fakes ---


def test_fakes_record_what_expansions_do() -> None:
    client = fake.new_simple_clientset(
        corev1.Pod(metadata=meta()),
        corev1.Node(metadata=metav1.ObjectMeta(name="n")),
        corev1.Namespace(metadata=metav1.ObjectMeta(name="ns")),
    )
    core = client.core_v1()
    core.pods("ns").bind(CTX, corev1.Binding(metadata=meta()))
    core.pods("ns").evict_v1(CTX, policyv1.Eviction(metadata=meta()))
    client.policy_v1().evictions("").evict(CTX, policyv1.Eviction(metadata=meta()))
    core.nodes().patch_status(CTX, "n", b'{"status":{"phase":"Running"}}')
    core.namespaces().finalize(CTX, corev1.Namespace(metadata=metav1.ObjectMeta(name="ns")))

    asked = [
        (a.get_verb(), a.get_resource().group, a.get_resource().resource, a.get_subresource()) for a in client.actions()
    ]
    assert asked == [
        ("create", "", "pods", "binding"),
        ("create", "", "pods", "eviction"),
        ("create", "", "pods", "eviction"),
        ("patch", "", "nodes", "status"),
        ("update", "", "namespaces", "finalize"),
    ]
    assert isinstance(core.pods("ns").get(CTX, "web"), corev1.Pod)
    assert core.nodes().get(CTX, "n").status.phase == "Running"


def test_fake_logs() -> None:
    """Go: TestFakePodsGetLogs."""
    client = fake.new_simple_clientset()
    assert client.core_v1().pods("ns").get_logs("web").stream(CTX).read() == b"fake logs"


def test_fake_logs_of_a_reactor() -> None:
    """Go: TestFakePodsGetLogsReactorResponse, TestFakePodsGetLogsReactorError."""
    client = fake.new_simple_clientset()
    pods = client.core_v1().pods("ns")

    def logs(action: testing.Action) -> tuple[bool, Any]:
        assert isinstance(action, testing.GenericActionImpl)
        assert action.get_value().container == "c"
        return True, runtime.Unknown(b"reactor logs")

    client.prepend_reactor("get", "pods/log", logs)
    assert pods.get_logs("web", corev1.PodLogOptions(container="c")).do_raw(CTX) == b"reactor logs"

    def fail(action: testing.Action) -> tuple[bool, Any]:
        raise RuntimeError("reactor get logs failure")

    client.prepend_reactor("get", "pods/log", fail)
    with pytest.raises(RuntimeError, match="reactor get logs failure"):
        pods.get_logs("web").stream(CTX)


def test_fake_logs_are_no_object() -> None:
    """Go: TestFakePodsGetLogsReactorInvalidObject."""
    client = fake.new_simple_clientset()
    client.prepend_reactor("get", "pods/log", lambda action: (True, corev1.Pod()))
    with pytest.raises(TypeError, match=r"expected reactor to return runtime\.Unknown"):
        client.core_v1().pods("ns").get_logs("web").stream(CTX)


def test_fake_proxy_asks_the_proxy_reactors() -> None:
    class Page:
        def do_raw(self, ctx: context.Context) -> bytes:
            return b"page"

        def stream(self, ctx: context.Context) -> http.Body:
            return http.BytesBody(b"page")

    client = fake.new_simple_clientset()
    client.add_proxy_reactor("services", lambda action: (True, Page()))
    assert client.core_v1().services("ns").proxy_get("http", "web", "80", "x", {"q": "1"}).do_raw(CTX) == b"page"
    (action,) = client.actions()
    assert isinstance(action, testing.ProxyGetActionImpl)
    assert (action.get_scheme(), action.get_name(), action.get_port()) == ("http", "web", "80")
    assert (action.get_path().lstrip("/"), action.get_params()) == ("x", {"q": "1"})
    assert client.core_v1().pods("ns").proxy_get("", "web", "", "", {}).stream(CTX).read() == b""
