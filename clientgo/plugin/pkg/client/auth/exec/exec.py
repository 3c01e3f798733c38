"""Credentials from an exec plugin, a program that the kubeconfig names. Mirrors plugin/pkg/client/auth/exec/exec.go.

Differences: when a plugin returns a new certificate, used connections continue with the old one; new requests use the
new one. A request whose context ends stops waiting for the plugin, and ends the plugin that it started. A line logs a
plugin that runs for a long time.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from clientgo import context, klog
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.golang.duration import format_duration
from clientgo.golang.http import Request, Response, RoundTripper
from clientgo.golang.strconv import quote
from clientgo.pkg.apis import clientauthentication
from clientgo.plugin.pkg.client.auth.exec.metrics import EXPIRATION_METRICS
from clientgo.plugin.pkg.client.auth.exec.running import Plugin
from clientgo.tools.clientcmd.api import ExecConfig, ExecInteractiveMode, PluginPolicy, PolicyType
from clientgo.tools.metrics import metrics
from clientgo.transport.config import Certificate, Config, GetCertHolder
from clientgo.transport.tls import check_certificate, validity
from clientgo.utils.clock.clock import REAL_CLOCK, PassiveClock
from clientgo.utils.clock.watchdog import checked_after

_EXEC_INFO_ENV = "KUBERNETES_EXEC_INFO"

_INSTALL_HINT_VERBOSE_HELP = """

It looks like you are trying to use a client-go credential plugin that is not installed.

