"""The operator of the tutorials, on controller-runtime: a CRD, its reconciler, its webhooks, and leader election.

The files are those of a kubebuilder project: api/v1 has the type, controller.py the reconciler, webhook.py the
webhooks, config/ the manifests. main.py combines them, like cmd/main.go there.
"""

from __future__ import annotations

import argparse

import webhook
from api import v1 as webappv1
from clientgo import controller_runtime as ctrl
from clientgo.apimachinery.runtime import Scheme
from clientgo.controller_runtime import healthz
from clientgo.controller_runtime import webhook as ctrlwebhook
from clientgo.controller_runtime.log import zap
from clientgo.controller_runtime.metrics import server as metricsserver
from clientgo.golang.duration import parse_duration
from clientgo.kubernetes import scheme as clientgoscheme
from controller import GuestbookReconciler
from directory import Directory

LEADER_ELECTION_ID = "guestbook-operator.webapp.example.com"
SETUP_LOG = ctrl.LOG.with_name("setup")


def parse_flags(zap_options: zap.Options, arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse flags in the forms that Go accepts: -flag=x, -flag x, --flag=x, --flag x."""
    parser = argparse.ArgumentParser(prog="guestbook-operator", allow_abbrev=False)
    parser.add_argument("-help", action="help", help=argparse.SUPPRESS)

    def add(name: str, **options: object) -> None:
        parser.add_argument(f"-{name}", f"--{name}", **options)  # type: ignore[arg-type]

    add("directory", required=True, metavar="FILE", help="The directory outside the cluster that lists guestbooks.")
    add("metrics-bind-address", default="0", help='Where metrics are served; "0" (the default) for nowhere.')
    add("health-probe-bind-address", default="0", help='Where health probes are served; "0" (the default) for nowhere.')
    add("webhook-cert-path", default="", metavar="DIR", help="Has tls.crt and tls.key. No webhooks without it.")
    add("webhook-port", type=int, default=ctrlwebhook.DEFAULT_PORT, help="Where webhooks are served.")
    add("leader-elect", action="store_true", help="Only one of several replicas works.")
    add("leader-elect-namespace", default="", help="Where the Lease is. (default: where the program is)")
    add("leader-elect-lease-duration", type=parse_duration, default=15.0, help="(default 15s)")
    add("leader-elect-renew-deadline", type=parse_duration, default=10.0, help="(default 10s)")
    add("leader-elect-retry-period", type=parse_duration, default=2.0, help="(default 2s)")
    ctrl.register_flags(parser)
    zap_options.bind_flags(parser)
    return parser.parse_args(arguments)


def new_scheme() -> Scheme:
    """Return a scheme with the built-in kinds and the operator's own."""
    scheme = Scheme()
    clientgoscheme.add_to_scheme(scheme)
    webappv1.add_to_scheme(scheme)
    return scheme


def manager_options(flags: argparse.Namespace) -> ctrl.Options:
    """Return the manager's options from the flags."""
    return ctrl.Options(
        scheme=new_scheme(),
        metrics=metricsserver.Options(bind_address=flags.metrics_bind_address),
        health_probe_bind_address=flags.health_probe_bind_address,
        webhook_server=ctrlwebhook.new_server(
            ctrlwebhook.Options(cert_dir=flags.webhook_cert_path, port=flags.webhook_port)
        ),
        leader_election=flags.leader_elect,
        leader_election_id=LEADER_ELECTION_ID,
        leader_election_namespace=flags.leader_elect_namespace,
        # The program ends right after `start`, so another process may become leader at once.
        leader_election_release_on_cancel=True,
        lease_duration=flags.leader_elect_lease_duration,
        renew_deadline=flags.leader_elect_renew_deadline,
        retry_period=flags.leader_elect_retry_period,
    )


def new_manager(flags: argparse.Namespace) -> ctrl.Manager:
    """Return the manager with everything that it runs. Raises an error for invalid flags or an invalid kubeconfig."""
    directory = Directory(flags.directory)
    mgr = ctrl.new_manager(ctrl.get_config_or_die(), manager_options(flags))
    reconciler = GuestbookReconciler(
        client=mgr.get_client(),
        scheme=mgr.get_scheme(),
        recorder=mgr.get_event_recorder("guestbook-controller"),
        directory=directory,
    )
    reconciler.setup_with_manager(mgr)
    if flags.webhook_cert_path:
        webhook.setup_webhook_with_manager(mgr)
    mgr.add_healthz_check("healthz", healthz.ping)
    mgr.add_readyz_check("readyz", healthz.ping)
    return mgr


def main(arguments: list[str] | None = None) -> int:
    """Run the operator until SIGTERM or SIGINT; the result is the exit code."""
    zap_options = zap.Options(development=True)
    flags = parse_flags(zap_options, arguments)
    ctrl.set_logger(zap.new(zap.use_flag_options(zap_options)))
    try:
        mgr = new_manager(flags)
    except Exception as err:
        SETUP_LOG.error(err, "unable to create manager")
        return 1
    SETUP_LOG.info("starting manager")
    try:
        mgr.start(ctrl.setup_signal_handler())
    except Exception as err:
        SETUP_LOG.error(err, "problem running manager")
        return 1
    return 0
