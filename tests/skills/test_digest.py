"""A skill's digest: the same for the same files, another for any other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.skill_folders import MakeSkill
from wardian.errors import SkillError
from wardian.skills import pack, unpack
from wardian.skills.digest import skill_digest

FILES: dict[str, str | bytes] = {"scripts/b.sh": "#!/bin/sh\n", "a.txt": "a", "data.bin": b"\xff"}


def test_order_times_and_owners_rights_do_not_matter(make_skill: MakeSkill, tmp_path: Path) -> None:
    one = make_skill(files=FILES, under=tmp_path / "one")
    two = make_skill(files=dict(reversed(FILES.items())), under=tmp_path / "two")
    (two / "a.txt").chmod(0o600)
    os.utime(two / "a.txt", (1, 1))
    assert skill_digest(one) == skill_digest(two)


def test_a_package_has_the_digest_of_its_folder(make_skill: MakeSkill, tmp_path: Path) -> None:
    folder = make_skill(files={**FILES, "evals/case.json": "{}", "__pycache__/x.pyc": b"junk"})
    (folder / "scripts/b.sh").chmod(0o755)
    pack(folder, tmp_path / "x.skill")
    (tmp_path / "out").mkdir()
    assert skill_digest(unpack(tmp_path / "x.skill", tmp_path / "out")) == skill_digest(folder)


@pytest.mark.parametrize("change", ["content", "name", "executable", "new", "gone", "link"])
def test_any_other_file_makes_another_digest(make_skill: MakeSkill, change: str) -> None:
    folder = make_skill(files=FILES)
    before = skill_digest(folder)
    target = folder / "a.txt"
    if change == "content":
        target.write_text("b")
    elif change == "name":
        target.rename(folder / "b.txt")
    elif change == "executable":
        target.chmod(0o755)
    elif change == "new":
        (folder / "new").write_text("")
    elif change == "gone":
        target.unlink()
    else:
        target.unlink()
        target.symlink_to("a")
    assert skill_digest(folder) != before


def test_names_and_contents_can_not_be_shifted_into_each_other(
    make_skill: MakeSkill, tmp_path: Path
) -> None:
    one = make_skill(files={"ab": "c", "d": ""}, under=tmp_path / "one")
    two = make_skill(files={"a": "bc", "d": ""}, under=tmp_path / "two")
    assert skill_digest(one) != skill_digest(two)


def test_too_deep_to_be_walked_is_an_error(make_skill: MakeSkill) -> None:
    folder = make_skill(files={"/".join(["d"] * 40) + "/file": "x"})
    with pytest.raises(SkillError, match="too many files"):
        skill_digest(folder)
