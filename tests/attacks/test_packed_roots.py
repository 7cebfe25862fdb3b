"""`wardian pack --rootfs` and suites take nothing private along, whatever an ELF file or a link in
a skill or its packages names."""

from __future__ import annotations

import os
import shutil
import struct
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from wardian.errors import SkillError
from wardian.measure.suites.programs import find_programs
from wardian.runner.elf import library, read_elf
from wardian.runner.image import Image
from wardian.runner.rootfs_packing import pack_rootfs
from wardian.skills.archive import pack

pytestmark = pytest.mark.long

SECRET = b"-----BEGIN PRIVATE KEY----- of the caller's"
PROMPT_S = 120.0  # a busy machine included


def elf(
    *,
    loader: str | None = None,
    needed: Sequence[str] = (),
    search: str = "",
    machine: int = 62,
    entries: bytes | None = None,
    size: int | None = None,
) -> bytes:
    """A small ELF file that asks the loader for these."""
    strings = b"\0"
    dynamic = b""
    for tag, text in (*((1, one) for one in needed), *([(29, search)] if search else ())):
        dynamic += struct.pack("<qQ", tag, len(strings))
        strings += os.fsencode(text) + b"\0"
    interp = os.fsencode(loader) + b"\0" if loader is not None else b""
    count = 3 if interp else 2
    first = 64 + 56 * count
    at_strings = first + len(interp)
    at_dynamic = at_strings + len(strings)
    told = len(strings) if size is None else size
    dynamic += struct.pack("<qQqQqQ", 5, at_strings, 10, told, 0, 0)
    dynamic = dynamic if entries is None else entries
    end = at_dynamic + len(dynamic)
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, count, 0, 0, 0)
    table = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, max(end, told + at_strings), end, 4096)
    table += struct.pack("<IIQQQQQQ", 2, 4, at_dynamic, at_dynamic, 0, len(dynamic), 0, 8)
    if interp:
        table += struct.pack("<IIQQQQQQ", 3, 4, first, first, 0, len(interp), 0, 1)
    return head + table + interp + strings + dynamic


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A directory of the caller's: a key, and an ELF file of its own."""
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "key").write_bytes(SECRET)
    (folder / "libown.so").write_bytes(elf() + SECRET)
    return folder


def make_skill(tmp_path: Path, program: bytes) -> Path:
    folder = tmp_path / "packed"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: packed\ndescription: Is packed.\n---\n\nRun it.\n")
    (folder / "scripts/tool").write_bytes(program)
    (folder / "scripts/tool").chmod(0o755)
    return folder


def holds_secret(tar: Path) -> list[str]:
    with tarfile.open(tar) as archive:
        found = []
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None and SECRET in file.read():
                found.append(member.name)
        return found


WAYS = {
    "loader": {"loader": "{private}/key"},
    "loader that is ELF": {"loader": "{private}/libown.so"},
    "loader by dots": {"loader": "/usr/lib/../..{private}/libown.so"},
    "loader by a link": {"loader": "{link}/libown.so"},
    "library": {"needed": ["{private}/key"]},
    "library that is ELF": {"needed": ["{private}/libown.so"]},
    "search path": {"needed": ["libown.so"], "search": "{private}"},
    "search path by dots": {"needed": ["libown.so"], "search": "/usr/../{private}"},
    "search path of several": {"needed": ["libown.so"], "search": "/usr/lib:{private}"},
    "origin": {"needed": ["libown.so"], "search": "$ORIGIN/../../private"},
    "braced origin": {"needed": ["libown.so"], "search": "${{ORIGIN}}/../../private"},
    "linked folder": {"needed": ["libown.so"], "search": "{link}"},
    "name that climbs": {"needed": ["../../private/key"], "search": "$ORIGIN"},
}


@pytest.mark.parametrize("way", WAYS)
def test_an_elf_file_in_a_skill_brings_nothing_private_along(
    tmp_path: Path, private: Path, way: str
) -> None:
    (tmp_path / "link").symlink_to(private)
    names = {"private": str(private), "link": str(tmp_path / "link")}
    given = WAYS[way]
    asked = {
        key: value.format(**names) if isinstance(value, str)
        else [one.format(**names) for one in value]
        for key, value in given.items()
    }  # fmt: skip
    skill = make_skill(tmp_path, elf(**asked))  # type: ignore[arg-type]
    packed = pack_rootfs(skill, tmp_path / "out.tar", say=print)
    assert holds_secret(packed.path) == []
    assert any("tool" in one or "private" in one for one in packed.missing)


