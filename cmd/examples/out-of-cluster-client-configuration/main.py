"""A client with a kubeconfig. Mirrors examples/out-of-cluster-client-configuration."""

from __future__ import annotations

import argparse
import os
import sys

from clientgo import context, kubernetes
from clientgo.apimachinery.api import errors
from clientgo.tools import clientcmd
from clientgo.util.homedir import home_dir
from clientgo.util.signals import notify_context


def show_pods(ctx: context.Context, clientset: kubernetes.Interface) -> None:
    """Print the number of pods, and look for one of them. Raises StatusError, OSError."""
    pods = clientset.core_v1().pods("").list(ctx)
    print(f"There are {len(pods.items)} pods in the cluster", flush=True)

    # Examples of error handling: a function of `errors` tells which error it is, and a StatusError has its details.
    namespace = "default"
    pod = "example-xxxxx"
    try:
        clientset.core_v1().pods(namespace).get(ctx, pod)
    except errors.StatusError as err:
        if errors.is_not_found(err):
            print(f"Pod {pod} in namespace {namespace} not found", flush=True)
        else:
            print(f"Error getting pod {pod} in namespace {namespace}: {err.status().message}", flush=True)
    else:
        print(f"Found pod {pod} in namespace {namespace}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser("out-of-cluster-client-configuration")
    default = os.path.join(home_dir(), ".kube", "config")
    parser.add_argument("-kubeconfig", "--kubeconfig", default=default, help="path of the kubeconfig file")
    flags = parser.parse_args()

    # The current context of the kubeconfig.
    config = clientcmd.build_config_from_flags("", flags.kubeconfig)
    clientset = kubernetes.new_for_config(config)
    ctx = notify_context(context.background())
    while True:
        show_pods(ctx, clientset)
        if not context.sleep(ctx, 10.0):
            return 0


if __name__ == "__main__":
    sys.exit(main())
