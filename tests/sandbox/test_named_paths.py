"""Where a named path leads, which links on the way are trusted, and what the register remembers."""

from __future__ import annotations

import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from wardian.errors import InputError, ShareError, UsageError
from wardian.sandbox.paths import own_files, shared_before
from wardian.sandbox.paths.named import (
    Link,
    ResolvedPath,
    doubt,
    open_directory,
    open_real,
    trusted_path,
    was_shared,
    way_of,
)
from wardian.sandbox.paths.own_files import Own, read_only_within, refuse_own
from wardian.sandbox.paths.shared_before import entry_name, remember, shared_above
from wardian.sandbox.paths.whole_files import open_to_write, read_decisive, write_whole
from wardian.sandbox.root import installations


@pytest.fixture(autouse=True)
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A register of this test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return tmp_path / "state/wardian/shared-for-writing"


def test_a_way_is_walked_one_name_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "l").symlink_to("a")
    (tmp_path / "a/up").symlink_to("../l/b")
    me = os.geteuid()
    assert way_of(f"{tmp_path}/a/b") == ResolvedPath(f"{tmp_path}/a/b")
    way = way_of(f"{tmp_path}//l/./up/../b")
    assert way.real == f"{tmp_path}/a/b"
    assert way.links == tuple(Link(f"{tmp_path}/{n}", me) for n in ("l", "a/up", "l"))
    assert way_of(f"{tmp_path}/l/new/er", missing_ok=True) == ResolvedPath(
        f"{tmp_path}/a/new/er", (Link(f"{tmp_path}/l", me),), "new/er"
    )
    for path, number in (("none", errno.ENOENT), ("l/none/../b", errno.ENOENT)):
        with pytest.raises(OSError, match="No such") as caught:
            way_of(f"{tmp_path}/{path}")
        assert caught.value.errno == number


def test_a_directory_that_several_threads_make_at_once_is_made_for_all(tmp_path: Path) -> None:
    def made(path: Path) -> None:
        os.close(open_directory(str(path), make=0o700))

    with ThreadPoolExecutor(4) as pool:
        for number in range(100):
            list(pool.map(made, [tmp_path / f"{number}/a/b/c"] * 4))