def test_an_elf_file_in_a_skill_brings_the_systems_libraries_and_its_own_along(
    tmp_path: Path,
) -> None:
    sh = read_elf(os.path.realpath("/bin/sh"))
    assert sh is not None
    assert sh.loader is not None
    program = elf(
        loader=sh.loader, needed=["libm.so.6", "libmine.so"], search="$ORIGIN/lib",
        machine=sh.machine,
    )  # fmt: skip
    skill = make_skill(tmp_path, program)
    (skill / "scripts/lib").mkdir()
    (skill / "scripts/lib/libmine.so").write_bytes(elf(machine=sh.machine))
    packed = pack_rootfs(skill, tmp_path / "out.tar", say=print)
    names = {os.path.basename(name) for name in packed.files}
    assert {"libm.so.6", "libmine.so", os.path.basename(sh.loader)} <= names


def test_a_library_that_is_no_elf_file_is_none_wherever_it_lies(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, elf(needed=["words"], search="$ORIGIN"))
    (skill / "scripts/words").write_bytes(SECRET)
    packed = pack_rootfs(skill, tmp_path / "out.tar", say=print)
    assert holds_secret(packed.path) == ["skill/scripts/words"]


# Packages


@pytest.mark.parametrize("kind", ["file", "folder", "chain", "library"])
def test_a_link_in_a_package_brings_nothing_private_along(
    tmp_path: Path, private: Path, kind: str
) -> None:
    packages = tmp_path / "environment/lib/site-packages"
    (packages / "own").mkdir(parents=True)
    (packages / "own/data").write_text("fine")
    (packages / "own/inner").symlink_to("data")
    if kind == "file":
        (packages / "own/key").symlink_to(private / "key")
    elif kind == "folder":
        (packages / "keys").symlink_to(private)
    elif kind == "chain":
        (packages / "own/key").symlink_to("other")
        (packages / "own/other").symlink_to(private / "key")
    else:
        (packages / "own/x.so").write_bytes(elf(needed=["libown.so"], search=str(private)))
    image = Image()
    image.admit(str(packages))
    image.tree("usr/lib/p", str(packages), lambda name: True)
    image.write(str(tmp_path / "out.tar"))
    assert holds_secret(tmp_path / "out.tar") == []
    assert "usr/lib/p/own/inner" in image.members
    assert bool(image.missing) == (kind != "folder")


def test_packages_that_are_themselves_a_link_are_not_followed(
    tmp_path: Path, private: Path
) -> None:
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment/packages").symlink_to(private)
    image = Image()
    image.admit(str(tmp_path / "environment"))
    image.tree("usr/lib/p", str(tmp_path / "environment/packages"), lambda name: True)
    image.write(str(tmp_path / "out.tar"))
    assert holds_secret(tmp_path / "out.tar") == []


def test_a_file_that_becomes_a_link_while_it_is_packed_is_not_followed(
    tmp_path: Path, private: Path
) -> None:
    place = tmp_path / "environment"
    place.mkdir()
    (place / "a").mkdir()
    (place / "a/x").write_text("fine")
    for swapped in ("a/x", "a"):
        image = Image()
        image.admit(str(place))
        image.file("x", str(place / "a/x"))
        kept = tmp_path / "kept"
        (place / swapped).rename(kept)
        (private / "x").write_bytes(SECRET)
        (place / swapped).symlink_to(private / "x" if swapped == "a/x" else private)
        with pytest.raises(OSError, match=r"regular|levels"):
            image.write(str(tmp_path / "out.tar"))
        assert not (tmp_path / "out.tar").exists()
        (place / swapped).unlink()
        kept.rename(place / swapped)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads what others may not")
def test_a_file_of_the_systems_that_only_root_may_read_is_not_packed(tmp_path: Path) -> None:
    secret = Path(f"/usr/local/lib/libwardian-test-{os.getpid()}.so")
    secret.write_bytes(elf() + SECRET)
    try:
        secret.chmod(0o600)
        skill = make_skill(tmp_path, elf(needed=[str(secret)]))
        packed = pack_rootfs(skill, tmp_path / "out.tar", say=print)
        assert holds_secret(packed.path) == []
    finally:
        secret.unlink()


