"""Field errors and the paths they name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clientgo.apimachinery.util.validation import field

PATH = field.new_path("f")


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: field.invalid(PATH, "v", "d"), field.ErrorType.INVALID, 'f: Invalid value: "v": d'),
        (
            lambda: field.not_supported(PATH, "v", ["a"]),
            field.ErrorType.NOT_SUPPORTED,
            'f: Unsupported value: "v": supported values: "a"',
        ),
        (lambda: field.duplicate(PATH, "v"), field.ErrorType.DUPLICATE, 'f: Duplicate value: "v"'),
        (lambda: field.not_found(PATH, "v"), field.ErrorType.NOT_FOUND, 'f: Not found: "v"'),
        (lambda: field.required(PATH, "d"), field.ErrorType.REQUIRED, "f: Required value: d"),
        (lambda: field.required(PATH, ""), field.ErrorType.REQUIRED, "f: Required value"),
        (lambda: field.forbidden(PATH, "d"), field.ErrorType.FORBIDDEN, "f: Forbidden: d"),
        (lambda: field.internal_error(PATH, ValueError("e")), field.ErrorType.INTERNAL, "f: Internal error: e"),
        (lambda: field.too_long(PATH, "v", 1), field.ErrorType.TOO_LONG, "f: Too long: may not be more than 1 byte"),
        (
            lambda: field.too_long_characters(PATH, "väl", 2),
            field.ErrorType.TOO_LONG,
            "f: Too long: may not be more than 2 characters",
        ),
        (
            lambda: field.too_long_max_length(PATH, "v", 2),
            field.ErrorType.TOO_LONG,
            "f: Too long: may not be more than 2 bytes",
        ),
        (
            lambda: field.too_short(PATH, "v", 2),
            field.ErrorType.TOO_SHORT,
            "f: Too short: must be at least 2 characters",
        ),
        (lambda: field.too_few(PATH, 0, 1), field.ErrorType.TOO_FEW, "f: Too few: 0: must have at least 1 item"),
        (lambda: field.too_many(PATH, 3, 2), field.ErrorType.TOO_MANY, "f: Too many: 3: must have at most 2 items"),
        (lambda: field.type_invalid(PATH, 1, "d"), field.ErrorType.TYPE_INVALID, "f: Invalid value: 1: d"),
        (lambda: field.invalid(PATH, None, "d"), field.ErrorType.INVALID, "f: Invalid value: null: d"),
        (lambda: field.invalid(PATH, 1.5, "d"), field.ErrorType.INVALID, "f: Invalid value: 1.5: d"),
        (lambda: field.invalid(PATH, True, "d"), field.ErrorType.INVALID, "f: Invalid value: true: d"),
    ],
)
def test_an_error_names_field_kind_value_and_reason(
    make: Callable[[], field.Error], kind: field.ErrorType, text: str
) -> None:
    """Go: TestMakeFuncs, TestErrorFormatting."""
    err = make()
    assert err.type == kind and str(err) == text and text.endswith(err.error_body())


def test_a_list_of_errors_shows_each_once() -> None:
    """Go: TestToAggregate."""
    assert field.ErrorList().to_aggregate() is None
    one, other = field.required(PATH, ""), field.invalid(PATH, 1, "x")
    aggregate = field.ErrorList([one, other, field.required(PATH, "")]).to_aggregate()
    assert aggregate is not None and len(aggregate.errors()) == 2
    assert str(aggregate) == "[f: Required value, f: Invalid value: 1: x]"


def test_errors_are_filtered_by_kind() -> None:
    """Go: TestErrListFilter."""
    errors = field.ErrorList([field.invalid(PATH, "", ""), field.required(PATH, ""), field.duplicate(PATH, "")])
    of_kind = [field.new_error_type_matcher(kind) for kind in (field.ErrorType.INVALID, field.ErrorType.DUPLICATE)]
    assert list(errors.filter(*of_kind)) == [errors[1]] and list(errors.filter()) == list(errors)


def test_an_error_remembers_the_rule_it_comes_from() -> None:
    """Go: TestErrorOrigin, TestErrorListOrigin."""
    err = field.invalid(PATH, "v", "d").with_origin("format=x")
    assert err.origin == "format=x"
    errors = field.ErrorList([err, field.required(PATH, "")]).with_origin("later")
    assert [each.origin for each in errors] == ["later"] * 2


def test_a_path_is_written_step_by_step() -> None:
    """Go: TestPath, TestPathMultiArg."""
    path = field.new_path("a", "b").child("c").index(1).key("k").child("d", "e")
    assert str(path) == "a.b.c[1][k].d.e" and str(path.root()) == "a"
    assert str(field.new_path("").index(0)) == "[][0]"
    base = field.new_path("a")
    assert (str(base.child("b")), str(base.child("c")), str(base)) == ("a.b", "a.c", "a")


def test_a_prefix_comes_before_each_detail() -> None:
    found = field.ErrorList([field.invalid(PATH, "v", "d"), field.forbidden(PATH, "e")])
    assert found.prefix_detail("p: ") is found
    assert [str(err) for err in found] == ['f: Invalid value: "v": p: d', "f: Forbidden: p: e"]
