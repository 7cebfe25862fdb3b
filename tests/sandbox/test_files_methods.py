"""``sandbox.files``, method by method: what it does, what it raises, and whose the files are."""

from __future__ import annotations

import errno
import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox
from wardian import Policy, Sandbox, WardianError
from wardian import errors as problems
from wardian.errors import (
    DirectoryNotEmpty,
    FileDenied,
    FileError,
    FileExists,
    FileMissing,
    FileTooLarge,
    IsADirectory,
    NotADirectory,
    NotARegularFile,
    UsageError,
)
from wardian.sandbox.files.files import Files

Act = Callable[[Files], object]


def test_exists_and_stat(sandbox: Sandbox) -> None:
    script = "echo text > f; chmod 750 f; mkdir d; ln -s /etc/passwd l; ln -s nowhere n; mkfifo p"
    assert sandbox.run(["sh", "-c", script]).ok
    files = sandbox.files
    assert [files.exists(name) for name in "fdlnpx"] == [True] * 5 + [False]
    assert not files.exists("l/below")
    assert not files.exists("f/below")
    assert files.exists(".")
    info = files.stat("f")
    assert (info.path, info.name, info.kind, info.size) == ("/work/f", "f", "file", 5)
    assert info.mode == 0o750
    assert info.is_executable
    assert abs(info.mtime_s - time.time()) < 60
    assert (files.stat("l").kind, files.stat("l").target) == ("link", "/etc/passwd")
    assert [files.stat(name).kind for name in ("d", "p", "/work")] == [
        "directory", "pipe", "directory",
    ]  # fmt: skip


def test_list_gives_one_level_or_all(sandbox: Sandbox) -> None:
    files = sandbox.files
    for name in ("b/c/d", "b/a", "a", "b.txt"):
        files.write(name, "x")
    assert [one.path for one in files.list()] == ["/work/a", "/work/b", "/work/b.txt"]
    assert [one.path for one in files.list("b")] == ["/work/b/a", "/work/b/c"]
    assert [one.path for one in files.list("/work", recursive=True)] == [
        "/work/a", "/work/b", "/work/b/a", "/work/b/c", "/work/b/c/d", "/work/b.txt",
    ]  # fmt: skip
    with pytest.raises(FileTooLarge):
        files.list(recursive=True, max_entries=5)
    assert len(files.list(recursive=True, max_entries=6)) == 6


