"""Environments share their files with the store by hard links: no guest writes to either."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import packaging
import pytest

from tests.attacks.callers import LIBRARY, NAMES, Caller, Outcome
from tests.runner.hostile import Index, serving, wheel

ACTS = {
    "write": "open(f, 'r+b').write(b'EVIL')",
    "append": "open(f, 'ab').write(b'EVIL')",
    "truncate": "os.truncate(f, 0)",
    "open-truncating": "os.open(f, os.O_RDONLY | os.O_TRUNC)",
    "chmod": "os.chmod(f, 0o777)",
    "fchmod": "os.fchmod(r, 0o777)",
    "chown": "os.chown(f, os.getuid(), os.getgid())",
    "utime": "os.utime(f, (1, 1))",
    "futime": "os.utime(r, (1, 1))",
    "setxattr": "os.setxattr(f, 'user.evil', b'x')",
    "fsetxattr": "os.setxattr(r, 'user.evil', b'x')",
    "mmap": "mmap.mmap(os.open(f, os.O_RDWR), 4, mmap.MAP_SHARED).write(b'EVIL')",
    "link-beside": "os.link(f, f + '.evil')",
    "rename": "os.rename(f, f + '.evil')",
    "replace": "open(n, 'w').close(); os.replace(n, f)",
    "unlink": "os.unlink(f)",
    "new-file": "open(f + '.evil', 'w')",
    "new-directory": "os.mkdir(f + '.evil')",
    "symlink": "os.symlink('/', f + '.evil')",
    "by-descriptor": "open(f'/proc/self/fd/{r}', 'r+b').write(b'EVIL')",
    "by-descriptor-truncated": "os.truncate(f'/proc/self/fd/{r}', 0)",
    "by-directory": "os.open(os.path.basename(f), os.O_WRONLY | os.O_TRUNC, dir_fd=d)",
    "by-root-of-process": "open('/proc/self/root' + f, 'r+b').write(b'EVIL')",
}
PROGRAM = f"""
import mmap, os, sys
for name, act in {ACTS!r}.items():
    f = os.path.join(sys.argv[1], name + ".txt")
    n = os.path.join(sys.argv[1], "evil-" + name)
    r, d = os.open(f, os.O_RDONLY), os.open(sys.argv[1], os.O_RDONLY)
    assert open(f).read() == "RIGHT"
    try:
        exec(act)
        print("did", name)
    except OSError:
        pass
print("tried all")
"""
WALLS = ("readonly", "landlock")


class Prepared(NamedTuple):
    """An environment of a caller's, and the command line of this user's."""

    caller: Caller
    home: Path
    env: dict[str, str]
    root: str
    package: str

    def wardian(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [self.caller.python, "-P", "-m", "wardian", *words]
        options = {} if self.caller.uid == os.geteuid() else {
            "user": self.caller.uid, "group": self.caller.gid, "extra_groups": []
        }  # fmt: skip
        return subprocess.run(
            command, env=self.env, cwd=self.home, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=120, check=False, **options,
        )  # type: ignore[call-overload, no-any-return]  # fmt: skip

    @property
    def cache(self) -> str:
        return f"{self.home}/.cache/wardian"

    @property
    def stored(self) -> str:
        (found,) = Path(self.cache).glob("packages-*/wheels/*/friendly")
        return str(found)


@pytest.fixture(scope="module")
def _index() -> Iterator[Index]:
    with serving(Index()) as made:
        texts = {f"friendly/{name}.txt": "RIGHT" for name in ACTS}
        made.add(*wheel("friendly", {"friendly/__init__.py": "", **texts}))
        yield made


@pytest.fixture
def prepared(caller: Caller, _index: Index) -> Prepared:
    """By ``wardian exec --with``, as this user would."""
    library = caller.stage / LIBRARY
    for module in (click, packaging):
        folder = os.path.dirname(module.__file__)
        if not (library / os.path.basename(folder)).exists():
            shutil.copytree(folder, library / os.path.basename(folder))
    home = caller.directory()
    env = caller.environment | {
        "HOME": str(home), "PYTHONPATH": str(library), "PIP_INDEX_URL": f"{_index.url}/simple",
    }  # fmt: skip
    made = Prepared(caller, home, env, "", "")
    where = "import friendly, sys; print(sys.prefix); print(friendly.__path__[0])"
    done = made.wardian("exec", "--with", "friendly", "--", "python", "-c", where)
    assert done.returncode == 0, done.stderr
    root, package = done.stdout.split()
    return made._replace(root=root, package=package)


def files_below(path: str) -> dict[str, tuple[object, ...]]:
    """Everything that a guest could change, of every file."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, _, names in os.walk(path):
        for name in [".", *names]:
            place = os.path.join(folder, name)
            about = os.lstat(place)
            content = Path(place).read_bytes() if os.path.isfile(place) else b""
            found[place] = (
                about.st_ino, about.st_mode, about.st_uid, about.st_nlink, about.st_mtime_ns,
                about.st_ctime_ns, content, tuple(os.listxattr(place, follow_symlinks=False)),
            )  # fmt: skip
    return found