To learn more about this feature, consult the documentation available at:
      https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins"""

# The maximum number of bytes that a plugin may write, far above a token and a certificate. Go has no limit.
_MAX_OUTPUT = 4 * 1024 * 1024

_BACKGROUND: Final = context.background()

# The seconds after which a line logs that a plugin is still running.
_LONG_RUN = 10.0

# The maximum number of install hints per hour.
_HINTS = 10
_HINT_INTERVAL = 3600.0


def _stdin_is_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


class _Cache:
    """A cache of authenticators by configuration, so that programs that create many clients run the plugin once."""

    def __init__(self) -> None:
        # Guards _authenticators.
        self._lock = threading.Lock()
        self._authenticators: dict[str, Authenticator] = {}

    def get_or_put(self, key: str, make: Callable[[], Authenticator]) -> Authenticator:
        with self._lock:
            if key not in self._authenticators:
                self._authenticators[key] = make()
            return self._authenticators[key]


_GLOBAL_CACHE = _Cache()


def _cache_key(config: ExecConfig, cluster: clientauthentication.Cluster | None) -> str:
    env = [(variable.name, variable.value) for variable in config.env]
    fixed = (config.command, config.args, env, config.api_version, config.install_hint, config.provide_cluster_info)
    rest = (config.config, config.interactive_mode, config.stdin_unavailable, config.stdin_unavailable_message)
    return repr((fixed, rest, config.plugin_policy, cluster.to_dict() if cluster is not None else None))


class _Sometimes:
    """A limit on the number of actions per interval."""

    def __init__(self, threshold: int, interval: float, clock: PassiveClock) -> None:
        self._threshold = threshold
        self._interval = interval
        self._clock = clock
        # Guards the next two attributes: the count in the interval that began at `_window`.
        self._lock = threading.Lock()
        self._count = 0
        self._window: float | None = None

    def allows(self) -> bool:
        with self._lock:
            now = self._clock.now()
            if self._window is None or now - self._window >= self._interval:
                self._window, self._count = now, 0
            self._count += 1
            return self._count <= self._threshold


def get_authenticator(config: ExecConfig, cluster: clientauthentication.Cluster | None) -> Authenticator:
    """Return the authenticator of a plugin; equal configurations share one. Go: GetAuthenticator.

    Runs nothing yet. Raises ValueError for an invalid configuration.
    """
    return _new_authenticator(_GLOBAL_CACHE, config, cluster)


def _new_authenticator(
    cache: _Cache,
    config: ExecConfig,
    cluster: clientauthentication.Cluster | None,
    is_terminal: Callable[[], bool] = _stdin_is_terminal,
    clock: PassiveClock = REAL_CLOCK,
    environ: Callable[[], Mapping[str, str]] = lambda: os.environ,
) -> Authenticator:
    def make() -> Authenticator:
        if config.api_version not in clientauthentication.VERSIONS:
            raise ValueError(f"exec plugin: invalid apiVersion {quote(config.api_version)}")
        try:
            validate_plugin_policy(config.plugin_policy)
        except ValueError as err:
            raise ValueError(f"invalid plugin policy: {err}") from err
        return Authenticator(config.deep_copy(), cluster, is_terminal, clock, environ)

    return cache.get_or_put(_cache_key(config, cluster), make)


@dataclass(frozen=True, eq=False)
class _Credentials:
    token: str
    certificate: Certificate | None

    def __repr__(self) -> str:
        return "<credentials>"


class Authenticator:
    """A runner of a plugin, when credentials are needed, have expired or were rejected. Thread-safe.

    A request that needs new credentials blocks until the plugin has ended; other requests wait for the same run.
    """

    def __init__(
        self,
        config: ExecConfig,
        cluster: clientauthentication.Cluster | None,
        is_terminal: Callable[[], bool],
        clock: PassiveClock,
        environ: Callable[[], Mapping[str, str]],
    ) -> None:
        self._config = config
        self._cluster = cluster
        self._command = os.path.normpath(config.command)
        self._is_terminal = is_terminal
        self._clock = clock
        self._environ = environ
        self._hints = _Sometimes(_HINTS, _HINT_INTERVAL, clock)
        # The same for all configs, so that their clients share a transport.
        self._get_cert_holder = GetCertHolder(self._certificate)
        # The permitted commands, as listed and as found on PATH.
        self._allowed = {entry.command for entry in config.plugin_policy.allowlist or () if entry.command}
        # Guards the next attribute; notified when it becomes False and when the context of a waiting request ends.
        self._cond = threading.Condition()
        # True while a thread has the turn: an interactive plugin must prompt only once.
        self._is_taken = False
        # The thread that has the turn changes the next three attributes.
        self._credentials: _Credentials | None = None
        self._expiry: float | None = None
        self._is_expired_logged = False

    def update_transport_config(self, c: Config) -> None:
        """Make the transport use the plugin's credentials. Go: UpdateTransportConfig.

        Does nothing if the config has credentials, which take precedence. Raises ValueError if another source provides
        certificates.
        """
        if c.has_token_auth() or c.has_basic_auth() or c.has_cert_auth():
            return
        if c.has_cert_callback():
            raise ValueError("can't add TLS certificate callback: transport.Config.TLS.GetCert already set")
        c.wrap(lambda rt: _ExecRoundTripper(self, rt))
        c.tls.get_cert_holder = self._get_cert_holder

    def _certificate(self) -> Certificate | None:
        """Return the certificate of the current credentials, which the round tripper above has fetched for this
        request.
        """
        credentials = self._credentials
        return credentials.certificate if credentials is not None else None

    def get_creds(self, ctx: Context = _BACKGROUND) -> _Credentials:
        """Return the current credentials. Blocks while the plugin runs. Raises ValueError, OSError or the context's
        error.
        """
        with self._turn(ctx):
            if self._credentials is None or self._expired():
                self._refresh(ctx)
            assert self._credentials is not None
            return self._credentials

    def _expired(self) -> bool:
        return self._expiry is not None and self._clock.now() > self._expiry

    def maybe_refresh_creds(self, used: _Credentials, ctx: Context = _BACKGROUND) -> None:
        """Run the plugin again because the server rejected `used`, unless another thread has done so already."""
        with self._turn(ctx):
            if used is self._credentials:
                self._refresh(ctx)

    @contextlib.contextmanager
    def _turn(self, ctx: Context) -> Iterator[None]:
        """Wait until no other thread runs the plugin, and take its place. Raises the context's error."""
        forget = ctx.add_done_callback(self._wake)
        try:
            with self._cond:
                while self._is_taken and ctx.err() is None:
                    self._cond.wait()
                ended = ctx.err()
                if ended is not None:
                    raise ended
                self._is_taken = True
        finally:
            forget()
        try:
            yield
        finally:
            with self._cond:
                self._is_taken = False
                self._cond.notify_all()

    def _wake(self) -> None:
        with self._cond:
            self._cond.notify_all()

    # The rest runs in the thread that has the turn.

    def _refresh(self, ctx: Context) -> None:
        try:
            interactive = self._is_interactive()
        except ValueError as err:
            raise ValueError(f"exec plugin cannot support interactive mode: {err}") from err
        status = self._decode(self._run(interactive, ctx))
        certificate = None
        if status.client_certificate_data:
            certificate = Certificate(status.client_certificate_data.encode(), status.client_key_data.encode())
            try:
                check_certificate(certificate)
            except ValueError as err:
                raise ValueError(f"failed parsing client key/certificate: {err}") from None
        self._expiry = status.expiration_timestamp
        if self._expired() and not self._is_expired_logged:
            self._is_expired_logged = True
            self._log_expired()
        old = self._credentials
        # Equal certificates keep their identity, so that connections survive a change of the token only.
        if old is not None and old.certificate == certificate:
            certificate = old.certificate
        elif old is not None and old.certificate is not None:
            not_before, _ = validity(old.certificate.cert)
            metrics.CLIENT_CERT_ROTATION_AGE.observe(self._clock.now() - not_before)
        self._credentials = _Credentials(status.token, certificate)
        EXPIRATION_METRICS.set(self, validity(certificate.cert)[1] if certificate is not None else None)

    def _is_interactive(self) -> bool:
        mode = self._config.interactive_mode
        if mode == ExecInteractiveMode.NEVER:
            return False
        if mode == ExecInteractiveMode.IF_AVAILABLE:
            return not self._config.stdin_unavailable and self._is_terminal()
        if mode != ExecInteractiveMode.ALWAYS:
            raise ValueError(f"unknown interactiveMode: {quote(mode)}")
        if not self._is_terminal():
            raise ValueError("standard input is not a terminal")
        if self._config.stdin_unavailable:
            message = self._config.stdin_unavailable_message
            raise ValueError(f"standard input is unavailable{': ' + message if message else ''}")
        return True

    def _run(self, interactive: bool, ctx: Context) -> bytes:
        env = {**self._environ(), **{variable.name: variable.value for variable in self._config.env}}
        cluster = self._cluster if self._config.provide_cluster_info else None
        spec = clientauthentication.ExecCredentialSpec(cluster=cluster, interactive=interactive)
        request = clientauthentication.ExecCredential(spec=spec)
        env[_EXEC_INFO_ENV] = request.encode(self._config.api_version).decode()
        # As in Go, the client's own PATH locates the plugin, not the PATH in the plugin's environment.
        path = self._environ().get("PATH", "")
        command = self._permitted_command(path)
        try:
            plugin = Plugin(
                [command, *self._config.args],
                command if os.sep in command else _look_path(command, path),
                env,
                None if interactive else subprocess.DEVNULL,
            )
            with checked_after(self._clock, _LONG_RUN, lambda: self._log_long_run(plugin.pid)):
                returncode, output = plugin.wait(ctx, _MAX_OUTPUT)
        except (FileNotFoundError, PermissionError) as err:
            metrics.EXEC_PLUGIN_CALLS.increment(1, "plugin_not_found_error")
            raise ValueError(self._not_found_message()) from err
        except OSError as err:
            metrics.EXEC_PLUGIN_CALLS.increment(1, "client_internal_error")
            raise ValueError(f"exec: {err.strerror or err}") from err
        ended = ctx.err()
        if ended is not None:
            raise ended
        if len(output) > _MAX_OUTPUT:
            metrics.EXEC_PLUGIN_CALLS.increment(1, "plugin_execution_error")
            raise ValueError(f"exec: executable {self._command} wrote more than {_MAX_OUTPUT} bytes")
        if returncode != 0:
            code = max(returncode, -1)  # -1 represents any signal
            metrics.EXEC_PLUGIN_CALLS.increment(code, "plugin_execution_error")
            raise ValueError(f"exec: executable {self._command} failed with exit code {code}")
        metrics.EXEC_PLUGIN_CALLS.increment(0, "no_error")
        return output

    def _log_long_run(self, pid: int) -> None:
        """Log the plugin for which requests wait. Go is silent."""
        klog.background().info(
            "An exec plugin is still running, and requests wait for its credentials: if it hangs, end its process "
            "and run its command in a terminal to find the reason",
            command=self._command,
            pid=pid,
            running=format_duration(_LONG_RUN),
        )

    def _log_expired(self) -> None:
        """Log that the plugin's new credentials are too old. Go is silent: the server rejects each request."""
        klog.background().info(
            "An exec plugin returned credentials that have already expired, and runs again before each request: "
            "correct the expirationTimestamp in its output, log in again, or set this machine's clock",
            command=self._command,
            expirationTimestamp=metav1.unix(math.floor(self._expiry or 0.0), 0),
        )

    def _not_found_message(self) -> str:
        message = f"exec: executable {self._command} not found"
        if not self._hints.allows():
            return message
        hint = f"\n\n{self._config.install_hint}" if self._config.install_hint else ""
        return message + _INSTALL_HINT_VERBOSE_HELP + hint

    def _decode(self, stdout: bytes) -> clientauthentication.ExecCredentialStatus:
        try:
            credential = clientauthentication.decode(stdout, self._config.api_version)
        except ValueError as err:
            text = str(err)
            raise ValueError(text if text.startswith("exec plugin ") else f"decoding stdout: {text}") from None
        status = credential.status
        if status is None:
            raise ValueError("exec plugin didn't return a status field")
        if not (status.token or status.client_certificate_data or status.client_key_data):
            raise ValueError("exec plugin didn't return a token or cert/key pair")
        if bool(status.client_certificate_data) != bool(status.client_key_data):
            raise ValueError("exec plugin returned only certificate or key, not both")
        return status

    def _permitted_command(self, path: str) -> str:
        """Return the command to run. Raises ValueError if the program's policy forbids it."""
        try:
            command = self._check_policy(path)
        except ValueError:
            metrics.EXEC_PLUGIN_POLICY_CALLS.increment("denied")
            raise
        metrics.EXEC_PLUGIN_POLICY_CALLS.increment("allowed")
        return command

    def _check_policy(self, path: str) -> str:
        policy = self._config.plugin_policy.policy_type
        if policy in ("", PolicyType.PLUGIN_POLICY_ALLOW_ALL):
            return self._command
        if policy == PolicyType.PLUGIN_POLICY_DENY_ALL:
            raise ValueError(f"plugin {quote(self._command)} not allowed: policy set to {quote(policy)}")
        try:
            resolved = _look_path(self._command, path)
        except FileNotFoundError as err:
            if self._command in self._allowed:
                return self._command
            raise ValueError(
                f"plugin path {quote(self._command)} cannot be resolved for credential plugin allowlist check: {err}"
            ) from None
        if self._command in self._allowed:
            return resolved
        if resolved not in self._allowed:
            self._resolve_allowlist(os.path.basename(resolved), path)
        if resolved not in self._allowed:
            raise ValueError(f"plugin path {quote(resolved)} is not permitted by the credential plugin allowlist")
        return resolved

    def _resolve_allowlist(self, name: str, path: str) -> None:
        """Add the PATH locations of the allowlist's entries with this name."""
        for entry in self._config.plugin_policy.allowlist or ():
            if os.path.basename(entry.command) != name:
                continue
            try:
                self._allowed.add(_look_path(entry.command, path))
            except FileNotFoundError:
                klog.v(5).info("resolving credential plugin allowlist", name=entry.command)

    def __repr__(self) -> str:
        return f"<Authenticator {self._command!r}, {'has credentials' if self._credentials else 'not run yet'}>"


