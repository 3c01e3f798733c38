"""Self-signed certificates for servers (k8s.io/client-go/util/cert)."""

from clientgo.util.cert.cert import (
    Authority,
    context_of,
    generate_self_signed_cert_key,
    load_pair,
    make_certificates,
)

__all__ = ["Authority", "context_of", "generate_self_signed_cert_key", "load_pair", "make_certificates"]
