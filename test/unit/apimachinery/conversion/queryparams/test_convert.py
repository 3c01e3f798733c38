"""Option objects become query parameters."""

from __future__ import annotations

from datetime import datetime

import pytest

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1
from clientgo.apimachinery.conversion import queryparams


def test_set_fields_are_parameters_and_zero_values_are_not() -> None:
    options = v1.ListOptions(label_selector="a=b", watch=True, limit=0, timeout_seconds=0)

    assert queryparams.convert(options) == {"labelSelector": ["a=b"], "watch": ["true"], "timeoutSeconds": ["0"]}


def test_lists_are_parameters_of_the_same_name() -> None:
    options = v1.PatchOptions(dry_run=["All", "None"], field_manager="me", force=False)

    assert queryparams.convert(options) == {"dryRun": ["All", "None"], "fieldManager": ["me"], "force": ["false"]}


def test_fields_of_structs_are_parameters_and_no_object_has_none() -> None:
    options = v1.DeleteOptions(preconditions=v1.Preconditions(uid="u"), grace_period_seconds=5)

    assert queryparams.convert(options) == {"gracePeriodSeconds": ["5"], "uid": ["u"]}
    assert queryparams.convert(None) == {}


class _Options(runtime.Struct):
    """Fields that are written always."""

    flag: bool = runtime.field("flag", "bool", default=False, omitempty=False)
    size: int = runtime.field("size", "int64", default=0, omitempty=False)
    name: str = runtime.field("name", "string", default="", omitempty=False)
    pointer: int | None = runtime.field("pointer", "*int64", default=None, omitempty=False)
    labels: dict[str, str] = runtime.field("labels", "map[string]string", default=runtime.EMPTY, omitempty=False)
    since: datetime | None = runtime.field("since", "*time", default=None, omitempty=False)


def test_zero_values_of_required_fields_are_parameters() -> None:
    """Go: TestConvert"""
    zero = {"flag": ["false"], "size": ["0"], "name": [""], "pointer": [""], "since": [""]}
    assert queryparams.convert(_Options()) == zero
    assert queryparams.convert(_Options(labels={"a": "b"}, size=7)) == {**zero, "size": ["7"]}


def test_an_invalid_time_is_an_error() -> None:
    with pytest.raises(ValueError, match='cannot parse "yesterday" as "2006"'):
        queryparams.convert(_Options.from_dict({"since": "yesterday"}))