def _look_path(command: str, path: str) -> str:
    """Return the location of the command on PATH. Go: exec.LookPath.

    Raises FileNotFoundError, also for a match in a relative entry of PATH (an empty one, `.`, or another), since the
    owner of the working directory could then choose the program. Go: exec.ErrDot.
    """
    found = shutil.which(command, path=path)
    if found is None:
        raise FileNotFoundError(f"exec: {quote(command)}: executable file not found in $PATH")
    if not os.path.isabs(found) and os.sep not in command:
        raise FileNotFoundError(f"exec: {quote(command)}: cannot run executable found relative to current directory")
    return found


class _ExecRoundTripper:
    """A round tripper that adds the plugin's token to requests, and runs the plugin again after a 401."""

    def __init__(self, authenticator: Authenticator, base: RoundTripper) -> None:
        self._authenticator = authenticator
        self._base = base

    def round_trip(self, request: Request) -> Response:
        if request.headers.get("Authorization"):
            return self._base.round_trip(request)
        try:
            credentials = self._authenticator.get_creds(request.ctx)
        except (OSError, ValueError) as err:
            raise ValueError(f"getting credentials: {err}") from err
        if credentials.token:
            request = request.clone()
            request.headers["Authorization"] = f"Bearer {credentials.token}"
        response = self._base.round_trip(request)
        if response.status_code == 401:
            try:
                self._authenticator.maybe_refresh_creds(credentials, request.ctx)
            except (OSError, ValueError, context.Canceled) as err:
                klog.errorf("refreshing credentials: %s", err)
        return response

    def wrapped_round_tripper(self) -> RoundTripper:
        return self._base


