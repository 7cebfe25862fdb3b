"""The skills that come along are valid, and do what their cases say, here as without a sandbox."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.command import Wardian
from wardian.skills import check

pytestmark = pytest.mark.long

SKILLS = Path(__file__).parents[2] / "skills"
NAMES = sorted(path.name for path in SKILLS.iterdir() if (path / "SKILL.md").exists())
# Needs Pillow, which is fetched from the package index.
FETCHES = {"image-contact-sheet"}


def test_there_are_eight() -> None:
    assert len(NAMES) == 8


@pytest.mark.parametrize("name", NAMES)
def test_each_is_valid_and_has_cases(name: str) -> None:
    assert [one for one in check(SKILLS / name) if one.severity != "info"] == []
    assert (SKILLS / name / "cases.toml").exists()


@pytest.mark.parametrize("name", NAMES)
def test_each_passes_its_cases_and_agrees_with_the_host(name: str, wardian: Wardian) -> None:
    if name in FETCHES and "WARDIAN_TEST_INDEX" not in os.environ:
        pytest.skip("WARDIAN_TEST_INDEX is not set: packages may not be fetched")
    index = {"PIP_NO_INDEX": "0", "PIP_CONFIG_FILE": ""} if name in FETCHES else {}
    done = wardian(
        "test",
        SKILLS / name,
        "--in",
        "wardian,host",
        "--oracle",
        "host",
        "--json",
        "--jobs",
        "2",
        env=index,
    )
    document = json.loads(done.stdout)
    wrong = [one for one in document["outcomes"] if one["verdict"] not in ("pass", "skip")]
    assert wrong == [], done.stderr
    assert document["summary"]["pass"] > 0


def test_the_nosy_one_gets_at_nothing_and_is_told_of(wardian: Wardian, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "data.json").write_text('{"b":1,"a":2}')
    secrets = {"AWS_SECRET_ACCESS_KEY": "x", "API_KEY": "y"}
    done = wardian(
        "run",
        SKILLS / "nosy-helper",
        "tidy.py",
        "--work",
        work,
        "-v",
        "--",
        "data.json",
        env=secrets,
    )
    assert done.returncode == 0
    assert "nosy: got" not in done.stderr
    assert "nosy: 0 of 18 attempts succeeded" in done.stderr
    assert "accesses were blocked" in done.stderr
    assert json.loads((work / "data.json").read_text()) == {"a": 2, "b": 1}
