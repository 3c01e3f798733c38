"""`clientgo shell`: a Python shell with clients of the current kubeconfig."""

from __future__ import annotations

import argparse
import code
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from clientgo import klog
from clientgo.cli.command import PROG
from clientgo.cli.start import is_interrupt

_BANNER = """Python {python}, clientgo {version}, {host}
  client     typed clients: client.core_v1().pods("default").list(ctx)
  dynamic    clients of any resource: dynamic.resource(gvr("apps/v1", "deployments")).list(ctx)
  explain    explain("deployment.spec.strategy") prints what kubectl explain prints
  ctx        the context for requests; config, the rest.Config; also: v1, metav1, labels, gvr"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    made = argparse.ArgumentParser(
        f"{PROG} shell", description="Open a Python shell with clients of the kubeconfig, and completion by Tab."
    )
    made.add_argument("--kubeconfig", default="", help="default: KUBECONFIG, ~/.kube/config, or the cluster")
    made.add_argument("-c", "--command", metavar="CODE", help="run this code instead of reading from the terminal")
    return made


def main(arguments: Sequence[str]) -> int:
    """Open the shell and return its exit code. Blocks until the user leaves it."""
    given = parser().parse_args(arguments)
    try:
        names = namespace(given.kubeconfig)
    except Exception as err:
        if is_interrupt(err):
            raise KeyboardInterrupt from None
        from clientgo.cli.explain import hint

        print(f"{PROG} shell: {err}{hint(err)}", file=sys.stderr)
        return 1
    klog.flush()
    if given.command is not None:
        return _run(given.command, names)
    if sys.stdin is None:
        print(f"{PROG} shell: there is no standard input; use -c CODE", file=sys.stderr)
        return 1
    _complete(names)
    from clientgo import __version__

    banner = _BANNER.format(python=sys.version.split()[0], version=__version__, host=names["config"].host)
    code.interact(banner=banner, local=names, exitmsg="")
    return 0


def _run(text: str, names: dict[str, Any]) -> int:
    """Run code and return its exit code. A traceback starts at the user's code."""
    try:
        exec(compile(text, "<command>", "exec"), names)
    except Exception as err:
        if is_interrupt(err):
            raise
        traceback.print_exception(err.with_traceback(err.__traceback__ and err.__traceback__.tb_next))
        return 1
    return 0


def namespace(kubeconfig: str = "") -> dict[str, Any]:
    """Return the names that the shell defines. Raises an error of clientcmd if there is no configuration."""
    from clientgo import context, dynamic, kubernetes
    from clientgo.api.core import v1
    from clientgo.apimachinery import labels
    from clientgo.apimachinery.apis.meta import v1 as metav1
    from clientgo.apimachinery.runtime import schema
    from clientgo.cli.explain import explain as describe
    from clientgo.cli.explain import load_config

    config = load_config(kubeconfig)

    def gvr(group_version: str, resource: str) -> schema.GroupVersionResource:
        parsed = schema.parse_group_version(group_version)
        return parsed.with_resource(resource)

    def explain(resource: str, recursive: bool = False) -> None:
        print(describe(config, resource, recursive=recursive), end="")

    return {
        "__name__": "__console__",
        "client": kubernetes.new_for_config(config),
        "config": config,
        "context": context,
        "ctx": context.background(),
        "dynamic": dynamic.new_for_config(config),
        "explain": explain,
        "gvr": gvr,
        "kubernetes": kubernetes,
        "labels": labels,
        "metav1": metav1,
        "v1": v1,
    }


def _complete(names: dict[str, Any]) -> None:
    """Complete names by Tab, where the terminal can."""
    try:
        import readline
    except ImportError:
        return
    from clientgo.cli.typed import Completer

    completer = Completer(names)
    found: list[str] = []

    def complete(text: str, state: int) -> str | None:
        if state == 0:
            line = readline.get_line_buffer()[: readline.get_endidx()]
            start = text.rpartition(".")
            # Tab at the beginning of a line indents.
            found[:] = [f"{start[0]}{start[1]}{name}" for name in completer.matches(line)] if line.strip() else ["\t"]
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
