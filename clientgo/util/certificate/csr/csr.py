"""Requests for certificates at the API server. Mirrors client-go's util/certificate/csr/csr.go.

Differs: the wait between two failed lists ends when the context is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from clientgo import context, klog
from clientgo.api.certificates import v1 as certificatesv1
from clientgo.api.certificates import v1beta1 as certificatesv1beta1
from clientgo.apimachinery import fields
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import wait
from clientgo.apimachinery.watch import Event, EventType
from clientgo.context import Context
from clientgo.golang import pem
from clientgo.golang.channel import select
from clientgo.kubernetes import Interface
from clientgo.tools import cache
from clientgo.tools import watch as watchtools
from clientgo.util.cert import CERTIFICATE_REQUEST_BLOCK_TYPE, parse_certs_pem
from clientgo.util.cert.cert import Signer
from clientgo.utils.clock import REAL_CLOCK

__all__ = [
    "duration_to_expiration_seconds",
    "expiration_seconds_to_duration",
    "request_certificate",
    "request_certificate_with_context",
    "wait_for_certificate",
]

_LEGACY_UNKNOWN_SIGNER_NAME = "kubernetes.io/legacy-unknown"
# Seconds between two rounds that ask which version of the API exists.
_RETRY_PERIOD = 1.0


def request_certificate(
    client: Interface,
    csr_data: bytes,
    name: str,
    signer_name: str,
    requested_duration: float | None,
    usages: Sequence[str],
    private_key: Signer,
) -> tuple[str, str]:
    """Create a request like `request_certificate_with_context`, without a context. Deprecated.

    Go: csr.RequestCertificate.
    """
    return request_certificate_with_context(
        context.background(), client, csr_data, name, signer_name, requested_duration, usages, private_key
    )


def request_certificate_with_context(
    ctx: Context,
    client: Interface,
    csr_data: bytes,
    name: str,
    signer_name: str,
    requested_duration: float | None,
    usages: Sequence[str],
    private_key: Signer,
) -> tuple[str, str]:
    """Send a request in PEM to the API server; return the name and the uid of its object.

    With a name, an existing request of this name is used if it has the same subject, signer and key, and no expired
    certificate. `requested_duration` is the lifetime of the certificate in seconds, which the signer may ignore.
    Blocks for the requests. Raises StatusError, and RuntimeError for a request that is not compatible and for other
    errors. Go: csr.RequestCertificateWithContext.
    """
    request = certificatesv1.CertificateSigningRequest()
    request.metadata.name = name
    if not name:
        request.metadata.generate_name = "csr-"
    request.spec.request = csr_data
    request.spec.signer_name = signer_name
    request.spec.usages = list(usages)
    if requested_duration is not None:
        request.spec.expiration_seconds = duration_to_expiration_seconds(requested_duration)
    logger = klog.from_context(ctx)
    try:
        created = _create(ctx, client, request)
    except Exception as err:
        if not (name and errors.is_already_exists(err)):
            _raise_formatted("cannot create certificate signing request", err)
    else:
        logger.v(2).info("Certificate signing request created", csr=created[0])
        return created
    logger.info("csr for this node already exists, reusing")
    try:
        existing = _get(ctx, client, name)
    except Exception as err:
        _raise_formatted("cannot retrieve certificate signing request", err)
    try:
        _ensure_compatible(existing, request, private_key)
    except ValueError as err:
        raise RuntimeError(f"retrieved csr is not compatible: {err}") from None
    logger.info("csr for this node is still valid")
    return existing.metadata.name, existing.metadata.uid


def duration_to_expiration_seconds(duration: float) -> int:
    """Return a duration in seconds as a field of a request has it, without fractions.

    Go: csr.DurationToExpirationSeconds.
    """
    return int(duration)


def expiration_seconds_to_duration(expiration_seconds: int) -> float:
    """Return the duration of a request's field, in seconds. Go: csr.ExpirationSecondsToDuration."""
    return float(expiration_seconds)


