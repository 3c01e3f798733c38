"""Aggregated errors, error chains, network errors, int-or-string, nested fields, formatting, field errors."""

from __future__ import annotations

import http.client
from types import ModuleType
from typing import Any

import pytest
import requests
import urllib3
from invariants import check_invariants

from clientgo import context
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api.validate import content
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource
from clientgo.apimachinery.util import errors, intstr, net, validation
from clientgo.apimachinery.util import json as utiljson
from clientgo.apimachinery.util.validation import field
from clientgo.golang import strconv
from clientgo.utils import lru


def caused(err: Exception, cause: BaseException) -> Exception:
    err.__cause__ = cause
    return err


def test_an_aggregate_shows_each_message_once() -> None:
    """Go: TestEmptyAggregate, TestAggregateWithNil, TestSingularAggregate, TestPluralAggregate,
    TestDedupeAggregate, TestDedupePluralAggregate, TestFlattenAndDedupeAggregate, TestFlattenAggregate,
    TestFlatten.
    """
    nested = errors.new_aggregate([ValueError("b"), errors.new_aggregate([ValueError("c"), ValueError("a")])])
    aggregate = errors.new_aggregate([ValueError("a"), None, nested])
    assert aggregate is not None and str(aggregate) == "[a, b, c]"
    assert [str(err) for err in errors.flatten(aggregate).errors()] == ["a", "b", "c", "a"]  # type: ignore[union-attr]
    assert str(errors.new_aggregate([ValueError("a"), ValueError("a")])) == "a"
    assert errors.new_aggregate([]) is None and errors.new_aggregate([None]) is None


def test_aggregates_are_filtered_and_reduced() -> None:
    """Go: TestFilterOut, TestCreateAggregateFromMessageCountMap."""
    aggregate = errors.new_aggregate([ValueError("a"), KeyError("b")])
    left = errors.filter_out(aggregate, lambda err: isinstance(err, KeyError))
    assert isinstance(errors.reduce(left), ValueError)
    assert errors.filter_out(aggregate, lambda err: True) is None
    assert str(errors.create_aggregate_from_message_count_map({"x": 2, "y": 1})) == "[x (repeated 2 times), y]"


def test_functions_run_side_by_side_and_their_errors_are_collected() -> None:
    """Go: TestAggregateGoroutines."""

    def fail() -> None:
        raise ValueError("a")

    aggregate = errors.aggregate_goroutines(fail, lambda: None, fail)
    assert aggregate is not None and len(aggregate.errors()) == 2
    assert errors.aggregate_goroutines(lambda: None) is None


def test_errors_are_found_among_causes() -> None:
    """Go: TestAggregateWithErrorsIs, TestErrConfigurationInvalidWithErrorsIsShortCircuitsOnFirstMatch."""
    inner = apierrors.new_not_found(GroupResource("", "pods"), "p")
    outer = caused(RuntimeError("outer"), caused(ValueError("middle"), inner))
    assert errors.as_type(outer, apierrors.StatusError) is inner
    assert errors.is_error(outer, inner) and errors.is_error(outer, ValueError)
    assert not errors.is_error(outer, KeyError)
    assert apierrors.is_not_found(outer) and not apierrors.is_not_found(None)
    aggregate = errors.new_aggregate([outer])
    assert errors.is_error(aggregate, ValueError) and not apierrors.is_not_found(aggregate)
    try:
        try:
            raise inner
        except apierrors.StatusError:
            raise KeyError("happened while handling")  # noqa: B904
    except KeyError as err:
        assert not apierrors.is_not_found(err), "Go knows no such link"


def test_status_errors_of_unknown_reason_are_classified_by_code() -> None:
    err = apierrors.new_not_found(GroupResource("", "pods"), "p")
    err.err_status.reason = "NewFangled"
    assert apierrors.is_not_found(err)
    err.err_status.reason = "Conflict"
    assert not apierrors.is_not_found(err) and apierrors.is_conflict(err)


def test_errors_of_other_libraries_with_a_status_of_their_own_are_no_api_errors() -> None:
    class OtherError(Exception):
        status = 404

    assert not apierrors.is_not_found(OtherError())


def test_objects_sent_in_place_of_results_become_errors() -> None:
    status = apierrors.new_gone("g").status()
    assert apierrors.is_gone(apierrors.from_object(status))
    document = {"apiVersion": "v1", "kind": "Status", "reason": "Expired", "code": 410}
    assert apierrors.is_resource_expired(apierrors.from_object(unstructured.Unstructured(document)))
    other = apierrors.from_object(unstructured.Unstructured({"apiVersion": "v1", "kind": "Pod"}))
    assert apierrors.is_unexpected_object_error(other)


