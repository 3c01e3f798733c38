"""Functions of client-go and controller-runtime that nothing in the library calls: programs ported from Go do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from patience import PATIENCE

from clientgo import dynamic, rest, transport
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.golang.http import Request
from clientgo.kubernetes.typed.core.v1 import event_expansion
from clientgo.tools import clientcmd
from clientgo.tools.auth.clientauth import Info
from clientgo.tools.clientcmd import api as clientcmdapi
from clientgo.util import workqueue
from clientgo.utils.clock.testing import FakeClock
from clientgo.utils.trace import trace

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://c.example:6443", certificate-authority: ca.crt}}]
users: [{name: u, user: {token: secret, tokenFile: token}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


def test_credentials_of_the_old_format_replace_those_of_a_config() -> None:
    config = rest.Config(host="https://h", username="old", bearer_token="old", insecure=True)
    merged = Info(bearer_token="new", ca_file="ca", insecure=False).merge_with_config(config)
    assert (merged.host, merged.username, merged.bearer_token, merged.ca_file) == ("https://h", "", "new", "ca")
    assert not merged.insecure
    assert Info().merge_with_config(config).insecure, "an absent value keeps the config's"
    assert config.bearer_token == "old"


def test_the_paths_of_a_kubeconfig_become_absolute() -> None:
    config = clientcmd.load(KUBECONFIG.encode())
    clientcmd.resolve_config_paths(config, "/etc/kube")
    assert config.clusters["c"].certificate_authority == "/etc/kube/ca.crt"
    assert config.auth_infos["u"].token_file == "/etc/kube/token"


def test_a_rest_config_comes_from_a_function_that_loads_the_kubeconfig() -> None:
    text = KUBECONFIG.replace(", certificate-authority: ca.crt", "").replace(", tokenFile: token", "")
    config = clientcmd.load(text.encode())
    built = clientcmd.build_config_from_kubeconfig_getter("", lambda: config)
    assert (built.host, built.bearer_token) == ("https://c.example:6443", "secret")
    elsewhere = clientcmd.build_config_from_kubeconfig_getter("https://other.example", lambda: config)
    assert elsewhere.host == "https://other.example"


def test_an_unreadable_kubeconfig_ends_the_process(tmp_path: Path) -> None:
    assert clientcmd.get_config_from_file_or_die(str(tmp_path / "absent")).contexts == {}
    broken = tmp_path / "config"
    broken.write_text("clusters: [")
    code = "import sys; from clientgo.tools import clientcmd; clientcmd.get_config_from_file_or_die(sys.argv[1])"
    ended = subprocess.run([sys.executable, "-c", code, str(broken)], capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 255
    assert "did not find expected node content" in ended.stderr


def test_empty_parts_of_a_kubeconfig() -> None:
    assert clientcmdapi.new_auth_info() == clientcmdapi.AuthInfo()
    assert clientcmdapi.new_preferences() == clientcmdapi.Preferences()


def test_a_token_source_adds_its_token_to_each_request() -> None:
    seen: list[str] = []

    class Source:
        def token(self) -> transport.Token:
            return transport.Token(access_token=f"t{len(seen)}")

    class Bottom:
        def round_trip(self, request: Any) -> Any:
            seen.append(request.headers["Authorization"])
            return SimpleNamespace(status_code=200)

    wrapped = transport.token_source_wrap_transport(Source())(Bottom())
    for _ in range(2):
        wrapped.round_trip(Request(method="GET", url="http://h"))
    assert seen == ["Bearer t0", "Bearer t1"]


def test_names_of_paths_labels_and_segments() -> None:
    assert rest.validate_path_segment_name("a/b", False) == ["may not contain '/'"]
    assert rest.validate_path_segment_name("..", False) == ["may not be '..'"]
    assert rest.validate_path_segment_name("..", True) == [], "a prefix is no whole segment"
    assert dynamic.legacy_api_path_resolver_func(GroupVersionKind("", "v1", "Pod")) == "/api"
    assert dynamic.legacy_api_path_resolver_func(GroupVersionKind("apps", "v1", "Deployment")) == "/apis"
    assert event_expansion.get_involved_object_name_field_label("v1") == "involvedObject.name"


def test_the_limiter_of_items_only() -> None:
    limiter = workqueue.default_item_based_rate_limiter()
    assert [limiter.when("a") for _ in range(3)] == [0.001, 0.002, 0.004]
    assert limiter.when("b") == 0.001
    assert limiter.num_requeues("a") == 3
    limiter.forget("a")
    assert limiter.when("a") == 0.001


def test_a_trace_knows_its_age() -> None:
    clock = FakeClock(100.0)
    made = trace.Trace("t", clock=clock)
    clock.step(2.5)
    assert made.total_time() == 2.5
