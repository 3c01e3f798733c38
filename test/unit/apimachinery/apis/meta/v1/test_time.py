"""Moments and lengths of time: their JSON forms, and how they compare."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from clientgo.api.coordination import v1 as coordinationv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.serializer import JSONSerializer
from clientgo.apimachinery.runtime.serializer.protobuf import ProtobufSerializer
from clientgo.apimachinery.util import yaml
from clientgo.kubernetes.scheme import SCHEME

WEST = timezone(timedelta(hours=-4))


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (metav1.date(1998, 5, 5, 1, 5, 5, 50, WEST), '"1998-05-05T05:05:05Z"'),
        (metav1.date(1998, 5, 5, 5, 5, 5, 0, UTC), '"1998-05-05T05:05:05Z"'),
        (metav1.date_micro(1998, 5, 5, 1, 5, 5, 5050, WEST), '"1998-05-05T05:05:05.000005Z"'),
        (metav1.date_micro(1998, 5, 5, 5, 5, 5, 50, UTC), '"1998-05-05T05:05:05.000000Z"'),
        (metav1.date(1, 1, 1, 0, 0, 0, 0, UTC), "null"),
        (metav1.date_micro(1, 1, 1, 0, 0, 0, 0, UTC), "null"),
    ],
)
def test_a_moment_is_written_in_utc_and_the_zero_time_as_null(moment: metav1.Time, text: str) -> None:
    """Go: TestTimeMarshalJSON, TestTimeMarshalYAML, TestTimeMarshalJSONUnmarshalYAML, TestMicroTimeMarshalJSON,
    TestMicroTimeMarshalYAML.
    """
    assert moment.marshal_json() == text
    assert yaml.unmarshal(f"t: {text}") == {"t": moment.to_unstructured()}


@pytest.mark.parametrize(
    ("cls", "text", "moment"),
    [
        (metav1.Time, "null", None),
        (metav1.Time, '"1998-05-05T05:05:05Z"', datetime(1998, 5, 5, 5, 5, 5, tzinfo=UTC)),
        (metav1.Time, '"1998-05-05T01:05:05-04:00"', datetime(1998, 5, 5, 5, 5, 5, tzinfo=UTC)),
        (metav1.MicroTime, "null", None),
        (metav1.MicroTime, '"1998-05-05T05:05:05.000001Z"', datetime(1998, 5, 5, 5, 5, 5, 1, tzinfo=UTC)),
    ],
)
def test_null_is_the_zero_time(cls: type[metav1.Time], text: str, moment: datetime | None) -> None:
    """Go: TestTimeUnmarshalJSON, TestTimeUnmarshalYAML, TestMicroTimeUnmarshalJSON, TestMicroTimeUnmarshalYAML,
    TestTimeIsZero, TestMicroTimeIsZero.
    """
    read = cls.unmarshal_json(text)
    assert read.is_zero() is (moment is None)
    assert moment is None or read.equal(moment)


EARLY = metav1.date_micro(2020, 1, 1, 0, 0, 0, 1000, UTC)
LATE = metav1.date_micro(2020, 1, 1, 0, 0, 0, 1001, UTC)


def test_no_moment_is_equal_to_none_and_before_none() -> None:
    """Go: TestTimeEqual, TestTimeBefore, TestMicroTimeEqual, TestMicroTimeEqualTime, TestMicroTimeBefore,
    TestMicroTimeBeforeTime.
    """
    same = metav1.new_time(EARLY)
    assert EARLY.equal(same) and EARLY.equal_time(same) and same.equal(EARLY)
    assert not EARLY.equal(None) and not EARLY.before(None) and not EARLY.before_time(None)
    assert not EARLY.before(EARLY) and EARLY.before(LATE) and EARLY.before_time(LATE) and not LATE.before(EARLY)
    assert not EARLY.equal(LATE) and not EARLY.equal_time(LATE), "a nanosecond is a difference"


def test_what_the_wire_leaves_out_is_gone_when_it_is_read_back() -> None:
    """Go: TestMicroTimeUnmarshalJSONAndProtoEqual, TestMicroTimeProtoUnmarshalRaw."""
    moment = metav1.unix_micro(123, 123123123)
    assert metav1.MicroTime.unmarshal_json(moment.marshal_json()).unix_nano() == 123_123_123_000
    assert metav1.unix_micro(123, 123123000).equal(metav1.MicroTime.unmarshal_json(moment.marshal_json()))
    assert moment.rfc3339_copy().unix_nano() == 123_000_000_000


def test_moments_survive_protobuf() -> None:
    """Go: TestTimeProto, TestMicroTimeProto."""
    moment = datetime(1998, 5, 5, 5, 5, 5, 123456, tzinfo=UTC)
    rounded = moment.replace(microsecond=0)
    lease = coordinationv1.Lease(
        metadata=metav1.ObjectMeta(name="a", creation_timestamp=rounded),
        spec=coordinationv1.LeaseSpec(renew_time=moment),
    )
    codec = ProtobufSerializer(SCHEME, JSONSerializer(SCHEME))
    read, _ = codec.decode(codec.encode(lease), None, coordinationv1.Lease)
    assert (read.metadata.creation_timestamp, read.spec.renew_time) == (rounded, moment)
    assert (read.metadata.deletion_timestamp, read.spec.acquire_time) == (None, None)


DURATIONS = [("5s", 5.0), ("2m0s", 120.0), ("1h0m0.003s", 3600.003), ("0s", 0.0)]


@pytest.mark.parametrize(("text", "seconds"), DURATIONS)
def test_a_duration_is_written_with_all_units_below_its_largest(text: str, seconds: float) -> None:
    """Go: TestDurationMarshalJSON, TestDurationMarshalYAML, TestDurationMarshalJSONUnmarshalYAML."""
    duration = metav1.Duration(round(seconds * 1e9))
    assert (duration.marshal_json(), duration.to_unstructured()) == (f'"{text}"', text)
    assert metav1.Duration.unmarshal_json(duration.marshal_json()) == duration


@pytest.mark.parametrize(("text", "seconds"), [*DURATIONS, ("2m", 120.0), ("1h0.003s", 3600.003)])
def test_units_of_zero_may_be_left_out(text: str, seconds: float) -> None:
    """Go: TestDurationUnmarshalJSON, TestDurationUnmarshalYAML."""
    assert metav1.Duration.unmarshal_json(f'"{yaml.unmarshal(f"d: {text}")["d"]}"').seconds() == seconds
