"""``sandbox.files`` against a guest that plants links and exchanges directories while the host is
at work: nothing outside is read, changed, removed or named, and what is the guest's own works."""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox
from wardian import Sandbox
from wardian.errors import DirectoryNotEmpty, FileError
from wardian.sandbox.files import files as files_module
from wardian.sandbox.files.files import Files
from wardian.sandbox.files.walking import walk

SECONDS = 1.2
# Exchanges what has two names, as fast as it goes: a directory, and a link to the host's.
EXCHANGE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
one, other = (os.fsencode(name) for name in sys.argv[1:3])
os.symlink(sys.argv[3], other)
open('/work/ready', 'w').close()
while True:
    libc.renameat2(-100, one, -100, other, 2)
"""


def tree(place: Path) -> dict[str, object]:
    """All that can be seen of a directory from outside."""
    return {
        str(path.relative_to(place)): (
            path.lstat().st_mode, path.lstat().st_mtime_ns, path.lstat().st_ino,
            path.read_bytes() if path.is_file() else None,
        )
        for path in [place, *place.rglob("*")]
    }  # fmt: skip


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[Path]:
    """A directory of the host with the names that the guest's own has; as it was, afterwards."""
    place = tmp_path / "secret"
    (place / "sub/deep").mkdir(parents=True)
    for name in ("f", "only-outside", "sub/g", "sub/deep/h"):
        (place / name).write_bytes(b"secret")
    before = tree(place)
    yield place
    assert tree(place) == before


def own_tree(files: Files, top: str) -> None:
    for name in ("f", "sub/g", "sub/deep/h"):
        files.write(f"{top}/{name}", "mine")


@pytest.fixture
def exchanging(sandbox: Sandbox, secret: Path) -> Iterator[Files]:
    """``dir`` is a directory of the guest's one moment, a link to the secret one the next."""
    files = sandbox.files
    own_tree(files, "dir")
    words = ["python3", "-c", EXCHANGE, "dir", "other", str(secret)]
    process = sandbox.start(words)
    while not files.exists("ready"):
        time.sleep(0.01)
    yield files
    process.end()


def repeated(act: Callable[[int], object], *, both: bool = True) -> list[object]:
    """What an act gives, as often as it works; it must work, and must have met the link."""
    given, refused = [], 0
    end = time.monotonic() + SECONDS
    i = 0
    while time.monotonic() < end:
        i += 1
        try:
            given.append(act(i))
        except FileError:
            refused += 1
    assert given, "it never worked"
    assert refused or not both, "the link was never met"
    return given


def test_reading(exchanging: Files) -> None:
    assert set(repeated(lambda _: exchanging.read("dir/f"))) == {b"mine"}
    assert set(repeated(lambda _: exchanging.read("dir/sub/g"))) == {b"mine"}


def test_looking(exchanging: Files) -> None:
    sizes = {one.size for one in repeated(lambda _: exchanging.stat("dir/f"))}  # type: ignore[attr-defined]
    assert sizes == {len("mine")}
    assert set(repeated(lambda _: exchanging.exists("dir/only-outside"), both=False)) == {False}
    assert set(repeated(lambda _: exchanging.exists("dir/f"), both=False)) == {True, False}


def test_listing(exchanging: Files) -> None:
    for recursive in (False, True):
        names = repeated(
            lambda _, deep=recursive: " ".join(  # type: ignore[misc]
                one.name for one in exchanging.list("dir", recursive=deep)
            )
        )
        assert not [found for found in names if "only-outside" in str(found)]
    whole = repeated(lambda _: str(exchanging.list(recursive=True)), both=False)
    assert not [found for found in whole if "only-outside" in str(found)]


def test_writing(exchanging: Files) -> None:
    repeated(lambda i: exchanging.write(f"dir/new-{i % 50}", "planted"))
    repeated(lambda i: exchanging.write(f"dir/made-{i % 50}/x", "planted"))
    repeated(lambda _: exchanging.write("dir/f", "planted"))


