"""Connect to a cluster, create clients and informers, and run the controller until a signal.

Mirrors main.go of k8s.io/sample-controller. Differs in two things: it joins its informers before it returns, where the
Go program just exits; and several replicas may run. Either only the leader works (-leader-elect, election.py), or each
replica does a part of the work (-shards, shards.py).
"""

from __future__ import annotations

import argparse

import election
import shards
from clientgo import informers as kubeinformers
from clientgo import klog, kubernetes
from clientgo.apimachinery import labels
from clientgo.context import Context
from clientgo.tools import clientcmd
from controller import new_controller
from pkg import signals
from pkg.generated.clientset import versioned as clientset
from pkg.generated.informers import externalversions as informers

RESYNC_PERIOD = 30.0
WORKERS = 2


def parse_flags(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse flags in the forms that Go accepts: -flag=x, -flag x, --flag=x, --flag x."""
    parser = argparse.ArgumentParser(prog="sample-controller", allow_abbrev=False)
    parser.add_argument("-help", action="help", help=argparse.SUPPRESS)
    parser.add_argument(
        "-kubeconfig", "--kubeconfig", default="", help="Path to a kubeconfig. Only required if out-of-cluster."
    )
    parser.add_argument(
        "-master",
        "--master",
        default="",
        help="The address of the Kubernetes API server. Overrides any value in kubeconfig. "
        "Only required if out-of-cluster.",
    )
    election.add_flags(parser)
    shards.add_flags(parser)
    klog.add_flags(parser)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the controller; the result is the exit code."""
    flags = parse_flags(arguments)

    ctx = signals.setup_signal_handler()
    logger = klog.from_context(ctx)

    try:
        cfg = clientcmd.build_config_from_flags(flags.master, flags.kubeconfig)
    except Exception as err:
        logger.error(err, "Error building kubeconfig")
        return 1

    try:
        kube_client = kubernetes.new_for_config(cfg)
        example_client = clientset.new_for_config(cfg)
    except Exception as err:
        logger.error(err, "Error building kubernetes clientset")
        return 1

    kube_informer_factory = kubeinformers.new_shared_informer_factory(kube_client, RESYNC_PERIOD)
    example_informer_factory = informers.new_shared_informer_factory(example_client, RESYNC_PERIOD)

    sharded_informers = shards.shard_informers(flags, kube_informer_factory, example_informer_factory)
    foo_informer = example_informer_factory.samplecontroller().v1alpha1().foos()

    def enqueue_shard(shard: int) -> None:
        for foo in foo_informer.lister().list(labels.everything()):
            if sharder is not None and sharder.shard_of(foo.get_namespace(), foo.get_name()) == shard:
                controller.enqueue_foo(foo)

    try:
        sharder = (
            shards.new_sharder(kube_client, flags, enqueue_shard, sharded_informers) if flags.shards else None
        )
    except ValueError as err:
        logger.error(err, "Error building the sharder")
        return 1

    controller = new_controller(
        ctx,
        kube_client,
        example_client,
        kube_informer_factory.apps().v1().deployments(),
        foo_informer,
        shards.queue_for(sharder) if sharder is not None else None,
    )

    def run(ctx: Context) -> None:
        # start does not block: each informer runs in its own thread.
        kube_informer_factory.start(ctx.done())
        example_informer_factory.start(ctx.done())
        controller.run(ctx, WORKERS)

    try:
        if flags.leader_elect:
            election.run_while_leading(ctx, election.lock_for_config(cfg, flags), flags, run)
        elif sharder is not None:
            shards.run_beside(ctx, sharder, run)
        else:
            run(ctx)
    except Exception as err:
        logger.error(err, "Error running controller")
        return 1
    finally:
        if ctx.done().is_set():
            kube_informer_factory.shutdown()
            example_informer_factory.shutdown()
            kube_client.close()
            example_client.close()
            klog.flush()
    return 0
