"""The phase operator of the text, modelled on Elastic's: it manages Elasticsearch clusters with controller-runtime.

api/v1 has the type, elasticsearch/ the controller: driver.py has the phases in their order, each phase is a module
(upscale.py, downscale.py, upgrade.py with predicates.py), expectations.py makes decisions from a cache safe.
Elasticsearch itself is simulated (elasticsearch/simulated): only its nodes, the ready pods, are real.
"""

from __future__ import annotations

import argparse
import math

from api import v1 as esv1
from clientgo import controller_runtime as ctrl
from clientgo.apimachinery.runtime import Scheme
from clientgo.controller_runtime import healthz
from clientgo.controller_runtime.log import zap
from clientgo.controller_runtime.metrics import server as metricsserver
from clientgo.golang.duration import parse_duration
from clientgo.kubernetes import scheme as clientgoscheme
from elasticsearch.controller import ReconcileElasticsearch
from elasticsearch.simulated import Pace, RunningNodes, SimulatedClients, parse_indices
from elasticsearch.state import REQUEUE_AFTER

LEADER_ELECTION_ID = "elastic-operator-leader"
SETUP_LOG = ctrl.LOG.with_name("setup")


def parse_flags(zap_options: zap.Options, arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse flags in the forms that Go accepts: -flag=x, -flag x, --flag=x, --flag x."""
    parser = argparse.ArgumentParser(prog="elasticsearch-operator", allow_abbrev=False)
    parser.add_argument("-help", action="help", help=argparse.SUPPRESS)

    def add(name: str, **options: object) -> None:
        parser.add_argument(f"-{name}", f"--{name}", **options)  # type: ignore[arg-type]

    add("elasticsearch-state", default="", metavar="FILE", help="Where simulated clusters outlive the operator.")
    add("simulated-indices", type=_indices, default=(), metavar="NAME=PRIMARIES:REPLICAS,...",
        help="What each simulated cluster holds.")  # fmt: skip
    add("simulated-speed", type=_speed, default=1.0, help="How many times as fast it recovers and moves it.")
    add("requeue-after", type=parse_duration, default=REQUEUE_AFTER,
        help="How often a cluster is looked at without any event. (default 10s)")  # fmt: skip
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


def _indices(text: str) -> tuple[tuple[str, int, int], ...]:
    try:
        return parse_indices(text)
    except ValueError as err:
        raise argparse.ArgumentTypeError(str(err)) from None


def _speed(text: str) -> float:
    speed = float(text)
    if not 0 < speed < math.inf:
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text!r}")
    return speed


def new_scheme() -> Scheme:
    """Return a scheme with the built-in kinds and the operator's own."""
    scheme = Scheme()
    clientgoscheme.add_to_scheme(scheme)
    esv1.add_to_scheme(scheme)
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


def new_manager(flags: argparse.Namespace) -> ctrl.Manager:
    """Return the manager with everything that it runs. Raises an error for invalid flags or an invalid kubeconfig."""
    mgr = ctrl.new_manager(ctrl.get_config_or_die(), manager_options(flags))
    live = mgr.get_api_reader()
    reconciler = ReconcileElasticsearch(
        client=mgr.get_client(),
        live=live,
        recorder=mgr.get_event_recorder("elasticsearch-controller"),
        clients=SimulatedClients(
            RunningNodes(live),
            path=flags.elasticsearch_state or None,
            indices=flags.simulated_indices,
            pace=Pace().times(flags.simulated_speed),
        ),
        requeue_after=flags.requeue_after,
    )
    reconciler.setup_with_manager(mgr)
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
