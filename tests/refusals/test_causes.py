"""Programs that fail in a sandbox for a known reason: the first cause in the report is that one.

``causes.tsv`` has a row for each: the cause as ``kind action target`` (``*`` for any target), the
options of the run, what it needs, the program as ``wall`` writes them. ``hard`` marks the few where
what was seen does not suffice; at least nine of ten are right.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.refusals.scene import SEEING, Scene, standing_scene
from tests.refusals.test_walls import by_command
from tests.refusals.wall import Wall, filled

HOME = (
    ".aws/config", ".aws/credentials", ".bashrc", ".cache/pip/x", ".config/git/config", ".gitconfig",
    ".config/pip/pip.conf", ".docker/config.json", ".local/lib/python3.11/site-packages/a.py",
    ".netrc", ".profile", ".ssh/config", ".ssh/id_rsa", ".ssh/known_hosts", ".vimrc",
)  # fmt: skip


class Failing(NamedTuple):
    """A row."""

    name: str
    cause: str
    options: str
    needs: str
    program: str

    def command(self) -> list[str]:
        """The program's words."""
        return Wall("", "", "", "", "", "", "", "", "", self.program).command()


def failing() -> list[Failing]:
    _, *lines = Path(__file__).with_name("causes.tsv").read_text(encoding="utf-8").splitlines()
    return [Failing(*line.split("\t")) for line in lines]


ROWS = failing()


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with standing_scene(tmp_path_factory.mktemp("scene")) as standing:
        yield standing


def populate_home(home: Path) -> None:
    """Files that the homes of most people have."""
    for name in HOME:
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("", encoding="ascii")


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row, id=row.name, marks=[pytest.mark.xfail(strict=True)] * (row.needs == "hard")
        )
        for row in ROWS
    ],
)
def test_the_true_cause_of_a_failure_comes_first(
    row: Failing, scene: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if row.needs not in ("-", "hard") and shutil.which(row.needs) is None:
        pytest.skip(f"{row.needs} is not installed")
    there = scene.reset("@CWD@", "@HOME@", *row)
    populate_home(Path(there["HOME"]))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    options = [*SEEING, *(filled(word, there) for word in row.options.split() if word != "-")]
    document = by_command(there, options, [filled(word, there) for word in row.command()])
    assert document["exit_code"] != 0, "it did not fail"
    refusals = document["refusals"]
    assert document["likely_causes"], refusals
    first = refusals[document["likely_causes"][0]]
    kind, action, target = filled(row.cause, there).split(" ", 2)
    assert (first["kind"], first["action"], target) == (
        kind,
        action,
        "*" if target == "*" else first["target"],
    ), refusals
    assert first["weight"] == "cause"
    assert {one["weight"] for one in refusals} <= {"cause", "notable", "routine"}


def test_nine_of_ten_are_right_and_there_are_enough() -> None:
    assert len(ROWS) == len({row.name for row in ROWS}) >= 50
    assert sum(row.needs == "hard" for row in ROWS) <= len(ROWS) // 10
