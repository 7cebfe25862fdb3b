"""``wardian syscalls`` as a person or a program uses it: real specimens, real sandboxes."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_documents import conforms
from tests.command import COMMAND, environment
from tests.measure.probes.conftest import Tree

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
COMMANDS = ("table", "show", "coverage", "docs")
BOTH = ("--in", "wardian,host")  # named, as the specimens are not those that ship
Syscalls = Callable[..., "subprocess.CompletedProcess[str]"]

PARTIAL = """
    /* For a test. */
    #define CAPABILITY "syscall_getppid"
    #include "_runner_c.h"
    #include <unistd.h>
    CHECK(has_a_parent) { works(getppid(), "getppid"); }
    CHECK(is_on_the_host) { want(access(witness("FILE"), F_OK) == 0, "it is not"); }
    CHECKS
"""
DENIED = """
    /* For a test. */
    #define CAPABILITY "syscall_setns"
    #include "_runner_c.h"
    #include <sys/syscall.h>
    #include <unistd.h>
    CHECK(refuses_what_is_no_descriptor) { refuses(syscall(SYS_setns, -1, 0), EBADF, "setns"); }
    CHECKS
"""
GOOD = """
    /* For a test. */
    #define CAPABILITY "syscall_getpid"
    #include "_runner_c.h"
    #include <sys/syscall.h>
    #include <unistd.h>
    CHECK(is_positive) { want(syscall(SYS_getpid) > 0, "none"); }
    CHECKS
"""
UNSTEADY = """
    /* For a test: fails on the host, once. */
    #define CAPABILITY "syscall_getuid"
    #include "_runner_c.h"
    #include <fcntl.h>
    #include <stdio.h>
    CHECK(settles) {
        char path[500];
        snprintf(path, sizeof path, "%s/seen", witness("DIR"));
        want(open(path, O_CREAT | O_EXCL | O_WRONLY, 0600) < 0, "the first time");
    }
    CHECKS
"""


def own_places(tmp_path: Path) -> dict[str, str]:
    """An environment with a cache and a store of its own."""
    return environment(
        XDG_CACHE_HOME=str(tmp_path / "cache"), XDG_STATE_HOME=str(tmp_path / "state")
    )


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Specimens of three calls: one good, one denied, one of which a check fails inside."""
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed")
    made = Tree(tmp_path / "probes")
    for name, text in (("getppid", PARTIAL), ("setns", DENIED), ("getpid", GOOD)):
        made.add(f"{name}.c", text.strip("\n"), domain="syscall")
    return made


@pytest.fixture
def syscalls(tmp_path: Path) -> Syscalls:
    """``syscalls("table", "--json")``: the command line in a directory of its own."""
    here = tmp_path / "here"
    here.mkdir()

    def run(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, "syscalls", *args],
            capture_output=True, text=True, timeout=240, cwd=here, check=False,
            stdin=subprocess.DEVNULL,
            env=own_places(tmp_path) | env,
        )  # fmt: skip

    return run


