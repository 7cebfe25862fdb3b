"""Which Python a wish means."""

from __future__ import annotations

from pathlib import Path

import pytest

from wardian.runner.pythons import allows, find, version_of


@pytest.mark.parametrize(
    ("wish", "version", "fits"),
    [
        ("3", (3, 11), True),
        ("3.12", (3, 12, 1), True),
        ("3.12", (3, 11, 9), False),
        (">=3.10", (3, 10, 0), True),
        (">=3.10,<3.13", (3, 13), False),
        (">=3.10, <3.13", (3, 12, 4), True),
        (">=3.11.5", (3, 11, 4), False),
        (">=3.11.5", (3, 11), True),
        ("~=3.11", (3, 13, 0), True),
        ("~=3.11.2", (3, 12, 0), False),
        ("==3.11.*", (3, 11, 7), True),
        ("==3.11.*", (3, 12, 7), False),
        ("!=3.11.*", (3, 11, 7), False),
        ("==3.11.7", (3, 11, 7), True),
        ("==3.11.7", (3, 11, 8), False),
        ("<3.12", (3, 12), False),
        ("<=3.12", (3, 12), True),
        (">3.11", (3, 11, 1), True),
        ("2", (2, 7, 18), True),
        ("three", (3, 11), False),
        ("", (3, 11), False),
    ],
)
def test_a_wish_is_read_as_pep_440_has_it(wish: str, version: tuple[int, ...], fits: bool) -> None:
    assert allows(wish, version) is fits


def installed(folder: Path, name: str) -> Path:
    program = folder / name
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_versions_of_pyenv_are_known_to_the_patch_level(tmp_path: Path) -> None:
    python = installed(tmp_path / "versions/3.12.1/bin", "python3.12")
    assert version_of(str(python)) == (3, 12, 1)


def test_the_version_that_fits_is_found_on_the_path_and_in_pyenv(tmp_path: Path) -> None:
    on_path = installed(tmp_path / "bin", "python3.9")
    kept = installed(tmp_path / "pyenv/versions/3.12.1/bin", "python3.12")
    newer = installed(tmp_path / "pyenv/versions/3.13.0/bin", "python3.13")
    env = {"PATH": str(tmp_path / "bin"), "PYENV_ROOT": str(tmp_path / "pyenv")}
    found = {wish: find(wish, env) for wish in ("3.9", "3.12", ">=3.10", "3.99")}
    assert found["3.9"] is not None
    assert found["3.9"].path == str(on_path)
    assert found["3.12"] is not None
    assert found["3.12"].path == str(kept)
    assert found[">=3.10"] is not None
    assert found[">=3.10"].path == str(newer)
    assert found["3.99"] is None


def test_the_python_of_the_path_comes_before_a_newer_one(tmp_path: Path) -> None:
    usual = installed(tmp_path / "bin", "python3.11")
    (tmp_path / "bin/python3").symlink_to("python3.11")
    installed(tmp_path / "bin", "python3.13")
    found = find(">=3.10", {"PATH": str(tmp_path / "bin"), "PYENV_ROOT": str(tmp_path)})
    assert found is not None
    assert Path(found.path).resolve() == usual