def test_read_is_bounded(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(Policy.default().with_limits(disk=None))
    assert sandbox.run(["sh", "-c", "truncate -s 100G sparse; head -c 1000 /dev/zero > f"]).ok
    assert sandbox.files.read("f", max_bytes=1000) == bytes(1000)
    with pytest.raises(FileTooLarge, match=r"/work/f: is larger than max_bytes \(999\)"):
        sandbox.files.read("f", max_bytes=999)
    with pytest.raises(FileTooLarge) as caught:
        sandbox.files.read("sparse")
    assert caught.value.errno == errno.EFBIG
    assert sandbox.files.read("f", max_bytes=None) == bytes(1000)
    for nonsense in (-1, True, "1M", 0.5):
        with pytest.raises(UsageError):
            sandbox.files.read("f", max_bytes=nonsense)  # type: ignore[arg-type]


def test_append_adds_and_makes(sandbox: Sandbox) -> None:
    sandbox.files.append("d/log", "one\n")
    assert sandbox.run(["sh", "-c", "echo two >> d/log; ln -s log d/link"]).ok
    sandbox.files.append("d/log", b"three\n")
    assert sandbox.run(["cat", "d/log"]).text == "one\ntwo\nthree\n"
    with pytest.raises(NotARegularFile):
        sandbox.files.append("d/link", "x")


def test_mkdir_and_remove(sandbox: Sandbox) -> None:
    files = sandbox.files
    files.mkdir("a/b/c")
    files.mkdir("a/b/c")
    with pytest.raises(FileExists):
        files.mkdir("a/b/c", exist_ok=False)
    with pytest.raises(FileMissing):
        files.mkdir("x/y", parents=False)
    files.write("f", "")
    with pytest.raises(FileExists):
        files.mkdir("f")
    with pytest.raises(DirectoryNotEmpty):
        files.remove("a")
    assert sandbox.run(["sh", "-c", "touch a/b/c/f; chmod 0 a/b/c a/b; ln -s /work l"]).ok
    files.remove("a", recursive=True)
    files.remove("f")
    files.remove("l", recursive=True)
    assert files.list() == []
    with pytest.raises(FileMissing):
        files.remove("f")
    files.remove("f", missing_ok=True)
    with pytest.raises(UsageError):
        files.remove("/work", recursive=True)


def test_rename_moves_and_replaces_only_if_asked(sandbox: Sandbox) -> None:
    files = sandbox.files
    files.write("a", "a")
    files.write("d/b", "b")
    files.rename("a", "d/a")
    with pytest.raises(FileExists):
        files.rename("d/a", "d/b")
    files.rename("d/a", "/work/d/b", replace=True)
    assert files.read("d/b") == b"a"
    files.rename("d", "e")
    assert files.read("e/b") == b"a"
    with pytest.raises(FileError):
        files.rename("e", "e/below")
    with pytest.raises(FileMissing, match="/work/nothing"):
        files.rename("nothing", "f")


def test_copy_in_and_out(sandbox: Sandbox, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "deep/er").mkdir(parents=True)
    (source / "deep/er/f").write_text("text")
    (source / "tool").write_text("#!/bin/sh\necho ran\n")
    (source / "tool").chmod(0o4755)
    (source / "link").symlink_to("deep/er/f")
    report = sandbox.files.copy_in(source, "tree")
    assert report == (3, 4 + 19, ())
    assert sandbox.run(["sh", "-c", "cat tree/link; tree/tool; touch tree/new"]).text == "textran\n"
    assert sandbox.files.stat("tree/tool").mode == 0o755
    with pytest.raises(FileExists):
        sandbox.files.copy_in(source, "tree")
    sandbox.files.copy_in(source, "tree", replace=True)

    assert sandbox.run(["sh", "-c", "chmod 4755 tree/tool; mkfifo tree/deep/pipe"]).ok
    out = tmp_path / "out"
    report = sandbox.files.copy_out("tree", out)
    assert sorted(report.left_out) == ["/work/tree/deep/pipe", "/work/tree/link"]
    assert report.files == 3
    assert sorted(p.name for p in out.rglob("*")) == ["deep", "er", "f", "new", "tool"]
    assert os.lstat(out / "tool").st_mode & 0o7777 == 0o755 & ~_umask()
    assert os.lstat(out / "deep").st_uid == os.geteuid()
    with pytest.raises(FileExists):
        sandbox.files.copy_out("tree", out)
    sandbox.files.copy_out("tree", out, replace=True)
    sandbox.files.copy_out("tree/deep/er/f", tmp_path / "single")
    assert (tmp_path / "single").read_text() == "text"
    with pytest.raises(FileMissing):
        sandbox.files.copy_out("tree", tmp_path / "no/such/place")
    with pytest.raises(FileMissing):
        sandbox.files.copy_in(tmp_path / "nothing", "x")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_copies_are_bounded(make_sandbox: MakeSandbox, tmp_path: Path) -> None:
    sandbox = make_sandbox(Policy.default().with_limits(disk=None))
    assert sandbox.run(["sh", "-c", "mkdir d; truncate -s 1T d/huge; echo x > d/f"]).ok
    with pytest.raises(FileTooLarge, match="max_bytes"):
        sandbox.files.copy_out("d", tmp_path / "out")
    assert sum(p.stat().st_size for p in (tmp_path / "out").rglob("*")) <= 2
    with pytest.raises(FileTooLarge):
        sandbox.files.copy_out("d/huge", tmp_path / "huge", max_bytes=1 << 20)
    assert not (tmp_path / "huge").exists()
    with pytest.raises(FileTooLarge):
        sandbox.files.copy_out("d", tmp_path / "few", max_entries=1)
    (tmp_path / "big").write_bytes(bytes(1001))
    with pytest.raises(FileTooLarge):
        sandbox.files.copy_in(tmp_path / "big", "big", max_bytes=1000)
    assert sandbox.files.copy_in(tmp_path / "big", "big", max_bytes=1001).bytes == 1001


def test_a_link_that_a_guest_left_on_the_host_is_not_copied_from_or_to(
    tmp_path: Path, make_sandbox: MakeSandbox
) -> None:
    secret, shared = tmp_path / "secret", tmp_path / "shared"
    for place in (secret, shared):
        place.mkdir()
    (secret / "key").write_text("key")
    sandbox = make_sandbox(Policy.default().but(work=str(shared)))
    assert sandbox.run(["ln", "-s", str(secret), "door"]).ok
    other = make_sandbox()
    other.files.write("f", "planted")
    for act in (
        lambda: other.files.copy_in(shared / "door", "x"),
        lambda: other.files.copy_in(shared / "door/key", "x"),
        lambda: other.files.copy_out("f", shared / "door/new"),
    ):
        with pytest.raises(UsageError, match="was shared for writing"):
            act()
    assert sandbox.run(["sh", "-c", f"mkdir -p x; ln -s {secret} x/sub; ln -s {secret}/key x/f"]).ok
    other.files.write("d/sub/planted", "planted")
    with pytest.raises(NotADirectory):
        other.files.copy_out("d", shared / "x")
    other.files.write("e/f", "planted")
    with pytest.raises(FileExists):
        other.files.copy_out("e", shared / "x")
    other.files.copy_out("e", shared / "x", replace=True)
    assert (shared / "x/f").read_text() == "planted"
    assert not (shared / "x/f").is_symlink()
    assert (secret / "key").read_text() == "key"
    other.files.copy_in(shared, "whole")
    assert other.files.stat("whole/door").kind == "link"
    assert [one.name for one in secret.iterdir()] == ["key"]
    other.files.copy_in(secret / "key", "named")
    assert other.files.read("named") == b"key"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes for others")
def test_what_root_puts_there_is_the_guests(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "s/d").mkdir(parents=True)
    (tmp_path / "s/d/f").write_text("")
    files = sandbox.files
    files.write("a/f", "")
    files.append("a/g", "")
    files.mkdir("b/c")
    files.copy_in(tmp_path / "s", "t")
    guest = os.stat(sandbox.work_path).st_uid
    assert guest != 0
    for place in Path(sandbox.work_path).rglob("*"):
        assert place.lstat().st_uid == guest, place
    script = "echo >> a/f; echo >> a/g; touch b/c/x t/d/x; rm t/d/f"
    assert sandbox.run(["sh", "-c", script]).ok
    out = tmp_path / "out"
    files.copy_out("a", out)
    assert {p.lstat().st_uid for p in (out, out / "f")} == {0}


# Errors


@pytest.mark.parametrize(
    ("act", "error", "builtin", "number"),
    [
        (lambda f: f.read("nothing"), FileMissing, FileNotFoundError, errno.ENOENT),
        (lambda f: f.stat("no/thing"), FileMissing, FileNotFoundError, errno.ENOENT),
        (lambda f: f.list("nothing"), FileMissing, FileNotFoundError, errno.ENOENT),
        (lambda f: f.read("d"), IsADirectory, IsADirectoryError, errno.EISDIR),
        (lambda f: f.write("d", ""), IsADirectory, IsADirectoryError, errno.EISDIR),
        (lambda f: f.append("d", ""), IsADirectory, IsADirectoryError, errno.EISDIR),
        (lambda f: f.read("f/x"), NotADirectory, NotADirectoryError, errno.ENOTDIR),
        (lambda f: f.list("f"), NotADirectory, NotADirectoryError, errno.ENOTDIR),
        (lambda f: f.watch("f"), NotADirectory, NotADirectoryError, errno.ENOTDIR),
        (lambda f: f.list("l"), NotADirectory, NotADirectoryError, errno.ENOTDIR),
        (lambda f: f.read("l"), NotARegularFile, OSError, errno.ELOOP),
        (lambda f: f.read("p"), NotARegularFile, OSError, errno.EINVAL),
        (lambda f: f.copy_out("p", "/tmp/x"), NotARegularFile, OSError, errno.EINVAL),
        (lambda f: f.mkdir("f"), FileExists, FileExistsError, errno.EEXIST),
        (lambda f: f.remove("d"), DirectoryNotEmpty, OSError, errno.ENOTEMPTY),
        (lambda f: f.write("x" * 256, ""), FileError, OSError, errno.ENAMETOOLONG),
    ],
)
def test_an_error_is_wardians_and_the_systems(
    sandbox: Sandbox, act: Act, error: type[FileError], builtin: type[OSError], number: int
) -> None:
    assert sandbox.run(["sh", "-c", "mkdir d; touch d/x f; ln -s d l; mkfifo p"]).ok
    with pytest.raises(error) as caught:
        act(sandbox.files)
    assert type(caught.value) is error
    assert isinstance(caught.value, builtin)
    assert isinstance(caught.value, WardianError)
    assert caught.value.errno == number
    assert str(caught.value).startswith("/work/")
    assert caught.value.path == caught.value.filename
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert (type(again), str(again), again.errno) == (error, str(caught.value), number)


@pytest.mark.skipif(os.geteuid() == 0, reason="root is denied nothing")
def test_what_is_closed_is_denied(sandbox: Sandbox) -> None:
    assert sandbox.run(["sh", "-c", "echo x > f; chmod 0 f; mkdir d; chmod 0 d"]).ok
    with pytest.raises(FileDenied):
        sandbox.files.read("f")
    with pytest.raises(FileDenied):
        sandbox.files.list("d")


def test_a_message_is_one_harmless_line_whatever_the_name(sandbox: Sandbox) -> None:
    for name in ("a\nb", "\x1b[2J", "\u202ex", "n" * 255):
        with pytest.raises(FileMissing) as caught:
            sandbox.files.read(f"{name}/" * 9 + "f")
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 700


def test_every_file_error_is_in_the_tree_of_the_docstring() -> None:
    kinds = [kind for kind in vars(problems).values() if isinstance(kind, type)]
    for kind in kinds:
        if issubclass(kind, FileError):
            assert f" {kind.__name__}" in (problems.__doc__ or "")


# Places


def test_paths_outside_the_three_places_are_usage_errors(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(fresh=True)
    for path in ("/", "/etc/passwd", "/workshop/x", "/home/other/x", "..", "a/../b", "/tmp/../x"):
        with pytest.raises(UsageError):
            sandbox.files.exists(path)
    for path in ("/tmp/x", "/home/user/x"):
        with pytest.raises(UsageError, match="only while a sandbox lives on"):
            sandbox.files.exists(path)
    kept = sandbox.files
    sandbox.close()
    with pytest.raises(UsageError, match="closed"):
        kept.list()


def test_tmp_and_home_of_a_sandbox_that_lives_on(sandbox: Sandbox, tmp_path: Path) -> None:
    assert sandbox.run(["sh", "-c", "echo inside > /tmp/f; echo h > ~/g"]).ok
    files = sandbox.files
    assert files.read("/tmp/f") == b"inside\n"
    assert files.read("/home/user/g") == b"h\n"
    files.write("/tmp/d/new", "new")
    files.write("/tmp/d/new", "new")
    files.append("/home/user/g", "more")
    assert [one.path for one in files.list("/tmp", recursive=True)] == [
        "/tmp/d", "/tmp/d/new", "/tmp/f",
    ]  # fmt: skip
    files.rename("/tmp/d/new", "/tmp/d/other")
    with pytest.raises(UsageError, match="another file system"):
        files.rename("/tmp/d/other", "/work/other")
    files.copy_out("/tmp/d", tmp_path / "d")
    (tmp_path / "d/link").symlink_to("other")
    files.copy_in(tmp_path / "d", "/home/user/d")
    assert files.read("/home/user/d/other") == b"new"
    script = "echo by the guest >> /tmp/d/other; mv /tmp/d /tmp/taken; cat ~/d/link; rm -r ~/d"
    assert sandbox.run(["sh", "-c", script]).text == "new"
    assert files.read("/tmp/taken/other") == b"newby the guest\n", "what is made is the guest's"
    with files.watch("/tmp") as watch:
        assert sandbox.run(["touch", "/tmp/seen"]).ok
        change = watch.wait(10)
        assert change is not None
        assert change.path == "/tmp/seen"
    files.remove("/tmp/taken", recursive=True)
    assert [one.name for one in files.list("/tmp")] == ["f", "seen"]
    assert files.list("/home/user") == [files.stat("/home/user/g")]
    sandbox.close()
    with pytest.raises(UsageError, match="closed"):
        files.list("/tmp")
