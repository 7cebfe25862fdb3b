"""``wardian exec --backend``: other sandboxes behind the same command, on pipes and a terminal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_terminal import Terminal
from tests.command import Wardian
from tests.skill_folders import write_skill
from wardian import Policy
from wardian.sandbox.backends import shortfall

PROGRAMS = {"bubblewrap": "bwrap", "gvisor": "runsc"}


@pytest.fixture(params=sorted(PROGRAMS))
def flags(request: pytest.FixtureRequest) -> list[str]:
    """The options that choose a backend, and give up what it can't put up."""
    name = str(request.param)
    if shutil.which(PROGRAMS[name]) is None:
        pytest.skip(f"{PROGRAMS[name]} is not installed")
    words = ["--backend", name]
    for wall in shortfall(name, Policy.default()):
        words += ["--degrade", wall]
    return words


@pytest.fixture
def terminal(flags: list[str]) -> Iterator[Terminal]:
    """A shell in that sandbox, on a terminal."""
    script = "test -t 0 && test -t 1 && test -t 2 && echo terminal; read x; echo got $x; exit 7"
    made = Terminal(*flags, "--", "sh", "-c", script)
    yield made
    made.close()


def test_streams_and_exit_code_pass_through(flags: list[str], wardian: Wardian) -> None:
    script = "cat; echo err >&2; exit 5"
    done = wardian("exec", *flags, "-q", "--", "sh", "-c", script, stdin="in\n")
    assert (done.returncode, done.stdout, done.stderr) == (5, "in\n", "err\n")


def test_the_document_tells_what_stood_and_what_did_not(flags: list[str], wardian: Wardian) -> None:
    done = wardian("exec", *flags, "--json", "--", "echo", "hi")
    document = json.loads(done.stdout)
    assert (document["backend"], document["stdout"]) == (flags[1], "hi\n")
    walls = {wall["name"]: wall for wall in document["protections"]}
    assert walls["pivot_root"]["enforced"]
    for name in flags[3::2]:
        assert (walls[name]["available"], walls[name]["enforced"]) == (False, False)
        assert walls[name]["note"]


def test_a_network_by_name_is_refused_with_what_can_be_had(
    flags: list[str], wardian: Wardian
) -> None:
    done = wardian("exec", *flags, "--net", "example.com", "--", "touch", "/work/ran")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith(f"error: {flags[1]} has no network by name\n")
    assert "--net none or --net host, or use --backend wardian" in done.stderr


def test_a_skill_s_request_can_t_be_granted_there(
    flags: list[str], wardian: Wardian, tmp_path: Path
) -> None:
    fields = 'metadata:\n  wardian-net: "api.example.com"\n'
    skill = write_skill(tmp_path / "asker", {"scripts/a.sh": "echo ran"}, fields=fields)
    done = wardian("run", skill, "a.sh", *flags)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    done = wardian("run", skill, "a.sh", *flags, "--grant")
    assert (done.returncode, done.stdout) == (125, "")
    assert f"error: {flags[1]} has no network by name\n" in done.stderr


def test_without_giving_up_what_it_lacks_it_does_not_run(
    flags: list[str], wardian: Wardian
) -> None:
    done = wardian("exec", *flags[:2], "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith(f"error: {flags[3]}: ")
    assert f"--degrade {flags[3]}" in done.stderr.partition("hint:")[2]


def test_a_program_that_is_not_there_is_told(flags: list[str], wardian: Wardian) -> None:
    done = wardian("exec", *flags, "--", "no-such-program")
    assert done.returncode == 127
    assert "no-such-program: not found inside the sandbox" in done.stderr
    assert "bwrap:" not in done.stderr
    assert "container:" not in done.stderr


def test_output_into_a_file_is_whole(flags: list[str], wardian: Wardian) -> None:
    """runsc by itself writes over what others wrote to the same file."""
    done = wardian("exec", *flags, "-q", "--", "sh", "-c", "echo one; echo two; seq 5000")
    assert done.stdout.split()[:3] == ["one", "two", "1"]
    assert done.stdout.split()[-1] == "5000"


def test_a_record_keeps_the_output(flags: list[str], wardian: Wardian, tmp_path: Path) -> None:
    script = "echo out; echo err >&2"
    done = wardian("exec", *flags, "--record", str(tmp_path / "r"), "--", "sh", "-c", script)
    assert (done.returncode, done.stdout) == (0, "out\n")
    kept = {path.name: path for path in (tmp_path / "r").rglob("std*")}
    assert (kept["stdout"].read_text(), kept["stderr"].read_text()) == ("out\n", "err\n")


def test_on_a_terminal_the_command_has_one_of_its_own(terminal: Terminal) -> None:
    terminal.until("terminal")
    terminal.type("hello\r")
    terminal.until("got hello")
    assert terminal.exit_code() == 7


def test_control_c_reaches_the_command_and_not_the_sandbox(flags: list[str]) -> None:
    if flags[1] == "gvisor":
        pytest.skip("gVisor's guest has no controlling terminal, and docs/backends.md says so")
    script = "trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.1; done"
    shell = Terminal(*flags, "-q", "--", "sh", "-c", script)
    try:
        shell.until("ready")
        shell.type("\x03")
        shell.until("caught")
        assert shell.exit_code() == 3
    finally:
        shell.close()


def test_help_names_them(wardian: Wardian) -> None:
    told = wardian("exec", "--help").stdout
    for name in ("wardian", *PROGRAMS, "host"):
        assert name in told