def test_appending(exchanging: Files) -> None:
    repeated(lambda _: exchanging.append("dir/f", "x"))
    repeated(lambda i: exchanging.append(f"dir/log-{i}", "x"))


def test_making_directories(exchanging: Files) -> None:
    repeated(lambda i: exchanging.mkdir(f"dir/d-{i % 50}/e"))


def test_removing(exchanging: Files) -> None:
    def again(_: int) -> None:
        exchanging.write("dir/f", "mine")
        exchanging.remove("dir/f")

    repeated(again)
    repeated(lambda _: exchanging.remove("dir/only-outside", missing_ok=True))
    repeated(lambda _: exchanging.remove("dir/sub", recursive=True, missing_ok=True))


def test_removing_the_tree_itself(exchanging: Files) -> None:
    def again(_: int) -> None:
        exchanging.remove("dir", recursive=True, missing_ok=True)

    repeated(again, both=False)


def test_renaming(exchanging: Files) -> None:
    repeated(lambda i: exchanging.rename("dir/f", "dir/f", replace=True))
    exchanging.write("mine", "x")
    repeated(lambda i: (exchanging.write("mine", "x"), exchanging.rename("mine", f"dir/in-{i}")))


def test_copying_out(exchanging: Files, tmp_path: Path) -> None:
    repeated(lambda i: exchanging.copy_out("dir", tmp_path / f"out-{i}"))
    repeated(lambda i: exchanging.copy_out("dir/f", tmp_path / f"file-{i}"))
    repeated(lambda i: exchanging.copy_out(".", tmp_path / f"all-{i}"), both=False)
    copied = [path for top in tmp_path.glob("*-*") for path in [top, *top.rglob("*")]]
    assert not [path for path in copied if path.is_symlink() or path.name == "only-outside"]
    assert {path.read_bytes() for path in copied if path.is_file()} <= {b"mine", b""}


def test_copying_in(exchanging: Files, tmp_path: Path) -> None:
    (tmp_path / "give/sub").mkdir(parents=True)
    (tmp_path / "give/sub/planted").write_text("x")
    repeated(lambda _: exchanging.copy_in(tmp_path / "give", "dir", replace=True))
    repeated(
        lambda i: exchanging.copy_in(tmp_path / "give/sub/planted", f"dir/n{i % 50}", replace=True)
    )


def test_watching(exchanging: Files, secret: Path) -> None:
    """What happens in the directory outside is nobody's to see."""
    seen: list[str] = []
    for _ in range(200):
        try:
            watch = exchanging.watch("dir", recursive=True)
        except FileError:
            continue
        with watch:
            (secret / "only-outside").chmod(0o600)
            (secret / "only-outside").chmod(0o644)
            while (change := watch.wait(0)) is not None:
                seen.append(change.path)
    assert not [path for path in seen if "only-outside" in path]
    with exchanging.watch(recursive=True) as watch:
        time.sleep(0.3)
        os.utime(secret / "only-outside", ns=(0, (secret / "only-outside").stat().st_mtime_ns))
        paths = set()
        while (change := watch.wait(0)) is not None and len(paths) < 1000:
            paths |= {change.path, change.to}
    assert {"/work/dir", "/work/other"} <= paths
    assert not [path for path in paths if "only-outside" in path]


def test_a_file_that_is_a_link_the_next_moment(
    sandbox: Sandbox, secret: Path, tmp_path: Path
) -> None:
    files = sandbox.files
    files.write("f", "mine")
    files.mkdir("d")
    process = sandbox.start(["python3", "-c", EXCHANGE, "f", "d/other", str(secret / "f")])
    while not files.exists("ready"):
        time.sleep(0.01)
    assert set(repeated(lambda _: files.read("f"))) == {b"mine"}
    repeated(lambda i: files.copy_out("f", tmp_path / f"one-{i}"))
    repeated(lambda i: files.copy_out(".", tmp_path / f"all-{i}"), both=False)
    for path in (
        path for top in tmp_path.glob("*-*") for path in (top, top / "f", top / "d/other")
    ):
        assert not path.is_symlink()
        assert not path.is_file() or path.read_bytes() == b"mine"
    repeated(lambda _: files.append("f", "x"))
    process.end()
    assert {files.stat("f").kind, files.stat("d/other").kind} == {"file", "link"}