def wait_for_certificate(ctx: Context, client: Interface, req_name: str, req_uid: str) -> bytes:
    """Wait until the request has a certificate; return it, in PEM.

    Blocks until then, and runs an informer meanwhile. Raises an error that is `wait.interrupted` when the context is
    done, and RuntimeError if the request is denied, failed, deleted or replaced. Go: csr.WaitForCertificate.
    """
    selector = str(fields.one_term_equal_selector("metadata.name", req_name))
    requests, obj = _served_version(ctx, client, selector)

    def options_of(options: metav1.ListOptions) -> metav1.ListOptions:
        options.field_selector = selector
        return options

    lw = cache.to_list_watcher_with_watch_list_semantics(
        cache.ListWatch(
            list_func=lambda options: requests.list(ctx, options_of(options)),
            watch_func=lambda options: requests.watch(ctx, options_of(options)),
        ),
        client,
    )
    issued = b""

    def is_issued(event: Event) -> bool:
        nonlocal issued
        if event.type == EventType.DELETED:
            raise RuntimeError(f'csr "{req_name}" was deleted')
        if event.type not in (EventType.ADDED, EventType.MODIFIED):
            return False
        issued = _certificate_of(ctx, event.object, req_uid)
        return bool(issued)

    try:
        watchtools.until_with_sync(ctx, lw, obj, None, is_issued)
    except Exception as err:
        if wait.interrupted(err):
            raise wait.error_interrupted(None) from None
        _raise_formatted("cannot watch on the certificate signing request", err)
    return issued


def _served_version(ctx: Context, client: Interface, selector: str) -> tuple[Any, Any]:
    """Return the client of the version that the server has, and its class. Asks each second until one answers."""
    versions: list[tuple[str, Any, Any]] = [
        ("v1", client.certificates_v1(), certificatesv1.CertificateSigningRequest),
        ("v1beta1", client.certificates_v1beta1(), certificatesv1beta1.CertificateSigningRequest),
    ]
    while True:
        for version, group, kind in versions:
            requests = group.certificate_signing_requests()
            try:
                requests.list(ctx, metav1.ListOptions(field_selector=selector))
            except Exception as err:
                text = f"Error fetching {version} certificate signing request"
                klog.from_context(ctx).v(2).info(text, err=str(err))
            else:
                return requests, kind()
            if ctx.err() is not None:
                raise wait.error_interrupted(None)
        timer = REAL_CLOCK.new_timer(_RETRY_PERIOD)
        select([ctx.done(), timer.c()])
        timer.stop()


def _certificate_of(ctx: Context, request: Any, uid: str) -> bytes:
    """Return the certificate of an approved request, b"" before it is issued. Raises RuntimeError."""
    if request.metadata.uid != uid:
        raise RuntimeError(f'csr "{request.metadata.name}" changed UIDs')
    is_approved = False
    for condition in request.status.conditions:
        details = f"reason: {condition.reason}, message: {condition.message}"
        if condition.type == certificatesv1.RequestConditionType.CERTIFICATE_DENIED:
            raise RuntimeError(f"certificate signing request is denied, {details}")
        if condition.type == certificatesv1.RequestConditionType.CERTIFICATE_FAILED:
            raise RuntimeError(f"certificate signing request failed, {details}")
        is_approved |= condition.type == certificatesv1.RequestConditionType.CERTIFICATE_APPROVED
    if not is_approved:
        return b""
    certificate: bytes = request.status.certificate
    text = "is issued" if certificate else "is approved, waiting to be issued"
    klog.from_context(ctx).v(2).info(f"Certificate signing request {text}", csr=klog.kobj(request))
    return certificate


