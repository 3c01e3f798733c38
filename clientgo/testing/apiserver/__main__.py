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
from typing import Any

from clientgo import klog
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify
from clientgo.testing.apiserver import Server, Unwritten, kubeconfig_text, read_token_file, write_kubeconfig
from clientgo.testing.apiserver.admission.chain import UNDONE_BY_CONTROLLERS
from clientgo.testing.apiserver.kinds.gates import parse_feature_gates

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class _Parser(argparse.ArgumentParser):
    """A parser whose help fits a screen; `--help-all` prints the whole help."""

    def __init__(self, prog: str) -> None:
        super().__init__(
            prog,
            usage="%(prog)s [flags]",
            description="Run an API server for development and tests.",
            allow_abbrev=False,
        )
        self.common: list[tuple[str, str]] = [("-h, --help", "print this help")]
        self.add_argument("--help-all", action=_HelpAll, nargs=0, help="print the help of all flags")

    def add(self, name: str, help: str, **options: Any) -> None:
        """Add a flag with one dash or two to the parser and to the short help."""
        self.add_argument(f"-{name}", f"--{name}", help=help, **options)
        self.common.append((f"--{name} {options.get('metavar', '')}", help))

    def format_help(self) -> str:
        more = [
            ("-v N", "verbosity of the log (default 0)"),
            ("--logging-format FORMAT", "text or json (default text)"),
            ("--help-all", "print the help of all flags"),
        ]
        lines = [f"  {flag:<34} {text}" for flag, text in [*self.common, *more]]
        return "\n".join([self.format_usage(), f"{self.description}", "", *lines, ""])

    def format_all(self) -> str:
        """Return the help of all flags."""
        return super().format_help()


class _HelpAll(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        assert isinstance(parser, _Parser)
        print(parser.format_all(), end="")
        parser.exit()


def parser(prog: str = "apiserver") -> argparse.ArgumentParser:
    """Return the parser of the flags in a Go program's forms: -flag=x, -flag x, --flag=x, --flag x."""
    made = _Parser(prog)
    made.add("kubeconfig-out", "write an administrator's kubeconfig here", default="", metavar="FILE")
    made.add("port", "port; 0 takes a free one (default 0)", type=int, default=0, metavar="PORT")
    made.add("bind-address", "address (default 127.0.0.1)", default="127.0.0.1", metavar="HOST")
    made.add("data-dir", "keep the state here (default: in memory)", default="", metavar="DIR")
    made.add("history", "events that a watch can go back to", type=int, default=10_000, metavar="N")
    made.add("token-auth-file", "CSV of users: token,user,uid,groups", default="", metavar="FILE")
    made.add("tls-cert-file", "certificate (default: self-signed)", default="", metavar="FILE")
    made.add("tls-private-key-file", "the certificate's key (PEM)", default="", metavar="FILE")
    made.add("disable-garbage-collector", "keep objects whose owners are gone", action="store_true")
    made.add("enable-admission-plugins", "admission plugins to add", default="", metavar="NAMES")
    made.add("disable-admission-plugins", "plugins to leave out: Priority,...", default="", metavar="NAMES")
    made.add("feature-gates", "ShardedListAndWatch=true,WatchList=false", default="", metavar="GATES")
    made.add("simulate-workloads", "run Deployments, Jobs, Pods, ...", action="store_true")
    made.add("simulate-delay", "seconds until a simulated pod is ready", type=float, default=1.0, metavar="SECONDS")
    klog.add_flags(made)
    return made


def main(arguments: list[str] | None = None, prog: str = "apiserver") -> int:
    """Run until SIGTERM or SIGINT and return the exit code. `prog` is the command in the help."""
    flags = parser(prog).parse_args(arguments)
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
            except BrokenPipeError:  # `| true`: the reader has enough, which is no failure of the server
                raise
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
    """Log the error and its file or address on one line, and return the exit code."""
    err.__cause__ = None
    address = f"{flags.bind_address}:{flags.port}"
    klog.error_s(err.with_traceback(None), "Could not start the API server", address=address)
    klog.flush()
    return 1


def _simulator(server: Server, flags: argparse.Namespace) -> AbstractContextManager[object]:
    if not flags.simulate_workloads:
        return nullcontext()
    # Imports all typed clients, which takes longer than the start of the server.
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
    from clientgo.cli.start import end_without_reader, exit_code_of

    end_without_reader()
    sys.exit(exit_code_of(main))
