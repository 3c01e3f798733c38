"""The operator of the design notes: a Director and actors manage CockroachDB clusters with controller-runtime.

The folders are those of the Go project: api/v1alpha1 has the kind, resources/ the parts of a cluster, actor/ the
Director and the actors, config/ the manifests for kubectl. database.py has the requests to the database itself.
"""

from __future__ import annotations

import argparse

from actor import Action, ClusterDirector
from database import Database, KubectlDatabase
from features import FeatureGates
from simulated import SimulatedDatabase

from api import v1alpha1
from clientgo import controller_runtime as ctrl
from clientgo.apimachinery.runtime import Scheme
from clientgo.controller_runtime import healthz
from clientgo.controller_runtime.log import zap
from clientgo.controller_runtime.metrics import server as metricsserver
from clientgo.golang.duration import parse_duration
from clientgo.kubernetes import scheme as clientgoscheme
from controller import ClusterReconciler

LEADER_ELECTION_ID = "crdb-operator.cockroachlabs.com"
SETUP_LOG = ctrl.LOG.with_name("setup")


def parse_flags(zap_options: zap.Options, arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse flags in the forms that Go accepts: -flag=x, -flag x, --flag=x, --flag x."""
    parser = argparse.ArgumentParser(prog="cockroach-operator", allow_abbrev=False)
    parser.add_argument("-help", action="help", help=argparse.SUPPRESS)

    def add(name: str, **options: object) -> None:
        parser.add_argument(f"-{name}", f"--{name}", **options)  # type: ignore[arg-type]

    add(
        "feature-gates",
        type=FeatureGates,
        default=FeatureGates(),
        metavar="A=true",
        help=f"(default {FeatureGates()})",
    )
    add(
        "simulate-database",
        metavar="FILE",
        help="Answer for the database, with its state in this file: the embedded API server's pods run nothing. "
        "(default: kubectl exec)",
    )
    add("metrics-bind-address", default="0", help='Where metrics are served; "0" (the default) for nowhere.')
    add("health-probe-bind-address", default="0", help='Where health probes are served; "0" (the default) for nowhere.')
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
    v1alpha1.add_to_scheme(scheme)
    return scheme


def manager_options(flags: argparse.Namespace) -> ctrl.Options:
    """Return the manager's options from the flags."""
    return ctrl.Options(
        scheme=new_scheme(),
        metrics=metricsserver.Options(bind_address=flags.metrics_bind_address),
        health_probe_bind_address=flags.health_probe_bind_address,
        leader_election=flags.leader_elect,
        leader_election_id=LEADER_ELECTION_ID,
        leader_election_namespace=flags.leader_elect_namespace,
        # The program ends right after `start`, so another process may become leader at once.
        leader_election_release_on_cancel=True,
        lease_duration=flags.leader_elect_lease_duration,
        renew_deadline=flags.leader_elect_renew_deadline,
        retry_period=flags.leader_elect_retry_period,
    )


def new_database(flags: argparse.Namespace, mgr: ctrl.Manager) -> Database:
    """Return the database that the flags select. Raises ValueError for a file that does not hold a database's state."""
    if flags.simulate_database:
        return SimulatedDatabase(mgr.get_api_reader(), flags.simulate_database)
    return KubectlDatabase(*([f"--kubeconfig={flags.kubeconfig}"] if flags.kubeconfig else []))


def new_reconciler(mgr: ctrl.Manager, database: Database, gates: FeatureGates) -> ClusterReconciler:
    """Return a reconciler with its Director and all actors."""
    action = Action(
        client=mgr.get_client(),
        reader=mgr.get_api_reader(),
        scheme=mgr.get_scheme(),
        database=database,
        gates=gates,
    )
    return ClusterReconciler(mgr.get_client(), mgr.get_api_reader(), ClusterDirector(action))


def new_manager(flags: argparse.Namespace) -> ctrl.Manager:
    """Return the manager with everything that it runs. Raises an error for invalid flags or an invalid kubeconfig."""
    mgr = ctrl.new_manager(ctrl.get_config_or_die(), manager_options(flags))
    new_reconciler(mgr, new_database(flags, mgr), flags.feature_gates).setup_with_manager(mgr)
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
