"""Which file is installed under a name: the one with the hash that was given, and from an index,
never one that another skill named by URL."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.test_packages_python import TOOLS, for_tool
from tests.command import Wardian
from tests.runner.conftest import environment, make_skill, wardian
from tests.runner.hostile import Index, sdist, serving, wheel
from tests.skill_folders import MakeSkill
from wardian.errors import UsageError
from wardian.runner.packages.model import Archive, Locked, PackageFile, PreparationError
from wardian.runner.packages.pins import narrowed, pins_of, refuse_unpinned
from wardian.runner.packages.requirements import checked, lines_of

pytestmark = pytest.mark.long

__all__ = ["environment", "make_skill", "wardian"]
PLAIN = "import friendly; print('friendly', friendly.X)\n"
A, B = "a" * 64, "b" * 64


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Index()) as made:
        made.add(*wheel("friendly", {"friendly.py": "X = 1"}))
        made.add(*wheel("outer", {"outer.py": ""}, ("friendly",)))
        yield made


# Hashes


def test_hashes_are_taken_off_requirements_and_kept_as_pins() -> None:
    text = f"One==1 \\\n  --hash=sha256:{A} \\\n --hash  sha256:{B.upper()}\ntwo ; os_name=='posix' --hash=sha512:{A + B}\n"
    lines = lines_of(text)
    assert checked(lines) == ("One==1", 'two ; os_name == "posix"')
    pins = pins_of(lines)
    assert pins.complete
    assert pins.of("one") == {("sha256", A), ("sha256", B)}
    assert pins.of("two") == {("sha512", A + B)}
    with pytest.raises(PreparationError, match="three has no --hash"):
        pins.of("three")


def test_a_hash_in_a_url_counts_for_that_package_alone() -> None:
    pins = pins_of([f"x @ https://h/x-1-py3-none-any.whl#sha256={A}", "y"])
    assert (pins.of("x"), pins.of("y")) == ({("sha256", A)}, None)


@pytest.mark.parametrize(
    "text",
    ["x --hash", "x --hash=", "x --hash=sha256", f"x --hash={A}", f"x --hash=md5:{A[:32]}", f"x --hash=sha256:{A[1:]}",
     f"x --hash=sha256:{A}0", f"x --hash=sha256:{A[1:]}g", f"x --hash=sha256:{A},sha256:{B}", f"--hash=sha256:{A}",
     f"x --hash=sha256:{A} --index-url=https://h", f"x --hash:sha256={A}", f"x --hashes=sha256:{A}"],
)  # fmt: skip
def test_a_hash_that_can_not_be_enforced_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a package"):
        checked([text])
    with pytest.raises(UsageError, match="not a package"):
        pins_of([text])


def test_candidates_with_other_hashes_are_left_out(tmp_path: Path) -> None:
    pins = pins_of([f"x --hash=sha256:{A}"])
    right, wrong = (
        PackageFile("https://h/1", (("sha256", A),)),
        PackageFile("https://h/2", (("sha256", B),)),
    )
    silent = PackageFile("https://h/3", (("sha512", A + B),))
    (kept,) = narrowed(pins, [Locked("x", "1", (wrong, right, silent))])
    assert kept.candidates == (right, silent)
    with pytest.raises(PreparationError, match="does not match the hash"):
        narrowed(pins, [Locked("X", "1", (wrong,))])
    (tmp_path / "x.whl").write_bytes(b"x")
    archive = Archive(str(tmp_path / "x.whl"), "x.whl", "")
    with pytest.raises(PreparationError, match="does not match the hash"):
        refuse_unpinned(pins, "x", archive)
    refuse_unpinned(pins_of([f"x --hash=sha512:{hashlib.sha512(b'x').hexdigest()}"]), "x", archive)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_file_with_another_hash_is_not_installed(
    tool: str, index: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    settings = for_tool(tool, f"{index.url}/simple")
    right = index.hash("friendly-1.0-py3-none-any.whl")
    other = index.hash("outer-1.0-py3-none-any.whl")
    direct = f"friendly @ {index.url}/files/friendly-1.0-py3-none-any.whl"
    for text, why in (
        (f"friendly==1.0 --hash=sha256:{A}", "does not match the hash"),
        (f"outer --hash=sha256:{other}", "friendly has no --hash"),
        (f"{direct}#sha256={A}", ""),
    ):
        skill = make_skill({"scripts/a.py": PLAIN, "requirements.txt": text})
        done = wardian("run", skill, "a.py", env=settings)
        assert (done.returncode, done.stdout) == (125, ""), done.stderr
        assert why in done.stderr
        assert "Traceback" not in done.stderr
    for text in (
        f"outer --hash=sha256:{other}\nfriendly==1.0 --hash=sha256:{A} \\\n  --hash=sha256:{right}",
        f"{direct}#sha256={right}",
    ):
        skill = make_skill({"scripts/a.py": PLAIN, "requirements.txt": text})
        done = wardian("run", skill, "a.py", env=settings)
        assert done.stdout == "friendly 1\n", done.stderr


def test_a_source_archive_with_another_hash_is_not_built(
    index: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    name, data = sdist("built", index.url)
    index.add(name, data)
    script = "import built; print('built')"
    for digest, expected in ((A, ""), (hashlib.sha256(data).hexdigest(), "built\n")):
        needs = f"built --hash=sha256:{digest}"
        skill = make_skill({"scripts/a.py": script, "requirements.txt": needs})
        settings = for_tool("pip", f"{index.url}/simple")
        done = wardian("run", skill, "a.py", "--build", env=settings)
        assert done.stdout == expected, done.stderr


# What another skill named by URL


@pytest.mark.parametrize("tool", TOOLS)
def test_a_wheel_by_url_serves_no_requirement_by_name(
    tool: str, index: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    """Neither with a network nor without one; what came from the index does serve then."""
    settings = for_tool(tool, f"{index.url}/simple")
    with serving(Index()) as other:
        name, data = wheel("friendly", {"friendly.py": "X = 'poisoned'"}, version="9.0")
        other.add(name, data)
        skill = make_skill({"scripts/a.py": PLAIN})
        by_url = f"friendly @ {other.url}/files/{name}"
        done = wardian("run", skill, "a.py", "--with", by_url, env=settings)
        assert done.stdout == "friendly poisoned\n", done.stderr
    offline = wardian("run", skill, "a.py", "--with", "friendly", "--offline", env=settings)
    assert (offline.returncode, offline.stdout) == (125, ""), offline.stderr
    done = wardian("run", skill, "a.py", "--with", "friendly", env=settings)
    assert done.stdout == "friendly 1\n", done.stderr
    again = wardian("run", skill, "a.py", "--with", "friendly>=1", "--offline", env=settings)
    assert again.stdout == "friendly 1\n", again.stderr


# Package managers


def test_an_old_uv_gives_way_to_pip(
    index: Index, make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "uv").write_text(
        "#!/bin/sh\necho \"error: unexpected argument '--format' found\" >&2\nexit 2\n"
    )
    (folder / "uv").chmod(0o755)
    settings = for_tool("pip", f"{index.url}/simple")
    settings["PATH"] = f"{folder}{os.pathsep}{settings['PATH']}"
    skill = make_skill({"scripts/a.py": PLAIN})
    done = wardian("run", skill, "a.py", "--with", "friendly", env=settings)
    assert done.stdout == "friendly 1\n", done.stderr
    assert "uv is too old" in done.stderr
    assert "pip is used instead" in done.stderr


@pytest.mark.parametrize("tool", TOOLS[-1:])
def test_a_prepared_environment_finds_its_base_wherever_that_is(
    tool: str, index: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    """The base of an environment may lie below the caller's home, as those of pyenv do."""
    script = "import friendly, ssl, sys; print(friendly.X, sys.base_prefix, sys.prefix != sys.base_prefix)"
    skill = make_skill({"scripts/a.py": script})
    settings = for_tool(tool, f"{index.url}/simple")
    done = wardian("run", skill, "a.py", "--with", "friendly", env=settings)
    number, base, inside = done.stdout.split()
    assert (number, inside) == ("1", "True"), done.stderr
    assert os.path.isfile(os.path.join(base, "bin/python3"))