def did(text: str) -> set[str]:
    assert "tried all" in text, text
    return {line[4:] for line in text.splitlines() if line.startswith("did ")}


everyone = pytest.mark.parametrize("caller", NAMES, indirect=True)


@everyone
def test_no_act_of_a_guest_reaches_the_store_through_its_environment(prepared: Prepared) -> None:
    assert os.stat(f"{prepared.package}/write.txt").st_nlink == 2  # it is the stored file itself
    before = files_below(prepared.stored) | files_below(prepared.root)
    words = ("exec", "--with", "friendly", "--", "python", "-c", PROGRAM, prepared.package)
    done = prepared.wardian(*words)
    assert did(done.stdout) == set(), done.stderr
    after = files_below(prepared.stored) | files_below(prepared.root)
    assert {place for place in before if "__pycache__" not in place} <= {*after}
    changed = [one for one, was in before.items() if after[one] != was and one.endswith(".txt")]
    assert changed == []
    line = f"ln {prepared.package}/write.txt /work/mine || ln {prepared.package}/write.txt /tmp/l"
    done = prepared.wardian("exec", "--with", "friendly", "--", "sh", "-c", line)
    assert done.returncode != 0
    assert os.stat(f"{prepared.package}/write.txt").st_nlink == 2


@everyone
def test_each_act_would_succeed_without_the_walls(prepared: Prepared) -> None:
    """And the read-only mount alone is enough against all of them."""
    shares = [(prepared.root, prepared.root, False)]
    if prepared.caller.python == "/usr/bin/python3":
        python = ["python3"]
    else:
        base = os.path.dirname(os.path.dirname(os.path.realpath(prepared.caller.python)))
        shares.append((base, base, False))
        python = [f"{prepared.root}/bin/python"]

    def attack(*without: str) -> Outcome:
        command = [*python, "-c", PROGRAM, prepared.package]
        return prepared.caller.run(command, shares=shares, without=without)

    assert did(attack().stdout) == set()
    more = ("identity",) if prepared.caller.uid == 0 else ()
    assert did(attack("landlock", *more).stdout) == set()
    for name in ACTS:
        assert Path(prepared.stored, f"{name}.txt").read_text() == "RIGHT"
    assert did(attack(*WALLS, *more).stdout) == set(ACTS)
    assert Path(prepared.stored, "write.txt").read_text() == "EVILT"


@everyone
def test_no_part_of_the_cache_is_shared_for_writing(prepared: Prepared) -> None:
    (prepared.home / "link").symlink_to(prepared.cache)
    packages = os.path.dirname(os.path.dirname(os.path.dirname(prepared.stored)))
    places = [prepared.cache, packages, prepared.stored, prepared.root, prepared.package]
    places += [f"{packages}/{one}" for one in ("records", "store", "scratch", "locks", "wheels")]
    places += [f"{prepared.home}/link", f"{prepared.package}/write.txt"]
    for place in places:
        for option in ("--write", "--work"):
            if option == "--work" and not os.path.isdir(place):
                continue
            done = prepared.wardian("exec", option, place, "--", "touch", f"{place}/evil")
            assert done.returncode in (2, 125), (option, place, done)
            assert "wardian's own files" in done.stderr, (option, place, done.stderr)


@everyone
def test_it_stays_read_only_in_what_is_shared_around_it(prepared: Prepared) -> None:
    before = files_below(prepared.stored)
    words = ("exec", "--write", str(prepared.home), "--with", "friendly", "--", "python", "-c")
    for place in (prepared.package, prepared.stored):
        done = prepared.wardian(*words, PROGRAM, place)
        assert did(done.stdout) == set(), done.stderr
    moves = f"""
import os
for one in ({str(prepared.home)!r} + "/.cache", {prepared.cache!r}):
    try:
        os.rename(one, one + ".evil"); print("moved", one)
    except OSError: pass
open({str(prepared.home)!r} + "/fine", "w").write("x")
"""
    done = prepared.wardian(*words, moves)
    assert "moved" not in done.stdout
    assert (prepared.home / "fine").exists()
    assert files_below(prepared.stored) == before
