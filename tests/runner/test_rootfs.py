"""``pack --rootfs`` and ``--rootfs``: a skill runs with nothing of the host's /usr, and a tar that
means harm writes nothing outside of its own place."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.command import Wardian
from tests.runner.conftest import needs
from tests.skill_folders import MakeSkill
from wardian.runner.elf import library, library_folders, read_elf

pytestmark = pytest.mark.long

SKILLS = Path(__file__).parents[2] / "skills"
LOG = "2026-01-05 10:00:01 INFO user 17 logged in\n2026-01-05 10:01:00 ERROR disk 3 full\n"
FILES = {
    "sales.csv": "region;amount;note\nnorth;10.50;a\nsouth;20;\nnorth;1.25;b\n",
    "d/b.txt": "hello hello world\n",
    "d/sub/a b.txt": "",
    "a.log": LOG,
}
# skill, its script, the interpreter inside, arguments
CASES = [
    ("csv-report", "report.py", "python3", ["sales.csv", "--by", "region", "--sum", "amount"]),
    ("file-inventory", "inventory.sh", "sh", ["d"]),
    ("log-digest", "digest.sh", "bash", ["--top", "2", "a.log", "b.log.gz"]),
    pytest.param(
        "text-index", "index.mjs", "node", ["build", "d", "--out", "made.json"],
        marks=needs("node"),
    ),
]  # fmt: skip


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Files for the bundled skills to work on."""
    folder = tmp_path / "inputs"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "b.log.gz").write_bytes(gzip.compress(LOG.encode(), mtime=0))
    return folder


@pytest.mark.parametrize(("skill", "script", "program", "args"), CASES)
def test_a_bundled_skill_does_the_same_in_its_own_root(
    wardian: Wardian, inputs: Path, tmp_path: Path,
    skill: str, script: str, program: str, args: list[str],
) -> None:  # fmt: skip
    tar = tmp_path / "packed.tar"
    packed = wardian("pack", "--rootfs", SKILLS / skill, "-o", tar)
    assert packed.returncode == 0, packed.stderr
    assert "not included" not in packed.stderr

    def fresh(name: str) -> Path:
        return Path(shutil.copytree(inputs, tmp_path / name))

    usual = wardian("run", SKILLS / skill, script, "--work", fresh("w1"), "--", *args)
    command = [program, f"/skill/scripts/{script}", *args]
    by_exec = wardian("exec", "--rootfs", tar, "--work", fresh("w2"), "--", *command)
    by_run = wardian("run", "--rootfs", tar, "/skill", script, "--work", fresh("w3"), "--", *args)
    shared = wardian(
        "run", SKILLS / skill, script, "--rootfs", tar, "--work", fresh("w4"), "--", *args
    )
    for done in (usual, by_exec, by_run, shared):
        assert done.returncode == 0, done.stderr
        assert done.stdout == usual.stdout
    names = [sorted(p.relative_to(w) for p in w.rglob("*")) for w in tmp_path.glob("w[1-4]")]
    assert all(found == names[0] for found in names)


@pytest.fixture
def shell(wardian: Wardian, tmp_path: Path) -> Path:
    """A small root file system with a shell in it."""
    tar = tmp_path / "shell.tar"
    done = wardian("pack", "--rootfs", SKILLS / "file-inventory", "-o", tar)
    assert done.returncode == 0, done.stderr
    return tar


def test_nothing_of_the_hosts_usr_is_there(wardian: Wardian, shell: Path) -> None:
    held = {name.removeprefix("usr/bin/") for name in _names(shell) if name.startswith("usr/bin/")}
    done = wardian("exec", "--rootfs", shell, "--", "ls", "/usr/bin")
    assert set(done.stdout.split()) == held
    absent = sorted(name for name in os.listdir("/usr") if f"usr/{name}" not in _names(shell))
    assert "share" in absent
    for name in absent:
        assert (
            wardian("exec", "--rootfs", shell, "--", "ls", "-d", f"/usr/{name}").returncode == 2
        ), name


