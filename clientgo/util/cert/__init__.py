"""Certificates, requests for them and their files. Mirrors k8s.io/client-go/util/cert.

The package needs the extra `certificates`: `pip install 'clientgo[certificates]'`.
"""

from importlib.util import find_spec

if find_spec("cryptography") is None:
    raise ModuleNotFoundError(
        "clientgo.util.cert needs cryptography: pip install 'clientgo[certificates]'",
        name="cryptography",
    )

from clientgo.util.cert.cert import (
    AltNames,
    Config,
    SelfSignedCertKeyOptions,
    generate_self_signed_cert_key,
    generate_self_signed_cert_key_with_fixtures,
    generate_self_signed_cert_key_with_options,
    new_self_signed_ca_cert,
)
from clientgo.util.cert.csr import make_csr, make_csr_from_template
from clientgo.util.cert.io import can_read_cert_and_key, certs_from_file, new_pool, new_pool_from_bytes, write_cert
from clientgo.util.cert.pem import (
    CERTIFICATE_BLOCK_TYPE,
    CERTIFICATE_REQUEST_BLOCK_TYPE,
    encode_certificates,
    parse_certs_pem,
)
from clientgo.util.cert.server_inspection import (
    get_client_ca_names,
    get_client_ca_names_for_url,
    get_serving_certificates,
    get_serving_certificates_for_url,
)

__all__ = [
    "CERTIFICATE_BLOCK_TYPE",
    "CERTIFICATE_REQUEST_BLOCK_TYPE",
    "AltNames",
    "Config",
    "SelfSignedCertKeyOptions",
    "can_read_cert_and_key",
    "certs_from_file",
    "encode_certificates",
    "generate_self_signed_cert_key",
    "generate_self_signed_cert_key_with_fixtures",
    "generate_self_signed_cert_key_with_options",
    "get_client_ca_names",
    "get_client_ca_names_for_url",
    "get_serving_certificates",
    "get_serving_certificates_for_url",
    "make_csr",
    "make_csr_from_template",
    "new_pool",
    "new_pool_from_bytes",
    "new_self_signed_ca_cert",
    "parse_certs_pem",
    "write_cert",
]
