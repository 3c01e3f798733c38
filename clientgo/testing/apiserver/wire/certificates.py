"""The serving certificate.

kubectl and other clients of kubeconfigs send a bearer token only over https. So the server creates its own
certificates, and the user needs none.
"""

from __future__ import annotations

import ssl

from clientgo.golang.tls import load_key_pair


class Identity:
    """The identity of one server: its certificate, and the authority that clients trust."""

    def __init__(self, pem: str) -> None:
        """Load the identity from `pem`.

        It holds the authority's certificate, the server's certificate and the server's key, in this order.
        """
        end = "-----END CERTIFICATE-----\n"
        self.authority, certificate, key = (part + end for part in pem.split(end, 2))
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        load_key_pair(self.context, certificate, key.removesuffix(end))

    def __repr__(self) -> str:
        return "<Identity>"
