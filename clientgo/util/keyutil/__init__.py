"""Private and public keys in PEM. Mirrors k8s.io/client-go/util/keyutil.

The package needs the extra `certificates`: `pip install 'clientgo[certificates]'`.
"""

from importlib.util import find_spec

if find_spec("cryptography") is None:
    raise ModuleNotFoundError(
        "clientgo.util.keyutil needs cryptography: pip install 'clientgo[certificates]'",
        name="cryptography",
    )

from clientgo.util.keyutil.key import (
    EC_PRIVATE_KEY_BLOCK_TYPE,
    PRIVATE_KEY_BLOCK_TYPE,
    PUBLIC_KEY_BLOCK_TYPE,
    RSA_PRIVATE_KEY_BLOCK_TYPE,
    PrivateKey,
    PublicKey,
    load_or_generate_key_file,
    make_elliptic_private_key_pem,
    marshal_private_key_to_pem,
    parse_private_key_pem,
    parse_public_keys_pem,
    private_key_from_file,
    public_keys_from_file,
    write_key,
)

__all__ = [
    "EC_PRIVATE_KEY_BLOCK_TYPE",
    "PRIVATE_KEY_BLOCK_TYPE",
    "PUBLIC_KEY_BLOCK_TYPE",
    "RSA_PRIVATE_KEY_BLOCK_TYPE",
    "PrivateKey",
    "PublicKey",
    "load_or_generate_key_file",
    "make_elliptic_private_key_pem",
    "marshal_private_key_to_pem",
    "parse_private_key_pem",
    "parse_public_keys_pem",
    "private_key_from_file",
    "public_keys_from_file",
    "write_key",
]
