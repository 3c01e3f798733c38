"""The practices of the operator guides in one operator, on controller-runtime. cmd/README.md has a table of them.

The files are those of a kubebuilder project: api/v1alpha1 has the type, controller.py the reconcile cycle, webhook.py
the webhooks, config/ the manifests. main.py combines them, like cmd/main.go there.
"""

from __future__ import annotations

import argparse

import shards
import webhook
from api import v1alpha1
from api.v1alpha1 import Site
from clientgo import controller_runtime as ctrl
from clientgo import kubernetes, rest
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import fields
from clientgo.apimachinery.runtime import Scheme
from clientgo.controller_runtime import cache, controller, healthz
from clientgo.controller_runtime import webhook as ctrlwebhook
from clientgo.controller_runtime.log import zap
from clientgo.controller_runtime.metrics import server as metricsserver
from clientgo.golang.duration import parse_duration
from clientgo.kubernetes import scheme as clientgoscheme
from clientgo.tools.sharding import ShardedInformers
from controller import SiteReconciler
from zone import Zone

# The name of the Lease, or the prefix of the names of the Leases.
NAME = "operator-patterns"
SETUP_LOG = ctrl.LOG.with_name("setup")


def parse_flags(zap_options: zap.Options, arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse flags in the forms that Go accepts: -flag=x, -flag x, --flag=x, --flag x."""
    parser = argparse.ArgumentParser(prog=NAME, allow_abbrev=False)
    parser.add_argument("-help", action="help", help=argparse.SUPPRESS)

    def add(name: str, **options: object) -> None:
        parser.add_argument(f"-{name}", f"--{name}", **options)  # type: ignore[arg-type]

    add("zone", required=True, metavar="DIR", help="The DNS zone outside the cluster: a folder.")
    add("domain", default="example.com", help="The domain in which hosts must be. (default example.com)")
    add("metrics-bind-address", default="0", help='Where metrics are served; "0" (the default) for nowhere.')
    add("health-probe-bind-address", default="0", help='Where health probes are served; "0" (the default) for nowhere.')
    add("webhook-cert-path", default="", metavar="DIR", help="Has tls.crt and tls.key. No webhooks without it.")
    add("webhook-port", type=int, default=ctrlwebhook.DEFAULT_PORT, help="Where webhooks are served.")
    add("leader-elect", action="store_true", help="Only one of several replicas works.")
    add("leader-elect-namespace", default="", help="Where the Leases are. (default: where the program is)")
    add("leader-elect-lease-duration", type=parse_duration, default=15.0, help="(default 15s)")
    add("leader-elect-renew-deadline", type=parse_duration, default=10.0, help="(default 10s)")
    add("leader-elect-retry-period", type=parse_duration, default=2.0, help="(default 2s)")
    add(
        "shards",
        type=int,
        default=0,
        metavar="N",
        help="Share the work with other replicas: it is cut into N parts, and each replica works on its share of them. "
        "The same for all replicas. (default 0: this replica does it all)",
    )
    add(
        "shard-by",
        choices=["name", "namespace"],
        default="name",
        help="The value that decides the shard of a Site. By namespace a replica caches the objects of its shards "
        "only. (default name)",
    )
    ctrl.register_flags(parser)
    zap_options.bind_flags(parser)
    return parser.parse_args(arguments)


def new_scheme() -> Scheme:
    """Return a scheme with the built-in kinds and the operator's own."""
    scheme = Scheme()
    clientgoscheme.add_to_scheme(scheme)
    v1alpha1.add_to_scheme(scheme)
    return scheme


def manager_options(flags: argparse.Namespace, informers: ShardedInformers | None = None) -> ctrl.Options:
    """Return the manager's options from the flags; its cache has the informers of the kinds that are sharded."""
    sharded = (Site, corev1.ConfigMap, corev1.Secret, appsv1.Deployment)
    # The API server sends no other Secrets to this program.
    tls_secrets = cache.ByObject(field=fields.one_term_equal_selector("type", corev1.SecretType.TLS))
    return ctrl.Options(
        scheme=new_scheme(),
        cache=cache.Options(
            by_object={corev1.Secret: tls_secrets},
            new_informer=informers.new_informer(*sharded) if informers is not None else None,
        ),
        metrics=metricsserver.Options(bind_address=flags.metrics_bind_address),
        health_probe_bind_address=flags.health_probe_bind_address,
        webhook_server=ctrlwebhook.new_server(
            ctrlwebhook.Options(cert_dir=flags.webhook_cert_path, port=flags.webhook_port)
        ),
        leader_election=flags.leader_elect,
        leader_election_id=NAME,
        leader_election_namespace=flags.leader_elect_namespace,
        # The program ends right after `start`, so another process may become leader at once.
        leader_election_release_on_cancel=True,
        lease_duration=flags.leader_elect_lease_duration,
        renew_deadline=flags.leader_elect_renew_deadline,
        retry_period=flags.leader_elect_retry_period,
    )


def new_manager(config: rest.Config, zone: Zone, flags: argparse.Namespace) -> ctrl.Manager:
    """Return the manager with everything that it runs. Raises an error for invalid flags or an unreachable cluster."""
    informers = shards.sharded_informers(flags)
    mgr = ctrl.new_manager(config, manager_options(flags, informers))
    reconciler = SiteReconciler(
        client=mgr.get_client(),
        scheme=mgr.get_scheme(),
        recorder=mgr.get_event_recorder("site-controller"),
        zone=zone,
        domain=flags.domain,
    )
    reconciler.setup_with_manager(mgr, controller_options(mgr, flags, informers))
    if flags.webhook_cert_path:
        webhook.setup_webhook_with_manager(mgr, flags.domain)
    mgr.add_healthz_check("healthz", healthz.ping)
    mgr.add_readyz_check("readyz", healthz.ping)
    return mgr


def controller_options(
    mgr: ctrl.Manager, flags: argparse.Namespace, informers: ShardedInformers | None
) -> controller.Options:
    """Return the controller's options from the flags; with -shards the manager runs the sharder too."""
    if not flags.shards:
        return controller.Options()
    leases = kubernetes.new_for_config_and_client(mgr.get_config(), mgr.get_http_client()).coordination_v1()
    mine = shards.Shards(mgr.get_client(), leases, NAME, flags, informers)
    mgr.add(mine)
    return controller.Options(new_queue=mine.new_queue)


def main(arguments: list[str] | None = None) -> int:
    """Run the operator until SIGTERM or SIGINT; the result is the exit code."""
    zap_options = zap.Options(development=True)
    flags = parse_flags(zap_options, arguments)
    ctrl.set_logger(zap.new(zap.use_flag_options(zap_options)))
    try:
        mgr = new_manager(ctrl.get_config_or_die(), Zone(flags.zone), flags)
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