def _get(ctx: Context, client: Interface, name: str) -> certificatesv1.CertificateSigningRequest:
    try:
        return client.certificates_v1().certificate_signing_requests().get(ctx, name, metav1.GetOptions())
    except Exception as err:
        if not errors.is_not_found(err):
            raise
    old = client.certificates_v1beta1().certificate_signing_requests().get(ctx, name, metav1.GetOptions())
    return certificatesv1.CertificateSigningRequest.from_dict(
        {"metadata": old.metadata.to_dict(), "spec": _common_spec(old.spec.to_dict())}
    )


def _create(ctx: Context, client: Interface, request: certificatesv1.CertificateSigningRequest) -> tuple[str, str]:
    """Create a request with v1, and with v1beta1 if the server has no v1."""
    created: Any
    if request.spec.usages and request.spec.signer_name not in ("", _LEGACY_UNKNOWN_SIGNER_NAME):
        try:
            created = client.certificates_v1().certificate_signing_requests().create(ctx, request, _CREATE)
            return created.metadata.name, created.metadata.uid
        except Exception as err:
            if not errors.is_not_found(err):
                raise
    old = certificatesv1beta1.CertificateSigningRequest.from_dict(
        {"metadata": request.metadata.to_dict(), "spec": _common_spec(request.spec.to_dict())}
    )
    created = client.certificates_v1beta1().certificate_signing_requests().create(ctx, old, _CREATE)
    return created.metadata.name, created.metadata.uid


_CREATE = metav1.CreateOptions()


def _common_spec(spec: dict[str, Any]) -> dict[str, Any]:
    return {name: spec[name] for name in ("request", "signerName", "usages") if name in spec}


def _ensure_compatible(
    new: certificatesv1.CertificateSigningRequest, orig: certificatesv1.CertificateSigningRequest, private_key: Signer
) -> None:
    """Raise ValueError unless the request of the server stands for the original one."""
    new_csr = _parse_csr(new.spec.request, "new")
    orig_csr = _parse_csr(orig.spec.request, "original")
    if new_csr.subject != orig_csr.subject:
        raise ValueError(
            f"csr subjects differ: new: {new_csr.subject.rfc4514_string()}, orig: {orig_csr.subject.rfc4514_string()}"
        )
    names = new.spec.signer_name, orig.spec.signer_name
    if all(names) and names[0] != names[1]:
        raise ValueError(f'csr signerNames differ: new "{names[0]}", orig: "{names[1]}"')
    if not hasattr(private_key, "public_key"):
        raise ValueError("privateKey is not a signer")
    ours, theirs = (
        each.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        for each in (private_key, new_csr)
    )
    if ours != theirs or not new_csr.is_signature_valid:
        raise ValueError("error validating signature new CSR against old key")
    if not new.status.certificate:
        return
    try:
        certificates = parse_certs_pem(new.status.certificate)
    except ValueError as err:
        raise ValueError(f"error parsing signed certificate for CSR: {err}") from None
    for certificate in certificates:
        if REAL_CLOCK.now() > certificate.not_valid_after_utc.timestamp():
            raise ValueError(
                f"one of the certificates for the CSR has expired: {certificate.not_valid_after_utc:%Y-%m-%d %H:%M:%S}"
            )


def _parse_csr(data: bytes, which: str) -> x509.CertificateSigningRequest:
    block = next(pem.blocks(data), None)
    if block is None or block.type != CERTIFICATE_REQUEST_BLOCK_TYPE:
        raise ValueError(f"unable to parse {which} csr: PEM block type must be CERTIFICATE REQUEST")
    try:
        return x509.load_der_x509_csr(block.bytes)
    except ValueError as err:
        raise ValueError(f"unable to parse {which} csr: {err}") from None


def _raise_formatted(message: str, err: Exception) -> NoReturn:
    """Raise the error with more text. An error of the API keeps its type and its status."""
    if isinstance(err, errors.StatusError):
        status = err.status().deep_copy()
        status.message = f"{message}: {status.message}"
        raise errors.StatusError(status) from err
    raise RuntimeError(f"{message}: {err}") from err
