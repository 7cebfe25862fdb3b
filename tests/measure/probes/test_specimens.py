"""Specimens are found by path, and read without being run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.measure.probes.conftest import PROBES, Tree
from wardian.errors import InputError, NothingMatched, UsageError
from wardian.measure.probes.specimen import (
    choose_capabilities,
    find_specimens,
    identify,
    probes_dir,
    select,
)


def test_an_id_is_the_path_without_its_extension() -> None:
    assert identify("core/filesystem/tmp_write.py") == "core__filesystem__tmp_write"
    assert identify("fuzz/ipc/ipc_pipe/0001_odd.c") == "fuzz__ipc__ipc_pipe__0001_odd"


def test_the_shipped_specimens_are_found_with_what_they_declare() -> None:
    found = {one.id: one for one in find_specimens(probes_dir())}
    one = found["core__filesystem__tmp_write_native"]
    assert (one.capability, one.language, one.domain, one.kind) == (
        "filesystem_tmp_write", "c", "filesystem", "core",
    )  # fmt: skip
    assert one.source == str(PROBES / "core/filesystem/tmp_write_native.c")
    assert {one.language for one in found.values()} >= {"python", "c", "r", "sh", "node"}


def test_every_shipped_specimen_says_what_it_shows_and_belongs_to_its_domain() -> None:
    for one in find_specimens(probes_dir()):
        assert one.summary.endswith("."), one.path
        assert one.capability.startswith(f"{one.domain}_"), one.path


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.py", "pass\n", "declares no capability"),
        ("x.py", 'CAPABILITY = "Not-A-Slug"\n', "declares no capability"),
        ("X.py", 'CAPABILITY = "a_b"\n', "can't be part of an ID"),
        ("a__b.py", 'CAPABILITY = "a_b"\n', "can't be part of an ID"),
    ],
)
def test_a_specimen_that_can_not_be_used_is_reported_with_its_file(
    tree: Tree, name: str, text: str, message: str
) -> None:
    file = tree.add(name, text)
    with pytest.raises(InputError, match=message) as error:
        find_specimens(str(tree.path))
    assert error.value.path == str(file)


def test_two_specimens_with_one_id_are_refused(tree: Tree) -> None:
    tree.add("same.py", 'CAPABILITY = "filesystem_same"\n')
    tree.add("same.sh", "CAPABILITY=filesystem_same\n")
    with pytest.raises(InputError, match="same ID"):
        find_specimens(str(tree.path))


def test_bytes_that_are_no_text_are_reported(tree: Tree) -> None:
    tree.add("x.py", "").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="UTF-8"):
        find_specimens(str(tree.path))


def test_helpers_caches_and_other_files_are_no_specimens(tree: Tree) -> None:
    tree.add("_shared.py", "x = 1\n")
    tree.add("notes.txt", "x\n")
    tree.add("__pycache__/x.py", "x\n")
    tree.add("one.py", 'CAPABILITY = "filesystem_one"\n')
    assert [one.id for one in find_specimens(str(tree.path))] == ["core__filesystem__one"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("core__filesystem__tmp_write", 1),
        ("core__filesystem__tmp_write*", 5),
        ("filesystem_tmp_write", 5),
        ("probes/core/filesystem/tmp_write.py", 1),
    ],
)
def test_specimens_are_chosen_by_id_glob_capability_or_path(pattern: str, expected: int) -> None:
    assert len(select(find_specimens(probes_dir()), [pattern])) == expected


def test_what_selects_nothing_is_reported_with_what_is_near() -> None:
    found = find_specimens(probes_dir())
    with pytest.raises(NothingMatched) as error:
        select(found, ["core__filesystem__tmp_wirte"])
    assert "core__filesystem__tmp_write" in str(error.value.hint)
    with pytest.raises(NothingMatched, match="no domain"):
        select(found, domains=["astrology"])
    with pytest.raises(NothingMatched, match="no capability"):
        choose_capabilities(found, ["filesystem_tmp_wirte"])


def test_a_directory_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        probes_dir(str(tmp_path / "nowhere"))
