"""Feature gates from environment variables: `KUBE_FEATURE_WatchListClient=false`.

Mirrors client-go/features/envvar.go.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping

from clientgo import klog
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.features.features import Feature, FeatureSpec
from clientgo.golang.strconv import parse_bool

__all__: list[str] = []


def _new_env_var_feature_gates(features: Mapping[Feature, FeatureSpec]) -> _EnvVarFeatureGates:
    return _EnvVarFeatureGates(features, utilruntime.get_caller())


class _EnvVarFeatureGates:
    """Feature gates with these sources, in order: `set`, the environment, the default. Thread-safe.

    `enabled` takes a lock only on its first call, which reads the environment; later changes of it have no effect.

    Invariant: every key of `_enabled_via_env_var` and `_enabled_via_set_method` is a known feature.
    """

    def __init__(self, features: Mapping[Feature, FeatureSpec], call_site_name: str) -> None:
        self._call_site_name = call_site_name
        self._known = dict(features)
        # Guards the read of the environment and every write; reads of the dicts are atomic.
        self._lock = threading.Lock()
        self._enabled_via_env_var: dict[Feature, bool] | None = None
        self._enabled_via_set_method: dict[Feature, bool] = {}

    def enabled(self, key: Feature) -> bool:
        """See `Gates.enabled`."""
        via_env_var = self._get_enabled_map_from_env_var()
        for state in (self._enabled_via_set_method, via_env_var):
            value = state.get(key)
            if value is not None:
                return value
        spec = self._known.get(key)
        if spec is None:
            raise LookupError(f'feature "{key}" is not registered in FeatureGates "{self._call_site_name}"')
        return spec.default

    def set(self, feature_name: Feature, feature_value: bool) -> None:
        """Enable or disable a feature, regardless of the environment. Raises ValueError if it is unknown or locked."""
        self._set(feature_name, feature_value, allow_changing_locked_features=False)

    def set_for_testing(self, feature_name: Feature, feature_value: bool) -> None:
        """Set a feature, even if it is locked."""
        self._set(feature_name, feature_value, allow_changing_locked_features=True)

    def _set(self, feature_name: Feature, feature_value: bool, allow_changing_locked_features: bool) -> None:
        spec = self._known.get(feature_name)
        if spec is None:
            raise ValueError(f'feature "{feature_name}" is not registered in FeatureGates "{self._call_site_name}"')
        if spec.lock_to_default and spec.default != feature_value and not allow_changing_locked_features:
            raise ValueError(
                f'cannot set feature gate "{feature_name}" to {str(feature_value).lower()}, '
                f"feature is locked to {str(spec.default).lower()}"
            )
        with self._lock:
            self._enabled_via_set_method[feature_name] = feature_value

    def _get_enabled_map_from_env_var(self) -> dict[Feature, bool]:
        states = self._enabled_via_env_var
        if states is not None:
            return states
        with self._lock:
            if self._enabled_via_env_var is not None:
                return self._enabled_via_env_var
            states = self._enabled_via_env_var = self._read_env_vars()
        for feature, spec in self._known.items():
            if feature in states:
                klog.v(1).info("Feature gate updated state", feature=feature, enabled=states[feature])
            else:
                klog.v(1).info("Feature gate default state", feature=feature, enabled=spec.default)
        return states

    def _read_env_vars(self) -> dict[Feature, bool]:
        states: dict[Feature, bool] = {}
        for feature, spec in self._known.items():
            desired = os.environ.get(f"KUBE_FEATURE_{feature}")
            if desired is None:
                continue
            state = _desired_state(feature, spec, desired)
            if state is not None:
                states[feature] = state
        return states

    def _has_already_read_env_var(self) -> bool:
        return self._enabled_via_env_var is not None

    def __repr__(self) -> str:
        return (
            f"<FeatureGates of {self._call_site_name}: {len(self._known)} known, set: {self._enabled_via_set_method}>"
        )


def _desired_state(feature: Feature, spec: FeatureSpec, desired: str) -> bool | None:
    """Return the state that the environment variable requests; log an invalid value and return None."""
    try:
        state = parse_bool(desired)
    except ValueError as err:
        utilruntime.handle_error_with_logger(
            klog.background(),
            err.with_traceback(None),  # a user's value: the position in the code is irrelevant
            "Could not set feature gate",
            feature=feature,
            desiredState=desired,
        )
        return None
    if spec.lock_to_default and state != spec.default:
        utilruntime.handle_error_with_logger(
            klog.background(),
            None,
            "Could not set feature gate, feature is locked",
            feature=feature,
            desiredState=desired,
            lockedState=spec.default,
        )
        return None
    return state