def test_the_python_of_the_system_is_a_base_too(
    index: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    if not os.path.exists("/usr/bin/python3"):
        pytest.skip("/usr/bin/python3 is not installed")
    settings = for_tool("pip", f"{index.url}/simple") | {"PATH": "/usr/bin:/bin"}
    skill = make_skill({"scripts/a.py": "import friendly, sys; print(friendly.X, sys.base_prefix)"})
    done = wardian("run", skill, "a.py", "--with", "friendly", env=settings)
    assert done.stdout == "1 /usr\n", done.stderr


# Declarations that are made to take long

DEEP = "a." * 200_000 + "a = 1\n"


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"pyproject.toml": DEEP}, "run"),
        ({"pyproject.toml": DEEP}, "check"),
        ({"scripts/a.py": f"# /// script\n# {DEEP}# ///\nprint('started')\n"}, "run"),
        ({"cases.toml": DEEP}, "test"),
    ],
)
def test_a_key_of_many_parts_stops_nobody(
    files: dict[str, str], command: str, make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = make_skill({"scripts/a.py": "print('started')\n", **files})
    words = ("run", skill, "a.py") if command == "run" else (command, skill)
    done = wardian(*words, timeout=60)
    assert done.returncode != 0
    assert "started" not in done.stdout
    assert "32 parts" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
