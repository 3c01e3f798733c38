"""Functions that find, read, merge and write kubeconfig files. Mirrors tools/clientcmd/loader.go.

Difference: a reference to a file in a config, a *string in Go, is a `FileReference`. Files are created readable only by
the user, also by a migration.
"""

from __future__ import annotations

import contextlib
import copy
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from clientgo import klog
from clientgo.apimachinery.util.errors import AggregateError
from clientgo.golang.http import redacted_url
from clientgo.golang.io import read_file
from clientgo.klog.exceptions import as_operational, operational_error
from clientgo.rest.config import Config as RESTConfig
from clientgo.tools.clientcmd.api import AuthInfo, Cluster, Config, latest, new_config
from clientgo.tools.clientcmd.config import ConfigAccess
from clientgo.tools.clientcmd.helpers import file_error
from clientgo.tools.clientcmd.merge import merge
from clientgo.util.homedir import home_dir

if TYPE_CHECKING:
    from clientgo.tools.clientcmd.client_config import ClientConfig

RECOMMENDED_CONFIG_PATH_FLAG = "kubeconfig"
RECOMMENDED_CONFIG_PATH_ENV_VAR = "KUBECONFIG"
RECOMMENDED_HOME_DIR = ".kube"
RECOMMENDED_FILE_NAME = "config"
RECOMMENDED_SCHEMA_NAME = "schema"

RECOMMENDED_CONFIG_DIR = os.path.join(home_dir(), RECOMMENDED_HOME_DIR)
RECOMMENDED_HOME_FILE = os.path.join(RECOMMENDED_CONFIG_DIR, RECOMMENDED_FILE_NAME)
RECOMMENDED_SCHEMA_FILE = os.path.join(RECOMMENDED_CONFIG_DIR, RECOMMENDED_SCHEMA_NAME)


def _current_migration_rules() -> dict[str, str]:
    """Return the old location of each kubeconfig by its new location."""
    old_name = RECOMMENDED_FILE_NAME if sys.platform == "win32" else ".kubeconfig"
    return {RECOMMENDED_HOME_FILE: os.path.join(os.environ.get("HOME", ""), RECOMMENDED_HOME_DIR, old_name)}


class ClientConfigLoader(ConfigAccess, Protocol):
    """A loader of a config, with access to its files."""

    def is_default_config(self, config: RESTConfig, /) -> bool:
        """Report whether the config equals the config without any file."""
        ...

    def load(self) -> Config:
        """Return the config as it is now. Reads files."""
        ...


KubeconfigGetter = Callable[[], Config]


class ClientConfigGetter:
    """A loader that calls a function."""

    def __init__(self, kubeconfig_getter: KubeconfigGetter) -> None:
        self._kubeconfig_getter = kubeconfig_getter

    def load(self) -> Config:
        return self._kubeconfig_getter()

    def get_loading_precedence(self) -> list[str]:
        return []

    def get_starting_config(self) -> Config:
        return self._kubeconfig_getter()

    def get_default_filename(self) -> str:
        return ""

    def is_explicit_file(self) -> bool:
        return False

    def get_explicit_file(self) -> str:
        return ""

    def is_default_config(self, config: RESTConfig) -> bool:
        return False


class WarningHandler:
    """A handler for the warning that all files are missing; without a function it logs the warning.

    Go logs it at verbosity 1. Here the first one for the same files is logged at the default level, with the solution,
    because the subsequent error, "no configuration has been provided", names no file.
    """

    # The warnings logged so far. `set.add` is atomic; two concurrent threads may log a warning twice.
    _logged: ClassVar[set[str]] = set()

    def __init__(self, handler: Callable[[Exception], None] | None = None) -> None:
        self._handler = handler

    def warn(self, err: Exception) -> None:
        """Pass the error to the handler, or log it, a repeated one at verbosity 1. Go: Warn."""
        if self._handler is not None:
            self._handler(err)
        elif str(err) in self._logged or not os.environ.get(RECOMMENDED_CONFIG_PATH_ENV_VAR):
            klog.v(1).info(str(err))
        else:
            self._logged.add(str(err))
            klog.warning(
                f"{err}; set {RECOMMENDED_CONFIG_PATH_ENV_VAR} to an existing file, "
                f"or unset it to use {RECOMMENDED_HOME_FILE}"
            )


