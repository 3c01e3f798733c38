"""Who a server is.

kubectl and every other client of kubeconfigs send a bearer token over https only, so the server has to speak it without
anybody having to make certificates first.
"""

from __future__ import annotations

from clientgo.util.cert import context_of


class Identity:
    """Who one server is: its certificate, and the authority that clients trust instead of it."""

    def __init__(self, pem: str) -> None:
        """`pem` holds the certificate of the authority, that of the server, and the server's key, in this order."""
        end = "-----END CERTIFICATE-----\n"
        self.authority, certificate, key = (part + end for part in pem.split(end, 2))
        self.context = context_of(certificate, key.removesuffix(end))

    def __repr__(self) -> str:
        return "<Identity>"