@pytest.mark.skipif(not os.access("/usr/local", os.W_OK), reason="/usr/local can't be written to")
def test_a_file_that_is_put_into_usr_local_is_not_seen(wardian: Wardian, shell: Path) -> None:
    marker = Path(f"/usr/local/wardian-test-{os.getpid()}")
    marker.write_text("host")
    marker.chmod(0o644)
    try:
        assert wardian("exec", "--", "cat", marker).stdout == "host"
        assert wardian("exec", "--rootfs", shell, "--", "cat", marker).returncode == 1
    finally:
        marker.unlink()


def test_the_guest_can_write_nothing_into_its_root(wardian: Wardian, shell: Path) -> None:
    script = "for at in /usr /usr/bin /skill /work; do touch $at/new && echo wrote $at; done; true"
    done = wardian("exec", "--rootfs", shell, "--", "sh", "-c", script)
    assert done.stdout == "wrote /work\n"
    assert wardian("exec", "--rootfs", shell, "--", "ls", "/usr/new").returncode == 2


def test_the_same_skill_gives_the_same_bytes(
    wardian: Wardian, make_skill: MakeSkill, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.sh": "#!/bin/sh\necho a\n", "scripts/b.py": "print('b')\n"})
    documents = []
    for number in range(2):
        for path in (skill / "SKILL.md", skill / "scripts/a.sh"):
            os.utime(path, (number, number))
            path.chmod((0o600, 0o664)[number])
        printed = wardian("pack", "--rootfs", skill, "-o", tmp_path / f"{number}.tar", "--json")
        documents.append(json.loads(printed.stdout))
    assert (tmp_path / "0.tar").read_bytes() == (tmp_path / "1.tar").read_bytes()
    assert documents[0]["sha256"] == documents[1]["sha256"]
    assert documents[0]["bytes"] == (tmp_path / "0.tar").stat().st_size
    assert documents[0]["missing"] == []
    assert {"skill/SKILL.md", "skill/scripts/a.sh", "bin"} <= set(documents[0]["files"])
    with tarfile.open(tmp_path / "0.tar") as tar:
        members = tar.getmembers()
    assert [m.name for m in members] == sorted(m.name for m in members)
    assert {(m.mtime, m.uid, m.gid, m.uname) for m in members} == {(0, 0, 0, "")}
    assert {m.mode for m in members} == {0o644, 0o755, 0o777}
    assert not any("__pycache__" in m.name or "/tkinter" in m.name for m in members)


def test_the_name_is_that_of_the_skill(wardian: Wardian, make_skill: MakeSkill) -> None:
    done = wardian("pack", "--rootfs", make_skill({"scripts/a.sh": "#!/bin/sh\necho a\n"}))
    assert done.stdout == "demo.rootfs.tar\n"
    assert "files" in done.stderr
    assert "bytes, with " in done.stderr


def test_what_can_not_be_brought_along_is_told(wardian: Wardian, make_skill: MakeSkill) -> None:
    skill = make_skill({"scripts/a.pl": "#!/usr/bin/env perl\nprint 1;\n"})
    done = wardian("pack", "--rootfs", skill)
    assert done.returncode == 0
    assert "not included: perl, which is never included, for scripts/a.pl" in done.stderr


def test_python_has_its_standard_library_and_its_locale(
    wardian: Wardian, make_skill: MakeSkill, tmp_path: Path
) -> None:
    code = (
        "import ctypes, decimal, hashlib, json, locale, lzma, sqlite3, ssl, sys, subprocess, zlib\n"
        "print(locale.setlocale(locale.LC_ALL, 'C.UTF-8'), sys.stdout.encoding)\n"
        "print(sqlite3.connect(':memory:').execute('select 6*7').fetchone()[0])\n"
        "print(subprocess.run('echo sub', shell=True, capture_output=True, text=True).stdout)\n"
        "print([p for p in sys.path if p.startswith('/usr')][0][:11])\n"
    )
    tar = tmp_path / "p.tar"
    assert (
        wardian("pack", "--rootfs", make_skill({"scripts/a.py": code}), "-o", tar).returncode == 0
    )
    done = wardian(
        "exec", "--rootfs", tar, "--", "/skill/../usr/bin/python3", "/skill/scripts/a.py"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["C.UTF-8", "utf-8", "42", "sub", "/usr/lib/py"]


def test_packages_that_the_skill_declares_come_along(
    wardian: Wardian, make_skill: MakeSkill, tmp_path: Path
) -> None:
    wheel = tmp_path / "tinything-1.0-py3-none-any.whl"
    about = "tinything-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("tinything.py", "WORD = 'packed'\n")
        made.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tinything\nVersion: 1.0\n")
        made.writestr(
            f"{about}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        made.writestr(f"{about}/RECORD", "")
    block = "# /// script\n# dependencies = ['tinything']\n# ///\n"
    skill = make_skill({"scripts/a.py": f"{block}import tinything\nprint(tinything.WORD)\n"})
    tar = tmp_path / "deps.tar"
    packed = wardian("pack", "--rootfs", skill, "-o", tar, env={"PIP_FIND_LINKS": str(tmp_path)})
    assert packed.returncode == 0, packed.stderr
    done = wardian("exec", "--rootfs", tar, "--", "python3", "/skill/scripts/a.py")
    assert (done.returncode, done.stdout) == (0, "packed\n"), done.stderr


@needs("cc")
def test_a_compiled_script_gets_its_libraries(
    wardian: Wardian, make_skill: MakeSkill, tmp_path: Path
) -> None:
    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text(
        "#include <math.h>\n#include <stdio.h>\n"
        'int main(int n, char **v) { return printf("%.0f\\n", pow(2, n)) < 0; }\n'
    )
    subprocess.run(["cc", source, "-o", program, "-lm"], check=True)
    skill = make_skill({"scripts/power": program.read_bytes()})
    (skill / "scripts/power").chmod(0o755)
    tar = tmp_path / "power.tar"
    assert wardian("pack", "--rootfs", skill, "-o", tar).returncode == 0
    done = wardian("run", "--rootfs", tar, "/skill", "power", "--", "x", "y")
    assert (done.returncode, done.stdout) == (0, "8\n")


# Using one


def test_a_second_use_extracts_nothing(
    wardian: Wardian, shell: Path, environment: dict[str, str]
) -> None:
    cache = Path(environment["XDG_CACHE_HOME"], "wardian/rootfs")
    assert wardian("exec", "--rootfs", shell, "--", "true").returncode == 0
    (place,) = (path for path in cache.iterdir() if path.is_dir())
    before = place.stat()
    copy = shell.with_name("copy.tar")
    shutil.copy(shell, copy)
    assert wardian("exec", "--rootfs", copy, "--", "true").returncode == 0
    assert [path for path in cache.iterdir() if path.is_dir()] == [place]
    assert (place.stat().st_ino, place.stat().st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


def test_what_an_interrupted_extraction_left_is_no_obstacle(
    wardian: Wardian, shell: Path, environment: dict[str, str]
) -> None:
    import hashlib

    digest = hashlib.sha256(shell.read_bytes()).hexdigest()
    left = Path(environment["XDG_CACHE_HOME"], f"wardian/rootfs/{digest}.partial/usr")
    left.mkdir(parents=True)
    assert wardian("exec", "--rootfs", shell, "--", "true").returncode == 0
    assert not left.parent.exists()


def test_many_at_once_extract_once(
    wardian: Wardian, shell: Path, environment: dict[str, str]
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: wardian("exec", "--rootfs", shell, "--", "true"), range(4)))
    assert [one.returncode for one in done] == [0] * 4, done
    names = os.listdir(Path(environment["XDG_CACHE_HOME"], "wardian/rootfs"))
    assert len(names) == 2  # the directory and the lock


@pytest.mark.parametrize("how", ["gz", "xz", "bz2"])
def test_a_compressed_tar_and_a_directory_do_too(
    wardian: Wardian, shell: Path, tmp_path: Path, how: str
) -> None:
    if shutil.which({"gz": "gzip", "xz": "xz", "bz2": "bzip2"}[how]) is None:
        pytest.skip(f"nothing here opens {how}")
    packed, folder = tmp_path / f"x.tar.{how}", tmp_path / "folder"
    folder.mkdir()
    subprocess.run(["tar", "-xf", shell, "-C", folder], check=True)
    with tarfile.open(packed, f"w:{how}") as tar:
        tar.add(folder, ".")
    for root in (packed, folder):
        done = wardian("exec", "--rootfs", root, "--", "sh", "-c", "echo $((6*7))")
        assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    done = wardian("exec", "--rootfs", "folder", "--", "true", cwd=tmp_path)
    assert done.returncode == 0


def test_a_program_that_is_not_inside_is_not_found(wardian: Wardian, shell: Path) -> None:
    done = wardian("exec", "--rootfs", shell, "--", "python3")
    assert done.returncode == 127
    done = wardian("run", "--rootfs", shell, SKILLS / "csv-report", "report.py")
    assert done.returncode == 127


def test_options_that_make_no_sense_with_it_are_refused(wardian: Wardian, shell: Path) -> None:
    assert wardian("exec", "--rootfs", shell, "--backend", "host", "--", "true").returncode == 125
    with_package = ("--with", "x", SKILLS / "csv-report", "report.py")
    assert wardian("run", "--rootfs", shell, *with_package).returncode == 125
    assert wardian("exec", "--rootfs", "", "--", "true").returncode == 125


# Tars that mean harm


def _tar(path: Path, *members: tuple[str, bytes, str, bytes]) -> Path:
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as tar:
        for name, kind, link, data in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size, info.mode = kind, link, len(data), 0o6777
            info.devmajor, info.devminor = (1, 3) if kind == tarfile.CHRTYPE else (0, 0)
            tar.addfile(info, io.BytesIO(data))
    return path


def _names(tar: Path) -> set[str]:
    with tarfile.open(tar) as opened:
        return set(opened.getnames())


REG, LINK, HARD = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE


@pytest.mark.parametrize(
    ("why", "members"),
    [
        ("..", [("../" * 12 + "{outside}/pwned", REG, "", b"x")]),
        ("empty", [("{outside}/pwned", REG, "", b"x")]),
        ("extracted", [("out", LINK, "{outside}", b""), ("out/pwned", REG, "", b"x")]),
        ("extracted", [("out", LINK, "../" * 12, b""), ("out/{outside}/pwned", REG, "", b"x")]),
        ("extracted", [("usr/null", tarfile.CHRTYPE, "", b"")]),
        ("neither", [("usr/pipe", tarfile.FIFOTYPE, "", b"")]),
        ("extracted", [("passwd", HARD, "/etc/passwd", b"")]),
        ("extracted", [("l", LINK, "{outside}/victim", b""), ("h", HARD, "l", b""),
                       ("l", REG, "", b"x"), ("x/../../h", REG, "", b"x")]),
        ("empty", []),
    ],
    ids=["dots", "absolute", "through a link", "up through a link", "device", "pipe",
         "hard link", "link behind a hard link", "empty"],
)  # fmt: skip
def test_a_hostile_tar_writes_nothing_outside(
    wardian: Wardian, tmp_path: Path, environment: dict[str, str],
    why: str, members: list[tuple[str, bytes, str, bytes]],
) -> None:  # fmt: skip
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim").write_text("whole")
    at = str(outside)
    filled = [
        (name.format(outside=at), kind, link.format(outside=at), data)
        for name, kind, link, data in members
    ]
    done = wardian("exec", "--rootfs", _tar(tmp_path / "hostile.tar", *filled), "--", "true")
    assert done.returncode == 125, done.stderr
    assert why in done.stderr
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"victim": "whole"}
    left = Path(environment["XDG_CACHE_HOME"], "wardian/rootfs")
    assert not [path for path in left.iterdir() if path.name.endswith(".partial")]


def test_setuid_bits_and_owners_do_not_come_along(
    wardian: Wardian, tmp_path: Path, environment: dict[str, str]
) -> None:
    tar = _tar(tmp_path / "s.tar", ("usr/bin/su", REG, "", b"x"), ("usr/x", REG, "", b"x"))
    wardian("exec", "--rootfs", tar, "--", "true")
    (found,) = Path(environment["XDG_CACHE_HOME"], "wardian/rootfs").rglob("su")
    assert found.stat().st_mode & 0o7777 == 0o755
    assert found.stat().st_uid == os.getuid()


def test_devices_in_dev_are_passed_over(wardian: Wardian, shell: Path, tmp_path: Path) -> None:
    copy = tmp_path / "with-dev.tar"
    shutil.copy(shell, copy)
    with tarfile.open(copy, "a") as tar:
        info = tarfile.TarInfo("./dev/kmsg")
        info.type, info.devmajor, info.devminor = tarfile.CHRTYPE, 1, 11
        tar.addfile(info)
    done = wardian("exec", "--rootfs", copy, "--", "ls", "/dev")
    assert done.returncode == 0, done.stderr
    assert "null" in done.stdout
    assert "kmsg" not in done.stdout


def test_a_bomb_meets_the_limit_of_the_disk(
    wardian: Wardian, tmp_path: Path, environment: dict[str, str]
) -> None:
    tar = _tar(tmp_path / "bomb.tar.gz", ("usr/big", REG, "", bytes(64 << 20)))
    done = wardian("exec", "--disk", "16M", "--rootfs", tar, "--", "true")
    assert done.returncode == 125
    assert "more than the limit of 16M" in done.stderr
    cache = Path(environment["XDG_CACHE_HOME"], "wardian/rootfs")
    assert [path.name for path in cache.iterdir()] == ["lock"]
    assert wardian("exec", "--disk", "100M", "--rootfs", tar, "--", "true").returncode == 127


def test_a_skill_in_it_that_is_a_link_is_none(wardian: Wardian, tmp_path: Path) -> None:
    tar = _tar(tmp_path / "l.tar", ("skill", LINK, str(SKILLS / "csv-report"), b""),
               ("usr/x", REG, "", b""))  # fmt: skip
    done = wardian("run", "--rootfs", tar, "/skill")
    assert done.returncode == 125
    assert "has no /skill" in done.stderr


@pytest.mark.parametrize(
    ("content", "why"), [(None, "no such file"), (b"", "tar"), (b"hello\n" * 999, "not a tar")]
)
def test_what_is_no_tar_is_told(
    wardian: Wardian, tmp_path: Path, content: bytes | None, why: str
) -> None:
    path = tmp_path / "given.tar"
    if content is not None:
        path.write_bytes(content)
    done = wardian("exec", "--rootfs", path, "--", "true")
    assert done.returncode == 125
    assert why in done.stderr


def test_a_truncated_tar_is_told(wardian: Wardian, shell: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.tar"
    cut.write_bytes(shell.read_bytes()[:1_000_000])
    done = wardian("exec", "--rootfs", cut, "--", "true")
    assert done.returncode == 125
    assert "truncated" in done.stderr


@pytest.mark.parametrize("path", ["/", "/proc", "//", "/usr/.."])
def test_the_host_itself_is_no_rootfs(wardian: Wardian, path: str) -> None:
    done = wardian("exec", "--rootfs", path, "--", "true")
    assert done.returncode == 125
    assert "the host's own root" in done.stderr


# ELF files


@needs("ldd")
@pytest.mark.parametrize("program", ["sh", "bash", "tar", "node", "ls"])
def test_the_libraries_of_a_program_are_those_that_the_loader_finds(program: str) -> None:
    path = shutil.which(program, path="/usr/bin:/bin")
    if path is None:
        pytest.skip(f"{program} is not installed")
    path = os.path.realpath(path)
    printed = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    expected = {
        os.path.realpath(line.split()[2]) for line in printed.splitlines() if " => " in line
    }
    found: set[str] = set()
    waiting = [path]
    while waiting:
        one = waiting.pop()
        elf = read_elf(one)
        assert elf is not None
        for name in elf.needed:
            where = library(name, one, elf, library_folders(), lambda real: True)
            assert where is not None, name
            if not name.startswith("ld-") and os.path.realpath(where) not in found:
                found.add(os.path.realpath(where))
                waiting.append(where)
    assert found == expected


def test_a_broken_elf_file_is_none(tmp_path: Path) -> None:
    whole = Path(os.path.realpath("/bin/sh")).read_bytes()
    broken = tmp_path / "broken"
    for change in (b"", b"#!/bin/sh\n", whole[:64], whole[:200], whole[:32] + b"\xff" * 32):
        broken.write_bytes(change)
        read_elf(str(broken))  # nothing is raised
    for at in range(0, 4096, 7):
        broken.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8 : 1 << 16])
        read_elf(str(broken))
