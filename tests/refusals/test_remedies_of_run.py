"""What ``wardian run`` suggests is done as it is printed, and cures: for each wall by its document,
and for what a person reads by the lines on standard error."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import wardian
from tests.attacks.callers import ORDINARY_ID, open_to_all
from tests.refusals.scene import SEEING, Scene, standing_scene
from tests.refusals.test_walls import WALLS, changed, the_one
from tests.refusals.wall import Wall, filled
from tests.skill_folders import write_skill

MOST_ROUNDS = 5
# In a /work on disk, as a run's is, opens by relative paths are not looked at (docs/refusals.md).
UNSEEN = (
    "relative",
    "relative-dotted",
    "relative-list",
    "relative-create",
    "relative-run",
    "open-files",
)
# What follows is to be typed as it stands, up to the end of the line.
PRINTED = re.compile(
    r"(?:allow|allow more|keep them|run|to change it|: to add it): (--[a-z].*)$|: (--work \.)$"
)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with standing_scene(tmp_path_factory.mktemp("scene")) as standing:
        yield standing


def ran(
    there: dict[str, str], skill: Path, script: str, options: list[str], args: list[str]
) -> Any:
    return subprocess.run(
        [sys.executable, "-P", "-m", "wardian", "run", skill, script, *options, "--", *args],
        cwd=there["CWD"],
        env={**os.environ, "HOME": there["HOME"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=60,
        check=False,
    )


def representatives() -> list[Any]:
    """One wall for each kind of remedy always; all others where there is time."""
    seen: set[tuple[str, str]] = set()
    found = []
    for wall in (wall for wall in WALLS if wall.flag != "-"):
        key = (wall.kind, wall.flag.partition(" ")[0])
        marks = [pytest.mark.long] if key in seen or wall.flag == "*" else []
        seen.add(key)
        found.append(pytest.param(wall, id=wall.name, marks=marks))
    return found


@pytest.mark.parametrize("wall", representatives())
def test_the_suggestion_in_the_document_of_a_run_helps(
    wall: Wall, scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = scene.reset("@CWD@", *wall)
    if wall.needs != "-" and wall.needs not in there:
        pytest.skip(f"this host has no {wall.needs}")
    if wall.name in UNSEEN:
        pytest.skip("run does not see it, and suggests nothing")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    skill = write_skill(tmp_path / "walls", {"scripts/wall.sh": '#!/bin/sh\nexec "$@"\n'})
    program = [filled(word, there) for word in wall.command()]
    options = [*SEEING, *(filled(word, there) for word in wall.options.split() if word != "-")]
    target = filled(wall.target, there)

    def document(more: list[str]) -> Any:
        return json.loads(ran(there, skill, "wall.sh", ["--json", *more], program).stdout)

    first = document(options)
    refused = the_one(wall, first["refusals"], target)
    assert first["exit_code"] != 0
    assert refused is not None, first["refusals"]
    assert refused["allow"] is not None
    scene.reset("@CWD@", *wall)
    second = document(changed(options, shlex.split(refused["allow"]["flag"])))
    assert second["exit_code"] == 0, (refused["allow"], second["stderr"], second["refusals"])
    assert the_one(wall, second["refusals"], target) is None


class Case(NamedTuple):
    """A script that fails until what is printed is done; ``remedies`` are the options that then
    were added, by name."""

    name: str
    script: str
    code: str
    remedies: tuple[str, ...]
    options: tuple[str, ...] = ()
    args: tuple[str, ...] = ()


CASES = [
    Case("reads", "w.py", "open('@OUT@/f').read()", ("--read",)),
    Case("reads-two", "w.py", "open('@OUT@/f'); open('@OUT@/d/g')", ("--read", "--read")),
    Case("writes", "w.sh", "echo x >> @OUT@/f && cat @TMP@/f", ("--read", "--write")),
    Case(
        "connects", "w.py", "import socket; socket.create_connection(('127.0.0.1', @TCP@), 9)",
        ("--net",),
    ),
    Case("argument", "w.sh", 'cat "$1"', ("--work",), (), ("f",)),
    Case("time", "w.sh", "sleep 1.2", ("--time",), ("--time", "1s")),
    Case(
        "output", "w.py", "import os, time; os.write(1, b'x' * 1500); time.sleep(.3)",
        ("--output",), ("--output", "1000"),
    ),
    Case(
        "memory", "w.py", "import time; kept = b'x' * (90 << 20); time.sleep(.5)",
        ("--memory",), ("--memory", "64M"),
    ),
    Case(
        "syscall", "w.py", "import socket; socket.socket(16, 3, 4)", ("--allow-syscall",)
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_run_prints_is_done_and_cures(
    case: Case, scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = scene.reset("@CWD@", "@OUT@", "@TMP@")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    code = filled(case.code, there)
    start = "#!/bin/sh\nset -e\n" if case.script.endswith(".sh") else ""
    skill = write_skill(tmp_path / "case", {f"scripts/{case.script}": f"{start}{code}\n"})
    options, added = [*SEEING, *case.options], []
    for _ in range(MOST_ROUNDS):
        done = ran(there, skill, case.script, options, list(case.args))
        if done.returncode == 0:
            break
        flag = printed(done.stderr)
        assert flag, done.stderr
        options = changed(options, flag)
        added += flag[::2]
    assert done.returncode == 0, (options, done.stderr)
    assert sorted(set(added)) == sorted(set(case.remedies)), (options, done.stderr)
    assert printed(done.stderr) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another group's")
@pytest.mark.parametrize("place", ["/skill", "/plugin/skills/case"])
@pytest.mark.parametrize(("owner", "cure"), [(ORDINARY_ID, "--write"), (0, "--out")])
def test_where_a_skill_has_no_layer_what_is_printed_cures(
    place: str, owner: int, cure: str
) -> None:
    """An ordinary user's own skill, of a group that is not the user's, and another user's skill;
    each also in a plugin."""
    base = Path(tempfile.mkdtemp(prefix="wardian-remedies-", dir="/var/tmp"))
    try:
        base.chmod(0o755)
        shutil.copytree(Path(wardian.__file__).parent, base / "src" / "wardian")
        code = f"open('{place}/made', 'w'); open('{place}/scripts/made', 'w')\n"
        top = base / "clone"
        skill = write_skill(top / "skills" / "case", {"scripts/w.py": code})
        if place != "/skill":
            (top / ".git").mkdir()
            (top / ".claude-plugin").mkdir()
            (top / ".claude-plugin" / "plugin.json").write_text('{"name": "kit"}')
        (base / "here").mkdir()
        open_to_all(base)
        for path in (top, *top.rglob("*")):
            os.chown(path, owner, 0)
        os.chown(base / "here", ORDINARY_ID, 0)
        options: list[str] = []
        for _ in range(MOST_ROUNDS):
            done = subprocess.run(
                ["/usr/bin/python3", "-P", "-m", "wardian", "run", skill, "w.py", *options],
                cwd=base / "here",
                env={
                    "PATH": os.defpath,
                    "PYTHONPATH": str(base / "src"),
                    "HOME": str(base / "here"),
                },
                user=ORDINARY_ID,
                group=ORDINARY_ID,
                extra_groups=[],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            if done.returncode == 0:
                break
            options += [word.replace("DIR", "kept") for word in printed(done.stderr)]
        assert done.returncode == 0, (options, done.stderr)
        assert set(options[::2]) == {cure}
        made = skill if cure == "--write" else base / "here" / "kept" / "skill"
        assert (made / "made").exists()
    finally:
        shutil.rmtree(base)


def printed(stderr: str) -> list[str]:
    """All options that are offered, as a shell would read them."""
    found = [PRINTED.search(line) for line in stderr.splitlines()]
    return [word for one in found if one for word in shlex.split(one[1] or one[2])]