def test_in_tmp_of_a_sandbox_that_lives_on(sandbox: Sandbox, secret: Path, tmp_path: Path) -> None:
    """From a descriptor in the guest's own mounts, an absolute link leads to the host's files."""
    files = sandbox.files
    own_tree(files, "/tmp/dir")
    words = ["python3", "-c", EXCHANGE, "/tmp/dir", "/tmp/other", str(secret)]
    process = sandbox.start(words)
    while not files.exists("ready"):
        time.sleep(0.01)
    assert set(repeated(lambda _: files.read("/tmp/dir/f"))) == {b"mine"}
    listed = repeated(lambda _: str(files.list("/tmp/dir", recursive=True)))
    assert not [found for found in listed if "only-outside" in str(found)]
    repeated(lambda i: files.copy_out("/tmp/dir", tmp_path / f"out-{i}"))
    copied = [path for top in tmp_path.glob("out-*") for path in [top, *top.rglob("*")]]
    assert {path.read_bytes() for path in copied if path.is_file()} <= {b"mine"}
    repeated(lambda i: files.write(f"/tmp/dir/new-{i % 50}", "planted"))
    repeated(lambda _: files.append("/tmp/dir/f", "planted"))
    repeated(lambda i: files.mkdir(f"/tmp/dir/made-{i % 50}"))
    repeated(lambda _: files.remove("/tmp/dir/sub", recursive=True, missing_ok=True))
    repeated(lambda i: files.rename("/tmp/dir/f", "/tmp/dir/f", replace=True))
    process.end()


# Trees that a guest leaves


HOSTILE = """
import os, socket, sys
secret = sys.argv[1]
os.makedirs('t/plain')
open('t/plain/kept', 'w').write('kept')
os.link('t/plain/kept', 't/hard')
os.symlink(secret, 't/link'); os.symlink(secret + '/f', 't/plain/file-link')
os.symlink('/proc/self/fd/3', 't/magic'); os.symlink('.', 't/loop')
os.mkfifo('t/pipe'); socket.socket(socket.AF_UNIX).bind('t/sock')
open('t/' + 'new\\nline \\x1b[2J', 'w').write('n')
open(b't/latin-\\xe9', 'w').write('l')
with open('t/sparse', 'w') as sparse: sparse.truncate(1 << 30)
os.mkdir('t/closed'); open('t/closed/in', 'w').write('c'); os.chmod('t/closed', 0)
os.chdir('t')
for _ in range(2000): os.mkdir('d'); os.chdir('d')
open('bottom', 'w').write('b')
"""


@pytest.fixture
def hostile(make_sandbox: MakeSandbox, secret: Path) -> Files:
    sandbox = make_sandbox()
    assert sandbox.run(["python3", "-c", HOSTILE, str(secret)]).ok
    return sandbox.files


def test_a_hostile_tree_is_listed(hostile: Files) -> None:
    found = {one.path.removeprefix("/work/t/"): one for one in hostile.list("t", recursive=True)}
    assert found["plain/kept"].kind == found["hard"].kind == "file"
    assert found["link"].kind == found["loop"].kind == found["magic"].kind == "link"
    assert (found["pipe"].kind, found["sock"].kind) == ("pipe", "socket")
    assert found["d/" * 2000 + "bottom"].size == 1
    assert found["new\nline \x1b[2J"].size == 1
    assert hostile.read("t/latin-\udce9") == b"l"
    assert not [path for path in found if path.startswith(("link/", "loop/", "magic/"))]


