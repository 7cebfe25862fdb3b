"""Sizes, durations and counts as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian.sandbox.policy.units import (
    MOST_BYTES,
    format_duration,
    format_size,
    human_bytes,
    parse_count,
    parse_duration,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("65536", 65536),
        ("512M", 512 << 20),
        ("512m", 512 << 20),
        ("512MB", 512 << 20),
        ("512MiB", 512 << 20),
        (" 2 G ", 2 << 30),
        ("1.5k", 1536),
        ("1T", 1 << 40),
        ("none", None),
        ("Unlimited", None),
    ],
)
def test_a_size_is_read(text: str, size: int | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "1X", "M", "1.2.3", "1e6", "0x10", "inf", "nan", "9" * 30, "1 2", "٣"]
)
def test_what_is_no_size_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="write 512M, 2G, 65536 or none"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("30", 30), ("30s", 30), ("1.5s", 1.5), ("500ms", 0.5), ("5m", 300), ("1h", 3600)),
        *(("1d", 86400), ("none", None)),
    ],
)
def test_a_duration_is_read(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-5s", "5y", "s", "1:30", "1e3", "inf", "99999999999"])
def test_what_is_no_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="write 30s, 5m, 1h, 500ms or none"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "64k", "many", "²", "4294967296", "1_0"])
def test_what_is_no_count_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="write 64, 512 or none"):
        parse_count(text)


def test_a_count_is_read() -> None:
    assert [parse_count(text) for text in ("1", " 64 ", "none")] == [1, 64, None]


@given(st.integers(1, MOST_BYTES) | st.none())
def test_a_size_survives_being_written(size: int | None) -> None:
    assert parse_size(format_size(size)) == size


@given(
    st.floats(0.001, 1e6).map(lambda s: round(s, 6)) | st.integers(1, 10**8).map(float) | st.none()
)
def test_a_duration_survives_being_written(seconds: float | None) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


@given(st.text(max_size=12))
def test_nothing_but_a_value_error_comes_of_any_text(text: str) -> None:
    for parse in (parse_size, parse_duration, parse_count):
        try:
            value = parse(text)
        except ValueError:
            continue
        assert value is None or value > 0


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (48_100_000, "48 MB"), (5e12, "5000 GB")],
)
def test_bytes_are_shown_for_people(size: float, text: str) -> None:
    assert human_bytes(size) == text
