"""Option objects become query parameters."""

from __future__ import annotations

from clientgo.apimachinery.apis.meta import v1
from clientgo.apimachinery.conversion import queryparams


def test_set_fields_are_parameters_and_zero_values_are_not() -> None:
    options = v1.ListOptions(label_selector="a=b", watch=True, limit=0, timeout_seconds=0)

    assert queryparams.convert(options) == {"labelSelector": ["a=b"], "watch": ["true"], "timeoutSeconds": ["0"]}


def test_lists_are_parameters_of_the_same_name() -> None:
    options = v1.PatchOptions(dry_run=["All", "None"], field_manager="me", force=False)

    assert queryparams.convert(options) == {"dryRun": ["All", "None"], "fieldManager": ["me"], "force": ["false"]}


def test_structs_and_no_object_are_no_parameters() -> None:
    options = v1.DeleteOptions(preconditions=v1.Preconditions(uid="u"), grace_period_seconds=5)

    assert queryparams.convert(options) == {"gracePeriodSeconds": ["5"]}
    assert queryparams.convert(None) == {}
