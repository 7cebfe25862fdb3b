"""Lines that wardian prints for people: nothing that a guest or a skill wrote gets to the terminal
raw, and what is there to be pasted does no more than it shows, in any shell."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests import command
from tests.skill_folders import write_skill
from wardian.text import shell_word

ESCAPE = "\\033]0;owned\\007"  # as printf takes it


def call(*words: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "WARDIAN_"))}
    return command.call(*words, cwd=home, env=env | {"HOME": str(home), "LC_ALL": "C.UTF-8"})


def assert_harmless(printed: str) -> None:
    """Lines, and nothing that a terminal obeys."""
    assert all(line.isprintable() for line in printed.split("\n")), repr(printed)


def test_names_of_folders_in_a_hint_are_harmless(tmp_path: Path) -> None:
    """A module that the guest put somewhere, and claims to miss."""
    (work := tmp_path / "work").mkdir()
    script = f"""d=$(printf 'a{ESCAPE}'); mkdir "$d"; touch "$d/some.py"
        echo "No module named 'some'" >&2; exit 1"""
    done = call("exec", "--work", work, "--", "sh", "-c", script, home=tmp_path)
    assert "PYTHONPATH" in done.stderr
    assert_harmless(done.stderr)


FAILING = {
    "always": f"printf '{ESCAPE}' >&2; exit 1",
    "later": f"test -e /usr/share/zoneinfo || {{ printf '{ESCAPE}' >&2; exit 1; }}",
}


@pytest.mark.parametrize("script", FAILING.values(), ids=FAILING)
def test_what_a_run_prints_is_harmless_where_learning_quotes_it(
    script: str, tmp_path: Path
) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "script").write_text(script)
    done = call("learn", "--read", f"{tmp_path / 's'}:/s", "--", "sh", "/s/script", home=tmp_path)
    assert "owned" in done.stderr
    assert_harmless(done.stderr)


NAMES = ("$(touch pasted)", "a\n'; touch pasted; '", "a;touch pasted")


@pytest.mark.parametrize("name", NAMES)
def test_the_target_of_a_guests_link_is_one_word_of_a_shell(name: str, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / name).mkdir(parents=True)
    link = ("ln", "-s", name, "link")
    assert call("exec", "--work", shared, "--", *link, home=tmp_path).returncode == 0
    done = call("exec", "--read", f"{shared / 'link'}:/x", "--", "true", home=tmp_path)
    assert done.returncode == 125
    (line,) = [line for line in done.stderr.split("\n") if "name the target itself" in line]
    assert_does_nothing(line.partition(": ")[2].partition(": ")[2], tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_skills_script_is_one_word_of_a_shell(name: str, tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "demo", {f"scripts/{name}.sh": "#!/bin/sh\n"})
    done = call("check", skill, home=tmp_path)
    hints = [line.partition("chmod")[2] for line in done.stdout.split("\n") if "chmod" in line]
    assert len(hints) == 1
    assert_does_nothing(hints[0], tmp_path)


def test_a_script_gets_no_option_into_a_line_to_be_pasted(tmp_path: Path) -> None:
    option = "--python-downloads-json-url=http://example.invalid"
    block = f'# /// script\n# requires-python = "{option}"\n# ///\n'
    skill = write_skill(tmp_path / "demo", {"scripts/a.py": block})
    done = call("run", skill, "a.py", home=tmp_path)
    assert done.returncode == 127
    assert option in done.stderr.partition("hint:")[0]
    assert option not in done.stderr.partition("hint:")[2]


@pytest.mark.parametrize("name", NAMES)
def test_a_printed_word_is_one_word_of_every_shell(name: str, tmp_path: Path) -> None:
    assert_does_nothing(shell_word(name), tmp_path)


def assert_does_nothing(words: str, folder: Path) -> None:
    """As the arguments of a command, in shells that know $'…' and those that do not."""
    for shell in ("bash", "dash"):
        subprocess.run([shell, "-c", f"true {words}"], cwd=folder, check=True)
    assert not (folder / "pasted").exists()
