"""For each wall of the boundary a program that runs into it: the refusal is right, and what
it suggests lets the program through and leaves no refusal."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.refusals.scene import SEEING, Scene, standing_scene
from tests.refusals.wall import Wall, filled, walls
from wardian import Policy, Result, Sandbox
from wardian.cli.options import EXEC_OPTIONS, parse, policy_of

TABLES = ("files.tsv", "network.tsv", "limits.tsv")
WALLS = [wall for table in TABLES for wall in walls(table)]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with standing_scene(tmp_path_factory.mktemp("scene")) as standing:
        yield standing


def by_command(scene: dict[str, str], options: list[str], program: list[str]) -> dict[str, Any]:
    """The result document of ``wardian exec --json``."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "wardian", "exec", "--json", *options, "--", *program],
        cwd=scene["CWD"],
        env={**os.environ, "HOME": scene["HOME"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    document: dict[str, Any] = json.loads(done.stdout)
    assert "error" not in document, document
    return document


def by_api(
    scene: dict[str, str], options: list[str], lines: str, program: list[str], tmp: Path
) -> Result:
    """The same through ``Sandbox``, with the suggested lines in a policy file."""
    base = policy_of(parse(options, EXEC_OPTIONS)[0])
    file = tmp / "policy.toml"
    file.write_text(lines, encoding="utf-8")
    cwd = options[options.index("--cwd") + 1] if "--cwd" in options else None
    with Sandbox(Policy.from_toml(file, base)) as sandbox:
        return sandbox.run(program, cwd=cwd)


def the_one(wall: Wall, refusals: list[dict[str, Any]], target: str) -> dict[str, Any] | None:
    wanted = (wall.kind, wall.action, target)
    found = [r for r in refusals if (r["kind"], r["action"], r["target"]) == wanted]
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize("wall", WALLS, ids=[wall.name for wall in WALLS])
def test_a_refusal_is_reported_and_its_suggestion_helps(
    wall: Wall, scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = scene.reset("@CWD@", *wall)
    if wall.needs != "-" and wall.needs not in there:
        pytest.skip(f"this host has no {wall.needs}")
    monkeypatch.chdir(there["CWD"])
    monkeypatch.setenv("HOME", there["HOME"])
    # The scene is one for all: what one case shares for writing must not spoil another's links.
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    program = [filled(word, there) for word in wall.command()]
    options = [*SEEING, *(filled(word, there) for word in wall.options.split() if word != "-")]
    target = filled(wall.target, there)

    first = by_command(there, options, program)
    refused = the_one(wall, first["refusals"], target)
    assert first["exit_code"] != 0, "it ran into nothing"
    assert refused is not None, first["refusals"]
    assert wall.reason in refused["reason"]
    assert wall.times in ("*", str(refused["count"]))
    chain = [refused["process"], *refused["process"]["parents"]]
    if wall.kind != "limit":
        assert chain[-1]["command"].startswith(program[0]), chain
    if wall.flag == "-":
        assert refused["allow"] is None
        return
    assert refused["allow"] is not None
    assert wall.flag in ("*", "") or refused["allow"]["flag"] == filled(wall.flag, there)

    scene.reset("@CWD@", *wall)
    flag = shlex.split(refused["allow"]["flag"])
    second = by_command(there, changed(options, flag), program)
    assert second["exit_code"] == 0, (flag, second["stderr"], second["refusals"])
    assert the_one(wall, second["refusals"], target) is None

    scene.reset("@CWD@", *wall)
    third = by_api(there, options, refused["allow"]["policy"], program, tmp_path)
    assert third.exit_code == 0, (refused["allow"]["policy"], third.stderr, third.refusals)
    documents = [refusal.document() for refusal in third.refusals]
    assert the_one(wall, documents, target) is None


def changed(options: list[str], flag: list[str]) -> list[str]:
    """The options with those of the suggestion: added, or in place of what can be given once."""
    several = {f"--{option.name}" for option in EXEC_OPTIONS if option.several}
    result = list(options)
    for name, value in zip(flag[::2], flag[1::2], strict=True):
        if name in result and name not in several:
            at = result.index(name)
            del result[at : at + 2]
        result += [name, value]
    return result