def test_a_hostile_tree_is_copied_without_what_is_dangerous(hostile: Files, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = hostile.copy_out("t", out)
    left = {path.removeprefix("/work/t/") for path in report.left_out}
    closed = set() if os.geteuid() == 0 else {"closed"}
    wanted = {"link", "plain/file-link", "magic", "loop", "pipe", "sock"} | closed
    assert left == wanted
    kinds = {stat.S_IFMT(entry.lstat().st_mode) for entry in out.iterdir()}
    assert kinds == {stat.S_IFREG, stat.S_IFDIR}
    assert (out / "hard").stat().st_nlink == 1
    assert (out / "sparse").stat().st_size == 1 << 30
    at = os.open(out, os.O_RDONLY)
    for _ in range(2000):
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    assert os.listdir(at) == ["bottom"]
    os.close(at)
    from wardian.sandbox.paths.removal import remove_tree

    remove_tree(str(out))


def test_a_hostile_tree_is_removed_and_nothing_else(hostile: Files, secret: Path) -> None:
    hostile.write("beside", "x")
    hostile.remove("t", recursive=True)
    assert [one.name for one in hostile.list()] == ["beside"]
    assert (secret / "f").exists()


def test_a_hostile_tree_of_the_hosts_is_copied_in_with_its_links_as_links(
    sandbox: Sandbox, tmp_path: Path, secret: Path
) -> None:
    """What is copied in may be another guest's, too."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "link").symlink_to(secret)
    os.mkfifo(source / "pipe")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(source / "sock"))
    (source / "f").write_text("f")
    report = sandbox.files.copy_in(source, "t")
    assert {Path(path).name for path in report.left_out} == {"pipe", "sock"}
    assert sandbox.run(["sh", "-c", "cat t/f; cat t/link/f"]).text == "f"


def test_a_directory_that_is_refilled_is_not_removed_for_ever(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a guest would that always comes just before the directory itself is removed."""
    monkeypatch.setattr(files_module, "REMOVE_S", 0.5)
    rmdir, place, times = os.rmdir, Path(sandbox.work_path, "t"), []

    def after_a_guest(name: str, *, dir_fd: int | None = None) -> None:
        times.append(name)
        assert len(times) < 500, "it never ends"
        (place / "again").touch()
        rmdir(name, dir_fd=dir_fd)

    sandbox.files.write("t/f", "x")
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(os, "rmdir", after_a_guest)
        with pytest.raises(DirectoryNotEmpty):
            sandbox.files.remove("t", recursive=True)
    sandbox.files.remove("t", recursive=True)
    assert not sandbox.files.exists("t")


def test_a_walk_does_not_go_on_where_a_directory_was_moved_to(tmp_path: Path) -> None:
    """Up from a directory that was moved is somewhere else; there, the names that are left to visit
    are another's."""
    for name in ("t/a/c/in", "t/a/x/mine", "outside/x/secret"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    top = os.open(tmp_path / "t", os.O_RDONLY)
    seen = []
    for visited in walk(top, "/t", 100):
        seen += [one.path for one in visited.entries]
        if visited.path == "/t/a/c":
            (tmp_path / "t/a/c").rename(tmp_path / "outside/c")
    os.close(top)
    assert seen == ["/t/a", "/t/a/c", "/t/a/x", "/t/a/c/in", "/t/a/x/mine"]


MOVE = """
import os, sys
os.makedirs('t/a/b/c/d'); os.makedirs('elsewhere')
for i in range(40): open(f't/a/b/c/d/{i}', 'w').close(); os.mkdir(f't/a/b/{i}')
open('ready', 'w').close()
while True:
    os.rename('t/a/b/c', 'elsewhere/c'); os.rename('elsewhere/c', 't/a/b/c')
"""


def test_a_directory_that_is_moved_away_while_it_is_walked_leads_nowhere(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    process = sandbox.start(["python3", "-c", MOVE])
    files = sandbox.files
    while not files.exists("ready"):
        time.sleep(0.01)
    end = time.monotonic() + 2 * SECONDS
    whole = 0
    while time.monotonic() < end:
        found = [one.path for one in files.list("t", recursive=True)]
        assert all(path.startswith("/work/t/") for path in found)
        assert len(found) == len(set(found))
        assert sum(path.count("/") == 5 for path in found) >= 40, "the directories beside it stay"
        whole += len(found) > 80
    assert whole
    process.end()
