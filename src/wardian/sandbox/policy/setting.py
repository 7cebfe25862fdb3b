"""Limits as a caller sets them: numbers, or text such as ``512M`` and ``30s``; anything else is
refused there and then. Pure."""

from __future__ import annotations

from wardian.errors import UsageError
from wardian.sandbox.policy.policy import LIMIT_FIELDS, Limits
from wardian.sandbox.policy.units import (
    MOST_BYTES,
    MOST_COUNT,
    MOST_SECONDS,
    parse_count,
    parse_duration,
    parse_size,
)

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_EXAMPLES = {"s": '30, 0.5, "30s", "10m"', "bytes": '65536, "512M", "2G"', "": '64, "512"'}


def limits_set(limits: Limits, given: Mapping[str, Any]) -> Limits:
    """The limits with those that were given, by their option's name or by their field's. Raises
    UsageError for an unknown name, one given twice, and a value that is no limit."""
    found: dict[str, float | None] = {}
    for name, value in given.items():
        field = LIMIT_FIELDS.get(name, name)
        if field not in Limits._fields:
            hint = "limits: " + ", ".join(LIMIT_FIELDS)
            raise UsageError(f"there is no limit {name!r}", hint=hint)
        if field in found:
            raise UsageError(f"the limit {_by_field(field)!r} is given twice")
        found[field] = limit_value(field, value, name)
    return limits._replace(**found)  # type: ignore[arg-type]


def check_each_limit(limits: Limits) -> None:
    """Raises UsageError for what is no limit."""
    for field, value in zip(Limits._fields, limits, strict=True):
        if isinstance(value, str):
            raise UsageError(
                f"{field} is a number here, not {value!r}",
                hint=f"policy.with_limits({_by_field(field)}={value!r}) takes text",
            )
        limit_value(field, value, field)


def limit_value(field: str, value: object, name: str) -> float | None:
    """Seconds, bytes or a count, or None for no limit. ``field`` ends with the unit. Raises
    UsageError."""
    kind = "s" if field.endswith("_s") else "bytes" if field.endswith("_bytes") else ""
    if value is None:
        return None
    if isinstance(value, str):
        if kind == "s" and value.rstrip().endswith("M"):  # as an option it is minutes
            raise UsageError(f"{name}: {value!r} looks like a size", hint='write "10m" for minutes')
        parse = {"s": parse_duration, "bytes": parse_size, "": parse_count}[kind]
        try:
            return parse(value)
        except ValueError as error:
            raise UsageError(f"{name}: {error}") from None
    hint = f"write {_EXAMPLES[kind]}, or None for no limit"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"{name}: {value!r} is not a limit", hint=hint)
    most = {"s": MOST_SECONDS, "bytes": MOST_BYTES, "": MOST_COUNT}[kind]
    if not 0 < value <= most:  # false for NaN too
        raise UsageError(f"{name} must be above 0 and at most {most:,}, not {value!r}", hint=hint)
    if kind == "s":
        return value
    if value != int(value):
        raise UsageError(f"{name} must be a whole number, not {value!r}", hint=hint)
    return int(value)


def _by_field(field: str) -> str:
    return next(name for name, its in LIMIT_FIELDS.items() if its == field)
