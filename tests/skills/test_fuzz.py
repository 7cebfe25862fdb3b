"""Damaged input of every kind: an answer or a SkillError, never another exception, never a file."""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardian.errors import SkillError
from wardian.skills import check, load_skill, unpack

from .archives import GOOD, Item, tar_of, zip_of

ROUNDS = 400


@pytest.mark.parametrize("form", ["zip", "w", "w:gz", "w:bz2", "w:xz"])
def test_a_damaged_archive_is_refused_or_holds_the_skill(tmp_path: Path, form: str) -> None:
    chance = random.Random(form)
    items = (*GOOD, Item("my-skill/assets/" + "n" * 120, os.urandom(500)))
    path = tmp_path / "x.skill"
    whole = (
        zip_of(path, *items) if form == "zip" else tar_of(path, *items, mode=form)
    ).read_bytes()
    refused = 0
    for number in range(ROUNDS):
        content = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            content[chance.randrange(len(content))] = chance.choice((0, 1, 0x2F, 0x7F, 0xFF, 0x30))
        if chance.random() < 0.2:
            at = chance.randrange(len(content))
            content[at:at] = content[: chance.randrange(600)]
        path.write_bytes(content)
        place = tmp_path / str(number)
        try:
            unpack(path, place)
        except SkillError:
            refused += 1
            assert not place.exists()
        else:
            assert os.listdir(place) == ["my-skill"]
    assert refused > ROUNDS // 4


HEAD = st.sampled_from(
    ["---\n", "\ufeff---\r\n", "name: s\n", "description: d\n", "---", "&a ", "*a", "!!x ", "[",
     "{", "- ", "? ", ": ", "|\n  ", "'", '"', "\\", "\t", "\x00", "\u2028", "#", "%YAML 1.1\n",
     "...\n", "metadata:\n  ", "allowed-tools: ", "\n"]
)  # fmt: skip


@given(st.lists(HEAD | st.text(max_size=5), max_size=25).map("".join))
@settings(max_examples=400, deadline=None)
def test_any_text_gets_a_verdict(text: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "s"
        folder.mkdir()
        (folder / "SKILL.md").write_text(text, encoding="utf-8", errors="surrogatepass")
        found = check(folder)
        try:
            load_skill(folder)
        except SkillError:
            assert any(one.severity == "error" for one in found)


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_bytes_as_a_script_get_a_verdict(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "s"
        folder.mkdir()
        (folder / "SKILL.md").write_text("---\nname: s\ndescription: d\n---\nx\n")
        for name in ("a.py", "b", "c.json", "requirements.txt", "pyproject.toml", "package.json"):
            (folder / name).write_bytes(content)
        (folder / "b").chmod(0o755)
        check(folder)
