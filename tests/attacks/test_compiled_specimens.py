"""Specimens are compiled in a sandbox: a source reads no file of the caller's, a compiler that lies
in the PATH is not started, and what is kept is not what somebody else put there."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from wardian.errors import InputError
from wardian.measure.probes.building import BuildError, built, compiled, compiler
from wardian.measure.probes.specimen import Specimen, read_specimen

pytestmark = [
    pytest.mark.skipif(compiler() is None, reason="a C compiler is not installed"),
    pytest.mark.long,
]

SOURCE = """/* It says something. */
#define CAPABILITY "demo_word"
#include "_runner_c.h"
{more}
static void exercise(void) {{ (void)WORD; }}
PROBE(exercise)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/wardian/probes"


def specimen(root: Path, text: str) -> Specimen:
    path = root / "core/demo/word.c"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return read_specimen(str(root), "core/demo/word.c")


def program(more: str) -> str:
    return (
        '/* One. */\n#define CAPABILITY "demo_word"\n' + more + "\nint main(void) { return 0; }\n"
    )


WAYS = [
    '#include "{secret}"',
    'const char secret[] = {{\n#include "{secret}"\n}};',
    '__asm__(".incbin \\"{secret}\\"");',
    '__asm__(".include \\"{secret}\\"");',
    '#if __has_include("{secret}")\n#else\n#error it is not there\n#endif',
    '#include "../../link"',
]


@pytest.mark.parametrize("way", WAYS)
def test_a_source_that_names_a_file_of_the_callers_gets_nothing(tmp_path: Path, way: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("int stolen_by_the_specimen;\n")
    root = tmp_path / "probes"
    root.mkdir()
    (root / "link").symlink_to(secret)
    one = specimen(root, program(way.format(secret=secret)))
    with pytest.raises(BuildError, match="does not compile") as caught:
        built_alone(one)
    assert "stolen_by_the_specimen" not in str(caught.value)
    assert built_alone(specimen(root, program("")))


def built_alone(one: Specimen) -> str:
    """As ``built`` does, without the helper, which has a main of its own."""
    cc = compiler()
    assert cc is not None
    return compiled(cc, (one.path,), {one.path: Path(one.source).read_bytes()})


def test_headers_of_a_directory_are_there_unless_they_lead_elsewhere(
    tmp_path: Path,
) -> None:
    root = tmp_path / "probes"
    one = specimen(root, SOURCE.format(more='#include "_word.h"'))
    (root / "_word.h").write_text('#define WORD "x"\n')
    assert built(one)
    (tmp_path / "secret").write_text('#define WORD "private"\n')
    (root / "_word.h").unlink()
    (root / "_word.h").symlink_to(tmp_path / "secret")
    with pytest.raises(BuildError, match="outside"):
        built(one)
    (root / "_word.h").unlink()
    os.mkfifo(root / "_word.h")
    began = time.monotonic()
    with pytest.raises(BuildError, match="not a regular file"):
        built(one)
    assert time.monotonic() - began < 30


def test_a_specimen_that_ships_compiles(cache: Path) -> None:
    from wardian.measure.probes.specimen import find_specimens, probes_dir

    first = next(one for one in find_specimens(probes_dir()) if one.language == "c")
    place = Path(built(first))
    assert place.parent == cache
    assert place.read_bytes()[:4] == b"\x7fELF"
    assert built(first) == str(place)


def test_a_compiler_in_the_path_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "bin"
    own.mkdir()
    for name in ("cc", "gcc", "as", "ld"):
        (own / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/mark\n")
        (own / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{own}:{os.environ['PATH']}")
    assert built_alone(specimen(tmp_path / "probes", program("int a;")))
    monkeypatch.setenv("CC", str(own / "cc"))
    assert compiler() is None
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("kind", ["link", "writable", "hard link"])
def test_a_program_that_somebody_else_can_change_is_compiled_anew(
    tmp_path: Path, cache: Path, kind: str
) -> None:
    one = specimen(tmp_path / "probes", program("int a;"))
    place = Path(built_alone(one))
    right = place.read_bytes()
    place.unlink()
    planted = tmp_path / "planted"
    planted.write_bytes(b"#!/bin/sh\n")
    if kind == "link":
        place.symlink_to(planted)
    elif kind == "hard link":
        os.link(planted, place)
    else:
        place.write_bytes(b"#!/bin/sh\n")
        place.chmod(0o777)
    assert Path(built_alone(one)).read_bytes() == right
    assert planted.read_bytes() == b"#!/bin/sh\n"


def test_the_kept_programs_lie_where_nobody_else_writes(tmp_path: Path, cache: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    built_alone(specimen(tmp_path / "probes", program("int a;")))
    assert cache.stat().st_mode & 0o022 == 0


def test_a_source_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wardian.measure.probes.building.COMPILE_S", 3.0)
    text = program("#define A B B\n" + "\n".join(
        f"#define {'BCDEFGHIJKLMNOPQRSTUVWXYZ'[i]} {'CDEFGHIJKLMNOPQRSTUVWXYZx'[i]} " * 1
        + f"{'CDEFGHIJKLMNOPQRSTUVWXYZx'[i]}" for i in range(25)) + "\nA\n")  # fmt: skip
    began = time.monotonic()
    with pytest.raises(BuildError):
        built_alone(specimen(tmp_path / "probes", text))
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_a_specimen_that_is_no_file_of_its_directory_is_not_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "probes/core/demo/word.py"
    path.parent.mkdir(parents=True)
    secret = tmp_path / "secret.py"
    secret.write_text('CAPABILITY = "demo_word"\n')
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(secret if kind == "link" else "/dev/zero")
    with pytest.raises(InputError, match="can't be read"):
        read_specimen(str(tmp_path / "probes"), "core/demo/word.py")
    path.unlink()
    path.write_text(secret.read_text())
    assert read_specimen(str(tmp_path / "probes"), "core/demo/word.py").capability == "demo_word"