def test_an_invalid_object_names_every_broken_rule() -> None:
    path = field.new_path("spec", "containers").index(0).child("name")
    broken = field.ErrorList(
        [
            field.required(path, "give one"),
            field.not_supported(path.key("k"), "x", ["a", "b"]),
            field.too_many(None, -1, 1),
        ]
    )
    err = apierrors.new_invalid(GroupKind("", "Pod"), "p", broken)
    assert str(err) == (
        'Pod "p" is invalid: [spec.containers[0].name: Required value: give one, '
        'spec.containers[0].name[k]: Unsupported value: "x": supported values: "a", "b", '
        "<nil>: Too many: must have at most 1 item]"
    )
    details = err.status().details
    assert details is not None and details.causes[0].type == "FieldValueRequired"
    assert [str(each) for each in broken.filter(field.new_error_type_matcher(field.ErrorType.REQUIRED))] == [
        str(each) for each in broken[1:]
    ]


def test_a_too_long_list_may_report_the_excess() -> None:
    """Go: field.TooMany."""
    assert str(field.too_many(None, 0, -1)) == "<nil>: Too many: 0: has too many items"
    assert str(field.too_many(None, 3, 2)) == "<nil>: Too many: 3: must have at most 2 items"


@pytest.mark.parametrize("package", [validation, content])
@pytest.mark.parametrize(
    ("check", "name", "messages"),
    [
        ("is_dns1123_label", "a" * 63, 0),
        ("is_dns1123_label", "a" * 64, 1),
        ("is_dns1123_subdomain", "a" * 253, 0),
        ("is_dns1123_subdomain", "a" * 254, 1),
        ("is_dns1123_subdomain", "é" * 126, 1),
        ("is_dns1123_subdomain", "é" * 127, 2),
        ("is_qualified_name", "a" * 63, 0),
        ("is_qualified_name", "a" * 64, 1),
        ("is_qualified_name", "a" * 253 + "/" + "b" * 63, 0),
    ],
)
def test_names_are_measured_in_bytes(package: ModuleType, check: str, name: str, messages: int) -> None:
    assert len(getattr(package, check)(name)) == messages


def refused() -> Exception:
    inner = urllib3.exceptions.NewConnectionError(None, "failed")  # type: ignore[arg-type]
    inner.__cause__ = ConnectionRefusedError(111, "refused")
    return requests.exceptions.ConnectionError(urllib3.exceptions.MaxRetryError(None, "/", inner))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("err", "timeout", "eof", "is_refused"),
    [
        (None, False, False, False),
        (ValueError("x"), False, False, False),
        (EOFError(), False, True, False),
        (net.ErrUnexpectedEOF(), False, True, False),
        (TimeoutError(), True, False, False),
        (requests.exceptions.ReadTimeout("slow"), True, False, False),
        (urllib3.exceptions.ReadTimeoutError(None, "/", "slow"), True, False, False),  # type: ignore[arg-type]
        (ConnectionResetError(104, "connection reset by peer"), False, True, False),
        (requests.exceptions.ChunkedEncodingError("broken"), False, True, False),
        (http.client.IncompleteRead(b""), False, True, False),
        (OSError("use of closed network connection"), False, True, False),
        (refused(), False, False, True),
    ],
)
def test_network_errors_are_distinguished(
    err: Exception | None, timeout: bool, eof: bool, is_refused: bool
) -> None:
    """Go: TestIsProbableEOF, TestIsConnectionRefused, TestIsConnectionReset."""
    assert (net.is_timeout(err), net.is_probable_eof(err), net.is_connection_refused(err)) == (timeout, eof, is_refused)
    assert net.is_connection_reset(err) == isinstance(err, ConnectionResetError)


def test_what_an_error_came_from_counts_when_nothing_else_is_named_as_its_cause() -> None:
    """Go: errors are wrapped, which in Python happens by itself where one is raised while another is handled."""
    err = RuntimeError("cannot read")
    err.__context__ = ConnectionResetError(104, "connection reset by peer")
    assert net.is_probable_eof(err) and net.is_connection_reset(err)
    err.__cause__ = ValueError("no number")
    assert not net.is_probable_eof(err) and not net.is_connection_reset(err)


