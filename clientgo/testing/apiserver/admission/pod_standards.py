"""The Pod Security Standards: the fields of pods that each level forbids. Mirrors pod-security-admission's policy.

Has the newest version of each check, also for namespaces that pin an older one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from clientgo.testing.apiserver.wire.jsonio import Json

PRIVILEGED, BASELINE, RESTRICTED = LEVELS = ("privileged", "baseline", "restricted")


class Violation(NamedTuple):
    reason: str
    detail: str


Check = Callable[[Json, Json], Violation | None]


def evaluate(pod: Json, level: str) -> list[Violation]:
    """Return a pod's violations of its level.

    The checks of `baseline` come first, each group in the order of their names.
    """
    checks: dict[str, tuple[Check, ...]] = {PRIVILEGED: (), BASELINE: _BASELINE, RESTRICTED: _RESTRICTED}
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    return [found for check in checks[level] if (found := check(metadata, spec)) is not None]


def _containers(spec: Json) -> Iterator[tuple[str, Json, Json]]:
    """Yield each container with its name and its security context."""
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(group) or ():
            yield container.get("name", ""), container, container.get("securityContext") or {}


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _these(word: str, names: list[str]) -> str:
    return f"{word}{'s' if len(names) != 1 else ''} {_quoted(names)}"


def _pod_context(spec: Json) -> Json:
    context: Json = spec.get("securityContext") or {}
    return context


# ---- baseline


_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"


def _app_armor(metadata: Json, spec: Json) -> Violation | None:
    bad = [f'{name}="{value}"' for name, value in sorted((metadata.get("annotations") or {}).items())
           if name.startswith(_APPARMOR) and value not in ("", "runtime/default")
           and not value.startswith("localhost/")]  # fmt: skip
    word = f"annotation{'s' if len(bad) != 1 else ''}"
    return Violation("forbidden AppArmor profile" + ("s" if len(bad) > 1 else ""),
                     f"{word} {', '.join(bad)}") if bad else None  # fmt: skip


_DEFAULT_CAPABILITIES = {
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}  # fmt: skip


def _capabilities(metadata: Json, spec: Json) -> Violation | None:
    bad, names = [], set()
    for name, _, context in _containers(spec):
        more = set((context.get("capabilities") or {}).get("add") or ()) - _DEFAULT_CAPABILITIES
        if more:
            bad.append(name)
            names |= more
    text = f"{_these('container', bad)} must not include {_quoted(sorted(names))} in securityContext.capabilities.add"
    return Violation("non-default capabilities", text) if bad else None


def _host_namespaces(metadata: Json, spec: Json) -> Violation | None:
    bad = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return Violation("host namespaces", ", ".join(bad)) if bad else None


def _host_path(metadata: Json, spec: Json) -> Violation | None:
    bad = [volume.get("name", "") for volume in spec.get("volumes") or () if volume.get("hostPath") is not None]
    return Violation("hostPath volumes", _these("volume", bad)) if bad else None


def _host_ports(metadata: Json, spec: Json) -> Violation | None:
    bad, ports = [], set()
    for name, container, _ in _containers(spec):
        found = {port["hostPort"] for port in container.get("ports") or () if port.get("hostPort")}
        if found:
            bad.append(name)
            ports |= found
    uses = "uses" if len(bad) == 1 else "use"
    word = f"hostPort{'s' if len(ports) != 1 else ''}"
    text = f"{_these('container', bad)} {uses} {word} {', '.join(sorted(map(str, ports)))}"
    return Violation("hostPort", text) if bad else None


def _privileged(metadata: Json, spec: Json) -> Violation | None:
    bad = [name for name, _, context in _containers(spec) if context.get("privileged")]
    text = f"{_these('container', bad)} must not set securityContext.privileged=true"
    return Violation("privileged", text) if bad else None


def _proc_mount(metadata: Json, spec: Json) -> Violation | None:
    if spec.get("hostUsers") is False:
        return None
    bad = [name for name, _, context in _containers(spec) if context.get("procMount") not in (None, "", "Default")]
    text = f'{_these("container", bad)} must not set securityContext.procMount to "Unmasked"'
    return Violation("procMount", text) if bad else None


_SELINUX_TYPES = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")


def _selinux(metadata: Json, spec: Json) -> Violation | None:
    options = _pod_context(spec).get("seLinuxOptions") or {}
    setters, found = (["pod"], [options]) if _is_bad_selinux(options) else ([], [])
    bad = []
    for name, _, context in _containers(spec):
        options = context.get("seLinuxOptions") or {}
        if _is_bad_selinux(options):
            bad.append(name)
            found.append(options)
    if bad:
        setters.append(_these("container", bad))
    types = sorted({one["type"] for one in found if one.get("type", "") not in _SELINUX_TYPES})
    data = [f"type{'s' if len(types) > 1 else ''} {_quoted(types)}"] if types else []
    data += [f"{name} may not be set" for name in ("user", "role") if any(one.get(name) for one in found)]
    text = f"{' and '.join(setters)} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}"
    return Violation("seLinuxOptions", text) if found else None


def _is_bad_selinux(options: Json) -> bool:
    return bool(options.get("user") or options.get("role")) or options.get("type", "") not in _SELINUX_TYPES


def _seccomp_type(context: Json) -> str | None:
    kind: str | None = (context.get("seccompProfile") or {}).get("type")
    return kind


def _seccomp(metadata: Json, spec: Json) -> Violation | None:
    setters = ["pod"] if _seccomp_type(_pod_context(spec)) == "Unconfined" else []
    bad = [name for name, _, context in _containers(spec) if _seccomp_type(context) == "Unconfined"]
    if bad:
        setters.append(_these("container", bad))
    text = f'{" and ".join(setters)} must not set securityContext.seccompProfile.type to "Unconfined"'
    return Violation("seccompProfile", text) if setters else None


_SAFE_SYSCTLS = {
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_rmem", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_wmem",
}  # fmt: skip


def _sysctls(metadata: Json, spec: Json) -> Violation | None:
    names = [one.get("name", "") for one in _pod_context(spec).get("sysctls") or ()]
    bad = sorted(set(names) - _SAFE_SYSCTLS)
    return Violation("forbidden sysctls", ", ".join(bad)) if bad else None


def _host_process(metadata: Json, spec: Json) -> Violation | None:
    setters = ["pod"] if (_pod_context(spec).get("windowsOptions") or {}).get("hostProcess") else []
    bad = [name for name, _, context in _containers(spec) if (context.get("windowsOptions") or {}).get("hostProcess")]
    if bad:
        setters.append(_these("container", bad))
    text = f"{' and '.join(setters)} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", text) if setters else None


# ---- restricted


def _escalation(metadata: Json, spec: Json) -> Violation | None:
    if _is_windows(spec):
        return None
    bad = [name for name, _, context in _containers(spec) if context.get("allowPrivilegeEscalation") is not False]
    text = f"{_these('container', bad)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", text) if bad else None


def _is_windows(spec: Json) -> bool:
    return (spec.get("os") or {}).get("name") == "windows"


def _capabilities_restricted(metadata: Json, spec: Json) -> Violation | None:
    if _is_windows(spec):
        return None
    keeping, adding, names = [], [], set()
    for name, _, context in _containers(spec):
        capabilities = context.get("capabilities") or {}
        if "ALL" not in (capabilities.get("drop") or ()):
            keeping.append(name)
        more = set(capabilities.get("add") or ()) - {"NET_BIND_SERVICE"}
        if more:
            adding.append(name)
            names |= more
    texts = []
    if keeping:
        texts.append(f'{_these("container", keeping)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        forbidden = _quoted(sorted(names))
        texts.append(f"{_these('container', adding)} must not include {forbidden} in securityContext.capabilities.add")
    return Violation("unrestricted capabilities", "; ".join(texts)) if texts else None


_VOLUMES = {"name", "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim",
            "projected", "secret"}  # fmt: skip


def _volumes(metadata: Json, spec: Json) -> Violation | None:
    bad, kinds = [], set()
    for volume in spec.get("volumes") or ():
        kind = next((name for name in volume if name not in _VOLUMES), None)
        if kind is not None:
            bad.append(volume.get("name", ""))
            kinds.add(kind)
    uses = "uses" if len(bad) == 1 else "use"
    word = f"restricted volume type{'s' if len(kinds) != 1 else ''}"
    text = f"{_these('volume', bad)} {uses} {word} {_quoted(sorted(kinds))}"
    return Violation("restricted volume types", text) if bad else None


def _non_root(metadata: Json, spec: Json) -> Violation | None:
    pod = _pod_context(spec).get("runAsNonRoot")
    wrong = [name for name, _, context in _containers(spec) if context.get("runAsNonRoot") is False]
    silent = [name for name, _, context in _containers(spec) if context.get("runAsNonRoot") is None]
    setters = (["pod"] if pod is False else []) + ([_these("container", wrong)] if wrong else [])
    reason = "runAsNonRoot != true"
    if setters:
        return Violation(reason, f"{' and '.join(setters)} must not set securityContext.runAsNonRoot=false")
    if not silent or pod:
        return None
    return Violation(reason, f"pod or {_these('container', silent)} must set securityContext.runAsNonRoot=true")


def _user(metadata: Json, spec: Json) -> Violation | None:
    setters = ["pod"] if _pod_context(spec).get("runAsUser") == 0 else []
    bad = [name for name, _, context in _containers(spec) if context.get("runAsUser") == 0]
    if bad:
        setters.append(_these("container", bad))
    return Violation("runAsUser=0", f"{' and '.join(setters)} must not set runAsUser=0") if setters else None


_CONFINED = ("RuntimeDefault", "Localhost")


def _seccomp_restricted(metadata: Json, spec: Json) -> Violation | None:
    if _is_windows(spec):
        return None
    pod = _seccomp_type(_pod_context(spec))
    types = [(name, _seccomp_type(context)) for name, _, context in _containers(spec)]
    wrong = [name for name, kind in types if kind is not None and kind not in _CONFINED]
    silent = [name for name, kind in types if kind is None]
    field = "securityContext.seccompProfile.type to"
    setters = (["pod"] if pod is not None and pod not in _CONFINED else [])
    setters += [_these("container", wrong)] if wrong else []
    if setters:
        return Violation("seccompProfile", f'{" and ".join(setters)} must not set {field} "Unconfined"')
    if not silent or pod is not None:
        return None
    text = f'pod or {_these("container", silent)} must set {field} "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", text)


_BASELINE: tuple[Check, ...] = (
    _app_armor, _capabilities, _host_namespaces, _host_path, _host_ports, _privileged, _proc_mount, _selinux,
    _seccomp, _sysctls, _host_process,
)  # fmt: skip
# Some of them say what those of baseline say, and more.
_RESTRICTED: tuple[Check, ...] = (
    _app_armor, _host_namespaces, _host_ports, _privileged, _proc_mount, _selinux, _sysctls, _host_process,
    _escalation, _capabilities_restricted, _volumes, _non_root, _user, _seccomp_restricted,
)  # fmt: skip
