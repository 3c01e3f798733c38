"""A manager that renews a certificate before it expires. Mirrors util/certificate/certificate_manager.go.

    store = certificate.new_file_store("agent", "/var/lib/agent/pki", "/var/lib/agent/pki", "", "")
    manager = certificate.new_manager(certificate.Config(
        clientset_fn=lambda current: clientset, signer_name="example.com/agents", certificate_store=store,
        template=x509.CertificateSigningRequestBuilder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "agent")])),
        get_usages=certificate.DEFAULT_KUBELET_CLIENT_GET_USAGES))
    manager.start()
    config.cert = GetCertHolder(manager.current)

Differences: a template is a builder of `cryptography`. `stop` also ends a wait for the next renewal, which goes on
in Go, and waits for the threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from clientgo import context, klog
from clientgo.api.certificates.v1 import KeyUsage
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.context import CancelFunc, Context
from clientgo.golang.channel import Channel, Send, select
from clientgo.kubernetes import Interface
from clientgo.util import keyutil
from clientgo.util.cert import make_csr_from_template
from clientgo.util.certificate.csr import request_certificate_with_context, wait_for_certificate
from clientgo.util.certificate.key_pair import Certificate, x509_key_pair
from clientgo.utils.clock import REAL_CLOCK

__all__ = [
    "DEFAULT_KUBELET_CLIENT_GET_USAGES",
    "DEFAULT_KUBELET_SERVING_GET_USAGES",
    "ClientsetFunc",
    "Config",
    "Counter",
    "Gauge",
    "Histogram",
    "Manager",
    "NoCertKeyError",
    "Store",
    "new_manager",
]

# Seconds for which one request waits for its certificate.
_CERTIFICATE_WAIT_TIMEOUT = 15 * 60.0
# Seconds between two attempts after the backoff has ended, and between two checks of the template.
_SLOW_RETRY_PERIOD = 32.0
_CHECK_PERIOD = 1.0

ClientsetFunc = Callable[[Certificate | None], Interface]
"""Returns a clientset for requests, given the current certificate if there is a valid one; may raise.

Go: certificate.ClientsetFunc.
"""

_Template = x509.CertificateSigningRequestBuilder


def DEFAULT_KUBELET_SERVING_GET_USAGES(private_key: object) -> list[str]:
    """Return the usages of a serving certificate for a key. Only a key of RSA enciphers.

    Go: certificate.DefaultKubeletServingGetUsages.
    """
    return _usages(private_key, KeyUsage.USAGE_SERVER_AUTH)


def DEFAULT_KUBELET_CLIENT_GET_USAGES(private_key: object) -> list[str]:
    """Return the usages of a client's certificate for a key. Only a key of RSA enciphers.

    Go: certificate.DefaultKubeletClientGetUsages.
    """
    return _usages(private_key, KeyUsage.USAGE_CLIENT_AUTH)


def _usages(private_key: object, purpose: str) -> list[str]:
    encipherment = [KeyUsage.USAGE_KEY_ENCIPHERMENT] if isinstance(private_key, rsa.RSAPrivateKey) else []
    return [KeyUsage.USAGE_DIGITAL_SIGNATURE, *encipherment, purpose]


class Manager(Protocol):
    """A manager of one certificate. Thread-safe. Go: certificate.Manager."""

    def start(self) -> None:
        """Start the threads that renew the certificate. Go: Manager.Start."""
        ...

    def stop(self) -> None:
        """Stop the threads and wait for them, unless called by one of them. Go: Manager.Stop."""
        ...

    def current(self) -> Certificate | None:
        """Return the current certificate; None before the first one and after its expiry. Go: Manager.Current."""
        ...

    def server_healthy(self) -> bool:
        """Report whether the last exchange with the API server shows that it works. Go: Manager.ServerHealthy."""
        ...


class Store(Protocol):
    """A place for the current pair of certificate and key. Go: certificate.Store."""

    def current(self) -> Certificate:
        """Return the current pair. Raises NoCertKeyError if there is none, OSError, ValueError. Go: Store.Current."""
        ...

    def update(self, cert: bytes, key: bytes, /) -> Certificate:
        """Store a pair in PEM as the current one and return it. Raises OSError, ValueError. Go: Store.Update."""
        ...


class Gauge(Protocol):
    """A metric with one value. Go: certificate.Gauge."""

    def set(self, value: float, /) -> None: ...


class Histogram(Protocol):
    """A metric of values. Go: certificate.Histogram."""

    def observe(self, value: float, /) -> None: ...


class Counter(Protocol):
    """A metric that counts. Go: certificate.Counter."""

    def inc(self) -> None: ...


class NoCertKeyError(Exception):
    """A store has no pair yet. Go: certificate.NoCertKeyError."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