def validate_plugin_policy(policy: PluginPolicy) -> None:
    """Validate a program's policy. Raises ValueError. Go: ValidatePluginPolicy."""
    kind, allowlist = policy.policy_type, policy.allowlist
    if kind in ("", PolicyType.PLUGIN_POLICY_ALLOW_ALL, PolicyType.PLUGIN_POLICY_DENY_ALL):
        if allowlist is not None:
            raise ValueError(
                f"misconfigured credential plugin allowlist: plugin policy is {quote(kind)} but allowlist is non-nil"
            )
        return
    if kind != PolicyType.PLUGIN_POLICY_ALLOWLIST:
        raise ValueError(f"unknown plugin policy: {quote(kind)}")
    if allowlist is None:
        raise ValueError(f"credential plugin policy set to {quote(kind)}, but allowlist is unspecified")
    if not allowlist:
        deny = quote(PolicyType.PLUGIN_POLICY_DENY_ALL)
        raise ValueError(
            f"credential plugin policy set to {quote(kind)}, but allowlist is empty; use {deny} policy instead"
        )
    for number, entry in enumerate(allowlist, start=1):
        if not entry.command:
            raise ValueError(f"misconfigured credential plugin allowlist: empty allowlist entry #{number}")
        cleaned = os.path.normpath(entry.command)
        if cleaned != entry.command:
            raise ValueError(f"non-normalized file path: {quote(entry.command)} vs {quote(cleaned)}")