def test_a_request_that_was_given_up_did_not_lose_its_connection() -> None:
    """The connection's error is then the cause of the context's error, and does not count."""
    for given_up in (context.Canceled(), context.DeadlineExceeded()):
        given_up.__context__ = ConnectionResetError(104, "connection reset by peer")
        err = RuntimeError("Get: given up")
        err.__cause__ = given_up
        assert not net.is_probable_eof(err)
        assert not net.is_connection_reset(err)
        assert net.is_timeout(err) == isinstance(given_up, TimeoutError)


def test_amounts_are_numbers_or_percentages() -> None:
    scaled = intstr.get_scaled_value_from_int_or_percent
    assert (scaled(3, 10, True), scaled("25%", 10, True), scaled("25%", 10, False)) == (3, 3, 2)
    for bad in (None, "25", "x%", "%"):
        with pytest.raises(ValueError):
            scaled(bad, 10, True)
    assert (intstr.parse("80"), intstr.parse("http"), intstr.parse("99999999999")) == (80, "http", "99999999999")
    assert (intstr.int_value("80"), intstr.int_value("x"), intstr.value_or_default(None, 1)) == (80, 0, 1)


DOCUMENT: dict[str, Any] = {"a": {"s": "x", "i": 1, "f": 1.5, "b": True, "l": ["x"], "m": {"k": "v"}, "n": None}}


def test_nested_fields_are_read_by_type() -> None:
    u = unstructured
    assert u.nested_string(DOCUMENT, "a", "s") == ("x", True) and u.nested_string(DOCUMENT, "a", "z") == ("", False)
    assert u.nested_int64(DOCUMENT, "a", "i") == (1, True) and u.nested_bool(DOCUMENT, "a", "b") == (True, True)
    assert u.nested_number_as_float64(DOCUMENT, "a", "i") == (1.0, True)
    assert u.nested_string_slice(DOCUMENT, "a", "l") == (["x"], True)
    assert u.nested_string_map(DOCUMENT, "a", "m") == ({"k": "v"}, True)
    assert u.nested_field_no_copy(DOCUMENT, "a", "n", "deeper") == (None, False)
    assert u.nested_null_coercing_string_map({"m": {"a": "1", "b": None}}, "m") == ({"a": "1", "b": ""}, True)
    numbers = (u.nested_int64, "b"), (u.nested_number_as_float64, "b"), (u.nested_number_as_float64, "s")
    for read, path in ((u.nested_string, "i"), *numbers, (u.nested_map, "l"), (u.nested_slice, "m")):
        with pytest.raises(TypeError, match="accessor error"):
            read(DOCUMENT, "a", path)
    with pytest.raises(TypeError, match=r"\.a\.s\.x accessor error: x is of the type string"):
        u.nested_string(DOCUMENT, "a", "s", "x")


def test_nested_fields_are_written_as_copies() -> None:
    u, document, value = unstructured, dict[str, Any](), {"k": ["v"]}
    u.set_nested_field(document, value, "a", "b")
    value["k"].append("later")
    assert document == {"a": {"b": {"k": ["v"]}}}
    with pytest.raises(TypeError, match="is not a map"):
        u.set_nested_field(document, 1, "a", "b", "k", "x")
    u.remove_nested_field(document, "a", "b")
    u.remove_nested_field(document, "a", "b")
    u.remove_nested_field(document, "no", "such", "field")
    assert document == {"a": {}}


def test_texts_are_quoted_and_numbers_read_as_go_does() -> None:
    assert strconv.quote('a"\\\n\x01ü\u2028') == '"a\\"\\\\\\n\\x01ü\\u2028"'
    assert strconv.parse_int("-0042") == -42
    for bad in ("", "1_0", " 1", "１", "9223372036854775808", "9" * 10_000):
        with pytest.raises(ValueError, match="strconv.ParseInt"):
            strconv.parse_int(bad)
    assert utiljson.marshal({"b": "<&>", "a": [1, None]}) == '{"a":[1,null],"b":"\\u003c\\u0026\\u003e"}'


def test_the_least_recently_used_is_forgotten() -> None:
    evicted: list[Any] = []
    cache = lru.new_with_eviction_func(2, lambda key, value: evicted.append(key))
    for key in "ab":
        cache.add(key, key.upper())
    assert cache.get("a") == ("A", True)
    cache.add("c", "C")
    assert evicted == ["b"] and cache.get("b") == (None, False) and cache.len() == 2
    cache.remove_oldest()
    cache.remove("c")
    cache.clear()
    assert evicted == ["b", "a", "c"] and len(cache) == 0
    check_invariants(cache)