@dataclass(kw_only=True)
class Config:
    """The configuration of a manager. Go: certificate.Config."""

    clientset_fn: ClientsetFunc | None = None
    """Called for each request, by one thread at a time. None: the manager only returns the stored certificate."""
    template: _Template | None = None
    get_template: Callable[[], _Template | None] | None = None
    """Returns the template at any time, or None while there is none. Overrides `template`; called each second."""
    signer_name: str = ""
    requested_certificate_lifetime: float | None = None
    """Seconds; the signer may ignore it."""
    usages: Sequence[str] | None = None
    """Excludes `get_usages`, and one of both is necessary."""
    get_usages: Callable[[Any], Sequence[str]] | None = None
    """Returns the usages for a private key, or for None."""
    certificate_store: Store
    bootstrap_certificate_pem: bytes | None = None
    """Stored and used until the first renewal, which is immediate, if the store has no valid certificate."""
    bootstrap_key_pem: bytes | None = field(default=None, repr=False)
    certificate_rotation: Histogram | None = None
    """Observes the age of each replaced certificate, in seconds."""
    certificate_renew_failure: Counter | None = None
    name: str = ""
    """The name in logs; the signer's name by default."""
    ctx: Context | None = None
    """A context whose end stops the manager, and whose logger it uses."""


def new_manager(config: Config) -> Manager:
    """Return a manager that is not started.

    Raises ValueError unless exactly one of `usages` and `get_usages` is set, and the errors of the store.
    Go: certificate.NewManager.
    """
    if config.get_usages is not None and config.usages is not None:
        raise ValueError("cannot specify both GetUsages and Usages")
    if config.get_usages is None and config.usages is None:
        raise ValueError("either GetUsages or Usages should be specified")
    return _Manager(config)