def test_a_skill_with_a_link_is_not_packed_at_all(tmp_path: Path, private: Path) -> None:
    skill = make_skill(tmp_path, b"#!/bin/sh\n")
    (skill / "key").symlink_to(private / "key")
    with pytest.raises(SkillError, match="link"):
        pack(skill, tmp_path / "out.skill")
    with pytest.raises(SkillError, match="link"):
        pack_rootfs(skill, tmp_path / "out.tar", say=print)
    assert not (tmp_path / "out.skill").exists()
    assert not (tmp_path / "out.tar").exists()


# Hostile headers


def many(count: int, tag: int) -> bytes:
    return b"".join(struct.pack("<qQ", tag, 1) for _ in range(count))


HOSTILE = {
    "a name without end": elf(needed=["x" * 100_000], size=1 << 40),
    "a million entries": elf(entries=many(100_000, 1)),
    "a million paths": elf(needed=["a"], search=":".join(["/usr/lib"] * 100_000)),
    "a loader with a NUL": elf(loader="/lib64/\0/etc/shadow"),
    "no name": elf(needed=["", ".", ".."]),
    "bytes that are no text": elf(needed=["\udcff\udcfe"], loader="/\udcff"),
    "cut off": elf(needed=["libm.so.6"])[:150],
    "far away": elf()[:32] + struct.pack("<Q", (1 << 64) - 1) + elf()[40:],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_elf_file_is_read_in_no_time(tmp_path: Path, name: str) -> None:
    began = time.monotonic()
    skill = make_skill(tmp_path, HOSTILE[name])
    packed = pack_rootfs(skill, tmp_path / "out.tar", say=print)
    assert packed.size > 0
    found = read_elf(str(skill / "scripts/tool"))
    assert found is None or (len(found.needed) <= 512 and len(found.search) <= 64)
    assert time.monotonic() - began < PROMPT_S


def test_libraries_that_need_each_other_and_a_chain_of_many_come_to_an_end(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, elf(needed=["lib0.so"], search="$ORIGIN"))
    for number in range(1500):
        text = elf(needed=[f"lib{(number + 1) % 1500}.so"], search="$ORIGIN")
        (skill / f"scripts/lib{number}.so").write_bytes(text)
    packed = pack_rootfs(skill, tmp_path / "out.tar", say=print)
    assert any(name.endswith("/lib1499.so") for name in packed.files)


def test_a_pipe_is_no_elf_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_elf(str(tmp_path / "pipe")) is None
    assert read_elf("/dev/zero") is None


# Suites


@pytest.mark.parametrize("way", ["library that is ELF", "search path", "origin", "linked folder"])
def test_a_test_program_is_not_given_what_it_names_elsewhere(
    tmp_path: Path, private: Path, way: str
) -> None:
    (tmp_path / "link").symlink_to(private)
    names = {"private": str(private), "link": str(tmp_path / "link")}
    asked = {
        key: value.format(**names) if isinstance(value, str)
        else [one.format(**names) for one in value]
        for key, value in WAYS[way].items()
    }  # fmt: skip
    suite = tmp_path / "suite/bin"
    suite.mkdir(parents=True)
    (suite / "one").write_bytes(elf(**asked))  # type: ignore[arg-type]
    (suite / "one").chmod(0o755)
    (suite / "one.runfiles").symlink_to(private)
    for given in (str(suite), str(suite / "one")):
        (program,) = find_programs([given], "exit").programs
        shared = [share.path for share in program.shares]
        assert not any(str(private).startswith(path) or path.startswith(str(private))
                       for path in shared), shared  # fmt: skip
        assert program.runfiles == ""


def test_a_test_program_is_given_the_libraries_beside_it(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    (suite / "lib").mkdir(parents=True)
    (suite / "lib/libown.so").write_bytes(elf())
    (suite / "one").write_bytes(elf(needed=["libown.so"], search="$ORIGIN/lib"))
    (suite / "one").chmod(0o755)
    (program,) = find_programs([str(suite / "one")], "exit").programs
    assert str(suite / "lib/libown.so") in [share.path for share in program.shares]


def test_what_is_admitted_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    shutil.copy(os.path.realpath("/bin/sh"), tmp_path / "sh")
    found = read_elf(str(tmp_path / "sh"))
    assert found is not None
    path = str(tmp_path / "sh")
    assert library(path, path, found, [], lambda real: True) == os.path.realpath(path)
    assert library("sh", path, found, [str(tmp_path)], lambda real: True) is not None
    assert library(path, path, found, [], lambda real: False) is None
