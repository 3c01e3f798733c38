"""The parser of shard selectors and the reader of certificate requests: limits and texts. No server runs."""

from __future__ import annotations

import base64

import pytest

from clientgo.testing.apiserver.kinds import certificates, shard_selector

UID, WHOLE = "object.metadata.uid", "0x10000000000000000"
ZERO, HALF, LAST = "0x" + "0" * 16, "0x8" + "0" * 15, "0x" + "f" * 16


def shard(start: str = ZERO, end: str = HALF, field: str = UID) -> str:
    return f"shardRange({field}, '{start}', '{end}')"


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        (shard(), [(UID, ZERO, HALF)]),
        (f"  {shard()}\n", [(UID, ZERO, HALF)]),
        (shard(HALF, WHOLE), [(UID, HALF, WHOLE)]),
        (shard(field="object.metadata.namespace"), [("object.metadata.namespace", ZERO, HALF)]),
        (f"{shard()} || {shard(HALF, WHOLE)}", [(UID, ZERO, HALF), (UID, HALF, WHOLE)]),
        (f"{shard(end=HALF)} || ({shard(HALF, LAST)} || {shard(LAST, WHOLE)})",
         [(UID, ZERO, HALF), (UID, HALF, LAST), (UID, LAST, WHOLE)]),
    ],
)  # fmt: skip
def test_ranges_are_read(text: str, ranges: list[tuple[str, str, str]]) -> None:
    found = shard_selector.parse(text).requirements()

    assert [(each.key, each.start, each.end) for each in found] == ranges


START, END = "hexStart", "hexEnd"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty shard selector is not allowed; omit the parameter for unfiltered lists"),
        (" ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"),
        ("shardRange(", "CEL parse error: "),
        ("a", "unexpected expression kind 3; expected shardRange() call or || operator"),
        ("a.b", "unexpected expression kind 7; expected shardRange() call or || operator"),
        ("'a'", "unexpected expression kind 5; expected shardRange() call or || operator"),
        ("[1]", "unexpected expression kind 4; expected shardRange() call or || operator"),
        ("{1: 2}", "unexpected expression kind 6; expected shardRange() call or || operator"),
        (f"{shard()} || a", "unexpected expression kind 3; expected shardRange() call or || operator"),
        (f"{shard()} && {shard()}", 'unsupported function "_&&_"; only shardRange() and || are allowed'),
        ("other()", 'unsupported function "other"; only shardRange() and || are allowed'),
        (f"shardRange({UID}, '{ZERO}')", "shardRange() requires exactly 3 arguments, got 2"),
        (f"shardRange({UID}, '{ZERO}', '{HALF}', '{HALF}')", "shardRange() requires exactly 3 arguments, got 4"),
        (shard(field="object.metadata.name"),
         'unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace'),
        (shard(field="'a'"),
         "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5"),
        (shard(HALF, HALF), f"shard range start {HALF} must be less than end {HALF}"),
        (shard(HALF, ZERO), f"shard range start {HALF} must be less than end {ZERO}"),
        (f"{shard()} || {shard(field='object.metadata.namespace')}",
         'all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"'),
        (f"shardRange({UID}, a, '{HALF}')",
         f"{START} must be a string literal (e.g. '0xff'), got expression kind 3"),
        (f"shardRange({UID}, '{ZERO}', a)", f"{END} must be a string literal (e.g. '0xff'), got expression kind 3"),
        *((f"shardRange({UID}, {literal}, '{HALF}')", f"{START} must be a string literal, got {kind}")
          for literal, kind in (("1", "int64"), ("1u", "uint64"), ("1.5", "float64"), ("true", "bool"),
                                ("b'a'", "[]uint8"), ("null", "structpb.NullValue"))),
        (shard("ff"), f"""{START} must have '0x' prefix, got "ff\""""),
        (shard("0x"), f"{START}: hex value is required after '0x'"),
        (shard("0x" + "1" * 18), f'{START}: hex value too long (18 chars, max 17): "{"1" * 18}"'),
        (shard("0x" + "1" * 17), f"{START}: 17-digit hex value must be '{WHOLE}' (2^64), got \"0x{'1' * 17}\""),
        (shard("0xFF"), f'{START}: invalid hex character "F" in "0xFF"'),
        (shard("0xg"), f'{START}: invalid hex character "g" in "0xg"'),
        (shard("0x" + "1" * 15),
         f"{START} must be a 0x-prefixed 16-digit hex value, got \"0x{'1' * 15}\" (did you mean \"0x0{'1' * 15}\"?)"),
    ],
)  # fmt: skip
def test_what_is_no_selector_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError) as caught:
        shard_selector.parse(text)
    assert str(caught.value).startswith(why)


# ---- certificate requests


def der(tag: int, body: bytes, *, long: int = 0) -> bytes:
    """Return an element; with `long`, its length takes so many bytes."""
    if long:
        return bytes([tag, 0x80 | long]) + len(body).to_bytes(long, "big") + body
    return bytes([tag, len(body)]) + body


SEQUENCE, SET, INTEGER, NAME, UTF8, BMP = 0x30, 0x31, 0x02, 0x06, 0x0C, 0x1E
ORGANIZATION, COMMON = bytes([0x55, 0x04, 0x0A]), bytes([0x55, 0x04, 0x03])


