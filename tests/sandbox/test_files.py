"""``sandbox.files``: the guest wrote them, so nothing is followed, opened or believed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox
from wardian import Policy, Sandbox
from wardian.errors import UsageError
from wardian.sandbox.paths.removal import remove_tree

PYTHON = os.path.realpath(sys.executable)
# A tree too deep for a path, a recursion limit, or one open descriptor per level.
DEEP = "import os\nfor _ in range({n}): os.mkdir('d'); os.chdir('d')\nopen('bottom', 'w').close()"


def regular(sandbox: Sandbox) -> list[str]:
    every = sandbox.files.list(recursive=True)
    return [one.path.removeprefix("/work/") for one in every if one.kind == "file"]


def test_what_is_written_is_read_inside_and_the_other_way_round(sandbox: Sandbox) -> None:
    sandbox.files.write("a/b/c.txt", "text")
    sandbox.files.write("/work/tool", b"#!/bin/sh\necho ran\n", executable=True)
    assert sandbox.run(["cat", "a/b/c.txt"]).text == "text"
    assert sandbox.run(["./tool"]).text == "ran\n"
    assert sandbox.run(["sh", "-c", "printf '\\377' > out"]).ok
    assert sandbox.files.read("out") == sandbox.files.read("/work/out") == b"\xff"
    assert regular(sandbox) == ["a/b/c.txt", "out", "tool"]


@pytest.mark.parametrize("path", ["", ".", "/", "..", "../x", "a/../../x", "/etc/passwd", "a\0b"])
def test_a_path_that_is_not_below_work_is_refused(path: str, sandbox: Sandbox) -> None:
    with pytest.raises(UsageError):
        sandbox.files.read(path)
    with pytest.raises(UsageError):
        sandbox.files.write(path, "")


def test_links_lead_nowhere(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    script = f"ln -s {secret} file; ln -s {tmp_path} dir; ln -s / root; echo x > real"
    assert sandbox.run(["sh", "-c", script]).ok
    for path in ("file", "dir/secret", f"root{secret}"):
        with pytest.raises(OSError):  # noqa: PT011 - ELOOP or ENOTDIR
            sandbox.files.read(path)
    with pytest.raises(OSError):  # noqa: PT011
        sandbox.files.write("dir/new", "x")
    assert regular(sandbox) == ["real"]
    sandbox.files.write("file", "replaced")
    assert secret.read_text() == "secret"
    assert sandbox.files.read("file") == b"replaced"
    assert [p.name for p in tmp_path.iterdir()] == ["secret"]


def test_fifos_and_sockets_neither_hang_nor_count(sandbox: Sandbox) -> None:
    program = "import os, socket; os.mkfifo('fifo'); socket.socket(1).bind('sock')"
    assert sandbox.run([PYTHON, "-c", program]).ok
    for name in ("fifo", "sock"):
        with pytest.raises((UsageError, OSError)):
            sandbox.files.read(name)
    assert regular(sandbox) == []


def test_what_the_guest_closed_to_itself_is_removed_all_the_same(sandbox: Sandbox) -> None:
    script = "mkdir -p a/b/c && touch a/b/c/f && chmod 0 a/b/c a/b a"
    assert sandbox.run(["sh", "-c", script]).ok
    sandbox.close()


def test_a_tree_1500_deep_is_listed_and_removed(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox()
    assert sandbox.run([PYTHON, "-c", DEEP.format(n=1500)]).ok
    sandbox.files.write("shallow", "x")
    found = [one.path for one in sandbox.files.list(recursive=True)]
    assert "/work/shallow" in found
    assert "/work" + "/d" * 1500 + "/bottom" in found
    sandbox.close()


def test_many_files_in_many_directories_are_removed(tmp_path: Path) -> None:
    for i in range(30):
        for j in range(10):
            place = tmp_path / "t" / f"d{i}/e{j}"
            place.mkdir(parents=True)
            (place / "f").write_text("")
            (place / ".wardian-1").mkdir()
    remove_tree(str(tmp_path / "t"))
    assert not (tmp_path / "t").exists()


def test_removing_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep/f").write_text("kept")
    (tmp_path / "t/d").mkdir(parents=True)
    (tmp_path / "t/d/link").symlink_to(tmp_path / "keep")
    (tmp_path / "t/link").symlink_to(tmp_path / "keep")
    remove_tree(str(tmp_path / "t"))
    assert (tmp_path / "keep/f").read_text() == "kept"


def work_of(sandbox: Sandbox) -> str:
    return sandbox.work_path


def test_closing_removes_the_work_directory(make_sandbox: MakeSandbox) -> None:
    with Sandbox.create() as sandbox:
        sandbox.run(["touch", "f"])
        place = work_of(sandbox)
        assert os.path.isdir(place)
        assert os.stat(place).st_mode & 0o077 == 0
    assert not os.path.exists(place)


def test_a_named_work_directory_stays(tmp_path: Path) -> None:
    with Sandbox.create(Policy.default().but(work=str(tmp_path))) as sandbox:
        sandbox.run(["touch", "f"])
        assert regular(sandbox) == ["f"]
    assert (tmp_path / "f").exists()


def test_a_file_may_be_written_again_and_by_two_threads(sandbox: Sandbox) -> None:
    import threading

    errors: list[BaseException] = []

    def work(n: int) -> None:
        try:
            for _ in range(50):
                sandbox.files.write("same", str(n) * 1000)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert errors == []
    assert len(set(sandbox.files.read("same"))) == 1
    assert regular(sandbox) == ["same"]


def test_a_name_of_255_bytes_can_be_written(sandbox: Sandbox) -> None:
    for name in ("x" * 255, "ü" * 127, ".hidden", "-dash", "new\nline"):
        sandbox.files.write(name, "x")
        assert sandbox.files.read(name) == b"x"


def test_reading_what_is_no_file_leaves_nothing_open(sandbox: Sandbox) -> None:
    sandbox.run(["sh", "-c", "mkdir d; mkfifo p; ln -s d l"])
    before = os.listdir("/proc/self/fd")
    for name in ("d", "p", "l", "nothing"):
        with pytest.raises((OSError, UsageError)):
            sandbox.files.read(name)
    assert os.listdir("/proc/self/fd") == before
