"""Methods of the client of certificate signing requests in addition to the generated ones.

Mirrors kubernetes/typed/certificates/v1beta1/certificatesigningrequest_expansion.go.
"""

from __future__ import annotations

from clientgo import gentype
from clientgo.api.certificates import v1beta1 as certificatesv1beta1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.gentype import takes_context


class CertificateSigningRequestExpansion(
    gentype.ClientWithListAndApply[
        certificatesv1beta1.CertificateSigningRequest, certificatesv1beta1.CertificateSigningRequestList
    ]
):
    """The extra method of CertificateSigningRequestInterface."""

    @takes_context
    def update_approval(
        self,
        ctx: Context,
        certificate_signing_request: certificatesv1beta1.CertificateSigningRequest,
        opts: metav1.UpdateOptions | None = None,
    ) -> certificatesv1beta1.CertificateSigningRequest:
        """Write the conditions that approve or deny it. Blocks for the request; raises StatusError.

        Go: UpdateApproval.
        """
        request = self.get_client().put().resource("certificatesigningrequests")
        request = request.name(certificate_signing_request.metadata.name).sub_resource("approval")
        request = request.versioned_params(opts or metav1.UpdateOptions()).body(certificate_signing_request)
        return request.do(ctx).into(certificatesv1beta1.CertificateSigningRequest())