# The lists of empty files that were logged.
_logged_empty: set[str] = set()


def warn_of_empty_files(files: Sequence[str]) -> None:
    """Log once that the files exist and have no cluster, user or context, with the solution. Beyond Go."""
    names = ", ".join(files)
    if names not in _logged_empty:
        _logged_empty.add(names)
        klog.warning(
            f"Config is empty: {names}; add a cluster and a context, for example with kubectl config set-cluster and "
            f"set-context, or name another file with {RECOMMENDED_CONFIG_PATH_ENV_VAR} or the program's flag"
        )


@operational_error
class MissingConfigError(Exception):
    """Raised if none of the files exists."""

    def __init__(self, missing: list[str]) -> None:
        self.missing = missing
        super().__init__(f"Config not found: {', '.join(missing)}")


@operational_error
class ConfigLoadError(AggregateError):
    """The errors of the config files; `config` holds the parts that could be loaded."""

    def __init__(self, errors: Sequence[BaseException], config: Config) -> None:
        super().__init__(errors)
        self.config = config


@dataclass(kw_only=True)
class ClientConfigLoadingRules:
    """Rules for finding config files: one that must exist, or a list from which the existing ones are merged."""

    explicit_path: str = ""
    precedence: list[str] = field(default_factory=list)
    # Maps new files to old files: the old one is copied if only that exists.
    migration_rules: dict[str, str] = field(default_factory=dict)
    # Keep relative paths in the files unchanged.
    do_not_resolve_paths: bool = False
    # Defines the default, see is_default_config.
    default_client_config: ClientConfig | None = None
    warn_if_all_missing: bool = False
    warner: WarningHandler = field(default_factory=WarningHandler)

    def load(self) -> Config:
        """Migrate, read and merge the files. Go: Load.

        The first file to name a cluster, user or context takes precedence, entry by entry, and likewise for all other
        values. Relative paths become absolute, from the folder of their file. Missing files are skipped, except the
        explicit one. Raises OSError, or ConfigLoadError with all problems of the files.
        """
        self.migrate()
        errors: list[BaseException] = []
        missing: list[str] = []
        kubeconfigs: list[Config] = []
        for filename in self._filenames():
            try:
                kubeconfigs.append(load_from_file(filename))
            except FileNotFoundError:
                missing.append(filename)
            except (OSError, ValueError) as err:
                errors.append(ValueError(f'error loading config file "{filename}": {err}'))
        if self.warn_if_all_missing and missing and not kubeconfigs:
            self.warner.warn(MissingConfigError(missing))
        config = _merged(kubeconfigs)
        if self.resolve_paths():
            resolve_local_paths(config)
        if errors:
            raise ConfigLoadError(errors, config)
        return config

    def _filenames(self) -> list[str]:
        if not self.explicit_path:
            return [name for name in self.precedence if name]
        try:
            os.stat(self.explicit_path)
        except FileNotFoundError:
            message = f"stat {self.explicit_path}: no such file or directory"
            raise as_operational(FileNotFoundError(message)) from None
        except OSError:
            pass  # Reading the file says why.
        return [self.explicit_path]

    def migrate(self) -> None:
        """Copy old files to their new locations. Raises OSError. Go: Migrate."""
        for destination, source in self.migration_rules.items():
            if os.path.exists(destination) or not os.path.exists(source):
                continue
            if os.path.isdir(source):
                raise IsADirectoryError(f"cannot migrate {source} to {destination} because it is a directory")
            _write_private(destination, read_file(source, latest.LIMITS.size))

    def get_loading_precedence(self) -> list[str]:
        """Return the files in order of precedence. Go: GetLoadingPrecedence."""
        return [self.explicit_path] if self.explicit_path else list(self.precedence)

    def get_starting_config(self) -> Config:
        """Return the config to change. Go: GetStartingConfig."""
        from clientgo.tools.clientcmd.merged_client_builder import new_non_interactive_deferred_loading_client_config
        from clientgo.tools.clientcmd.overrides import ConfigOverrides

        # The caller may be about to create the files, so do not warn that they are missing.
        rules = copy.copy(self)
        rules.warn_if_all_missing = False
        try:
            return new_non_interactive_deferred_loading_client_config(rules, ConfigOverrides()).raw_config()
        except FileNotFoundError:
            return new_config()

    def get_default_filename(self) -> str:
        """Return the file for new entries: the first existing one, or the first of all. Go: GetDefaultFilename."""
        if self.is_explicit_file():
            return self.get_explicit_file()
        existing = (name for name in self.get_loading_precedence() if os.path.exists(name))
        return next(existing, self.precedence[0] if self.precedence else "")

    def is_explicit_file(self) -> bool:
        """Report whether a single file was named explicitly. Go: IsExplicitFile."""
        return bool(self.explicit_path)

    def get_explicit_file(self) -> str:
        """Return the explicit file, or "". Go: GetExplicitFile."""
        return self.explicit_path

    def is_default_config(self, config: RESTConfig) -> bool:
        """Report whether the config equals the default one. Go: IsDefaultConfig."""
        if self.default_client_config is None:
            return False
        try:
            return config == self.default_client_config.client_config()
        except Exception:  # on any error there is no default
            return False

    def resolve_paths(self) -> bool:
        """Report whether relative paths are made absolute. Go: ResolvePaths."""
        return not self.do_not_resolve_paths


