"""Options of requests that make no sense are found, all of them, with their place."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1 import validation
from clientgo.apimachinery.types import PatchType


@pytest.mark.parametrize(
    ("patch_type", "options", "expected"),
    [
        (PatchType.MERGE, {}, []),
        (PatchType.MERGE, {"force": False}, ["force: Forbidden: may not be specified for non-apply patch"]),
        (PatchType.APPLY, {"field_manager": "me", "force": True}, []),
        (PatchType.APPLY, {}, ["fieldManager: Required value: is required for apply patch"]),
        (PatchType.MERGE, {"dry_run": ["All"], "field_validation": "Strict"}, []),
        (PatchType.MERGE, {"dry_run": ["Some"]}, ['dryRun: Unsupported value: ["Some"]: supported values: "All"']),
        (PatchType.MERGE, {"field_manager": "x" * 128}, []),
        (PatchType.MERGE, {"field_manager": "x" * 129}, ["fieldManager: Too long: may not be more than 128 bytes"]),
    ],
)
def test_options_of_a_patch(patch_type: str, options: dict[str, object], expected: list[str]) -> None:
    """Go: TestValidPatchOptions, TestInvalidPatchOptions, TestValidDryRun, TestInvalidDryRun,
    TestValidateFieldManagerValid.
    """
    errors = validation.validate_patch_options(metav1.PatchOptions(**options), patch_type)  # type: ignore[arg-type]
    assert [str(err) for err in errors] == expected


def test_a_manager_s_name_can_be_printed() -> None:
    """Go: TestValidateFieldManagerInvalid."""
    options = metav1.PatchOptions(field_manager="a\x00b\n")
    errors = validation.validate_patch_options(options, PatchType.APPLY)
    assert ["at position 1" in str(errors[0]), "at position 3" in str(errors[1])] == [True, True]


def test_unknown_ways_to_treat_unknown_fields_are_refused() -> None:
    errors = validation.validate_patch_options(metav1.PatchOptions(field_validation="Maybe"), PatchType.MERGE)
    assert "fieldValidation: Unsupported value" in str(errors[0])
