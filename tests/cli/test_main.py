"""The command as a whole: help, versions, errors, and start-ups in bad places."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import wardian
from tests.command import COMMAND, Wardian, environment
from wardian.cli.commands import COMMANDS, group

LEAVES = [*(name for name in COMMANDS if name != "policy"), "log show", "log prune"]
LEAVES += ["policy show", "policy diff", "policy presets"]

# Everything that `wardian exec -- true` may import besides what Python itself starts with. Each
# line costs every run: before adding one, see whether it can be imported where it is needed.
MAY_IMPORT = {
    "__future__", "collections.abc",
    "_collections", "_ctypes", "_functools", "_operator", "_signal", "_weakrefset",
    "array", "collections", "fcntl", "functools", "itertools",
    "keyword", "marshal", "operator", "reprlib", "select", "threading",
    "time", "types", "errno", "atexit", "_locale", "runpy", "pkgutil", "importlib.util",
    "importlib.machinery", "importlib._abc", "zipimport", "_thread", "_imp", "warnings",
    "_warnings",
}  # fmt: skip


@pytest.mark.parametrize("name", ["", *LEAVES, "policy"])
def test_every_command_has_help_with_two_examples(wardian: Wardian, name: str) -> None:
    done = wardian(*name.split(), "--help")
    assert done.returncode == 0
    _, _, examples = done.stdout.partition("Examples:")
    assert examples.count("  wardian ") >= 2
    assert done.stderr == ""


@pytest.mark.parametrize("name", list(COMMANDS))
def test_the_list_of_commands_says_what_each_is(name: str) -> None:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    assert command.name == name
    assert command.help


def test_without_arguments_it_shows_help(wardian: Wardian) -> None:
    done = wardian()
    assert done.returncode == 0
    assert "Usage: wardian" in done.stdout


def test_version(wardian: Wardian) -> None:
    assert wardian("--version").stdout == f"wardian {wardian_version()}\n"


def wardian_version() -> str:
    return wardian.__version__


@pytest.mark.parametrize(
    "args", [("nonesuch",), ("--nonesuch",), ("doctor", "extra"), ("doctor", "--nonesuch"),
             ("policy", "nonesuch"), ("policy", "show", "extra"), ("policy", "show", "--nonesuch")],
)  # fmt: skip
def test_a_wrong_call_is_2_with_a_hint(wardian: Wardian, args: tuple[str, ...]) -> None:
    done = wardian(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")


def test_exec_imports_what_it_needs_and_no_more() -> None:
    script = (
        "import sys; before = set(sys.modules)\n"
        "from wardian.cli import dispatch\n"
        "assert dispatch(['exec', '--', 'true']) == 0\n"
        "print('\\n'.join(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True
    )
    others = {name for name in done.stdout.split() if not name.startswith("wardian")}
    assert others <= MAY_IMPORT
    assert "wardian.sandbox.network" not in done.stdout  # no rules, nothing to pay for


def test_a_poisoned_working_directory_is_not_imported_from(tmp_path: Path) -> None:
    names = ("re", "json", "click", "errno", "signal", "select", "typing", "threading", "ctypes")
    for name in names:
        (tmp_path / f"{name}.py").write_text("open('poisoned', 'w').close(); raise SystemExit(66)")
    plain, safe = [sys.executable, "-m", "wardian"], [sys.executable, "-P", "-m", "wardian"]
    shared = ["exec", "--work", ".", "--", "echo", "fine"]
    for command in ([*plain, "exec", "--", "echo", "fine"], [*safe, *shared]):
        done = subprocess.run(
            command,
            cwd=tmp_path, capture_output=True, text=True, check=False, env=environment(),
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")
    # What Python looked in for wardian itself, and will again, no guest may write to.
    done = subprocess.run(
        [*plain, *shared],
        cwd=tmp_path, capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (125, "")
    assert "python3 -P -m wardian" in done.stderr
    done = subprocess.run(
        [*plain, "--version"],
        cwd=tmp_path, capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0
    assert not (tmp_path / "poisoned").exists()


@pytest.mark.parametrize("closed", ["0", "1", "2", "0 1", "0 2", "1 2", "0 1 2"])
def test_closed_standard_streams_are_all_right(closed: str, tmp_path: Path) -> None:
    redirections = " ".join(f"{fd}{'<' if fd == '0' else '>'}&-" for fd in closed.split())
    proof = tmp_path / "proof"
    command = shlex.join([*COMMAND, "exec", "--work", str(tmp_path)])
    inside = "cat; echo out; echo err >&2; echo done > /work/proof; exit 4"
    script = f"{command} -- sh -c '{inside}' {redirections}"
    done = subprocess.run(
        ["sh", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False, env=environment(),
    )  # fmt: skip
    assert done.returncode == 4
    assert proof.read_text() == "done\n"
    assert done.stdout == ("" if "1" in closed else "out\n")
    assert done.stderr == ("" if "2" in closed else "err\n")


@pytest.mark.parametrize("args", [("--version",), ("policy", "show"), ("exec", "--help")])
def test_a_reader_that_goes_away_is_no_reason_to_complain(args: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, *args], stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
        env=environment(),
    )  # fmt: skip
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 141


def test_a_full_disk_behind_stdout_is_told(wardian: Wardian) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, "policy", "show"], stdout=full, stderr=subprocess.PIPE, text=True,
            check=False, env=environment(),
        )  # fmt: skip
    assert done.returncode == 125
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_a_locale_without_utf_8_is_all_right(wardian: Wardian) -> None:
    for args in (("doctor", "--help"), ("policy", "show"), ("exec", "-v", "--", "true")):
        assert wardian(*args, PYTHONIOENCODING="ascii", LC_ALL="C").returncode == 0


# policy


def test_policy_show_is_a_file_that_reads_back(wardian: Wardian, tmp_path: Path) -> None:
    options = ("--memory", "1G", "--read", ".:/mnt/here", "--env", "A=b")
    shown = wardian("policy", "show", *options)
    assert shown.returncode == 0
    assert 'memory = "1G"  # --memory' in shown.stdout
    (tmp_path / "saved.toml").write_text(shown.stdout)
    again = wardian("policy", "show", "--policy", "saved.toml", "--json")
    first = wardian("policy", "show", *options, "--json")
    assert json.loads(again.stdout) == json.loads(first.stdout)


def test_policy_show_names_the_digest_that_a_run_reports(wardian: Wardian) -> None:
    shown = json.loads(wardian("policy", "show", "--time", "9s", "--json").stdout)
    ran = json.loads(wardian("exec", "--time", "9s", "--json", "--", "true").stdout)
    assert shown["digest"] == ran["policy_digest"]


def test_policy_diff_tells_what_differs_and_exits_with_1(wardian: Wardian, tmp_path: Path) -> None:
    text = '[files]\nread = ["/usr/share", "/etc/hostname"]\n[limits]\nmemory = "512M"\n'
    (tmp_path / "b.toml").write_text(text)
    done = wardian("policy", "diff", "default", "b.toml")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "A  default",
        "B  b.toml",
        "files",
        "  B also lets the run read /etc/hostname",
        "limits",
        "  A allows 4G of memory, B 512M",
    ]
    document = json.loads(wardian("policy", "diff", "default", "b.toml", "--json").stdout)
    assert (document["schema"], document["equal"]) == ("wardian.policy-diff/1", False)
    assert [one["more"] for one in document["differences"]] == ["b", "a"]
    assert document["a"]["digest"] != document["b"]["digest"]


def test_policy_diff_of_the_same_is_0(wardian: Wardian, tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text('[limits]\nmemory = "4096M"\n')
    done = wardian("policy", "diff", "default", "b.toml")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "no difference")
    assert json.loads(wardian("policy", "diff", "default", "default", "--json").stdout)["equal"]


def test_policy_diff_refuses_what_is_no_policy(wardian: Wardian, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[fils]\n")
    assert wardian("policy", "diff", "default").returncode == 2
    for other in ("nonesuch", "nonesuch.toml", "bad.toml"):
        done = wardian("policy", "diff", "default", other)
        assert done.returncode == 125
        assert done.stderr.startswith("error: ")


def test_policy_presets(wardian: Wardian) -> None:
    assert "default" in wardian("policy", "presets").stdout.split()
    assert "default" in json.loads(wardian("policy", "presets", "--json").stdout)["presets"]