class _Manager:
    """The only implementation of Manager."""

    def __init__(self, config: Config) -> None:
        self._config = config
        name = config.name or config.signer_name
        if not name:
            has_client_auth = KeyUsage.USAGE_CLIENT_AUTH in self._usages(None)
            name = KeyUsage.USAGE_CLIENT_AUTH if has_client_auth else "certificate"
        self._name = name
        parent = config.ctx if config.ctx is not None else context.background()
        logger = klog.logger_with_name(klog.from_context(parent), name)
        ctx, self._cancel = context.with_cancel_cause(parent)
        self._ctx = klog.new_context(ctx, logger)
        self._logger = logger
        # Guards the next two attributes.
        self._cert_lock = threading.Lock()
        self._cert, self._force_rotation = _current_or_bootstrap(logger, config)
        self._server_health = False
        # Guards the last request, which the thread of the template may cancel.
        self._request_lock = threading.Lock()
        self._cancel_last_request: CancelFunc | None = None
        self._last_request: _Wanted | None = None
        self._template_changed: Channel[None] = Channel()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """See Manager. Go: Manager.Start."""
        if self._config.clientset_fn is None:
            self._logger.v(2).info("Certificate rotation is not enabled, no connection to the apiserver")
            return
        self._logger.v(2).info("Certificate rotation is enabled")
        loops = [("rotation", self._rotate)]
        if self._config.get_template is not None:
            loops.append(("template", self._check_template))
        for what, loop in loops:
            thread = threading.Thread(
                target=wait.until_with_context,
                args=(self._ctx, loop, _CHECK_PERIOD),
                name=f"certificate-{what}-{self._name}",
                daemon=True,
            )
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """See Manager. Go: Manager.Stop."""
        self._cancel(RuntimeError("asked to stop"))
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()

    def current(self) -> Certificate | None:
        """See Manager. Go: Manager.Current."""
        with self._cert_lock:
            certificate = self._cert
        if certificate is not None and _is_expired(certificate):
            self._logger.v(2).info("Current certificate is expired")
            return None
        return certificate

    def server_healthy(self) -> bool:
        """See Manager. Go: Manager.ServerHealthy."""
        with self._cert_lock:
            return self._server_health

    def rotate_certs(self) -> bool:
        """Request a certificate once and report whether there is a new one. For tests. Go: RotateCerts."""
        return self._rotate_certs(self._ctx)

    def _rotate(self, ctx: Context) -> None:
        """Wait until the certificate is due and renew it, with retries."""
        sleep = self._next_rotation_deadline() - REAL_CLOCK.now()
        if sleep > 0:
            self._logger.v(2).info("Waiting for next certificate rotation", sleep=sleep)
            timer = REAL_CLOCK.new_timer(sleep)
            try:
                case, _, _ = select([ctx.done(), timer.c(), self._template_changed])
            finally:
                timer.stop()
            if case == 0 or (case == 2 and self._is_requested()):
                return
            if case == 2:
                self._logger.v(2).info("Certificate template changed, rotating")
        if self._template() is None:
            return
        backoff = wait.Backoff(duration=2.0, factor=2.0, jitter=0.1, steps=5)
        try:
            wait.exponential_backoff_with_context(ctx, backoff, self._rotate_certs)
        except Exception as err:
            if ctx.err() is not None:
                return
            utilruntime.handle_error_with_context(ctx, err, "Reached backoff limit, still unable to rotate certs")
            try:
                wait.poll_infinite_with_context(ctx, _SLOW_RETRY_PERIOD, self._rotate_certs)
            except Exception as err:
                if ctx.err() is None:
                    raise err

    def _check_template(self, ctx: Context) -> None:
        """Interrupt the wait for a renewal or for a certificate when the template has changed."""
        if self._satisfies_template() or self._is_requested():
            return
        with self._request_lock:
            cancel = self._cancel_last_request
        if cancel is not None:
            cancel()
        select([ctx.done(), Send(self._template_changed, None)])

    def _rotate_certs(self, ctx: Context) -> bool:
        """Request a certificate, wait for it and store it; report whether that succeeded. Logs errors."""
        self._logger.v(2).info("Rotating certificates")
        try:
            wanted, csr_pem, key_pem, private_key = self._generate_csr()
        except Exception as err:
            return self._failed(ctx, err, "Unable to generate a certificate signing request")
        try:
            assert self._config.clientset_fn is not None
            clientset = self._config.clientset_fn(self.current())
        except Exception as err:
            return self._failed(ctx, err, "Unable to load a client to request certificates")
        lifetime = self._config.requested_certificate_lifetime
        try:
            name, uid = request_certificate_with_context(
                *(ctx, clientset, csr_pem, "", self._config.signer_name, lifetime),
                *(self._usages(private_key), private_key),
            )
        except Exception as err:
            self._update_server_health(err)
            return self._failed(ctx, err, "Failed while requesting a signed certificate from the control plane")
        waiting, cancel = context.with_timeout(ctx, _CERTIFICATE_WAIT_TIMEOUT)
        try:
            with self._request_lock:
                self._cancel_last_request, self._last_request = cancel, wanted
            cert_pem = wait_for_certificate(waiting, clientset, name, uid)
        except Exception as err:
            return self._failed(ctx, err, "Certificate request was not signed")
        finally:
            cancel()
        try:
            certificate = self._config.certificate_store.update(cert_pem, key_pem)
        except Exception as err:
            return self._failed(ctx, err, "Unable to store the new cert/key pair")
        with self._cert_lock:
            self._server_health = True
            old, self._cert = self._cert, certificate
        if old is not None and self._config.certificate_rotation is not None:
            age = REAL_CLOCK.now() - old.leaf.not_valid_before_utc.timestamp()
            self._config.certificate_rotation.observe(age)
        return True

    def _failed(self, ctx: Context, err: Exception, message: str) -> bool:
        if ctx.err() is None:
            utilruntime.handle_error_with_context(ctx, err, message)
        if self._config.certificate_renew_failure is not None:
            self._config.certificate_renew_failure.inc()
        return False

    def _update_server_health(self, err: Exception) -> None:
        """Infer from the error of a request whether the API server works."""
        # Proxies that terminate TLS may answer 401, and proxies without a server an unexpected error.
        is_known = errors.is_not_found(err) or errors.is_forbidden(err)
        is_healthy = errors.is_unauthorized(err) or (not errors.is_unexpected_server_error(err) and is_known)
        with self._cert_lock:
            self._server_health = is_healthy

    def _generate_csr(self) -> tuple[_Wanted, bytes, bytes, ec.EllipticCurvePrivateKey]:
        private_key = ec.generate_private_key(ec.SECP256R1())
        template = self._template()
        if template is None:
            raise ValueError("unable to create a csr, no template available")
        csr_pem = make_csr_from_template(private_key, template)
        return _wanted(template), csr_pem, keyutil.marshal_private_key_to_pem(private_key), private_key

    def _next_rotation_deadline(self) -> float:
        """Return the time at which to renew the certificate: now, or at 70 to 90 % of its life."""
        if self._force_rotation:
            self._force_rotation = False
            return REAL_CLOCK.now()
        if not self._satisfies_template():
            return REAL_CLOCK.now()
        with self._cert_lock:
            assert self._cert is not None
            leaf = self._cert.leaf
        start, end = leaf.not_valid_before_utc.timestamp(), leaf.not_valid_after_utc.timestamp()
        deadline = start + wait.jitter(end - start, 0.2) - (end - start) * 0.3
        self._logger.v(2).info("Certificate rotation deadline determined", expiration=end, deadline=deadline)
        return deadline

    def _satisfies_template(self) -> bool:
        """Report whether the certificate has the name of the template, and at least all the rest of it."""
        with self._cert_lock:
            certificate = self._cert
        if certificate is None:
            return False
        template = self._template()
        if template is None:
            return True
        try:
            wanted = _wanted(template)
        except ValueError:
            return False  # The request fails with the error.
        has = _Wanted.of(certificate.leaf)
        if wanted.common_name != has.common_name:
            self._logger.v(2).info(
                "Current certificate CN does not match requested CN",
                currentName=has.common_name,
                requestedName=wanted.common_name,
            )
            return False
        for missing, text in (
            (wanted.dns_names - has.dns_names, "DNS names"),
            (wanted.addresses - has.addresses, "IP addresses"),
            (wanted.organizations - has.organizations, "orgs"),
        ):
            if missing:
                self._logger.v(2).info(f"Current certificate is missing requested {text}", missing=sorted(missing))
                return False
        return True

    def _is_requested(self) -> bool:
        """Report whether the last request was for the current template."""
        template = self._template()
        try:
            wanted = _wanted(template) if template is not None else None
        except ValueError:
            return False
        with self._request_lock:
            return self._last_request == wanted

    def _template(self) -> _Template | None:
        return self._config.get_template() if self._config.get_template is not None else self._config.template

    def _usages(self, private_key: object) -> Sequence[str]:
        if self._config.get_usages is not None:
            return self._config.get_usages(private_key)
        return self._config.usages or ()


