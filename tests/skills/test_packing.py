"""Packing: the same bytes each time, and back again what went in."""

from __future__ import annotations

import os
import stat
import tempfile
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.skill_folders import MakeSkill
from wardian.errors import SkillError
from wardian.skills import check, load_skill, pack, unpack
from wardian.skills.archive.names import Names, checked
from wardian.skills.reading import JUNK_FOLDERS, is_junk

from .archives import MANIFEST


def test_a_pack_is_the_same_to_the_byte(make_skill: MakeSkill, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"scripts/b.sh": "#!/bin/sh\n", "a.txt": "a", "z/y.txt": "y"}
    one = make_skill(files=files, under=tmp_path / "one")
    two = make_skill(files=dict(reversed(files.items())), under=tmp_path / "two")
    (one / "scripts/b.sh").chmod(0o755)
    (two / "scripts/b.sh").chmod(0o700)
    (two / "a.txt").chmod(0o600)
    os.utime(two / "a.txt", (1, 1))
    first = pack(one, tmp_path / "1.skill")
    second = pack(two, tmp_path / "2.skill")
    assert first.path.read_bytes() == second.path.read_bytes()
    assert first.sha256 == second.sha256


def test_members_have_one_top_folder_plain_modes_and_one_date(
    make_skill: MakeSkill, tmp_path: Path
) -> None:
    folder = make_skill(files={"scripts/b.sh": "#!/bin/sh\n"})
    (folder / "scripts/b.sh").chmod(0o4755)
    with zipfile.ZipFile(pack(folder, tmp_path / "x.skill").path) as archive:
        found = [(i.filename, i.external_attr >> 16, i.date_time) for i in archive.infolist()]
    date = (1980, 1, 1, 0, 0, 0)
    assert found == [
        ("my-skill/SKILL.md", stat.S_IFREG | 0o644, date),
        ("my-skill/scripts/b.sh", stat.S_IFREG | 0o755, date),
    ]


def test_junk_is_left_out_and_told(make_skill: MakeSkill, tmp_path: Path) -> None:
    folder = make_skill(
        files={
            "scripts/__pycache__/a.pyc": "", "node_modules/x/i.js": "", "a.pyc": "",
            ".DS_Store": "", "evals/evals.json": "{}", ".git/HEAD": "", "deep/evals/keep.txt": "",
        }
    )  # fmt: skip
    packed = pack(folder, tmp_path / "x.skill")
    assert packed.files == ("SKILL.md", "deep/evals/keep.txt")
    assert packed.left_out == (
        ".DS_Store", ".git/", "a.pyc", "evals/", "node_modules/", "scripts/__pycache__/",
    )  # fmt: skip


def test_the_pack_does_not_hold_itself(
    make_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_skill())
    first = pack(Path()).path.read_bytes()
    assert pack(Path()).files == ("SKILL.md",)
    assert Path("my-skill.skill").read_bytes() == first


def test_what_nobody_could_unpack_is_not_packed(make_skill: MakeSkill, tmp_path: Path) -> None:
    output = tmp_path / "x.skill"
    for number, (name, reason) in enumerate(
        {"a\\b": "backslash", "a\nb": "control", "a.": "ends with", "nul": "device"}.items()
    ):
        folder = make_skill(under=tmp_path / str(number), files={name: "x"})
        with pytest.raises(SkillError, match=reason):
            pack(folder, output)
    folder = make_skill(under=tmp_path / "pair", files={"a": "x", "A": "y"})
    with pytest.raises(SkillError, match="case or accents"):
        pack(folder, output)
    folder = make_skill(under=tmp_path / "link")
    (folder / "l").symlink_to("SKILL.md")
    with pytest.raises(SkillError, match="symbolic link"):
        pack(folder, output)
    (folder / "l").unlink()
    os.mkfifo(folder / "p")
    with pytest.raises(SkillError, match="neither a file"):
        pack(folder, output)
    assert not output.exists()
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".wardian")] == []


def test_a_skill_with_errors_is_not_packed(make_skill: MakeSkill, tmp_path: Path) -> None:
    folder = make_skill(fields="version: 1\n")
    with pytest.raises(SkillError, match="WS201"):
        pack(folder, tmp_path / "x.skill")
    assert not (tmp_path / "x.skill").exists()


def test_an_older_pack_survives_a_failure(make_skill: MakeSkill, tmp_path: Path) -> None:
    folder = make_skill()
    output = pack(folder, tmp_path / "x.skill").path
    before = output.read_bytes()
    (folder / "unreadable\x01").touch()
    with pytest.raises(SkillError):
        pack(folder, output)
    assert output.read_bytes() == before


NAME = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12
)
TREE = st.dictionaries(
    st.lists(NAME, min_size=1, max_size=4).map("/".join),
    st.tuples(st.binary(max_size=2000), st.booleans()),
    max_size=8,
)


def placeable(paths: list[str]) -> bool:
    """Whether an archive may hold these names, and a packer would keep them."""
    names = Names()
    try:
        for path in ["SKILL.md", *paths]:
            if path.count("/") != len(checked(f"my-skill/{path}")) - 2:
                return False
            names.add(checked(f"my-skill/{path}"), folder=False)
    except SkillError:
        return False
    parts = [part for path in paths for part in path.split("/")]
    return not any(part in JUNK_FOLDERS or is_junk(part) for part in parts)


@given(TREE)
@settings(max_examples=150, deadline=None)
def test_what_was_packed_comes_back(tree: dict[str, tuple[bytes, bool]]) -> None:
    assume(placeable(list(tree)))
    assume(not any(path.startswith("evals/") for path in tree))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "my-skill"
        folder.mkdir()
        (folder / "SKILL.md").write_bytes(MANIFEST)
        for path, (content, executable) in tree.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(0o755 if executable else 0o644)
        packed = pack(folder, Path(place) / "x.skill")
        back = unpack(packed.path, Path(place) / "back")
        found = {
            str(path.relative_to(back)): (path.read_bytes(), bool(path.stat().st_mode & 0o100))
            for path in back.rglob("*")
            if path.is_file()
        }
        assert found == {"SKILL.md": (MANIFEST, False), **tree}
        assert pack(back, Path(place) / "again.skill").sha256 == packed.sha256


@given(st.text(max_size=40))
def test_a_name_that_passes_stays_below_its_folder(name: str) -> None:
    try:
        parts = checked(name)
    except SkillError:
        return
    assert ".." not in parts
    joined = os.path.normpath(os.path.join("/root/of/all", *parts))
    assert joined == "/root/of/all" or joined.startswith("/root/of/all/")
    assert "\0" not in joined


def test_accents_composed_and_not_are_one_name() -> None:
    names = Names()
    names.add(("s", unicodedata.normalize("NFC", "é")), folder=False)
    with pytest.raises(SkillError):
        names.add(("s", unicodedata.normalize("NFD", "é")), folder=False)


def test_a_packed_skill_checks_and_loads_like_its_folder(
    make_skill: MakeSkill, tmp_path: Path
) -> None:
    folder = make_skill(files={"scripts/a.py": "import json\n"})
    packed = pack(folder, tmp_path / "x.skill").path
    assert check(packed) == check(folder) == []
    assert load_skill(packed).scripts == load_skill(folder).scripts
