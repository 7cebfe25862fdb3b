"""Limits as a caller sets them: text and numbers mean the same, nonsense is refused when it is set,
not when something runs."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian import Limits, Policy, Sandbox
from wardian.errors import UsageError
from wardian.sandbox.policy.units import format_duration, format_size


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"time": "30s"}, "time_s", 30),
        ({"time_s": "10m"}, "time_s", 600),
        ({"time": 0.25}, "time_s", 0.25),
        ({"cpu": "500ms"}, "cpu_s", 0.5),
        ({"memory": "512M"}, "memory_bytes", 512 << 20),
        ({"memory_bytes": "2G"}, "memory_bytes", 2 << 30),
        ({"memory": 1e9}, "memory_bytes", 10**9),
        ({"disk": 65536}, "disk_bytes", 65536),
        ({"output": "1k"}, "output_bytes", 1024),
        ({"processes": "64"}, "processes", 64),
        ({"files": 32}, "files", 32),
        ({"time": None}, "time_s", None),
        ({"memory": "none"}, "memory_bytes", None),
    ],
)
def test_a_limit_is_set_by_number_or_text(
    given: dict[str, Any], field: str, value: float | None
) -> None:
    limits = Policy.default().with_limits(**given).limits
    assert getattr(limits, field) == value
    assert limits == Policy.default().limits._replace(**{field: value})  # type: ignore[arg-type]


NONSENSE = [-1, 0, -0.5, math.nan, math.inf, -math.inf, True, False, b"1", [1], 1 << 70, 1j]
TEXTS = ["", "-1s", "0", "nan", "inf", "1e3", "many", "5 parsecs", "30M30", "½", "١s", "512Q"]


@pytest.mark.parametrize("value", [*NONSENSE, *TEXTS, "512M"], ids=repr)
def test_nonsense_is_no_duration(value: Any) -> None:
    refused(value, "time_s", "time", "cpu")


@pytest.mark.parametrize("value", [*NONSENSE, *TEXTS, 1.5, "30s", "10h"], ids=repr)
def test_nonsense_is_no_size(value: Any) -> None:
    refused(value, "memory_bytes", "memory", "disk", "output")


@pytest.mark.parametrize("value", [*NONSENSE, *TEXTS, 1.5, "5M", "30s", 1 << 40], ids=repr)
def test_nonsense_is_no_count(value: Any) -> None:
    refused(value, "processes", "processes", "files")


def refused(value: Any, field: str, *names: str) -> None:
    policy = Policy.default()
    for name in (*names, field):
        with pytest.raises(UsageError):
            policy.with_limits(**{name: value})
    if not isinstance(value, str):
        limits = Limits(**{field: value})
        with pytest.raises(UsageError, match=field):
            policy.but(limits=limits)
        with pytest.raises(UsageError, match=field):
            Sandbox(policy._replace(limits=limits))


def test_text_in_a_limits_value_names_the_method_that_takes_it() -> None:
    limits = Limits(time_s="30s")  # type: ignore[arg-type]
    with pytest.raises(UsageError) as caught:
        Policy.default().but(limits=limits)
    assert caught.value.hint == "policy.with_limits(time='30s') takes text"


def test_a_limit_that_does_not_exist_or_comes_twice() -> None:
    with pytest.raises(UsageError, match="there is no limit 'tiem'"):
        Policy.default().with_limits(tiem=3)
    with pytest.raises(UsageError, match="given twice"):
        Policy.default().with_limits(time=3, time_s=4)


@pytest.mark.parametrize("value", [*NONSENSE, "512M", "x"], ids=repr)
def test_a_calls_own_time_limit_is_checked_before_anything_starts(
    value: Any, sandbox: Sandbox
) -> None:
    with pytest.raises(UsageError, match="timeout_s"):
        sandbox.run(["true"], timeout_s=value)


def test_a_calls_own_time_limit_is_text_too(sandbox: Sandbox) -> None:
    assert sandbox.run(["true"], timeout_s="10s").ok
    result = sandbox.run(["sleep", "5"], timeout_s="200ms")
    assert result.reason == "time limit"
    (limit,) = [one for one in result.limits if one.struck]
    assert limit.value == 0.2, "the result names the limit that held, not the policy's"


@given(st.integers(1, 1 << 62))
def test_a_size_is_read_back_as_it_is_shown(size: int) -> None:
    assert Policy().with_limits(memory=format_size(size)).limits.memory_bytes == size


@given(st.integers(1, 10**6))
def test_a_duration_is_read_back_as_it_is_shown(milliseconds: int) -> None:
    shown = format_duration(milliseconds / 1000)
    assert Policy().with_limits(time=shown).limits.time_s == pytest.approx(milliseconds / 1000)