def test_links_in_a_circle_and_files_on_the_way_are_errors(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("y")
    (tmp_path / "y").symlink_to("x")
    (tmp_path / "f").touch()
    for path, number in (("x", errno.ELOOP), ("f/x", errno.ENOTDIR)):
        with pytest.raises(OSError, match=r"links|Not a") as caught:
            way_of(f"{tmp_path}/{path}", missing_ok=True)
        assert caught.value.errno == number
        with pytest.raises(UsageError, match="-o"):
            trusted_path(f"{tmp_path}/{path}", "-o")


@pytest.mark.parametrize(
    ("links", "word"),
    [
        ((), None),
        ((Link("/home/me/l", 1000),), None),
        ((Link("/var/run", 0),), None),
        ((Link("/home/me/l", 7),), "another user"),
        ((Link("/shared/l", 1000),), "/shared, which was shared"),
        ((Link("/shared/deep/er/l", 0),), "/shared, which was shared"),
        ((Link("/sharedness/l", 1000),), None),
        ((Link("/home/me/l", 1000), Link("/shared/l", 1000)), "/shared/l"),
    ],
)
def test_which_links_are_trusted(links: tuple[Link, ...], word: str | None) -> None:
    def shared(path: str) -> str | None:
        return "/shared" if path == "/shared" or path.startswith("/shared/") else None

    why = doubt(ResolvedPath("/real", links), (0, 1000), shared)
    assert why is None if word is None else word in str(why)


@pytest.mark.parametrize(
    ("path", "name"),
    [("/", "%2F"), ("/a/b", "%2Fa%2Fb"), ("/a%2Fb", "%2Fa%252Fb"), ("/ü\n", "%2Fü\n")],
)
def test_an_entry_is_named_like_its_path(path: str, name: str) -> None:
    assert entry_name(path) == name


def test_long_and_odd_paths_have_entries_of_their_own() -> None:
    paths = [f"/{'x' * n}/{'y' * 200}" for n in (80, 81, 250)] + [os.fsdecode(b"/\xff"), "/%FF"]
    names = [entry_name(path) for path in paths]
    assert len(set(names)) == len(paths)
    assert all(len(os.fsencode(name)) <= 255 and "/" not in name for name in names)


def test_what_lies_in_a_remembered_place_is_known(tmp_path: Path, register: Path) -> None:
    place = tmp_path / "p"
    (place / "deep").mkdir(parents=True)
    assert shared_above(str(place / "deep")) is None
    remember([str(place)])
    remember([str(place)])
    assert shared_above(str(place / "deep/er")) == str(place)
    assert shared_above(str(place)) == str(place)
    assert shared_above(str(tmp_path / "pp")) is shared_above(str(tmp_path)) is None
    assert register.stat().st_mode & 0o777 == 0o700
    # What was read-only in it, as wardian's own is, was not shared for writing.
    own = [str(place / "deep")]
    assert shared_above(str(place / "deep/er"), own) is None
    (place / "deep/state").mkdir()
    remember([str(place / "deep/state")])
    assert shared_above(str(place / "deep/state/x"), own) == str(place / "deep/state")


def test_a_register_that_others_could_write_is_none(tmp_path: Path, register: Path) -> None:
    remember([str(tmp_path)])
    register.chmod(0o777)
    assert shared_above(str(tmp_path)) is None


def test_what_is_gone_is_forgotten_once_a_day(tmp_path: Path, register: Path) -> None:
    for name in ("gone", "there"):
        (tmp_path / name).mkdir()
    remember([str(tmp_path / "gone"), str(tmp_path / "there")])
    (tmp_path / "gone").rmdir()
    fd = os.open(register, os.O_RDONLY)
    shared_before.forget_what_is_gone(fd)
    assert shared_above(str(tmp_path / "gone")) is not None  # it was looked through a moment ago
    # Of a disk that is not here now, nothing is forgotten.
    elsewhere = register / entry_name("/mnt/disk/p")
    elsewhere.write_text("987654\n/mnt/disk/p\n")
    shared_before.forget_what_is_gone(fd, time.time() + 2 * shared_before.PRUNE_EVERY_S)
    os.close(fd)
    assert shared_above(str(tmp_path / "gone")) is None
    assert shared_above(str(tmp_path / "there")) is not None
    assert elsewhere.exists()


def test_a_real_path_is_opened_without_links(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_text("x")
    (tmp_path / "l").symlink_to("d")
    (tmp_path / "d/l").symlink_to("f")
    os.close(open_real(f"{tmp_path}/d/f", os.O_RDONLY))
    os.close(open_directory(f"{tmp_path}/new/er", make=0o700))
    for path in ("l/f", "d/l"):
        with pytest.raises(OSError, match=r"symbolic|Not a directory"):
            open_real(f"{tmp_path}/{path}", os.O_RDONLY)
    with pytest.raises(OSError, match=r"symbolic|Not a directory"):
        open_directory(f"{tmp_path}/l")


def test_a_file_is_written_whole_and_replaces_a_link(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "l").symlink_to("kept")
    write_whole(f"{tmp_path}/l", "new")
    write_whole(f"{tmp_path}/a/b", b"\xff")
    assert (tmp_path / "l").read_text() == "new"
    assert not (tmp_path / "l").is_symlink()
    assert (tmp_path / "kept").read_text() == "kept"
    assert (tmp_path / "a/b").read_bytes() == b"\xff"
    assert not list(tmp_path.glob(".*"))
    with pytest.raises(IsADirectoryError):
        write_whole(f"{tmp_path}/a", "x")
    assert not list(tmp_path.glob(".*"))


def test_a_pipe_is_neither_written_nor_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        open_to_write(str(tmp_path / "pipe"))
    with pytest.raises(InputError, match="not a regular file"):
        read_decisive(str(tmp_path / "pipe"), 10)
    (tmp_path / "f").write_text("x" * 11)
    with pytest.raises(InputError, match="larger"):
        read_decisive(str(tmp_path / "f"), 10)
    assert read_decisive(str(tmp_path / "f"), 11) == b"x" * 11


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("/own", True),
        ("/own/deep", True),
        ("/ow", False),
        ("/", True),  # a link to wardian lies in it
        ("/found", True),
        ("/found/json/x", True),
        ("/found/wardian", True),
        ("/found/data", False),
        ("/links", True),
        ("/other", False),
    ],
)
def test_what_may_be_shared_for_writing(path: str, refused: bool) -> None:
    own = Own(closed=("/own",), searched=("/found",), links=("/links/l", "/own/l"))
    if refused:
        with pytest.raises(ShareError):
            refuse_own(path, own)
    else:
        refuse_own(path, own)


def test_what_is_missing_of_wardians_own_is_made_before_a_guest_could(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    own = Own(closed=(f"{tmp_path}/there", f"{tmp_path}/a/b"), kept=("/elsewhere",))
    assert read_only_within(str(tmp_path), own) == [f"{tmp_path}/there"]
    assert sorted(read_only_within(str(tmp_path), own, make=True)) == [
        f"{tmp_path}/a/b",
        f"{tmp_path}/there",
    ]
    assert (tmp_path / "a/b").is_dir()


def test_the_package_and_what_python_looks_in_are_wardians_own() -> None:
    own = own_files.own_files()
    assert own_files.PACKAGE in own.closed
    assert os.path.realpath(os.path.dirname(os.__file__)) in own.closed


def test_only_installations_that_are_known_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    kept = tmp_path / ".pyenv/versions/3.99.1"
    other = tmp_path / "private"
    for prefix in (kept, other, tmp_path):
        (prefix / "lib/python3.99").mkdir(parents=True)
        (prefix / "lib/python3.99/os.py").touch()
    assert installations.is_known(str(kept), {})
    for prefix in (str(other), str(tmp_path), "/", "/usr/share/doc", str(kept.parent)):
        assert not installations.is_known(prefix, {}), prefix
    assert not installations.is_known(str(kept), {"PYENV_ROOT": "/elsewhere"})
    remember([str(kept / "lib/python3.99")])
    assert installations.is_known(str(kept), {})  # a part of it; Python's own library is that
    remember([str(kept.parent)])
    assert was_shared(str(kept)) == str(kept.parent)
    assert not installations.is_known(str(kept), {})