def pair(kind: bytes, value: bytes, tag: int = UTF8) -> bytes:
    return der(SEQUENCE, der(NAME, kind) + der(tag, value))


def a_request(*sets: bytes, long: int = 0, after: bytes = b"") -> bytes:
    info = der(INTEGER, b"\x00") + der(SEQUENCE, b"".join(der(SET, one) for one in sets), long=long)
    return der(SEQUENCE, der(SEQUENCE, info), long=long) + after


def pem(data: bytes, kind: str = "CERTIFICATE REQUEST", before: str = "", headers: str = "") -> str:
    text = f"{before}-----BEGIN {kind}-----\n{headers}{base64.b64encode(data).decode()}\n-----END {kind}-----\n"
    return base64.b64encode(text.encode()).decode()


def text_of(request: str) -> str:
    return base64.b64decode(request).decode()


@pytest.mark.parametrize("long", [0, 1, 2, 4])
@pytest.mark.parametrize(
    ("sets", "names"),
    [
        ([], []),
        ([pair(COMMON, b"me")], []),
        ([pair(ORGANIZATION, b"a"), pair(COMMON, b"me"), pair(ORGANIZATION, b"b")], ["a", "b"]),
        ([pair(ORGANIZATION, b"a") + pair(COMMON, b"me") + pair(ORGANIZATION, b"b")], ["a", "b"]),
        ([pair(ORGANIZATION, "ä".encode())], ["ä"]),
        ([pair(ORGANIZATION, "ab".encode("utf-16-be"), BMP)], ["ab"]),
    ],
)
def test_the_organizations_of_a_subject_are_read(sets: list[bytes], names: list[str], long: int) -> None:
    assert certificates.organizations(pem(a_request(*sets, long=long))) == names


MASTERS = a_request(pair(ORGANIZATION, b"masters"))


@pytest.mark.parametrize(
    ("request_text", "names"),
    [
        (pem(MASTERS, headers="Proc-Type: 4,ENCRYPTED\n\n"), ["masters"]),
        (pem(a_request(), before=text_of(pem(MASTERS, headers="a: b\n\n"))), ["masters"]),
        (pem(a_request(), before=text_of(pem(MASTERS))), ["masters"]),
        (pem(MASTERS, before="Ünïcödé\n"), ["masters"]),
        (pem(MASTERS, before=text_of(pem(a_request())).replace("\nM", "\n*")), ["masters"]),
        (pem(MASTERS, before="x" + text_of(pem(a_request()))), ["masters"]),
        (pem(MASTERS, before=text_of(pem(a_request())).replace("END CERTIFICATE", "END")), ["masters"]),
    ],
)
def test_the_request_is_the_block_that_a_signer_written_in_go_reads(request_text: str, names: list[str]) -> None:
    assert certificates.organizations(request_text) == names


@pytest.mark.parametrize(
    ("request_text", "why"),
    [
        ("", "PEM block type must be CERTIFICATE REQUEST"),
        ("*", "PEM block type must be CERTIFICATE REQUEST"),
        (pem(a_request(), "CERTIFICATE"), "PEM block type must be CERTIFICATE REQUEST"),
        (pem(b""), "asn1: syntax error: data truncated"),
        (pem(b"\x30"), "asn1: syntax error: data truncated"),
        (pem(b"\x30\x05"), "asn1: syntax error: data truncated"),
        (pem(b"\x30\x80"), "asn1: structure error: length too large"),
        (pem(b"\x30\x85" + bytes(5)), "asn1: structure error: length too large"),
        (pem(b"\x30\x84" + bytes(4)), "asn1: syntax error: data truncated"),
        (pem(der(SET, b"")), "asn1: structure error: tags don't match"),
        (pem(a_request(after=b"x")), "asn1: syntax error: trailing data"),
    ],
)
def test_what_is_no_request_is_refused(request_text: str, why: str) -> None:
    with pytest.raises(ValueError) as caught:
        certificates.organizations(request_text)
    assert str(caught.value) == why


NONE = "must contain one or more CERTIFICATE PEM blocks"


@pytest.mark.parametrize(
    ("certificate", "why"),
    [
        (pem(der(SEQUENCE, b"x"), "CERTIFICATE"), None),
        ("", NONE),
        ("*", NONE),
        (base64.b64encode(b"text").decode(), NONE),
        (pem(der(SEQUENCE, b"x"), "CERTIFICATE", headers="a: b\n\n"), "no PEM block headers are permitted"),
        (pem(der(SEQUENCE, b"x"), "CERTIFICATE", before=text_of(pem(b"", "Ä"))),
         'only CERTIFICATE PEM blocks are allowed, found "Ä"'),
        (pem(der(SEQUENCE, b"x")), 'only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"'),
        (pem(der(SEQUENCE, b"x") + b"y", "CERTIFICATE"), "x509: trailing data"),
        (pem(der(SET, b"x"), "CERTIFICATE"), "asn1: structure error: tags don't match"),
    ],
)
def test_a_certificate_is_a_sequence_in_pem(certificate: str, why: str | None) -> None:
    if why is None:
        certificates.check_certificate(certificate)
    else:
        with pytest.raises(ValueError) as caught:
            certificates.check_certificate(certificate)
        assert str(caught.value) == why
