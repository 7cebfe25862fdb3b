"""Masking: no value of a variable gets through, and nothing else is changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian.observe.masking import SHORTEST, Mask


@given(
    st.dictionaries(st.sampled_from(["A", "B", "C"]), st.text("abxyz", min_size=SHORTEST)),
    st.lists(st.one_of(st.text("abxyz{}$"), st.sampled_from(["A", "B", "C"]))),
)
def test_no_value_is_left(variables: dict[str, str], pieces: list[str]) -> None:
    printed = "".join(variables.get(piece, piece) for piece in pieces)
    masked = Mask(variables).text(printed)
    # Putting a name in place of a value could only spell a value if names were values.
    assert not any(value in masked for value in variables.values())


@pytest.mark.parametrize("value", ["", "1", "yes", "/tmp", "12345"])
def test_a_value_that_is_everywhere_is_no_secret(value: str) -> None:
    assert not Mask({"A": value})
    assert Mask({"A": value}).text("yes 1 /tmp 12345") == "yes 1 /tmp 12345"


def test_a_longer_value_is_masked_as_a_whole() -> None:
    mask = Mask({"SHORT": "abcdef", "LONG": "xabcdefx"})
    assert mask.text("1 xabcdefx 2 abcdef 3") == "1 ${LONG} 2 ${SHORT} 3"


def test_bytes_that_are_no_text_are_masked_too() -> None:
    mask = Mask({"A": "\udcff\udcfe\udcfdxyz"})
    assert mask.data(b"[\xff\xfe\xfdxyz]") == b"[${A}]"


def test_the_beginning_of_a_value_at_a_cut_is_left_out() -> None:
    mask = Mask({"A": "secret-value"})
    assert mask.data(b"x secret-v", cut=True) == b"x "
    assert mask.data(b"x secret-v") == b"x secret-v"
    assert mask.data(b"x secret-value", cut=True) == b"x ${A}"
    assert mask.data(b"x y", cut=True) == b"x y"


def test_a_document_keeps_its_keys_and_our_own_words() -> None:
    mask = Mask({"A": "exited", "B": "command"})
    document = {"backend": "exited", "command": ["command", 3, None], "detail": {"x": "exited!"}}
    assert mask.document(document) == {
        "backend": "exited",
        "command": ["${B}", 3, None],
        "detail": {"x": "${A}!"},
    }
