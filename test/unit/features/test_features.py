"""Feature gates: defaults, environment, set, and gates of the program's own."""

from __future__ import annotations

import pytest

from clientgo import features
from clientgo.features import BETA, Feature, FeatureSpec, envvar, known_features
from clientgo.features import features as features_module
from clientgo.features.testing import set_feature_during_test

KNOWN = {
    Feature("TestAlpha"): FeatureSpec(default=False, pre_release=features.ALPHA),
    Feature("TestBeta"): FeatureSpec(default=True, pre_release=BETA),
    Feature("TestLockedOn"): FeatureSpec(default=True, lock_to_default=True),
    Feature("TestLockedOff"): FeatureSpec(default=False, lock_to_default=True),
}
DEFAULTS = {"TestAlpha": False, "TestBeta": True, "TestLockedOn": True, "TestLockedOff": False}


def states(gates):
    return {str(name): gates.enabled(name) for name in KNOWN}


@pytest.fixture
def gates(monkeypatch):
    for name in KNOWN:
        monkeypatch.delenv(f"KUBE_FEATURE_{name}", raising=False)
    return envvar._new_env_var_feature_gates(KNOWN)


def test_defaults(gates):
    assert states(gates) == DEFAULTS


@pytest.mark.parametrize(
    ("variable", "value", "changed"),
    [
        ("TestAlpha", "true", {}),
        ("KUBE_FEATURE_TestAlpha", "true", {"TestAlpha": True}),
        ("KUBE_FEATURE_TestAlpha", "T", {"TestAlpha": True}),
        ("KUBE_FEATURE_TestBeta", "0", {"TestBeta": False}),
        ("KUBE_FEATURE_TestAlpha", "yes", {}),
        ("KUBE_FEATURE_TestAlpha", "", {}),
        ("KUBE_FEATURE_TestLockedOn", "false", {}),
        ("KUBE_FEATURE_TestLockedOff", "true", {}),
        ("KUBE_FEATURE_TestLockedOn", "true", {}),
    ],
)
def test_environment(gates, monkeypatch, variable, value, changed):
    """Go: TestEnvVarFeatureGates."""
    monkeypatch.setenv(variable, value)
    assert states(gates) == {**DEFAULTS, **changed}


def test_bad_values_are_logged(gates, monkeypatch, caplog):
    monkeypatch.setenv("KUBE_FEATURE_TestAlpha", "yes")
    monkeypatch.setenv("KUBE_FEATURE_TestLockedOn", "false")
    states(gates)
    assert caplog.messages == [
        '"Could not set feature gate" err="strconv.ParseBool: parsing \\"yes\\": invalid syntax" '
        'logger="UnhandledError" feature="TestAlpha" desiredState="yes"',
        '"Could not set feature gate, feature is locked" logger="UnhandledError" feature="TestLockedOn" '
        'desiredState="false" lockedState=true',
    ]


def test_the_environment_is_read_once(gates, monkeypatch):
    """Go: TestHasAlreadyReadEnvVar."""
    assert not gates._has_already_read_env_var()
    gates.set("TestBeta", False)
    gates.enabled("TestBeta")
    assert gates._has_already_read_env_var()
    monkeypatch.setenv("KUBE_FEATURE_TestAlpha", "true")
    assert not gates.enabled("TestAlpha")


def test_set_beats_the_environment(gates, monkeypatch):
    monkeypatch.setenv("KUBE_FEATURE_TestAlpha", "true")
    gates.set("TestAlpha", False)
    assert states(gates) == DEFAULTS


def test_unknown_and_locked_features(gates):
    """Go: TestEnvVarFeatureGatesEnabledPanic, TestEnvVarFeatureGatesSetNegative."""
    with pytest.raises(LookupError, match='feature "Nope" is not registered'):
        gates.enabled("Nope")
    with pytest.raises(ValueError, match='feature "Nope" is not registered'):
        gates.set("Nope", True)
    with pytest.raises(ValueError, match='cannot set feature gate "TestLockedOn" to false, feature is locked to true'):
        gates.set("TestLockedOn", False)
    gates.set("TestLockedOn", True)
    gates.set_for_testing("TestLockedOn", False)
    assert not gates.enabled("TestLockedOn")


def test_the_gates_of_v0_36():
    """Go: TestUnversionedFeatureGates."""
    latest = features_module._unversioned_feature_gates(known_features._default_versioned_feature_gates)
    assert {name: spec.default for name, spec in latest.items()} == {
        "AtomicFIFO": True,
        "ClientsAllowCARotation": True,
        "ClientsAllowCBOR": False,
        "ClientsAllowTLSCacheGC": True,
        "ClientsPreferCBOR": False,
        "InOrderInformers": True,
        "InOrderInformersBatchProcess": True,
        "InformerResourceVersion": True,
        "UnlockWhileProcessingFIFO": True,
        "WatchListClient": True,
    }
    assert all(spec.version is None for spec in latest.values())
    assert features.WATCH_LIST_CLIENT is Feature.WATCH_LIST_CLIENT


def test_registering_with_a_program():
    """Go: TestAddFeaturesToExistingFeatureGates, TestAddVersionedFeaturesToExistingFeatureGates."""
    class Registry:
        def add(self, gates):
            self.added = gates

        def add_versioned(self, gates):
            self.added_versioned = gates

    registry = Registry()
    features.add_features_to_existing_feature_gates(registry)
    features.add_versioned_features_to_existing_feature_gates(registry)
    assert registry.added[features.ATOMIC_FIFO] == FeatureSpec(default=True, pre_release=BETA)
    assert [spec.version for spec in registry.added_versioned[features.WATCH_LIST_CLIENT]] == [(1, 30), (1, 35)]


@pytest.fixture
def replaceable():
    """Restore the process's gates after the test."""
    before = features.feature_gates()
    yield
    features.replace_feature_gates(before)


@pytest.mark.parametrize("used", [True, False])
def test_replacing_gates_warns_only_when_they_were_used(replaceable, caplog, gates, used):
    """Go: TestReplaceFeatureGatesWithWarningIndicator, TestDriveInitDefaultFeatureGates."""
    class Own:
        def enabled(self, key):
            return True

    features.replace_feature_gates(gates)
    caplog.clear()
    if used:
        features.feature_gates().enabled("TestAlpha")
    own = Own()
    features.replace_feature_gates(own)
    assert features.feature_gates() is own
    assert ("already been used" in caplog.text) is used


def test_set_feature_during_test():
    """Go: TestSetFeatureGatesDuringTest, TestOverridesForSetFeatureGatesDuringTest."""
    before = features.feature_gates().enabled(features.IN_ORDER_INFORMERS)
    with set_feature_during_test(features.IN_ORDER_INFORMERS, not before):
        assert features.feature_gates().enabled(features.IN_ORDER_INFORMERS) is not before
        second = set_feature_during_test(features.IN_ORDER_INFORMERS, before)
        with pytest.raises(RuntimeError, match="currently overridden"), second:
            pass
    assert features.feature_gates().enabled(features.IN_ORDER_INFORMERS) is before


def test_set_feature_during_test_needs_settable_gates(replaceable):
    """Go: TestSetFeatureGatesDuringTestPanics."""
    features.replace_feature_gates(object())
    override = set_feature_during_test(features.ATOMIC_FIFO, True)
    with pytest.raises(TypeError, match="has no method set_for_testing"), override:
        pass
