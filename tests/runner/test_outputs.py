"""What a run wrote is kept without believing any of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from wardian.errors import SandboxError, UsageError
from wardian.runner.keeping import check_target, keep
from wardian.runner.outputs import stays_inside, written


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_files_and_folders_arrive_as_they_were(root: Path, tmp_path: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/c.txt").write_bytes(b"x" * 3_000_000)
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    kept = keep(str(root), str(tmp_path / "out"))
    assert [one.path for one in kept.files] == ["a/b/c.txt", "run.sh"]
    assert (tmp_path / "out/a/b/c.txt").read_bytes() == b"x" * 3_000_000
    assert os.access(tmp_path / "out/run.sh", os.X_OK)
    assert sorted(os.listdir(tmp_path)) == ["out", "work"]


def test_links_that_lead_out_pipes_and_sockets_are_left_out(root: Path, tmp_path: Path) -> None:
    (root / "real").write_text("here")
    for name, target in {
        "absolute": "/etc/passwd", "up": "../secret", "sneaky": "real/../../secret", "good": "real",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")
    (tmp_path / "secret").write_text("secret")
    kept = keep(str(root), str(tmp_path / "out"))
    assert sorted(path for path, _ in kept.left_out) == ["absolute", "pipe", "sneaky", "up"]
    assert sorted(os.listdir(tmp_path / "out")) == ["good", "real"]
    assert (tmp_path / "out/good").read_text() == "here"


@pytest.mark.parametrize(
    ("path", "target", "inside"),
    [
        ("a", "b", True),
        ("d/a", "../b", True),
        ("d/a", "../../b", False),
        ("a", "..", False),
        ("a", "/b", False),
        ("d/a", "x/../..", False),
        ("d/a", "./b/c", True),
        ("d/a", "", False),
    ],
)
def test_a_link_may_climb_to_the_top_and_then_only_descend(
    path: str, target: str, inside: bool
) -> None:
    assert stays_inside(path, target) is inside


def test_setuid_bits_and_closed_files_do_not_matter(root: Path, tmp_path: Path) -> None:
    (root / "tool").write_text("x")
    (root / "tool").chmod(0o6755)
    (root / "closed").mkdir()
    (root / "closed/file").write_text("y")
    (root / "closed/file").chmod(0)
    (root / "closed").chmod(0)
    keep(str(root), str(tmp_path / "out"))
    assert stat.S_IMODE((tmp_path / "out/tool").stat().st_mode) & 0o7000 == 0
    assert (tmp_path / "out/closed/file").read_text() == "y"


def test_holes_stay_holes(root: Path, tmp_path: Path) -> None:
    with open(root / "sparse", "wb") as file:
        file.seek(1 << 30)
        file.write(b"end")
    keep(str(root), str(tmp_path / "out"))
    status = (tmp_path / "out/sparse").stat()
    assert status.st_size == (1 << 30) + 3
    assert status.st_blocks * 512 < 1 << 20


def test_a_directory_that_holds_something_is_refused_unless_forced(
    root: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert check_target(str(out), force=False).path == str(out)
    (out / "mine").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        check_target(str(out), force=False)
    (root / "new").write_text("new")
    keep(str(root), check_target(str(out), force=True))
    assert sorted(os.listdir(out)) == ["mine", "new"]


def test_a_link_in_the_target_is_not_written_through(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "d").symlink_to(tmp_path / "elsewhere")
    (root / "d").mkdir()
    (root / "d/file").write_text("x")
    with pytest.raises(SandboxError):
        keep(str(root), str(out))
    assert os.listdir(tmp_path / "elsewhere") == []


def test_nothing_is_left_when_it_fails(root: Path, tmp_path: Path) -> None:
    (root / "file").write_text("x")
    parent = tmp_path / "parent"
    parent.mkdir()
    (parent / "out").write_text("in the way")
    with pytest.raises(SandboxError):
        keep(str(root), str(parent / "out"))
    assert os.listdir(parent) == ["out"]


def test_a_deep_tree_is_bounded(root: Path) -> None:
    here = os.open(root, os.O_RDONLY)
    for _ in range(400):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert len(written(str(root))) <= 260
