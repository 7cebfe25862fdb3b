"""Sizes and durations as people write them: ``512M``, ``2G``, ``500ms``, ``30s``, ``1h``."""

from __future__ import annotations

_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DURATIONS = {"ms": 0.001, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
UNLIMITED = ("none", "unlimited")
MOST_BYTES = 1 << 62
MOST_SECONDS = 999_999_999  # more than thirty years
MOST_COUNT = (1 << 31) - 1


def _split(text: str) -> tuple[float | int, str]:
    bare = text.strip().lower()
    digits = len(bare.rstrip("abcdefghijklmnopqrstuvwxyz"))
    number, unit = bare[:digits].strip(), bare[digits:]
    if not number or any(c not in "0123456789." for c in number):
        raise ValueError(text)
    return (float(number) if "." in number else int(number)), unit


def parse_size(text: str) -> int | None:
    """Bytes, or None for ``none``. Raises ValueError with what was expected."""
    if text.strip().lower() in UNLIMITED:
        return None
    try:
        number, unit = _split(text)
        scale = _SIZES[unit.removesuffix("ib").removesuffix("b")]
    except (ValueError, KeyError):
        raise ValueError(f"{text!r} is not a size; write 512M, 2G, 65536 or none") from None
    size = int(number * scale)
    if not 0 < size <= MOST_BYTES:
        raise ValueError(f"{text!r} is not a possible size; write 512M, 2G, 65536 or none")
    return size


def parse_duration(text: str) -> float | None:
    """Seconds, or None for ``none``. Raises ValueError with what was expected."""
    if text.strip().lower() in UNLIMITED:
        return None
    try:
        number, unit = _split(text)
        seconds = number * _DURATIONS[unit]
    except (ValueError, KeyError):
        raise ValueError(f"{text!r} is not a duration; write 30s, 5m, 1h, 500ms or none") from None
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError(f"{text!r} is not a possible duration; write 30s, 5m, 1h, 500ms or none")
    return seconds


def parse_count(text: str) -> int | None:
    """A whole number above zero, or None for ``none``. Raises ValueError."""
    if text.strip().lower() in UNLIMITED:
        return None
    if not text.strip().isascii() or not text.strip().isdigit() or not 0 < int(text) <= MOST_COUNT:
        raise ValueError(f"{text!r} is not a number above 0; write 64, 512 or none")
    return int(text)


def format_size(size: int | None) -> str:
    """The shortest exact spelling that parse_size reads back."""
    if size is None:
        return "none"
    for unit in ("t", "g", "m", "k"):
        if size % _SIZES[unit] == 0:
            return f"{size // _SIZES[unit]}{unit.upper()}"
    return str(size)


def format_duration(seconds: float | None) -> str:
    """A spelling that parse_duration reads back."""
    if seconds is None:
        return "none"
    if seconds != int(seconds):
        return f"{seconds:.9f}".rstrip("0") + "s"
    for unit in ("h", "m") if seconds else ():
        if seconds % _DURATIONS[unit] == 0:
            return f"{int(seconds // _DURATIONS[unit])}{unit}"
    return f"{int(seconds)}s"


def human_bytes(size: float) -> str:
    """For people: ``48 MB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.0f} B"