def _merged(kubeconfigs: list[Config]) -> Config:
    """Merge configs; earlier ones take precedence. Dicts and all other values need opposite directions."""
    config = new_config()
    for kubeconfig in reversed(kubeconfigs):
        merge(config, kubeconfig)
    return config


def new_default_client_config_loading_rules() -> ClientConfigLoadingRules:
    """Return rules for the files of KUBECONFIG, or for the one in the home directory.

    Go: NewDefaultClientConfigLoadingRules.
    """
    listed = os.environ.get(RECOMMENDED_CONFIG_PATH_ENV_VAR, "")
    return ClientConfigLoadingRules(
        precedence=_deduplicate(listed.split(os.pathsep)) if listed else [RECOMMENDED_HOME_FILE],
        migration_rules=_current_migration_rules(),
        warn_if_all_missing=bool(listed),
    )


def load_from_file(filename: str) -> Config:
    """Read a kubeconfig, and record the file in its entries. Raises OSError, ValueError. Go: LoadFromFile."""
    try:
        with open(filename, "rb") as file:
            # Read one byte more than the limit: a path may name an endless stream.
            data = file.read(latest.LIMITS.size + 1)
    except OSError as err:
        raise file_error("open", filename, err) from err
    config = load(data)
    klog.v(6).infof("Config loaded from file:  %s", filename)
    for entries in (config.auth_infos, config.clusters, config.contexts):
        for entry in entries.values():
            entry.location_of_origin = filename
    return config


def load(data: bytes) -> Config:
    """Return the config in a kubeconfig's content, or an empty one for b"". Raises ValueError. Go: Load."""
    return latest.CODEC.decode(data) if data else new_config()


def write_to_file(config: Config, filename: str) -> None:
    """Write the config as YAML; a new file is readable only by the user. Raises OSError. Go: WriteToFile."""
    folder = os.path.dirname(filename)
    if folder:
        os.makedirs(folder, mode=0o755, exist_ok=True)
    _write_private(filename, write(config))


def _write_private(filename: str, data: bytes) -> None:
    with open(os.open(filename, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)


@contextlib.contextmanager
def locked_files(filenames: Iterable[str]) -> Iterator[None]:
    """Hold a lock file for each file. Raises FileExistsError if another process holds one."""
    with contextlib.ExitStack() as locks:
        # All processes lock in the same order, so that they cannot deadlock.
        for filename in sorted(filenames):
            _lock_file(filename)
            locks.callback(os.remove, _lock_name(filename))
        yield


def _lock_file(filename: str) -> None:
    folder = os.path.dirname(filename)
    if folder:
        os.makedirs(folder, mode=0o755, exist_ok=True)
    name = _lock_name(filename)
    try:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL, 0))
    except OSError as err:
        raise file_error("open", name, err) from err


def _lock_name(filename: str) -> str:
    return filename + ".lock"


def write(config: Config) -> bytes:
    """Return the config as YAML. Go: Write."""
    return latest.CODEC.encode(config)


class FileReference(NamedTuple):
    """A field of a config that contains the path of a file."""

    owner: object
    attr: str

    def get(self) -> str:
        """Return the path."""
        path: str = getattr(self.owner, self.attr)
        return path

    def set(self, path: str) -> None:
        """Change the path."""
        setattr(self.owner, self.attr, path)


