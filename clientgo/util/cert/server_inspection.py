"""The certificates that a server shows and accepts. Mirrors client-go's util/cert/server_inspection.go.

Nothing is verified: these functions show how a server is set up.

Differences: Python's ssl module tells neither the chain of a server, before 3.13, nor the authorities that it accepts.
So the connection uses TLS 1.2, in which the server sends both in clear. A server that requires TLS 1.3 raises
ssl.SSLError. The name of an authority is bytes in DER, in Go a string of these bytes.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

from cryptography import x509

from clientgo.util.cert.pem import encode_certificates

__all__ = [
    "get_client_ca_names",
    "get_client_ca_names_for_url",
    "get_serving_certificates",
    "get_serving_certificates_for_url",
]

# Types of handshake messages, and of the records with such messages.
_CERTIFICATE, _CERTIFICATE_REQUEST, _SERVER_HELLO_DONE = 11, 13, 14
_HANDSHAKE = 22


def get_client_ca_names(api_host: str) -> list[bytes]:
    """Return the names, in DER, of the authorities whose clients the server at "host:port" accepts.

    Empty if it requests no certificate, or names no authority. Compare with `certificate.subject.public_bytes()`.
    Blocks until the server answers. Raises ValueError for an invalid address, ssl.SSLError and OSError.
    Go: cert.GetClientCANames.
    """
    for kind, body in _handshake(api_host, ""):
        if kind == _CERTIFICATE_REQUEST:
            types_end = 1 + body[0]
            algorithms_end = types_end + 2 + int.from_bytes(body[types_end : types_end + 2], "big")
            return [*_vectors(body[algorithms_end + 2 :], 2)]
    return []


def get_client_ca_names_for_url(kube_config_url: str) -> list[bytes]:
    """Return like `get_client_ca_names`, for a URL with a port. Go: cert.GetClientCANamesForURL."""
    return get_client_ca_names(_host_of(kube_config_url))


def get_serving_certificates(api_host: str, server_name: str = "") -> tuple[list[x509.Certificate], list[bytes]]:
    """Return the certificates that the server at "host:port" shows for a name, and the same in PEM.

    An empty name selects the host. Blocks until the server answers. Raises ValueError for an invalid address,
    ssl.SSLError and OSError. Go: cert.GetServingCertificates.
    """
    bodies = (body for kind, body in _handshake(api_host, server_name) if kind == _CERTIFICATE)
    certificates = [x509.load_der_x509_certificate(der) for body in bodies for der in _vectors(body[3:], 3)]
    return certificates, [encode_certificates(each).strip() for each in certificates]


def get_serving_certificates_for_url(
    kube_config_url: str, server_name: str = ""
) -> tuple[list[x509.Certificate], list[bytes]]:
    """Return like `get_serving_certificates`, for a URL with a port. Go: cert.GetServingCertificatesForURL."""
    return get_serving_certificates(_host_of(kube_config_url), server_name)


def _host_of(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _handshake(api_host: str, server_name: str) -> list[tuple[int, bytes]]:
    """Return the types and contents of the messages that the server sends in clear."""
    host, colon, port = api_host.rpartition(":")
    if not colon or host.startswith("[") != host.endswith("]"):
        raise ValueError(f"address {api_host}: missing port in address")
    if ":" in host and not host.startswith("["):
        raise ValueError(f"address {api_host}: too many colons in address")
    host = host.removeprefix("[").removesuffix("]")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=server_name or host)
    received = bytearray()
    with socket.create_connection((host, port)) as connection:
        try:
            while not _advance(tls):
                connection.sendall(outgoing.read())
                data = connection.recv(1 << 16)
                if not data:
                    raise ConnectionResetError(f"{api_host} closed the connection during the handshake")
                received += data
                incoming.write(data)
            connection.sendall(outgoing.read())
        except OSError:
            # A server may refuse a client without certificate. It has answered before that.
            if _SERVER_HELLO_DONE not in (kind for kind, _ in _messages(received)):
                raise
    return [*_messages(received)]


def _advance(tls: ssl.SSLObject) -> bool:
    """Continue the handshake with the received data, and report whether it is complete."""
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True


def _messages(received: bytes | bytearray) -> Iterator[tuple[int, bytes]]:
    """Yield the complete handshake messages before the first record of another type."""
    clear, at = bytearray(), 0
    while len(received) >= at + 5 and received[at] == _HANDSHAKE:
        end = at + 5 + int.from_bytes(received[at + 3 : at + 5], "big")
        clear += received[at + 5 : end]
        at = end
    at = 0
    while len(clear) >= at + 4:
        end = at + 4 + int.from_bytes(clear[at + 1 : at + 4], "big")
        if end <= len(clear):
            yield clear[at], bytes(clear[at + 4 : end])
        at = end


def _vectors(body: bytes, size: int) -> Iterator[bytes]:
    """Yield values that each follow their length, a number of `size` bytes."""
    at = 0
    while at < len(body):
        end = at + size + int.from_bytes(body[at : at + size], "big")
        yield body[at + size : end]
        at = end
