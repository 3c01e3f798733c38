"""`clientgo shell` completes by type, behind calls and indices, and calls nothing."""

from __future__ import annotations

import os
import pty
import select
import sys
import time

import pytest
from patience import PATIENCE

from clientgo import rest
from clientgo.cli import shell
from clientgo.cli.typed import Completer
from clientgo.testing.apiserver import Environment


@pytest.fixture(scope="module")
def completer(tmp_path_factory: pytest.TempPathFactory) -> Completer:
    """Return a completer of the shell's names. No server listens at the address: a request would be an error."""
    kubeconfig = tmp_path_factory.mktemp("shell") / "kc"
    kubeconfig.write_text(
        '{"clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],'
        ' "contexts": [{"name": "c", "context": {"cluster": "c"}}], "current-context": "c"}'
    )
    return Completer({**shell.namespace(str(kubeconfig)), "texts": ["a"], "config2": rest.Config()})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("clie", ["client"]),
        ("client.core_", ["core_v1()"]),
        ("client.core_v1().pod_", ["pod_templates("]),
        ("print(client.core_v1().pods('a(b').li", ["list("]),
        ('client.core_v1().pods("default").list(ctx).it', ["items"]),
        ('client.core_v1().pods("default").list(ctx).items[0].spec.node_n', ["node_name"]),
        ('client.core_v1().pods("default").list(ctx).items[0].spec.containers[-1].resources.lim', ["limits"]),
        ("client.core_v1().pods('d').get(ctx, 'x').metadata.owner_references[0].block_o", ["block_owner_deletion"]),
        ("client.apps_v1().deployments('d').get(ctx, 'x').spec.strategy.rolling_update.max_s", ["max_surge"]),
        ("x = [client.core_v1().nodes().list(ctx).items[1:][0].status.node_i", ["node_info"]),
        ('dynamic.resource(gvr("apps/v1", "deployments")).namespace("d").lis', ["list("]),
        ('gvr("apps/v1", "deployments").gro', ["group", "group_resource()", "group_version()"]),
        ("v1.Pod(metadata=metav1.ObjectMeta(name='x')).spec.hostna", ["hostname", "hostname_override"]),
        ("config.host.starts", ["startswith"]),
        ("texts[0].upp", ["upper"]),
        ("ctx.do", ["done()"]),
        ("client.nothing().x", []),
        ("(1).", []),
        ("client.core_v1(.po", []),
        (")).po", []),
        ('"text).po', []),
    ],
)
def test_a_name_is_completed_by_its_type(completer: Completer, line: str, expected: list[str]) -> None:
    assert completer.matches(line) == expected


def test_private_names_are_offered_only_on_request(completer: Completer) -> None:
    assert all(not name.startswith("_") for name in completer.matches("client."))
    assert "_client" in "".join(completer.matches("client._c"))


@pytest.mark.takes_turns(6)
def test_tab_completes_in_a_terminal() -> None:
    with Environment() as env:
        # The property writes the file.
        kubeconfig = env.kubeconfig
        child, terminal = pty.fork()
        if not child:
            os.environ.update(KUBECONFIG=kubeconfig, TERM="dumb")
            os.execv(sys.executable, [sys.executable, "-m", "clientgo", "shell"])
        output = b""

        def wait_for(text: bytes) -> None:
            nonlocal output
            end = time.monotonic() + 2 * PATIENCE
            while text not in output:
                assert time.monotonic() < end, output.decode()
                if select.select([terminal], [], [], 1.0)[0]:
                    output += os.read(terminal, 4096)

        try:
            wait_for(b">>> ")
            os.write(terminal, b'len(client.core_v1().conf\t"default").li\tctx).ite\t)\n')
            # With the prompt: before it the terminal reads lines, and turns Ctrl-D into a byte that readline ignores.
            wait_for(b"\r\n0\r\n>>> ")
            os.write(terminal, b"\x04")
            _, status = os.waitpid(child, 0)
        finally:
            # Ends the shell if it still runs.
            os.close(terminal)
        assert os.waitstatus_to_exitcode(status) == 0
        assert b'client.core_v1().config_maps("default").list(ctx).items' in output
