"""The life of a Deployment with the dynamic client. Mirrors examples/dynamic-create-update-delete-deployment."""

from __future__ import annotations

import argparse
import os
import sys

from clientgo import context, dynamic
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.tools import clientcmd
from clientgo.util import retry
from clientgo.util.homedir import home_dir


def main() -> int:
    parser = argparse.ArgumentParser("dynamic-create-update-delete-deployment")
    default = os.path.join(home_dir(), ".kube", "config")
    parser.add_argument("-kubeconfig", "--kubeconfig", default=default, help="path of the kubeconfig file")
    flags = parser.parse_args()

    ctx = context.background()
    config = clientcmd.build_config_from_flags("", flags.kubeconfig)
    client = dynamic.new_for_config(config)
    deployments = client.resource(GroupVersionResource("apps", "v1", "deployments")).namespace(metav1.NAMESPACE_DEFAULT)

    container = {
        "name": "web",
        "image": "nginx:1.12",
        "ports": [{"name": "http", "protocol": "TCP", "containerPort": 80}],
    }
    deployment = unstructured.Unstructured(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "demo-deployment"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "demo"}},
                "template": {"metadata": {"labels": {"app": "demo"}}, "spec": {"containers": [container]}},
            },
        }
    )

    # Create the Deployment.
    print("Creating deployment...")
    result = deployments.create(ctx, deployment)
    print(f'Created deployment "{result.get_name()}".')

    # Update the Deployment. As in the typed example, the latest version is changed, again after a conflict.
    prompt()
    print("Updating deployment...")

    def update() -> None:
        latest = deployments.get(ctx, "demo-deployment")
        document = latest.to_dict()
        unstructured.set_nested_field(document, 1, "spec", "replicas")
        containers, found = unstructured.nested_slice(document, "spec", "template", "spec", "containers")
        if not found or not containers:
            raise LookupError("deployment containers not found in spec")
        unstructured.set_nested_field(containers[0], "nginx:1.13", "image")
        unstructured.set_nested_field(document, containers, "spec", "template", "spec", "containers")
        deployments.update(ctx, unstructured.Unstructured(document))

    retry.retry_on_conflict(retry.DEFAULT_RETRY, update)
    print("Updated deployment...")

    # List the Deployments.
    prompt()
    print(f'Listing deployments in namespace "{metav1.NAMESPACE_DEFAULT}":')
    for each in deployments.list(ctx).items:
        replicas, found = unstructured.nested_int64(each.to_dict(), "spec", "replicas")
        if not found:
            print(f"Replicas not found for deployment {each.get_name()}")
            continue
        print(f" * {each.get_name()} ({replicas} replicas)")

    # Delete the Deployment.
    prompt()
    print("Deleting deployment...")
    policy = metav1.DeletionPropagation.DELETE_PROPAGATION_FOREGROUND
    deployments.delete(ctx, "demo-deployment", metav1.DeleteOptions(propagation_policy=policy))
    print("Deleted deployment.")
    return 0


def prompt() -> None:
    print("-> Press Return key to continue.", end="", flush=True)
    sys.stdin.readline()
    print()


if __name__ == "__main__":
    sys.exit(main())