def resolve_local_paths(config: Config) -> None:
    """Make relative paths absolute, from the folder of the file that contains them. Go: ResolveLocalPaths."""
    for cluster in config.clusters.values():
        if cluster.location_of_origin:
            resolve_paths(get_cluster_file_references(cluster), _base(cluster.location_of_origin))
    for info in config.auth_infos.values():
        if info.location_of_origin:
            resolve_paths(get_auth_info_file_references(info), _base(info.location_of_origin))


def _base(location_of_origin: str) -> str:
    return os.path.abspath(os.path.dirname(location_of_origin))


def relativize_cluster_local_paths(cluster: Cluster) -> None:
    """Make the cluster's paths relative to its file, except those that would need "..".

    Go: RelativizeClusterLocalPaths.
    """
    if not cluster.location_of_origin:
        raise ValueError(f"no location of origin for {redacted_url(cluster.server)}")
    base = _base(cluster.location_of_origin)
    resolve_paths(get_cluster_file_references(cluster), base)
    relativize_path_with_no_backsteps(get_cluster_file_references(cluster), base)


def relativize_auth_info_local_paths(auth_info: AuthInfo) -> None:
    """Make the user's paths relative to its file, except those that would need "..".

    Go: RelativizeAuthInfoLocalPaths.
    """
    if not auth_info.location_of_origin:
        raise ValueError(f"no location of origin for {auth_info!r}")
    base = _base(auth_info.location_of_origin)
    resolve_paths(get_auth_info_file_references(auth_info), base)
    relativize_path_with_no_backsteps(get_auth_info_file_references(auth_info), base)


def relativize_config_paths(config: Config, base: str) -> None:
    """Make all paths relative to `base`, except those that would need "..". Go: RelativizeConfigPaths."""
    relativize_path_with_no_backsteps(get_config_file_references(config), base)


def resolve_config_paths(config: Config, base: str) -> None:
    """Make all paths absolute, from `base`. Go: ResolveConfigPaths."""
    resolve_paths(get_config_file_references(config), base)


def get_config_file_references(config: Config) -> list[FileReference]:
    """Return all paths of a config. Go: GetConfigFileReferences."""
    references = [ref for cluster in config.clusters.values() for ref in get_cluster_file_references(cluster)]
    return references + [ref for info in config.auth_infos.values() for ref in get_auth_info_file_references(info)]


def get_cluster_file_references(cluster: Cluster) -> list[FileReference]:
    """Return the paths of a cluster. Go: GetClusterFileReferences."""
    return [FileReference(cluster, "certificate_authority")]


def get_auth_info_file_references(auth_info: AuthInfo) -> list[FileReference]:
    """Return the paths of a user; a plugin's command only if it is a path. Go: GetAuthInfoFileReferences."""
    references = [FileReference(auth_info, attr) for attr in ("client_certificate", "client_key", "token_file")]
    if auth_info.exec is not None and os.sep in auth_info.exec.command:
        references.append(FileReference(auth_info.exec, "command"))
    return references


def resolve_paths(refs: Iterable[FileReference], base: str) -> None:
    """Make relative paths absolute, from `base`. Go: ResolvePaths."""
    for ref in refs:
        path = ref.get()
        if path and not os.path.isabs(path):
            ref.set(os.path.normpath(os.path.join(base, path)))


def relativize_path_with_no_backsteps(refs: Iterable[FileReference], base: str) -> None:
    """Make paths relative to `base`, except those that would need "..". Go: RelativizePathWithNoBacksteps.

    Raises ValueError for a relative path that would need "..".
    """
    for ref in refs:
        path = ref.get()
        if not path:
            continue
        relative = make_relative(path, base)
        if not relative.startswith("../"):
            ref.set(relative)
        elif not os.path.isabs(path):
            raise ValueError(f"{path} requires backsteps and is not absolute")


def make_relative(path: str, base: str) -> str:
    """Return the path relative to `base`. Raises ValueError if only one of them is absolute. Go: MakeRelative."""
    if not path:
        return path
    if os.path.isabs(path) != os.path.isabs(base):
        raise ValueError(f"Rel: can't make {path} relative to {base}")
    return os.path.relpath(path, base)


def _deduplicate(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