def schema(title: str) -> dict[str, Any]:
    import re

    page = (ROOT / "docs" / "reference" / "syscalls-json.md").read_text()
    for text in re.findall(r"^```json schema\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        found: dict[str, Any] = json.loads(text)
        if found["title"] == title:
            return found
    raise AssertionError(f"{title} is not described")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_two_examples(syscalls: Syscalls, name: str) -> None:
    done = syscalls(name, "--help")
    assert done.returncode == 0
    assert done.stdout.count(f"wardian syscalls {name}") >= 2
    assert "--json" in done.stdout


# The table


def test_the_table_can_be_narrowed_down(syscalls: Syscalls) -> None:
    done = syscalls("table", "--group", "network", "--priority", "high", "--decision", "when")
    assert [line.split()[1] for line in done.stdout.splitlines()[1:]] == ["socket", "socketpair"]
    document = json.loads(syscalls("table", "--arch", "arm64", "--json").stdout)
    conforms(document, schema("wardian.syscalls-table/1"))
    names = {one["name"]: one for one in document["syscalls"]}
    assert "open" not in names
    assert names["openat"]["arm64"] == 56
    assert names["openat"]["gvisor_tests"][0] == "open.cc"


# One call


def test_all_that_is_known_of_a_call_is_shown(syscalls: Syscalls) -> None:
    done = syscalls("show", "openat")
    assert "openat(dirfd, path, oflags, mode)" in done.stdout
    for word in ("x86-64 257, arm64 56", "open(2)", "open.cc", "critical", "python", "set-id"):
        assert word in done.stdout
    document = json.loads(syscalls("show", "openat", "--json").stdout)
    conforms(document, schema("wardian.syscalls-show/1"))
    assert document["in"] == {}


def test_results_are_shown_from_artifacts(syscalls: Syscalls, tree: Tree, tmp_path: Path) -> None:
    args = ("--probes", str(tree.path), *BOTH, "--no-use", "--artifacts")
    assert syscalls("coverage", *args, "artifacts").returncode == 1
    assert "results       none" in syscalls("show", "getppid").stdout, "artifacts/ is not guessed"
    done = syscalls("show", "getppid", "--probes", str(tree.path), "--from", "artifacts")
    assert "in wardian    partial, 1 of 2 checks, measured 2" in done.stdout
    assert "FAIL is_on_the_host: it is not" in done.stdout
    document = json.loads(syscalls("show", "getppid", "--from", "artifacts", "--json").stdout)
    conforms(document, schema("wardian.syscalls-show/1"))
    assert document["in"] == {"wardian": "partial", "host": "supported"}
    assert [one["name"] for one in document["results"]["host"]["checks"]] == [
        "has_a_parent",
        "is_on_the_host",
    ]


def test_results_are_those_of_the_last_nightly(
    syscalls: Syscalls, tree: Tree, tmp_path: Path
) -> None:
    (tmp_path / "nightly.toml").write_text(f'probes = "{tree.path}"\nskills = []\n')
    nightly = [*COMMAND, "nightly", "--config", str(tmp_path / "nightly.toml"), *BOTH,
               "--only", "specimens"]  # fmt: skip
    subprocess.run(
        nightly, cwd=tmp_path, env=own_places(tmp_path), check=False, timeout=240,
        capture_output=True,
    )  # fmt: skip
    done = syscalls("show", "getppid")
    assert "in wardian    partial, 1 of 2 checks" in done.stdout
    document = json.loads(syscalls("show", "getppid", "--json").stdout)
    conforms(document, schema("wardian.syscalls-show/1"))
    assert document["in"] == {"wardian": "partial", "host": "supported"}
    assert document["results"]["host"]["measured"].startswith("20")
    missing = syscalls("show", "getppid", "--store", "nowhere.sqlite")
    assert missing.returncode == 125
    assert "there is no store" in missing.stderr


# Coverage


def test_coverage_measures_and_shows_what_policy_does_not_explain(
    syscalls: Syscalls, tree: Tree
) -> None:
    done = syscalls("coverage", "--probes", str(tree.path), *BOTH, "--no-use", "--json")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    conforms(document, schema("wardian.syscalls-coverage/1"))
    found = {one["name"]: one["in"] for one in document["syscalls"] if one["in"]}
    assert found == {
        "getpid": {"wardian": "supported", "host": "supported"},
        "getppid": {"wardian": "partial", "host": "supported"},
        "setns": {"wardian": "denied", "host": "supported"},
    }
    assert [one["check"] for one in document["unexplained"]] == ["is_on_the_host"]
    assert "1 of them unexplained" in done.stderr


def test_coverage_is_fine_where_policy_explains_all(syscalls: Syscalls, tree: Tree) -> None:
    (tree.path / "core/syscall/getppid.c").unlink()
    done = syscalls(
        "coverage", "--probes", str(tree.path), *BOTH, "--no-use", "--artifacts", "kept"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "  getpid " in done.stdout
    again = syscalls("coverage", "--from", "kept", "--no-use", "--json")
    assert again.returncode == 0
    assert set(json.loads(again.stdout)["sandboxes"]) == {"wardian", "host"}
    one = syscalls("coverage", "--from", "kept", "--in", "wardian", "--no-use", "--json")
    assert json.loads(one.stdout)["differences"] is None


def test_what_differs_for_no_reason_is_measured_once_more(syscalls: Syscalls, tree: Tree) -> None:
    (tree.path / "core/syscall/getppid.c").unlink()
    tree.add("getuid.c", UNSTEADY.strip("\n"), domain="syscall")
    args = (
        "coverage",
        "--probes",
        str(tree.path),
        *BOTH,
        "--no-use",
        "--artifacts",
        "kept",
        "--json",
    )
    done = syscalls(*args)
    assert done.returncode == 0, done.stderr
    assert "repeating 2 measurements" in done.stderr
    found = {one["name"]: one["in"] for one in json.loads(done.stdout)["syscalls"]}
    assert found["getuid"] == {"wardian": "supported", "host": "supported"}
    assert syscalls("coverage", "--from", "kept", "--no-use").returncode == 0


@pytest.mark.parametrize("sandbox", ["bubblewrap", "gvisor"])
def test_other_sandboxes_are_measured_the_same_way(
    syscalls: Syscalls, tree: Tree, sandbox: str
) -> None:
    program = {"bubblewrap": "bwrap", "gvisor": "runsc"}[sandbox]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    done = syscalls(
        "coverage", "--probes", str(tree.path), "--in", f"{sandbox},host", "--no-use", "--json"
    )
    document = json.loads(done.stdout)
    conforms(document, schema("wardian.syscalls-coverage/1"))
    found = {one["name"]: one["in"].get(sandbox) for one in document["syscalls"] if one["in"]}
    assert found == {"getpid": "supported", "getppid": "partial", "setns": "denied"}


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("show", "opnat"), 3, "did you mean openat?"),
        (("show",), 2, "missing argument"),
        (("show", "read", "--from", "/nowhere"), 2, "does not exist"),
        (("show", "read", "--from", "."), 125, "holds no artifacts"),
        (("table", "--group", "astrology"), 3, "unknown group"),
        (("table", "--priority", "urgent"), 2, "urgent"),
        (("table", "--group", "keys", "--decision", "allow"), 3, "no system call"),
        (("table", "--arch", "vax"), 2, "vax"),
        (("coverage", "--in", "astrology"), 2, "no backend"),
        (("coverage", "--from", "."), 125, "holds no artifacts"),
        (("coverage", "--from", ".", "--artifacts", "x"), 2, "--from"),
        (("coverage", "--probes", "/nowhere"), 2, "not a directory"),
        (("coverage", "--probes", "."), 3, "no specimens"),
        (("coverage", "--jobs", "0"), 2, "--jobs"),
        (("docs", "--from", "."), 125, "holds no artifacts"),
        (("docs", "--check", "-o", "."), 1, "not up to date"),
        (("docs", "--no-analysis", "-o", "/proc/x"), 125, "/proc/x"),
        (("astrology",), 2, "no such command"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_wrong_calls_are_reported_without_a_traceback(
    syscalls: Syscalls, args: tuple[str, ...], code: int, message: str
) -> None:
    done = syscalls(*args)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_artifacts_of_other_probes_are_no_coverage(
    syscalls: Syscalls, tree: Tree, tmp_path: Path
) -> None:
    shutil.rmtree(tree.path / "core")
    tree.python("good", "return 'fine'")
    subprocess.run(
        [*COMMAND, "probe", "all", "--probes", tree.path, "--artifacts", tmp_path / "here/others"],
        check=True, capture_output=True, timeout=60, env=environment(),
    )  # fmt: skip
    done = syscalls("coverage", "--from", "others")
    assert done.returncode == 3
    assert "no measurements of system calls" in done.stderr


# The pages


def test_pages_are_written_from_measurements(
    syscalls: Syscalls, tree: Tree, tmp_path: Path
) -> None:
    args = ("--probes", str(tree.path), *BOTH, "-o", "pages", "--skills", str(tmp_path / "here"))
    done = syscalls("docs", *args, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    conforms(document, schema("wardian.syscalls-docs/1"))
    assert [Path(path).name for path in document["written"]] == [
        "syscalls.md",
        "GVISOR_SYSCALL_ANALYSIS.md",
    ]
    text = (tmp_path / "here/pages/GVISOR_SYSCALL_ANALYSIS.md").read_text()
    assert "| `getppid` | **partial** 1/2 | supported 2/2 |" in text
    assert "find out why is_on_the_host differs" in text
    assert syscalls("docs", "--check", "-o", "pages").returncode == 0
    page = tmp_path / "here/pages/syscalls.md"
    page.write_text(page.read_text().replace("`read`", "`reed`"))
    done = syscalls("docs", "--check", "-o", "pages", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["stale"] == ["pages/syscalls.md"]


def test_the_committed_reference_is_up_to_date(syscalls: Syscalls) -> None:
    done = syscalls("docs", "--check", "-o", str(ROOT / "docs" / "reference"))
    assert done.returncode == 0, done.stderr