@dataclass(frozen=True)
class _Wanted:
    """The content of a template or of a certificate. Compares equal if all the content does."""

    subject: bytes
    extensions: frozenset[bytes]
    common_name: str
    organizations: frozenset[str]
    dns_names: frozenset[str]
    addresses: frozenset[str]

    @classmethod
    def of(cls, source: x509.Certificate | x509.CertificateSigningRequest) -> _Wanted:
        subject = source.subject
        common_names = [str(each.value) for each in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        names = [each.value for each in source.extensions if isinstance(each.value, x509.SubjectAlternativeName)]
        return cls(
            subject.public_bytes(),
            frozenset(each.value.public_bytes() for each in source.extensions),
            common_names[-1] if common_names else "",
            frozenset(str(each.value) for each in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)),
            frozenset(name for each in names for name in each.get_values_for_type(x509.DNSName)),
            frozenset(str(address) for each in names for address in each.get_values_for_type(x509.IPAddress)),
        )


def _wanted(template: _Template) -> _Wanted:
    """Return the content of a template. Raises ValueError for one without a subject."""
    # A builder shows its content only as a request, for which any key will do.
    return _Wanted.of(x509.load_pem_x509_csr(make_csr_from_template(ec.generate_private_key(ec.SECP256R1()), template)))


def _current_or_bootstrap(logger: klog.Logger, config: Config) -> tuple[Certificate | None, bool]:
    """Return the certificate to begin with, and whether to replace it immediately."""
    try:
        current = config.certificate_store.current()
    except NoCertKeyError:
        pass
    else:
        if not _is_expired(current):
            return current, False
    certificate, key = config.bootstrap_certificate_pem, config.bootstrap_key_pem
    if certificate is None or key is None:
        return None, True
    bootstrap = x509_key_pair(certificate, key)
    try:
        config.certificate_store.update(certificate, key)
    except Exception as err:
        utilruntime.handle_error_with_logger(
            logger, err, "Unable to set the cert/key pair to the bootstrap certificate"
        )
    return bootstrap, True


def _is_expired(certificate: Certificate) -> bool:
    return REAL_CLOCK.now() > certificate.leaf.not_valid_after_utc.timestamp()
