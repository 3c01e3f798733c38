"""The life of a Deployment with the typed client. Mirrors examples/create-update-delete-deployment."""

from __future__ import annotations

import argparse
import os
import sys

from clientgo import context, kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as apiv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import clientcmd
from clientgo.util import retry
from clientgo.util.homedir import home_dir


def main() -> int:
    parser = argparse.ArgumentParser("create-update-delete-deployment")
    default = os.path.join(home_dir(), ".kube", "config")
    parser.add_argument("-kubeconfig", "--kubeconfig", default=default, help="path of the kubeconfig file")
    flags = parser.parse_args()

    ctx = context.background()
    config = clientcmd.build_config_from_flags("", flags.kubeconfig)
    clientset = kubernetes.new_for_config(config)
    deployments_client = clientset.apps_v1().deployments(metav1.NAMESPACE_DEFAULT)

    deployment = appsv1.Deployment(
        metadata=metav1.ObjectMeta(name="demo-deployment"),
        spec=appsv1.DeploymentSpec(
            replicas=2,
            selector=metav1.LabelSelector(match_labels={"app": "demo"}),
            template=apiv1.PodTemplateSpec(
                metadata=metav1.ObjectMeta(labels={"app": "demo"}),
                spec=apiv1.PodSpec(
                    containers=[
                        apiv1.Container(
                            name="web",
                            image="nginx:1.12",
                            ports=[apiv1.ContainerPort(name="http", protocol="TCP", container_port=80)],
                        )
                    ]
                ),
            ),
        ),
    )

    # Create the Deployment.
    print("Creating deployment...")
    result = deployments_client.create(ctx, deployment)
    print(f'Created deployment "{result.get_name()}".')

    # Update the Deployment.
    prompt()
    print("Updating deployment...")

    # There are two ways to update it:
    #
    # 1. Change `deployment` and call `update` with it. Like "kubectl replace", this overwrites what other clients have
    #    changed since the create.
    # 2. Change the result of `get`, and try again after a conflict. This keeps the changes of other clients.
    #    It is the recommended way, and below.
    def update() -> None:
        latest = deployments_client.get(ctx, "demo-deployment")
        latest.spec.replicas = 1  # fewer replicas
        latest.spec.template.spec.containers[0].image = "nginx:1.13"  # another version of nginx
        deployments_client.update(ctx, latest)

    # It waits between two tries, longer each time, and so does not overload the server.
    retry.retry_on_conflict(retry.DEFAULT_RETRY, update)
    print("Updated deployment...")

    # List the Deployments.
    prompt()
    print(f'Listing deployments in namespace "{metav1.NAMESPACE_DEFAULT}":')
    for each in deployments_client.list(ctx).items:
        print(f" * {each.get_name()} ({each.spec.replicas} replicas)")

    # Delete the Deployment.
    prompt()
    print("Deleting deployment...")
    policy = metav1.DeletionPropagation.DELETE_PROPAGATION_FOREGROUND
    deployments_client.delete(ctx, "demo-deployment", metav1.DeleteOptions(propagation_policy=policy))
    print("Deleted deployment.")
    return 0


def prompt() -> None:
    print("-> Press Return key to continue.", end="", flush=True)
    sys.stdin.readline()
    print()


if __name__ == "__main__":
    sys.exit(main())
