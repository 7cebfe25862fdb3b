"""Each hint applied as it is printed: the command that failed runs then."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import call, environment

from .tables import COMMANDS, Cure


@pytest.fixture
def places(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What the tables' capitals stand for, and a directory for the sockets of sandboxes."""
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    found = {"LINK": tmp_path / "shared" / "link", "POLICY": tmp_path / "policy.toml"}
    for name in ("directory", "other", "shared"):
        found[name.upper()] = tmp_path / name
        found[name.upper()].mkdir()
    found["LINK"].symlink_to(found["OTHER"])
    found["POLICY"].write_text(f'[files]\nbase = ["{found["OTHER"]}"]\n')
    (found["SHARED"] / "policy.toml").write_text("")
    found["LIMITED"] = tmp_path / "limited.toml"
    found["LIMITED"].write_text('[network]\nmode = "host"\nmax_connections = 5\n')
    found["PROGRAM"] = tmp_path / "tool"
    shutil.copy("/bin/true", found["PROGRAM"])
    yield {name: str(path) for name, path in found.items()} | {"RUNTIME": str(runtime)}
    env = environment(XDG_RUNTIME_DIR=str(runtime))
    call("down", "--all", cwd=tmp_path, env=env)


def wardian(words: list[str], places: dict[str, str]) -> subprocess.CompletedProcess[str]:
    env = environment(XDG_RUNTIME_DIR=places["RUNTIME"])
    return call(*words, cwd=Path(places["DIRECTORY"]), env=env)


def spelled(command: str, places: dict[str, str]) -> list[str]:
    words = shlex.split(command)
    for name, path in places.items():
        words = [re.sub(rf"\b{name}\b", path, word) for word in words]
    return words


def hint_of(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode in (2, 3, 125), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.partition("\nhint: ")[2].rstrip("\n")


def with_options(words: list[str], options: str) -> list[str]:
    """The command with these options: in place of the same ones, but for those that add up."""
    added = shlex.split(options)
    for option, value in zip(added[::2], added[1::2], strict=True):
        if option in words and option not in ("--degrade", "--read", "--write"):
            words[words.index(option) + 1] = value
        else:
            words[1:1] = [option, value]
    return words


def applied(cure: Cure, part: str, words: list[str], places: dict[str, str]) -> list[str]:
    """The command again, with this part of its hint applied."""
    how, _, what = cure.how.partition(" ")
    if how == "options":
        if part == "--backend host":  # for which no wall has to be given up
            words = [word for word in words if word not in ("--degrade", "seccomp")]
        return with_options(words, part)
    if how == "instead":
        wrong = spelled(what, places)[0]
        return [word.replace(wrong, part) for word in words]
    if how == "drop":
        return [word for word in words if word != part]
    if how == "cwd":
        return with_options(words, "--cwd /tmp")
    if how == "append":
        return [*words, part.strip(), what]
    if how == "policy":
        Path(places["POLICY"]).write_text(f"[files]\n{part}\n")
        return words
    if how == "network":
        Path(places["LIMITED"]).write_text(f"[network]\n{part}\nmax_connections = 5\n")
        return words
    if how == "copy":
        shutil.copy(f"{places['SHARED']}/policy.toml", places["POLICY"])
        return [word.replace(f"{places['SHARED']}/policy.toml", places["POLICY"]) for word in words]
    if how == "up":
        assert wardian(["down", "cured"], places).returncode == 0
        part = f"{part}{places['PROGRAM']} cured"
    assert how in ("shell", "up")
    assert wardian(shlex.split(part)[1:], places).returncode == 0
    return words


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_runs_once_its_hint_is_applied(name: str, places: dict[str, str]) -> None:
    cure = COMMANDS[name]
    if cure.how == "up":
        assert wardian(["up", "cured"], places).returncode == 0
    if (
        "LINK" in cure.command or "SHARED" in cure.command
    ):  # shared for writing once, so that the link may be a guest's
        shared = wardian(["exec", "--write", places["SHARED"], "--", "true"], places)
        assert shared.returncode == 0, shared.stderr
    words = spelled(cure.command, places)
    hint = hint_of(wardian(list(words), places))
    found = re.fullmatch(cure.hint, hint, re.DOTALL)
    assert found, hint
    for part in found.groups():
        again = wardian(applied(cure, part, list(words), places), places)
        assert again.returncode == 0, (part, again.stderr)
