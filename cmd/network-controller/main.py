"""Connect to a cluster, create clients and the informer of Networks, and run the controller until a signal.

Mirrors main.go of the walkthrough. Differs in two things: it joins its informers before it returns, where the Go
program just exits; and -neutron-state names a file in which Neutron keeps its networks. Without it they are only in
memory.
"""

from __future__ import annotations

import argparse

from clientgo import klog, kubernetes
from clientgo.tools import clientcmd
from controller import new_controller
from neutron import FileNeutron, MemoryNeutron
from pkg import signals
from pkg.client.clientset import versioned as clientset
from pkg.client.informers import externalversions as informers

RESYNC_PERIOD = 30.0
WORKERS = 2


def parse_flags(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse flags in the forms that Go accepts: -flag=x, -flag x, --flag=x, --flag x."""
    parser = argparse.ArgumentParser(prog="network-controller", allow_abbrev=False)
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
    parser.add_argument(
        "-neutron-state",
        "--neutron-state",
        default="",
        metavar="FILE",
        help="Where the real networks are kept, so that they survive a restart. (default in memory)",
    )
    klog.add_flags(parser)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the controller; the result is the exit code."""
    flags = parse_flags(arguments)

    stop_ch = signals.setup_signal_handler().done()

    try:
        cfg = clientcmd.build_config_from_flags(flags.master, flags.kubeconfig)
    except Exception as err:
        klog.errorf("Error building kubeconfig: %s", err)
        return 1

    try:
        neutron = FileNeutron(flags.neutron_state) if flags.neutron_state else MemoryNeutron()
        kube_client = kubernetes.new_for_config(cfg)
        network_client = clientset.new_for_config(cfg)
    except Exception as err:
        klog.errorf("Error building clients: %s", err)
        return 1

    network_informer_factory = informers.new_shared_informer_factory(network_client, RESYNC_PERIOD)

    controller = new_controller(
        kube_client, network_client, network_informer_factory.samplecrd().v1().networks(), neutron
    )

    # start does not block: the informer runs in its own thread.
    network_informer_factory.start(stop_ch)

    try:
        controller.run(WORKERS, stop_ch)
    except Exception as err:
        klog.errorf("Error running controller: %s", err)
        return 1
    finally:
        network_informer_factory.shutdown()
        kube_client.close()
        network_client.close()
        klog.flush()
    return 0
