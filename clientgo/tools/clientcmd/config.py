"""The locations of kubeconfigs, and their modification. Mirrors tools/clientcmd/config.go."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from clientgo import klog
from clientgo.rest.plugin import AuthProviderConfigPersister
from clientgo.tools.clientcmd.api import Config, Preferences, new_config

if TYPE_CHECKING:
    from clientgo.tools.clientcmd.loader import ClientConfigLoadingRules

# Use lock files in modify_config. Programs may set it on this module.
USE_MODIFY_CONFIG_LOCK = True


class ConfigAccess(Protocol):
    """The access to the files of a config."""

    def get_loading_precedence(self) -> list[str]:
        """Return the loaded files in order of precedence."""
        ...

    def get_starting_config(self) -> Config:
        """Return the config to change, merged or not."""
        ...

    def get_default_filename(self) -> str:
        """Return the file for new entries."""
        ...

    def is_explicit_file(self) -> bool:
        """Report whether a single file was named explicitly."""
        ...

    def get_explicit_file(self) -> str:
        """Return the explicit file, or ""."""
        ...


def _default_loading_rules() -> ClientConfigLoadingRules:
    from clientgo.tools.clientcmd.loader import ClientConfigLoadingRules

    return ClientConfigLoadingRules()


@dataclass(kw_only=True)
class PathOptions:
    """The common locations: a flag, an environment variable with a list, a file in the home directory."""

    global_file: str = ""
    env_var: str = ""
    explicit_file_flag: str = ""
    global_file_subpath: str = ""
    """The location for help texts."""
    loading_rules: ClientConfigLoadingRules = field(default_factory=_default_loading_rules)

    def get_env_var_files(self) -> list[str]:
        """Return the files in the environment variable, without duplicates. Go: GetEnvVarFiles."""
        value = os.environ.get(self.env_var, "") if self.env_var else ""
        return list(dict.fromkeys(value.split(os.pathsep))) if value else []

    def get_loading_precedence(self) -> list[str]:
        """See ConfigAccess."""
        if self.is_explicit_file():
            return [self.get_explicit_file()]
        return self.get_env_var_files() or [self.global_file]

    def get_starting_config(self) -> Config:
        """See ConfigAccess. Reads the files."""
        rules = replace(self.loading_rules, precedence=self.get_loading_precedence())
        return rules.get_starting_config()

    def get_default_filename(self) -> str:
        """See ConfigAccess: the first existing file in the variable, or the last one."""
        if self.is_explicit_file():
            return self.get_explicit_file()
        files = self.get_env_var_files()
        if not files:
            return self.global_file
        if len(files) == 1:
            return files[0]
        return next((name for name in files if os.path.exists(name)), files[-1])

    def is_explicit_file(self) -> bool:
        """See ConfigAccess."""
        return bool(self.loading_rules.explicit_path)

    def get_explicit_file(self) -> str:
        """See ConfigAccess."""
        return self.loading_rules.explicit_path


def new_default_path_options() -> PathOptions:
    """Return the options of kubectl. Go: NewDefaultPathOptions."""
    from clientgo.tools.clientcmd import loader

    rules = loader.new_default_client_config_loading_rules()
    rules.do_not_resolve_paths = True
    return PathOptions(
        global_file=loader.RECOMMENDED_HOME_FILE,
        env_var=loader.RECOMMENDED_CONFIG_PATH_ENV_VAR,
        explicit_file_flag=loader.RECOMMENDED_CONFIG_PATH_FLAG,
        global_file_subpath=os.path.join(loader.RECOMMENDED_HOME_DIR, loader.RECOMMENDED_FILE_NAME),
        loading_rules=rules,
    )


def modify_config(config_access: ConfigAccess, new: Config, relativize_paths: bool) -> None:
    """Write the differences from the starting config, each entry into its own file. Go: ModifyConfig.

    New entries, preferences and the current context go into the default file. With `relativize_paths`, paths in changed
    entries must be absolute. Raises OSError, ValueError.
    """
    from clientgo.tools.clientcmd.loader import locked_files

    with locked_files(config_access.get_loading_precedence() if USE_MODIFY_CONFIG_LOCK else []):
        starting = config_access.get_starting_config()
        if starting == new:
            return
        if starting.current_context != new.current_context:
            _write_current_context(config_access, new.current_context)
        if starting.preferences != new.preferences:
            _write_preferences(config_access, new.preferences)
        writer = _EntryWriter(config_access, relativize_paths)
        for kind in ("clusters", "contexts", "auth_infos"):
            writer.write_changed(kind, getattr(starting, kind), getattr(new, kind))
        for kind in ("clusters", "contexts", "auth_infos"):
            writer.delete_missing(kind, getattr(starting, kind), getattr(new, kind))


class _EntryWriter:
    """A writer of clusters, contexts or users into their own files."""

    def __init__(self, config_access: ConfigAccess, relativize_paths: bool) -> None:
        self._default_file = config_access.get_default_filename
        self._relativize_paths = relativize_paths

    def write_changed(self, kind: str, starting: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        changed = {name: entry for name, entry in new.items() if starting.get(name) != entry}
        for destination, names in self._by_file(changed).items():
            config = _get_config_from_file(destination)
            for name in names:
                entry = new[name].deep_copy()
                entry.location_of_origin = destination
                self._relativize(kind, entry)
                getattr(config, kind)[name] = entry
            _write(config, destination)

    def delete_missing(self, kind: str, starting: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        missing = {name: entry for name, entry in starting.items() if name not in new}
        for destination, names in self._by_file(missing).items():
            config = _get_config_from_file(destination)
            for name in names:
                getattr(config, kind).pop(name, None)
            _write(config, destination)

    def _by_file(self, entries: Mapping[str, Any]) -> dict[str, list[str]]:
        """Return the names of the entries by the file to write them into."""
        files: dict[str, list[str]] = {}
        for name, entry in entries.items():
            files.setdefault(entry.location_of_origin or self._default_file(), []).append(name)
        return files

    def _relativize(self, kind: str, entry: Any) -> None:
        from clientgo.tools.clientcmd.loader import relativize_auth_info_local_paths, relativize_cluster_local_paths

        if not self._relativize_paths:
            return
        if kind == "clusters":
            relativize_cluster_local_paths(entry)
        elif kind == "auth_infos":
            relativize_auth_info_local_paths(entry)


def _write(config: Config, filename: str) -> None:
    from clientgo.tools.clientcmd.loader import write_to_file

    write_to_file(config, filename)


def persister_for_user(config_access: ConfigAccess, user: str) -> AuthProviderConfigPersister:
    """Return a persister that writes an authentication provider's configuration back. Go: PersisterForUser."""
    return _Persister(config_access, user)


