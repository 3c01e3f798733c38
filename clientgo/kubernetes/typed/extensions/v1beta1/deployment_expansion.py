"""Methods of the client of deployments in addition to the generated ones.

Mirrors kubernetes/typed/extensions/v1beta1/deployment_expansion.go.
"""

from __future__ import annotations

from clientgo import gentype
from clientgo.api.extensions import v1beta1 as extensionsv1beta1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.gentype import takes_context


class DeploymentExpansion(
    gentype.ClientWithListAndApply[extensionsv1beta1.Deployment, extensionsv1beta1.DeploymentList]
):
    """The extra method of DeploymentInterface."""

    @takes_context
    def rollback(
        self,
        ctx: Context,
        deployment_rollback: extensionsv1beta1.DeploymentRollback,
        opts: metav1.CreateOptions | None = None,
    ) -> None:
        """Ask for an earlier revision of the deployment. Blocks for the request; raises StatusError. Go: Rollback."""
        request = self.get_client().post().namespace(self.get_namespace()).resource("deployments")
        request = request.name(deployment_rollback.name).versioned_params(opts or metav1.CreateOptions())
        request.sub_resource("rollback").body(deployment_rollback).do(ctx).raise_for_error()
