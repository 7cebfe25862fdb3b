"""``wardian cache``, and what is shown while packages are prepared."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND, Wardian
from tests.runner.hostile import Index, serving, wheel

DAY_S = 86400


@pytest.fixture
def settings() -> Iterator[dict[str, str]]:
    with serving(Index()) as index:
        for name in ("friendly", "other"):
            index.add(*wheel(name, {f"{name}.py": "X = 1\n" * 5000}))
        yield {"PIP_INDEX_URL": f"{index.url}/simple", "PIP_NO_INDEX": "0"}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "home/cache/wardian/packages-3"


def prepare(wardian: Wardian, settings: dict[str, str], *names: str) -> None:
    words = [word for name in names for word in ("--with", name)]
    done = wardian("exec", *words, "--", "true", env=settings)
    assert done.returncode == 0, done.stderr


def shown(wardian: Wardian, *words: str) -> dict[str, Any]:
    done = wardian("cache", *words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def make_old(cache: Path) -> None:
    """As if everything had last been used three days ago."""
    for path in [*cache.rglob("*"), *cache.iterdir()]:
        if path.is_file() and path.suffix in (".json", ".whl"):
            os.utime(path, (time.time() - 3 * DAY_S,) * 2)


def test_an_empty_cache_is_none(wardian: Wardian, cache: Path) -> None:
    assert wardian("cache", "path").stdout == f"{cache}\n"
    done = wardian("cache", "list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no packages have been prepared yet" in done.stderr
    assert shown(wardian, "size")["bytes"] == 0
    assert shown(wardian, "prune", "--all")["removed"] == []
    assert not cache.exists()


def test_what_is_there_and_how_large_it_is(
    wardian: Wardian, settings: dict[str, str], cache: Path
) -> None:
    prepare(wardian, settings, "friendly")
    line = wardian("cache", "list").stdout
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d +\S+ \wB +environment +\w{12}  friendly\n", line
    )
    (one,) = shown(wardian, "list")["entries"]
    assert (one["kind"], one["about"]) == ("environment", "friendly")
    assert Path(one["path"]).parent == cache / "environments"
    kinds = {entry["kind"]: entry["bytes"] for entry in shown(wardian, "list", "--all")["entries"]}
    assert set(kinds) == {"environment", "wheel", "archive"}
    assert kinds["wheel"] >= 30000  # the module; an environment only links to it
    size = shown(wardian, "size")
    assert size["bytes"] == sum(kinds.values())
    assert {kind: one["count"] for kind, one in size["kinds"].items()} == dict.fromkeys(kinds, 1)
    on_disk = subprocess.run(["du", "-s", "-B1", cache], capture_output=True, text=True, check=True)
    assert size["bytes"] <= int(on_disk.stdout.split()[0]) <= size["bytes"] + 200000
    text = wardian("cache", "size").stdout
    assert [line.split()[-1] for line in text.splitlines()] == [*kinds, "total"]
    assert wardian("cache", "path").stdout.strip() == size["path"]


def test_prune_removes_what_nothing_uses_and_what_is_old(
    wardian: Wardian, settings: dict[str, str], cache: Path
) -> None:
    prepare(wardian, settings, "friendly")
    prepare(wardian, settings, "friendly", "other")
    assert shown(wardian, "prune")["removed"] == []
    (cache / "scratch/left").mkdir()
    (cache / "environments/unfinished").mkdir()
    removed = [entry["name"] for entry in shown(wardian, "prune")["removed"]]
    assert sorted(removed) == ["left", "unfinished"]
    make_old(cache)
    assert shown(wardian, "prune", "--older-than", "4d")["removed"] == []
    prepare(wardian, settings, "friendly")  # used again
    dry = shown(wardian, "prune", "--older-than", "2d", "--dry-run")
    assert dry["dry_run"]
    assert sorted(entry["kind"] for entry in dry["removed"]) == ["archive", "environment", "wheel"]
    assert len(shown(wardian, "list")["entries"]) == 2
    text = wardian("cache", "prune", "--older-than", "2d", "--dry-run")
    assert len(text.stdout.splitlines()) == 3
    assert "3 would be removed" in text.stderr
    gone = shown(wardian, "prune", "--older-than", "2d")
    assert gone["removed"] == dry["removed"]
    assert gone["bytes"] == dry["bytes"] > 0
    (left,) = shown(wardian, "list")["entries"]
    assert left["about"] == "friendly"
    done = wardian("exec", "--with", "friendly", "--", "python", "-c", "import friendly")
    assert done.returncode == 0, done.stderr
    assert shown(wardian, "prune", "--all")["bytes"] > 0
    assert shown(wardian, "size")["bytes"] == 0
    prepare(wardian, settings, "friendly")


def test_what_a_run_uses_stays(
    wardian: Wardian, settings: dict[str, str], environment: dict[str, str], tmp_path: Path
) -> None:
    line = "echo ready; read go; python -c 'import friendly; print(friendly.X)'"
    command = [*COMMAND, "exec", "--with", "friendly", "--", "sh", "-c", line]
    with subprocess.Popen(
        command, env=environment | settings, cwd=tmp_path, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as run:  # fmt: skip
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        found = shown(wardian, "prune", "--all")
        assert [*found["left"].values()] == ["a run is using it"]
        assert "environment" not in {entry["kind"] for entry in found["removed"]}
        out, _ = run.communicate("go\n", timeout=60)
    assert out == "1\n"
    assert [e["kind"] for e in shown(wardian, "prune", "--all")["removed"]] == ["environment"]


def test_two_that_prune_at_once_remove_everything_once(
    wardian: Wardian, settings: dict[str, str], environment: dict[str, str], cache: Path
) -> None:
    prepare(wardian, settings, "friendly", "other")
    words = [*COMMAND, "cache", "prune", "--all", "--json"]
    both = [
        subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    answers = [json.loads(one.communicate(timeout=60)[0]) for one in both]
    assert [one.returncode for one in both] == [0, 0]
    paths = [entry["path"] for answer in answers for entry in answer["removed"]]
    assert len(paths) == len(set(paths)) == 5
    assert [answer["left"] for answer in answers] == [{}, {}]
    assert shown(wardian, "size")["bytes"] == 0


def test_links_in_the_cache_are_removed_and_never_followed(
    wardian: Wardian, settings: dict[str, str], cache: Path, tmp_path: Path
) -> None:
    prepare(wardian, settings, "friendly")
    victim = tmp_path / "victim"
    (victim / "inner").mkdir(parents=True)
    (victim / "inner/file").write_bytes(b"0" * (1 << 20))
    (environment_,) = (cache / "environments").iterdir()
    (environment_ / "link").symlink_to(victim)
    places = [
        cache / kind / "evil" for kind in ("environments", "wheels", "scratch", "store/python")
    ]
    places += [cache.parent / "packages-1", cache / "store/npm/evil"]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(victim)
    (cache / "records/evil.json").symlink_to(victim / "inner/file")
    os.mkfifo(cache / "wheels/pipe")
    os.mkfifo(cache / "wheels/pipe.json")
    assert shown(wardian, "size")["bytes"] < 1 << 20
    shown(wardian, "list", "--all")
    assert shown(wardian, "prune", "--all")["left"] == {}
    assert (victim / "inner/file").stat().st_size == 1 << 20
    assert [place for place in places if place.is_symlink()] == [cache.parent / "packages-1"]
    assert list((cache / "environments").iterdir()) == []


def test_a_cache_that_is_a_link_is_refused(wardian: Wardian, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "victim/environments/x").mkdir(parents=True)
    cache.parent.mkdir(parents=True)
    cache.symlink_to(tmp_path / "victim")
    done = wardian("cache", "prune", "--all")
    assert done.returncode == 125, done
    assert (tmp_path / "victim/environments/x").is_dir()


@pytest.mark.parametrize(
    ("words", "why"),
    [(("--all", "--older-than", "1d"), "combined"), (("--older-than", "soon"), "not a duration"),
     (("--older-than", "none"), "must be a duration"), (("--older-than", "-1d"), "duration")],
)  # fmt: skip
def test_usage_that_makes_no_sense_is_refused(
    words: tuple[str, ...], why: str, wardian: Wardian
) -> None:
    done = wardian("cache", "prune", *words)
    assert done.returncode == 2
    assert why in done.stderr


def test_in_a_pipe_each_package_has_a_line(wardian: Wardian, settings: dict[str, str]) -> None:
    words = ("exec", "--with", "friendly", "--with", "other", "--", "true")
    lines = wardian(*words, env=settings).stderr.splitlines()
    assert lines[0] == "wardian: preparing friendly, other"
    assert sorted(line.partition(", ")[0] for line in lines[1:-1]) == [
        "wardian: friendly 1.0: fetched", "wardian: other 1.0: fetched",
    ]  # fmt: skip
    assert re.fullmatch(r"wardian: prepared friendly, other in \d+\.\d s", lines[-1])


def test_on_a_terminal_one_line_is_redrawn(
    environment: dict[str, str], settings: dict[str, str], tmp_path: Path
) -> None:
    ours, theirs = pty.openpty()
    words = [*COMMAND, "exec", "--with", "friendly", "--with", "other", "--", "true"]
    env = environment | settings | {"TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(words, env=env, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs):
        os.close(theirs)
        printed = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the terminal's other side is closed
                break
            if not piece:
                break
            printed += piece
    os.close(ours)
    shown = printed.decode()
    # What a terminal is left with: each line as it is after its last carriage return.
    screen = [line.rpartition("\r")[2].removeprefix("\x1b[K") for line in shown.split("\r\n")[:-1]]
    assert len(screen) == 1, printed
    assert screen[0].startswith("wardian: prepared friendly, other in ")
    assert re.search(r"\[#+\.+\] 1/2 packages, about \d+ s left", shown)
    assert shown.index("friendly 1.0: fetched") < shown.index("wardian: prepared")
    assert shown.index("other 1.0: fetched") < shown.index("wardian: prepared")


def test_bytecode_that_can_t_be_kept_is_not_reported(
    wardian: Wardian, settings: dict[str, str]
) -> None:
    line = "import friendly, os; open(os.path.dirname(friendly.__file__) + '/x', 'w')"
    done = wardian("exec", "--with", "friendly", "--", "python", "-c", line, env=settings)
    assert "1 access was blocked" in done.stderr, done.stderr
