"""The helpers of each language keep one contract. Specimens run by hand here, without wardian."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.measure.probes.conftest import PROBES, Tree, by_hand

pytestmark = pytest.mark.long

FIELDS = [
    "schema", "id", "capability", "language", "observed", "errno", "detail", "expected", "status",
]  # fmt: skip
LANGUAGES = {"py": "python", "c": "c", "R": "r", "sh": "sh", "mjs": "node"}
EXAMPLES = {
    "py": "tmp_write.py",
    "c": "tmp_write_native.c",
    "R": "tmp_write_r.R",
    "sh": "tmp_write_sh.sh",
    "mjs": "tmp_write_node.mjs",
}
HEADS = {
    "py": """\
        # For a test.
        import os, sys
        sys.path.insert(0, f"{sys.path[0]}/../..")
        from _runner import *
        from _runner import Blocked, Unavailable, in_child, main, scratch, witness
        CAPABILITY = "filesystem_asked"
        """,
    "c": """\
        #define CAPABILITY "filesystem_asked"
        #include "_runner_c.h"
        #include <fcntl.h>
        #include <signal.h>
        #include <unistd.h>
        """,
    "R": """\
        here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))[1]
        source(file.path(dirname(here), "../../_runner_r.R"))
        CAPABILITY <- "filesystem_asked"
        """,
    "sh": """\
        . "${0%/*}/../../_runner.sh"
        CAPABILITY=filesystem_asked
        """,
    "mjs": """\
        import { openSync } from "node:fs";
        import { Blocked, Unavailable, main, scratch, witness } from "../../_runner.mjs";
        const CAPABILITY = "filesystem_asked";
        """,
}
BODIES = {
    "allowed": {
        "py": "def exercise():\n    return 'done'",
        "c": 'static void exercise(void) { allowed("done"); }',
        "R": "exercise <- function() 'done'",
        "sh": "exercise() { echo done; }",
        "mjs": "const exercise = async () => 'done';",
    },
    "blocked": {
        "py": "def exercise():\n    open('/nowhere/at/all')",
        "c": 'static void exercise(void) { open("/nowhere/at/all", 0); blocked("open"); }',
        "R": "exercise <- function() readLines('/nowhere/at/all')",
        "sh": "exercise() { read -r x </nowhere/at/all; }",
        "mjs": "const exercise = () => openSync('/nowhere/at/all');",
    },
    "said": {
        "py": "def exercise():\n    raise Blocked('no', 'EPERM')",
        "c": 'static void exercise(void) { blocked_with(EPERM, "no"); }',
        "R": "exercise <- function() blocked('no', 'EPERM')",
        "sh": "exercise() { blocked EPERM no; }",
        "mjs": "const exercise = () => { throw new Blocked('no', 'EPERM'); };",
    },
    "unavailable": {
        "py": "def exercise():\n    return witness('NOTHING')",
        "c": 'static void exercise(void) { allowed("%s", witness("NOTHING")); }',
        "R": "exercise <- function() witness('NOTHING')",
        "sh": 'exercise() { witness NOTHING; echo "$WITNESS"; }',
        "mjs": "const exercise = () => witness('NOTHING');",
    },
    "odd": {
        "py": "def exercise():\n    return 'a\"b\\\\c\\x1b[31m\\n\\udcff\\u00e9\\U0001f33f' * 100",
        "c": 'static void exercise(void) { allowed("a\\"b\\\\c\\033[31m\\n\\377"); }',
        "R": "exercise <- function() 'a\"b\\\\c\\u001b[31m\\n\\u00e9'",
        "sh": "exercise() { printf 'a\"b\\\\c\\033[31m\\377\\n'; }",
        "mjs": "const exercise = () => 'a\"b\\\\c\\x1b[31m\\n\\udcff'.repeat(100);",
    },
}
TAILS = {
    "py": "main(CAPABILITY, exercise)",
    "c": "PROBE(exercise)",
    "R": "main(CAPABILITY, exercise)",
    "sh": 'main "$@"',
    "mjs": "main(CAPABILITY, exercise);",
}

every_language = pytest.mark.parametrize("extension", list(LANGUAGES))


def specimen(tree: Tree, extension: str, body: str) -> Path:
    import textwrap

    text = textwrap.dedent(HEADS[extension]) + "\n" + BODIES[body][extension] + "\n"
    return tree.add(f"asked.{extension}", text + TAILS[extension] + "\n")


def observation(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    assert list(document) == FIELDS
    assert document["schema"] == "wardian.observation/1"
    return document


@every_language
def test_a_shipped_example_runs_by_hand_and_prints_what_it_observed(
    extension: str, tmp_path: Path
) -> None:
    file = PROBES / "core" / "filesystem" / EXAMPLES[extension]
    done = by_hand(file, cwd=tmp_path)
    seen = observation(done.stdout)
    assert done.returncode == 0, done.stderr
    assert seen["id"] == f"core__filesystem__{file.stem}"
    assert seen["capability"] == "filesystem_tmp_write"
    assert seen["language"] == LANGUAGES[extension]
    assert (seen["observed"], seen["status"]) == ("allowed", "supported")


@every_language
@pytest.mark.parametrize(
    ("body", "expect", "status", "code"),
    [
        ("allowed", "allowed", "supported", 0),
        ("allowed", "blocked", "allowed_unexpected", 1),
        ("blocked", "blocked", "blocked_expected", 0),
        ("blocked", "allowed", "blocked_unexpected", 1),
        ("unavailable", "allowed", "unavailable", 1),
        ("said", "blocked", "blocked_expected", 0),
    ],
)
def test_the_exit_code_is_0_only_for_what_was_expected(
    tree: Tree, tmp_path: Path, extension: str, body: str, expect: str, status: str, code: int
) -> None:
    file = specimen(tree, extension, body)
    done = by_hand(file, "--output", "out.json", cwd=tmp_path, PROBE_EXPECT=expect)
    seen = observation((tmp_path / "out.json").read_text())
    assert (seen["status"], done.returncode) == (status, code), done.stderr
    assert seen["expected"] == expect
    assert seen["errno"] == {"blocked": "ENOENT", "said": "EPERM"}.get(body)
    assert [one.name for one in tmp_path.glob("*.tmp")] == []


@every_language
def test_an_artifact_goes_where_the_harness_says_or_the_id_implies(
    tree: Tree, tmp_path: Path, extension: str
) -> None:
    file = specimen(tree, extension, "allowed")
    by_hand(file, f"--output={tmp_path}/deep/down/x.json", cwd=tmp_path)
    assert observation((tmp_path / "deep/down/x.json").read_text())["id"] == (
        "core__filesystem__asked"
    )
    by_hand(file, cwd=tmp_path, PROBE_ID="core__other__name")
    named = tmp_path / "artifacts" / "core__other__name.json"
    assert observation(named.read_text())["id"] == "core__other__name"


@every_language
def test_other_arguments_are_refused(tree: Tree, tmp_path: Path, extension: str) -> None:
    file = specimen(tree, extension, "allowed")
    done = by_hand(file, "--outpt", "x", cwd=tmp_path)
    assert done.returncode == 2
    assert "usage" in done.stderr


@every_language
def test_odd_text_becomes_valid_json_of_bounded_size(
    tree: Tree, tmp_path: Path, extension: str
) -> None:
    done = by_hand(specimen(tree, extension, "odd"), "--output", "-", cwd=tmp_path)
    detail = observation(done.stdout)["detail"]
    assert detail.startswith('a"b\\c')
    assert len(detail) <= 500


def test_a_bug_in_a_python_specimen_is_an_error_not_an_answer(tree: Tree, tmp_path: Path) -> None:
    file = tree.path / "core" / "filesystem" / "bug.py"
    tree.python("bug", "{}['x']")
    done = by_hand(file, cwd=tmp_path, PROBE_EXPECT="blocked")
    assert (observation(done.stdout)["status"], done.returncode) == ("error", 1)


def test_an_error_of_termios_is_an_answer_too(tree: Tree, tmp_path: Path) -> None:
    tree.python("terminal", "import termios; termios.tcgetattr(os.open('/dev/null', 0))")
    seen = observation(by_hand(tree.path / "core/filesystem/terminal.py", cwd=tmp_path).stdout)
    assert (seen["observed"], seen["errno"]) == ("blocked", "ENOTTY")


@pytest.mark.parametrize(
    ("body", "observed", "errno", "detail"),
    [
        ("return in_child(lambda: 'from the child')", "allowed", None, "from the child"),
        ("return in_child(lambda: os.chdir('/nowhere'))", "blocked", "ENOENT", "/nowhere"),
        ("return in_child(lambda: os.kill(os.getpid(), 9))", "blocked", None, "killed by SIGKILL"),
        ("return in_child(lambda: witness('NOTHING'))", "unavailable", None, "not set"),
        ("return in_child(lambda: {}['x'])", "error", None, "KeyError"),
    ],
)
def test_what_a_python_child_comes_to_is_its_parents_observation(
    tree: Tree, tmp_path: Path, body: str, observed: str, errno: str | None, detail: str
) -> None:
    tree.python("child", body)
    done = by_hand(tree.path / "core/filesystem/child.py", cwd=tmp_path)
    seen = observation(done.stdout)
    assert (seen["observed"], seen["errno"]) == (observed, errno)
    assert detail in seen["detail"]


@pytest.mark.parametrize(
    ("body", "observed", "errno"),
    [
        ('allowed("from the child");', "allowed", None),
        ('errno = EROFS; blocked("there");', "blocked", "EROFS"),
        ("kill(getpid(), SIGKILL);", "blocked", None),
        ('unavailable("no such thing");', "unavailable", None),
        ("_exit(0);", "error", None),
        ("", "allowed", None),
    ],
)
def test_what_a_c_child_comes_to_is_its_parents_observation(
    tree: Tree, tmp_path: Path, body: str, observed: str, errno: str | None
) -> None:
    import textwrap

    file = tree.add(
        "child.c",
        textwrap.dedent(HEADS["c"])
        + f"static void really(void) {{ {body} }}\n"
        + "static void exercise(void) { in_child(really); }\nPROBE(exercise)\n",
    )
    seen = observation(by_hand(file, cwd=tmp_path).stdout)
    assert (seen["observed"], seen["errno"]) == (observed, errno)


def test_a_python_specimen_starts_without_heavy_imports(tree: Tree, tmp_path: Path) -> None:
    tree.python("light", "return ' '.join(sorted(sys.modules))")
    done = by_hand(tree.path / "core/filesystem/light.py", cwd=tmp_path)
    loaded = observation(done.stdout)["detail"].split()
    assert not {"json", "argparse", "tempfile", "subprocess", "re"} & set(loaded)


CHECKED = """\
    #define CAPABILITY "syscall_asked"
    #include "_runner_c.h"
    #include <signal.h>
    #include <unistd.h>
    CHECK(is_right) { want(works(dup(1), "dup") > 1, "a descriptor that was taken"); }
    CHECK(is_refused_rightly) { refuses(close(-1), EBADF, "close -1"); }
    MORE
    CHECKS
    """


def checked(tree: Tree, more: str) -> dict[str, Any]:
    done = by_hand(tree.add("asked.c", CHECKED.replace("MORE", more), "syscall"), cwd=tree.path)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_a_specimen_of_checks_is_allowed_if_each_is(tree: Tree) -> None:
    document = checked(tree, 'CHECK(is_not_for_here) { unavailable("no such thing"); }')
    assert (document["observed"], document["detail"]) == ("allowed", "2 checks")
    assert [(one["name"], one["ok"], one["detail"]) for one in document["checks"]] == [
        ("is_right", True, ""),
        ("is_refused_rightly", True, ""),
        ("is_not_for_here", None, "no such thing"),
    ]


@pytest.mark.parametrize(
    ("check", "errno", "detail"),
    [
        ('works(close(-1), "close");', "EBADF", "close: Bad file descriptor"),
        ('refuses(dup(1), EBADF, "dup");', None, "dup succeeded, and should fail with EBADF"),
        ('refuses(close(-1), EIO, "close");', "EBADF", "close: not EIO: Bad file descriptor"),
        ('want(1 > 2, "%d is more", 1);', None, "1 is more"),
        ("raise(SIGKILL);", None, "killed by signal 9"),
        ("pause();", None, "did not end in 4 s"),
    ],
)
def test_a_check_that_fails_says_how_and_the_others_are_made(
    tree: Tree, check: str, errno: str | None, detail: str
) -> None:
    document = checked(tree, f"CHECK(is_wrong) {{ {check} }}\nCHECK(comes_after) {{}}")
    assert (document["observed"], document["errno"]) == ("blocked", errno)
    assert document["detail"] == f"1 of 4 checks failed: is_wrong: {detail}"
    assert [one["ok"] for one in document["checks"]] == [True, True, False, True]


def test_a_check_at_fault_is_a_fault_of_the_specimen(tree: Tree) -> None:
    document = checked(tree, 'CHECK(is_faulty) { faulty("no scratch"); }')
    assert (document["observed"], document["detail"]) == ("error", "is_faulty: no scratch")


def test_a_check_that_asks_for_what_is_not_offered_is_no_failure(tree: Tree) -> None:
    document = checked(tree, 'CHECK(is_rare) { works_if_offered(close(-1), EBADF, "close"); }')
    assert document["observed"] == "allowed"
    assert document["checks"][-1]["detail"] == "close: not offered here"


@pytest.mark.parametrize("end", ["", "raise(SIGKILL);", 'want(0, "x");'])
def test_what_a_check_leaves_behind_is_removed_however_it_ends(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    place = tree.path / "temporary"
    place.mkdir()
    other = place / "wardian-probe-1-own-0"  # of a process that is none of its children
    other.touch()
    monkeypatch.setenv("TMPDIR", str(place))
    document = checked(
        tree,
        f"""#include <sys/stat.h>
        CHECK(leaves_much) {{
            char byte;
            want(read(file_with("file", "x"), &byte, 1) == 1 && byte == 'x', "no file");
            works(mkdir("directory", 0700), "mkdir");
            works(symlink("{place}", "directory/link"), "symlink");
            works(mkdir(scratch("more"), 0700), "mkdir");
            {end}
        }}""",
    )
    assert document["checks"][-1]["ok"] is (end == "")
    assert list(place.iterdir()) == [other]


def test_a_check_mounts_where_nobody_else_sees_it(tree: Tree, tmp_path: Path) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    document = checked(
        tree,
        f"""#include <sys/mount.h>
        CHECK(mounts) {{
            works_if_offered(own_mounts(), EPERM, "a mount namespace");
            works(mount("none", "{tmp_path}", "tmpfs", 0, NULL), "mount");
        }}""",
    )
    assert document["checks"][-1]["ok"] is not False, document
    assert Path("/proc/self/mountinfo").read_text() == before


@pytest.mark.parametrize("end", ["", "raise(SIGKILL);", 'want(0, "x");'])
def test_the_children_of_a_check_die_with_it_even_if_they_are_stopped(tree: Tree, end: str) -> None:
    # It comes back only when nobody holds the specimen's standard output any more.
    document = checked(
        tree,
        f"""CHECK(leaves_children) {{
            kill(child_that(waits), SIGSTOP);
            child_that(waits);
            {end}
        }}""",
    )
    assert document["checks"][-1]["ok"] is (end == "")


def test_a_check_shows_how_a_child_ended_and_what_comes_true(tree: Tree) -> None:
    document = checked(
        tree,
        """#include <sys/wait.h>
        static void ends(void) { _exit(3); }
        static int asked;
        CHECK(has_a_child) { want(WEXITSTATUS(end_of(child_that(ends))) == 3, "another end"); }
        CHECK(comes_true) { want(soon(++asked == 3) && asked == 3, "not the third time"); }
        CHECK(is_never_true) { want(!soon(asked == 99), "it is"); }
        CHECK(is_ordinary) { be_ordinary(); want(!holds(7), "CAP_SETUID is left"); }""",
    )
    assert [(one["name"], one["ok"]) for one in document["checks"][2:]] == [
        ("has_a_child", True),
        ("comes_true", True),
        ("is_never_true", True),
        ("is_ordinary", True),
    ]
