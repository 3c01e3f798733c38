"""The embedded API server as a program.

    python -m clientgo.testing.apiserver --kubeconfig-out /tmp/kc &
    export KUBECONFIG=/tmp/kc
    kubectl get namespaces

By default it listens on loopback and keeps everything in memory; --data-dir stores the state in a folder. SIGTERM and
SIGINT stop it cleanly.
"""

from __future__ import annotations

import argparse
import shlex
import signal
import ssl
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from clientgo import klog
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify
from clientgo.testing.apiserver import Server, Unwritten, kubeconfig_text, read_token_file, write_kubeconfig
from clientgo.testing.apiserver.admission.chain import UNDONE_BY_CONTROLLERS
from clientgo.testing.apiserver.kinds.gates import parse_feature_gates

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def parse_flags(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse flags in a Go program's forms: -flag=x, -flag x, --flag=x, --flag x."""
    parser = argparse.ArgumentParser(
        prog="apiserver", description=(__doc__ or "").partition("\n")[0], allow_abbrev=False
    )

    def add(name: str, **options: object) -> None:
        parser.add_argument(f"-{name}", f"--{name}", **options)  # type: ignore[arg-type]

    add("bind-address", default="127.0.0.1", help="Address to listen on (default 127.0.0.1).")
    add("port", type=int, default=0, help="Port to listen on; 0 (the default) takes a free one.")
    add("kubeconfig-out", default="", metavar="FILE", help="Write a kubeconfig of an administrator here, mode 0600.")
    add("token-auth-file", default="", metavar="FILE", help='More users, as CSV: token,user,uid,"group1,group2".')
    add("data-dir", default="", metavar="DIR", help="Keep the state here; without it, it is gone at the end.")
    add("history", type=int, default=10_000, metavar="N", help="Events per resource a watch can go back to.")
    add("tls-cert-file", default="", metavar="FILE", help="Certificate for https (PEM); self-signed without it.")
    add("tls-private-key-file", default="", metavar="FILE", help="The key of the certificate (PEM).")
    add("disable-garbage-collector", action="store_true", help="Leave objects whose owners are gone.")
    add("enable-admission-plugins", default="", metavar="NAMES", help="Admission plugins to add.")
    add("disable-admission-plugins", default="", metavar="NAMES", help="Admission plugins to leave out: Priority,...")
    add(
        "feature-gates",
        default="",
        metavar="GATES",
        help="Features: ShardedListAndWatch=true (alpha, off by default), WatchList=false (on by default).",
    )
    add(
        "simulate-workloads",
        action="store_true",
        help="Let Deployments, ReplicaSets, Jobs, Pods and disruption budgets live.",
    )
    add(
        "simulate-delay", type=float, default=1.0, metavar="SECONDS", help="How long a simulated pod takes to be ready."
    )
    klog.add_flags(parser)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT and return the exit code."""
    flags = parse_flags(arguments)
    try:
        tokens = read_token_file(flags.token_auth_file) if flags.token_auth_file else {}
        tls = _tls(flags)
        disabled = [name for name in flags.disable_admission_plugins.split(",") if name]
        server = Server(
            host=flags.bind_address,
            port=flags.port,
            tokens=tokens,
            data_dir=flags.data_dir or None,
            history=flags.history,
            collect_garbage=not flags.disable_garbage_collector,
            tls=tls,
            enable_admission_plugins=_enabled(flags, disabled),
            disable_admission_plugins=disabled,
            feature_gates=parse_feature_gates(flags.feature_gates),
        )
    except (OSError, ValueError, OverflowError) as err:
        return _could_not_start(err, flags)
    stop = threading.Event()
    _on_signal(stop)
    try:
        server.start()
        with _simulator(server, flags):
            try:
                _announce(server, flags)
            except OSError as err:
                return _could_not_start(err, flags)
            stop.wait()
    except Unwritten as err:
        return _could_not_start(err, flags)
    finally:
        server.stop()
        klog.info_s("Stopped")
        klog.flush()
    return 0


def _enabled(flags: argparse.Namespace, disabled: list[str]) -> list[str]:
    """Return the plugins that the flags enable, and those that kube-apiserver enables by default."""
    given = [name for name in flags.enable_admission_plugins.split(",") if name]
    return [*given, *(name for name in UNDONE_BY_CONTROLLERS if name not in disabled)]


def _could_not_start(err: Exception, flags: argparse.Namespace) -> int:
    """Log on one line what is wrong with which file or address, and return the exit code."""
    err.__cause__ = None
    address = f"{flags.bind_address}:{flags.port}"
    klog.error_s(err.with_traceback(None), "Could not start the API server", address=address)
    klog.flush()
    return 1


def _simulator(server: Server, flags: argparse.Namespace) -> AbstractContextManager[object]:
    if not flags.simulate_workloads:
        return nullcontext()
    # Brings in all typed clients, which take longer to import than the server to start.
    from clientgo.testing.apiserver.simulator import Simulator

    return Simulator(server, ready_delay=flags.simulate_delay)


def _tls(flags: argparse.Namespace) -> ssl.SSLContext | None:
    if not flags.tls_cert_file:
        if flags.tls_private_key_file:
            raise ValueError("--tls-private-key-file needs --tls-cert-file")
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # A password, though an empty one, lets an encrypted key fail instead of asking on the terminal.
    files = [file for file in (flags.tls_cert_file, flags.tls_private_key_file) if file]
    try:
        context.load_cert_chain(flags.tls_cert_file, flags.tls_private_key_file or None, password="")
    except OSError as err:
        # OpenSSL does not say which file it speaks of.
        raise OSError(f"{', '.join(files)}: {err}") from None
    return context


def _on_signal(stop: threading.Event) -> None:
    """Stop cleanly at the first signal, and exit immediately at the second."""
    signals = Channel[signal.Signals](2)
    notify(signals, signal.SIGTERM, signal.SIGINT)
    threading.Thread(target=_watch, args=(signals, stop), name="signal-handler", daemon=True).start()


def _watch(signals: Channel[signal.Signals], stop: threading.Event) -> None:
    signals.receive()
    stop.set()
    signals.receive()
    klog.flush_and_exit(1.0, 1)


def _announce(server: Server, flags: argparse.Namespace) -> None:
    """Print the server's address, for users and for scripts that wait for the line."""
    if flags.bind_address not in _LOOPBACK:
        klog.warning("Listening beyond loopback: every holder of a token can reach this server")
    klog.info_s("Serving", url=server.tls_url)
    if flags.kubeconfig_out:
        certificate = Path(flags.tls_cert_file).read_text() if flags.tls_cert_file else server.ca_certificate
        write_kubeconfig(flags.kubeconfig_out, kubeconfig_text(server.tls_url, server.token, certificate))
        print(f"Listening on {server.tls_url}")
        print(f"export KUBECONFIG={shlex.quote(str(Path(flags.kubeconfig_out).absolute()))}")
    else:
        print(f"Listening on {server.tls_url}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