class _Persister:
    def __init__(self, config_access: ConfigAccess, user: str) -> None:
        self._config_access = config_access
        self._user = user

    def persist(self, config: Mapping[str, str]) -> None:
        new = self._config_access.get_starting_config().deep_copy()
        info = new.auth_infos.get(self._user)
        if info is not None and info.auth_provider is not None:
            info.auth_provider.config = dict(config)
            modify_config(self._config_access, new, False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Persister) and self._user == other._user

    __hash__ = None  # type: ignore[assignment]


def _write_current_context(config_access: ConfigAccess, new_current_context: str) -> None:
    """Set the current context in the default file; to clear it, clear it in the file that sets it."""
    if config_access.get_starting_config().current_context == new_current_context:
        return
    if config_access.is_explicit_file() or new_current_context:
        explicit = config_access.is_explicit_file()
        destination = config_access.get_explicit_file() if explicit else config_access.get_default_filename()
        _change(destination, lambda config: setattr(config, "current_context", new_current_context))
        return
    for filename in config_access.get_loading_precedence():
        if os.path.exists(filename) and _get_config_from_file(filename).current_context:
            _change(filename, lambda config: setattr(config, "current_context", ""))
            return
    raise ValueError("no config found to write context")


def _write_preferences(config_access: ConfigAccess, new: Preferences) -> None:
    if config_access.is_explicit_file():
        _change(config_access.get_explicit_file(), lambda config: setattr(config, "preferences", new))
        return
    for filename in config_access.get_loading_precedence():
        if _get_config_from_file(filename).preferences != new:
            _change(filename, lambda config: setattr(config, "preferences", new))
            return
    raise ValueError("no config found to write preferences")


def _change(filename: str, change: Callable[[Config], None]) -> None:
    config = _get_config_from_file(filename)
    change(config)
    _write(config, filename)


def _get_config_from_file(filename: str) -> Config:
    """Return the config in the file; an empty one if there is no file."""
    from clientgo.tools.clientcmd.loader import load_from_file

    try:
        return load_from_file(filename)
    except FileNotFoundError:
        return new_config()


def get_config_from_file_or_die(filename: str) -> Config:
    """Return the config in the file, or an empty one without a file. Exits the process if the file is unreadable.

    Go: GetConfigFromFileOrDie.
    """
    try:
        return _get_config_from_file(filename)
    except (OSError, ValueError) as err:
        klog.fatal(err)
