"""What reaches a terminal can't steer it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian.text import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("größe 技能 🚀", "größe 技能 🚀"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("a\u200bb", "a\\u200bb"),
        ("\U000e0041", "\\U000e0041"),
        ("\udcff", "\\udcff"),
        ("a\u00a0b", "a\u00a0b"),
    ],
)
def test_what_steers_is_escaped_and_the_rest_stays(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_no_text_leaves_a_line_break_or_a_control_character(text: str) -> None:
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert all(character.isprintable() or character.isspace() for character in shown)
    shown.encode("utf-8")
