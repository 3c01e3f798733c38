"""A client in a pod: the service account's token and certificate authority.

Mirrors examples/in-cluster-client-configuration.
"""

from __future__ import annotations

import sys

from clientgo import context, kubernetes, rest
from clientgo.apimachinery.api import errors
from clientgo.util.signals import notify_context


def show_pods(ctx: context.Context, clientset: kubernetes.Interface) -> None:
    """Print the number of pods, and look for one of them. Raises StatusError, OSError."""
    # An empty namespace means all namespaces; name one to see only its pods.
    pods = clientset.core_v1().pods("").list(ctx)
    print(f"There are {len(pods.items)} pods in the cluster", flush=True)

    # Examples of error handling: a function of `errors` tells which error it is, and a StatusError has its details.
    try:
        clientset.core_v1().pods("default").get(ctx, "example-xxxxx")
    except errors.StatusError as err:
        if errors.is_not_found(err):
            print("Pod example-xxxxx not found in default namespace", flush=True)
        else:
            print(f"Error getting pod {err.status().message}", flush=True)
    else:
        print("Found example-xxxxx pod in default namespace", flush=True)


def main() -> int:
    # The file of the token is read again when it is rotated.
    config = rest.in_cluster_config()
    clientset = kubernetes.new_for_config(config)
    ctx = notify_context(context.background())
    while True:
        show_pods(ctx, clientset)
        if not context.sleep(ctx, 10.0):
            return 0


if __name__ == "__main__":
    sys.exit(main())
