"""Certificates that a program requests, stores and renews. Mirrors k8s.io/client-go/util/certificate.

The package needs the extra `certificates`: `pip install 'clientgo[certificates]'`.
"""

from importlib.util import find_spec

if find_spec("cryptography") is None:
    raise ModuleNotFoundError(
        "clientgo.util.certificate needs cryptography: pip install 'clientgo[certificates]'",
        name="cryptography",
    )

from clientgo.util.certificate.certificate_manager import (
    DEFAULT_KUBELET_CLIENT_GET_USAGES,
    DEFAULT_KUBELET_SERVING_GET_USAGES,
    ClientsetFunc,
    Config,
    Counter,
    Gauge,
    Histogram,
    Manager,
    NoCertKeyError,
    Store,
    new_manager,
)
from clientgo.util.certificate.certificate_store import FileStore, new_file_store, new_file_store_with_logger
from clientgo.util.certificate.key_pair import Certificate, x509_key_pair

__all__ = [
    "DEFAULT_KUBELET_CLIENT_GET_USAGES",
    "DEFAULT_KUBELET_SERVING_GET_USAGES",
    "Certificate",
    "ClientsetFunc",
    "Config",
    "Counter",
    "FileStore",
    "Gauge",
    "Histogram",
    "Manager",
    "NoCertKeyError",
    "Store",
    "new_file_store",
    "new_file_store_with_logger",
    "new_manager",
    "x509_key_pair",
]
