"""Learned policies and the next run: what it lacks is named, added exactly, and shown."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND
from tests.skill_folders import MakeSkill
from wardian import Policy
from wardian.learn.adding import ceiling
from wardian.learn.editing import with_items, with_remark, with_value
from wardian.learn.libraries import libraries, linked_outside
from wardian.learn.places import held_by, whole
from wardian.sandbox.policy.difference import differences
from wardian.sandbox.root.parts import Parts
from wardian.text import shell_word

from .conftest import Wardian

AGAIN = "wardian: learn again with this run: "
# On an option it starts a program, links a file and takes more memory than the floor.
SCRIPT = """\
import json, sys
text = open(sys.argv[1]).read()
if "--more" in sys.argv:
    import os, subprocess
    subprocess.run(["wc", "-l", sys.argv[1]], check=True, stdout=subprocess.DEVNULL)
    os.symlink("a", "link")
    os.remove("link")
    held = b"x" * (600 << 20)
print(json.dumps(len(text)))
"""
ATTACKS = {
    "socket": "import socket\nsocket.socket()\n",
    "memfd": "import os\nos.memfd_create('x')\n",
    "program": "import os\nassert os.access('/usr/bin/env', os.X_OK)\n",
    "listing": "import os\nassert len(os.listdir('/usr/bin')) > 50\n",
    "rename": "import os\nopen('a', 'w').close()\nos.rename('a', 'b')\n",
}
Paste = Callable[[str], "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def paste(wardian: Wardian, environment: dict[str, str], tmp_path: Path) -> Paste:
    """Runs a line as a person does who copies it into a shell where `wardian` is installed."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "wardian").write_text(f'#!/bin/sh\nexec {shlex.join(map(str, COMMAND))} "$@"\n')
    (tools / "wardian").chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"

    def run(line: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["bash", "-c", line],
            env=environment | {"PATH": path},
            cwd=tmp_path / "here",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def inputs(tmp_path: Path) -> tuple[Path, Path]:
    """Two directories with the script: one with a small input, one with a large one."""
    for name, lines in (("small", 10), ("large", 100_000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "in.txt").write_text("".join(f"{n}\n" for n in range(lines)))
        (tmp_path / name / "count.py").write_text(SCRIPT)
        for attack, text in ATTACKS.items():
            (tmp_path / name / f"try_{attack}.py").write_text(text)
    return tmp_path / "small", tmp_path / "large"


def learned(wardian: Wardian, *args: object) -> None:
    done = wardian("learn", "-q", *args, timeout=120)
    assert done.returncode == 0, done.stderr.decode()


def hint(done: subprocess.CompletedProcess[bytes]) -> str:
    """The command that the run printed, before anything else of wardian's."""
    first = next(line for line in done.stderr.decode().splitlines() if "wardian: " in line)
    assert first.startswith("wardian: learn again with this "), done.stderr.decode()
    return first.partition(": ")[2].partition(": ")[2]


# One cure for each way to run


@pytest.mark.long
def test_what_the_next_input_needs_is_added_by_the_printed_command_and_no_attack_with_it(
    wardian: Wardian, paste: Paste, inputs: tuple[Path, Path], tmp_path: Path
) -> None:
    small, large = inputs
    target = tmp_path / "count.toml"
    learned(wardian, "-o", target, "--work", small, "--", "python3", "count.py", "in.txt")
    run = ("exec", "--policy", target, "--work", large, "--", "python3")
    assert wardian(*run, "count.py", "in.txt").stdout == b"588890\n"
    before = target.read_text()
    failed = wardian(*run, "count.py", "in.txt", "--more")
    assert failed.returncode != 0
    added = paste(hint(failed))
    assert added.returncode == 0, added.stderr.decode()
    shown = added.stdout.decode()
    assert '+    "/usr/bin/wc"' in shown
    assert '-memory = "512M"' in shown
    assert wardian(*run, "count.py", "in.txt", "--more").stdout == b"588890\n"
    # All that was there stays, comments too, but for the summary and the limit that was raised.
    after = target.read_text().splitlines()
    gone = [line for line in before.splitlines() if line not in after]
    assert [line.split()[0] for line in gone if "instead of" not in line] == ["memory"]
    assert any(line.startswith("#   ") and "of memory instead of 4G" in line for line in after)
    for name in ATTACKS:
        bare = ("exec", "--work", large, "--", "python3", f"try_{name}.py")
        assert wardian(*bare).returncode == 0, name
        assert wardian(*run, f"try_{name}.py").returncode != 0, name
    words = ("--add", target, "--work", large, "--", "python3", "count.py", "in.txt")
    again = wardian("learn", *words)
    assert again.stdout == b""
    assert b"it already allows these runs" in again.stderr


@pytest.mark.long
def test_scripts_commands_with_skills_and_cases_print_a_command_that_cures_them(
    make_skill: MakeSkill, wardian: Wardian, paste: Paste, tmp_path: Path
) -> None:
    case = (
        '[[case]]\nname = "it\'s larger"\nscript = "a.sh"\nargs = ["x", "--more"]\n'
        'setup = ["touch made"]\n'
    )
    skill = make_skill({
        "scripts/a.sh": 'echo "$1"\nif [ "$2" = --more ]; then sort /dev/null; fi\n',
        "cases.toml": case,
    })  # fmt: skip
    ways: list[tuple[object, ...]] = [
        ("run", skill, "a.sh", "--policy"),
        ("exec", "--skill", skill, "--policy"),
        ("test", skill, "--policy"),
    ]
    shell = 'sh "$SKILL_DIR/scripts/a.sh" "x y" --more'
    tails = [("--", "x y", "--more"), ("--", "sh", "-c", shell), ()]
    for number, (way, tail) in enumerate(zip(ways, tails, strict=True)):
        target = tmp_path / f"{number} policy.toml"
        learned(wardian, skill, "a.sh", "-o", target, "--", "x")
        failed = wardian(*way, target, *tail)
        assert failed.returncode != 0, way
        added = paste(hint(failed))
        assert added.returncode == 0, added.stderr.decode()
        assert b'"/usr/bin/sort"' in added.stdout
        cured = wardian(*way, target, *tail)
        assert cured.returncode == 0, cured.stderr.decode()


@pytest.mark.long
def test_standard_input_from_a_file_is_part_of_the_printed_command(
    wardian: Wardian, paste: Paste, tmp_path: Path
) -> None:
    target, text = tmp_path / "p.toml", tmp_path / "an input"
    text.write_text("yes\n")
    line = "read word; if [ $word = yes ]; then sort /dev/null; fi"
    small = tmp_path / "no"
    small.write_text("no\n")
    learned(wardian, "-o", target, "--input", small, "--", "sh", "-c", line)
    with text.open() as given:
        failed = wardian("exec", "--policy", target, "--", "sh", "-c", line, stdin=given)
    assert failed.returncode != 0
    assert paste(hint(failed)).returncode == 0
    with text.open() as given:
        done = wardian("exec", "--policy", target, "--", "sh", "-c", line, stdin=given)
    assert done.returncode == 0


def test_a_document_has_the_command_too_and_only_a_learned_policy_brings_it(
    wardian: Wardian, tmp_path: Path
) -> None:
    target = tmp_path / "true.toml"
    learned(wardian, "-o", target, "--", "true")
    argv = ["sh", "-c", "sort /dev/null"]
    done = wardian("exec", "--json", "--policy", target, "--", *argv)
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["learn_again"] == ["wardian", "learn", "--add", str(target), "--", *argv]
    assert AGAIN.encode() not in done.stderr
    assert AGAIN.encode() not in wardian("exec", "-q", "--policy", target, "--", "false").stderr
    plain = tmp_path / "plain.toml"
    plain.write_text('[limits]\ntime = "30s"\n')
    assert AGAIN.encode() not in wardian("exec", "--policy", plain, "--", "false").stderr
    other = wardian("learn", "--json", "--add", target, "--", *argv)
    assert other.returncode == 0, other.stderr.decode()
    found = json.loads(other.stdout)
    assert {one["more"] for one in found["added"]} == {"b"}
    assert any(line.startswith('+    "/usr/bin/sort"') for line in found["diff"])
    assert found["digest"] == Policy.from_toml(target).digest


# What a guest does decides nothing beyond the walls it was watched behind


@pytest.mark.long
def test_a_guest_that_tries_everything_gets_nothing_beyond_the_default_policy(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("such a secret")
    tries = f"""\
import os, socket, subprocess
for path in ("/etc/shadow", "/root/.bashrc", "{secret}/key", "/proc/1/root{secret}/key",
             "/work/link/key", "/usr/bin/../../{secret}/key", '/usr/bin/"]\\nread = ["/etc'):
    try:
        print(open(path).read())
    except OSError:
        pass
for act in (lambda: os.symlink("{secret}", "/work/link"), lambda: os.listdir("/work/link"),
            lambda: os.chroot("/"), lambda: socket.create_connection(("192.0.2.1", 80), 1),
            lambda: os.mkdir('/work/"]'), lambda: subprocess.run(["/work/link/key"])):
    try:
        act()
    except OSError:
        pass
subprocess.run(["sort", "/dev/null"], check=True)
"""
    skill = make_skill({"scripts/a.py": "print(1)\n", "scripts/bad.py": tries})
    target = tmp_path / "p.toml"
    learned(wardian, skill, "a.py", "-o", target)
    before = Policy.from_toml(target)
    done = wardian("learn", "--add", target, skill, "bad.py", timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    after = Policy.from_toml(target)
    assert b"such a secret" not in done.stdout + done.stderr
    assert str(secret) not in target.read_text()
    assert "/usr/bin/sort" in (after.base or ())
    assert (after.shares, after.network, after.pass_env) == ((), "none", ())
    assert [one for one in differences(ceiling(before), after) if one.more != "a"] == []


def test_only_a_learned_file_that_no_run_can_write_is_widened(
    wardian: Wardian, tmp_path: Path
) -> None:
    target, plain = tmp_path / "true.toml", tmp_path / "plain.toml"
    learned(wardian, "-o", target, "--", "true")
    plain.write_text('[limits]\ntime = "30s"\n')
    before = target.read_bytes()
    for args, said in (
        (["--add", plain, "--", "sort"], "was not learned"),
        (["--add", tmp_path / "none.toml", "--", "sort"], "can't be read"),
        (["--add", target, "--policy", target, "--", "sort"], "cannot be combined"),
        (["--add", target, "--work", tmp_path, "--", "sort"], "the guest may write to"),
        (["--add", target, "--write", tmp_path, "--", "sort"], "the guest may write to"),
    ):
        done = wardian("learn", *args)
        assert done.returncode in (2, 125), args
        assert said in done.stderr.decode()
        assert b"Traceback" not in done.stderr
    failed = wardian("learn", "--add", target, "--", "false")
    assert failed.returncode == 1
    assert target.read_bytes() == before
    assert plain.read_text() == '[limits]\ntime = "30s"\n'


def test_a_widened_file_is_as_hidden_as_it_was_and_links_stay_links(
    wardian: Wardian, tmp_path: Path
) -> None:
    target, link = tmp_path / "true.toml", tmp_path / "link.toml"
    learned(wardian, "-o", target, "--", "true")
    target.chmod(0o600)
    link.symlink_to(target)
    done = wardian("learn", "--add", link, "--", "sort", "/dev/null")
    assert done.returncode == 0, done.stderr.decode()
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    assert '"/usr/bin/sort"' in target.read_text()


# Libraries


@pytest.mark.long
def test_modules_that_no_run_imported_find_the_libraries_they_are_linked_with(
    wardian: Wardian, tmp_path: Path
) -> None:
    target, python = tmp_path / "python.toml", "/usr/bin/python3"
    if not os.path.exists(python):
        pytest.skip(f"not installed: {python}")
    learned(wardian, "-o", target, "--", python, "-c", "import json")
    line = "import sqlite3, ssl, bz2, lzma, ctypes, readline, curses, uuid"
    if wardian("exec", "--", python, "-c", line).returncode:
        pytest.skip("not installed: all of the standard library")
    done = wardian("exec", "--policy", target, "--", python, "-c", line)
    assert done.returncode == 0, done.stderr.decode()


def test_libraries_are_those_of_the_host_that_the_loader_finds() -> None:
    found = libraries(["/usr/bin/env"], whole())
    assert any(os.path.basename(path).startswith("libc.so") for path in found)
    assert libraries(["/etc/passwd", "/nowhere"], whole()) == {}


def test_what_links_of_a_directory_name_comes_along_and_never_a_directory_around_it(
    tmp_path: Path,
) -> None:
    inside, beside = tmp_path / "inside", tmp_path / "beside"
    for folder in (inside, beside):
        folder.mkdir()
        (folder / "file").write_text("")
    for name, target in (("file-link", beside / "file"), ("folder-link", beside), ("up", tmp_path),
                         ("own", inside / "file"), ("nowhere", tmp_path / "none")):  # fmt: skip
        (inside / name).symlink_to(target)
    parts = Parts({str(tmp_path): str(tmp_path)}, {})
    found = linked_outside([str(inside)], parts)
    assert found == {str(beside): "folder-link", str(beside / "file"): "file-link"}
    assert linked_outside([str(inside)], Parts({str(inside): str(inside)}, {})) == {}


def test_a_path_is_held_only_if_the_links_on_its_way_are() -> None:
    real = whole().real("/usr/bin/sh")
    assert real is not None
    assert held_by(["/usr/bin/sh"])("/usr/bin/sh")
    assert held_by(["/usr/bin/sh"])(real)
    assert held_by([real])("/usr/bin/sh") == (real == "/usr/bin/sh")
    assert held_by(["/usr/bin"])("/bin/sh")
    assert not held_by([])("/usr/bin/sh")


# Text

LISTS = {
    "a = []\n": 'a = ["x"]\n',
    'a = ["b"]\n': 'a = ["b", "x"]\n',
    'a = ["b", ]\n': 'a = ["b","x"]\n',
    'a = [\n    "b",  # why ]\n]\n': 'a = [\n    "b",  # why ]\n    "x",  # added\n]\n',
    'a = [\n    "b"  # no comma, ]\n]\n': 'a = [\n    "b",  # no comma, ]\n    "x",  # added\n]\n',
    "b = 1\n": 'a = ["x"]\nb = 1\n',
}


@pytest.mark.parametrize("before", LISTS)
def test_a_list_gets_one_more_and_keeps_its_comments(before: str) -> None:
    head, tail = "# top\n[t]\n", '[u]\na = ["other"]\n'
    text = with_items(head + before + tail, "t", "a", [("x", "added")])
    assert text == head + LISTS[before] + tail


def test_a_value_is_replaced_with_its_remark_and_a_table_made_where_none_is() -> None:
    assert with_value('[t]\na = "1"  # one\n', "t", "a", '"2"', "two") == '[t]\na = "2"  # two\n'
    assert with_value('[t]\na = "1"  # one\n', "t", "a", '"2"') == '[t]\na = "2"  # one\n'
    assert with_value("[t]\n", "u", "a", "2") == "[t]\n\n[u]\na = 2\n"
    assert with_remark("# a\n\n[t]\n", ["b"]) == "# a\n# b\n\n[t]\n"


@pytest.mark.parametrize("word", ["a", "a b", "it's", "a\nb\\n", "\x1b[1m'", "\udcff", "$HOME", ""])
def test_a_printed_word_is_harmless_on_a_terminal_and_the_same_in_a_shell(word: str) -> None:
    shown = shell_word(word)
    assert shown.isprintable()
    done = subprocess.run(["bash", "-c", f"printf %s {shown}"], capture_output=True, check=True)
    assert done.stdout == os.fsencode(word)
