"""Programs of our own through ``wardian suite run``: every case is accounted for."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command import COMMAND, environment
from tests.measure.suites.conftest import Build, Suite, document, outcomes, script, statuses
from wardian.measure.suites.execution import Running, RunOptions
from wardian.measure.suites.programs import SuiteProgram, find_programs
from wardian.measure.suites.running import run_program
from wardian.measure.suites.selection import Selection
from wardian.measure.suites.suite import run_suite
from wardian.measure.target import target
from wardian.sandbox.policy.policy import Policy, Share

pytestmark = pytest.mark.long

KINDS = {
    "Plain.Passes": "passed", "Plain.Fails": "failed", "Plain.Skips": "skipped",
    "Plain.DISABLED_Waits": "disabled",
    "Few/Values.AreSmall/0": "passed", "Few/Values.AreSmall/1": "passed",
    "Few/Values.AreSmall/2": "failed",
    "Named/Texts.AreTold/Text0": "passed", "Named/Texts.AreTold/Text1": "failed",
    "Named/Texts.AreTold/Text2": "passed",
    "Widths/0.AreWide": "failed", "Widths/1.AreWide": "passed",
    "DISABLED_Whole.Suite": "disabled",
}  # fmt: skip
ROUGH = {
    "A.Before": "passed", "A.Segfaults": "crashed", "A.AfterSegfault": "passed",
    "A.LeavesQuietly": "crashed", "A.AfterLeaving": "passed",
    "B.Hangs": "timeout", "B.AfterHanging": "passed",
    "C.PrintsGarbage": "passed", "C.AfterGarbage": "passed",
    "D.ChildrenPrint": "passed", "D.ChildRunsOn": "passed",
    "E.Aborts": "crashed", "E.ClosesStandardOutput": "passed", "E.IsOnlyInTheReport": "passed",
}  # fmt: skip
SANDBOXES = ("wardian", "bubblewrap", "gvisor", "host")
NEEDS = {"bubblewrap": "bwrap", "gvisor": "runsc"}


def present(name: str) -> str:
    """The sandbox, if its program is there."""
    program = NEEDS.get(name)
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return name


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_every_kind_of_case_is_reported_in_every_sandbox(
    build: Build, suite: Suite, sandbox: str
) -> None:
    found = document(suite("run", build("kinds"), "--in", present(sandbox), "--json"))
    assert statuses(found, "kinds", sandbox) == KINDS
    of = outcomes(found, "kinds", sandbox)
    assert "sums" in of["Plain.Fails"]["output"]
    assert of["Plain.Fails"]["detail"].startswith("kinds.cc:9: ")
    assert "no such device" in of["Plain.Skips"]["detail"]
    assert of["Widths/0.AreWide"]["parameter"] == "char"
    assert of["Few/Values.AreSmall/2"]["parameter"] == "2"


@pytest.mark.parametrize("sandbox", ["wardian", "host"])
def test_a_crash_a_hang_and_garbage_cost_no_other_case(
    build: Build, suite: Suite, sandbox: str
) -> None:
    found = document(suite("run", build("rough"), "--in", sandbox, "--timeout", "2s", "--json"))
    assert statuses(found, "rough", sandbox) == ROUGH
    of = outcomes(found, "rough", sandbox)
    assert "SIGSEGV" in of["A.Segfaults"]["detail"]
    assert "exit code 0" in of["A.LeavesQuietly"]["detail"]
    assert "still here" in of["B.Hangs"]["output"]
    assert of["B.Hangs"]["seconds"] >= 2
    assert all(len(one.get("output", "")) <= 16 << 10 for one in of.values())


def test_each_case_by_itself_comes_to_the_same(build: Build, suite: Suite) -> None:
    one = suite("run", build("rough"), "--timeout", "2s", "--isolate", "case", "--json")
    assert statuses(document(one), "rough") == ROUGH


def test_a_suite_that_can_not_be_set_up_is_no_skip(build: Build, suite: Suite) -> None:
    found = document(suite("run", build("fixtures"), "--json"))
    assert statuses(found, "fixtures") == {
        "SetsUp.First": "failed", "SetsUp.Second": "failed",
        "TearsDown.Only": "passed", "TearsDown.(tear down)": "failed",
        "Dies.First": "crashed", "Dies.Second": "crashed", "Others.Pass": "passed",
    }  # fmt: skip
    of = outcomes(found, "fixtures")
    assert "no ground to stand on" in of["SetsUp.First"]["detail"]
    assert "something was left" in of["TearsDown.(tear down)"]["detail"]


def test_a_program_that_dies_before_main_has_one_outcome(build: Build, suite: Suite) -> None:
    found = document(suite("run", build("early"), "--json"))
    assert statuses(found, "early") == {"(program)": "crashed"}
    assert "SIGABRT" in outcomes(found, "early")["(program)"]["detail"]


def test_a_program_that_never_gets_to_a_case_is_given_up(build: Build, suite: Suite) -> None:
    found = document(suite("run", build("unready"), "--json"))
    of = outcomes(found, "unready")
    assert [one["status"] for one in of.values()] == ["crashed"] * 3 + ["not_run"] * 37
    assert "no such server" in of["All/Several.Cases/0"]["output"]
    assert next(one["runs"] for one in found["programs"]) == 4  # one of them lists


def test_more_cases_than_an_argument_can_name_are_run_on_after_a_crash(
    build: Build, suite: Suite
) -> None:
    found = document(suite("run", build("many"), "--json"))
    all_of = list(statuses(found, "many").items())
    assert len(all_of) == 3000
    assert [name for name, status in all_of if status != "passed"] == [all_of[1500][0]]
    assert all_of[1500][1] == "crashed"


def test_what_passes_on_the_host_and_not_here_stands_beside_what_was_refused(
    build: Build, suite: Suite
) -> None:
    found = document(suite("run", build("walls"), "--in", "wardian,host", "--json"))
    assert set(statuses(found, "walls", "host").values()) == {"passed"}
    lost = {one["case"]: one for one in found["lost"]}
    assert lost.pop("Unsteady.FailsAfterIt")["unsteady"] is True
    assert set(lost) == {
        "Walls.Trace", "Walls.TraceAgain", "Walls.HostFile", "Walls.SkipsWithoutTracing",
    }  # fmt: skip
    for case in ("Walls.Trace", "Walls.TraceAgain", "Walls.SkipsWithoutTracing"):
        assert [one["action"] for one in lost[case]["refusals"]] == ["ptrace"], case
    assert lost["Walls.HostFile"]["refusals"][-1]["target"].startswith("/etc/")
    assert lost["Walls.SkipsWithoutTracing"]["status"] == "skipped"
    causes = {one["cause"]: one["cases"] for one in found["causes"]}
    ptrace = next(cases for cause, cases in causes.items() if "ptrace" in cause)
    assert len(ptrace) == 3
    of = {one["name"]: one for one in found["sandboxes"]}
    assert (of["wardian"]["kept"], of["wardian"]["of_baseline"]) == (7, 11)


def test_what_only_fails_beside_others_is_reported_and_not_lost(build: Build, suite: Suite) -> None:
    done = suite("run", build("walls"), "--filter", "Unsteady.*", "--in", "wardian,host")
    assert done.returncode == 0
    assert "flaky: it passes when run alone" in done.stdout
    assert "of 2 that pass in host 2 pass (100.00 %)" in done.stderr


def test_the_wall_that_a_case_meets_is_found_by_taking_walls_away(
    build: Build, suite: Suite
) -> None:
    args = ("--filter", "Walls.*", "--in", "wardian,host", "--blame", "--json")
    found = document(suite("run", build("walls"), *args))
    walls = {one["case"]: one["wall"] for one in found["lost"]}
    assert walls.pop("Walls.HostFile") == "own root"
    assert set(walls.values()) == {"seccomp"}
    assert found["walls"] == {"wardian": {"seccomp": 3, "own root": 1}}


def test_what_nothing_was_seen_to_refuse_is_reported_by_the_wall_that_it_likely_met(
    build: Build, suite: Suite
) -> None:
    args = ("--filter", "Subtle.*", "--in", "wardian,host", "--json")
    found = document(suite("run", build("subtle"), *args))
    causes = {one["case"]: one["cause"] for one in found["lost"]}
    assert causes["Subtle.NoNewPrivs"].startswith("likely no_new_privs: prctl(PR_GET_NO_NEW_PRIVS)")
    assert causes["Subtle.HardLimit"].startswith("likely limits: prlimit64()")


def test_without_a_launcher_for_tests_only_walls_that_were_tried_are_named(
    build: Build, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in an installed package: a policy gives up what it can, and grants what was refused."""
    from wardian.measure.suites import blaming

    monkeypatch.setattr(blaming, "launcher_for_tests", lambda: None)
    options = RunOptions(Selection(("Walls.*", "Subtle.NoNewPrivs", "Subtle.LivesHere")), 20)
    programs = find_programs([str(build("walls")), str(build("subtle"))]).programs
    policy = Policy.preset("conformance")
    targets = [target(name, policy) for name in ("wardian", "host")]
    results = run_suite(programs, targets, options, baseline="host", blame=True)
    walls = {
        one.case: one.wall for result in results for one in result.outcomes
        if result.sandbox == "wardian" and one.wall
    }  # fmt: skip
    assert walls.pop("Walls.HostFile") == "own root"
    assert walls.pop("Subtle.NoNewPrivs") == "no_new_privs, by itself"
    tried = walls.pop("Subtle.LivesHere")
    assert tried.startswith("not found: none of seccomp, landlock, namespace.network, limits")
    assert set(walls.values()) == {"seccomp"}


def test_a_case_that_prints_that_it_passed_and_dies_is_crashed(build: Build, suite: Suite) -> None:
    found = document(suite("run", build("subtle"), "--filter", "Liar.*", "--json"))
    of = outcomes(found, "subtle")
    assert (of["Liar.SaysOk"]["status"], of["Liar.GoesAfterIt"]["status"]) == ("crashed", "passed")
    assert "SIGABRT after the case had printed passed" in of["Liar.SaysOk"]["detail"]


def test_the_host_gives_as_many_descriptors_as_the_sandbox(build: Build, suite: Suite) -> None:
    args = ("--filter", "Same.*", "--in", "wardian,host", "--json")
    found = document(suite("run", build("subtle"), *args))
    reported = {one["sandbox"]: one["outcomes"][0]["detail"] for one in found["programs"]}
    assert "soft limit" in reported["host"]
    assert reported["wardian"] == reported["host"]


def test_what_is_flaky_in_the_baseline_is_not_lost(
    build: Build, suite: Suite, tmp_path: Path
) -> None:
    args = ("--filter", "Flaky.*", "--env", f"FLAKY_MARKER={tmp_path}/marker", "--json")
    done = suite("run", build("subtle"), *args, "--in", "wardian,host")
    found = document(done)
    assert (done.returncode, found["lost"]) == (0, [])
    native = next(one for one in found["programs"] if one["sandbox"] == "host")
    assert [(one["status"], one["alone"]) for one in native["outcomes"]] == [("passed", "failed")]


def test_cases_that_hang_at_the_same_refusal_get_a_short_time_and_others_the_whole(
    build: Build, suite: Suite
) -> None:
    found = document(
        suite("run", build("subtle"), "--filter", "Hangs.*", "--timeout", "8s", "--json")
    )
    of = outcomes(found, "subtle")
    assert [one["status"] for one in of.values()] == ["timeout"] * 4 + ["passed"]
    assert [round(one["seconds"]) >= 8 for one in list(of.values())[:2]] == [True, True]
    assert of["Hangs.D"]["seconds"] < 6


def test_another_filter_runs_only_what_is_not_known(
    build: Build, suite: Suite, tmp_path: Path
) -> None:
    args = ("run", build("subtle"), "-o", tmp_path / "out", "--resume", "--json")
    first = document(suite(*args, "--filter", "Subtle.*"))["programs"][0]
    both = document(suite(*args, "--filter", "Subtle.*", "--filter", "Same.*"))["programs"][0]
    known = {one["case"]: one for one in first["outcomes"]}
    assert {one["case"]: one for one in both["outcomes"] if one["case"] in known} == known
    assert len(both["outcomes"]) == len(known) + 1
    assert both["runs"] == 2  # one lists, one runs what is new
    fewer = document(suite(*args, "--filter", "Subtle.NoNewPrivs"))["programs"][0]
    assert fewer["outcomes"] == [known["Subtle.NoNewPrivs"]]


def test_what_is_lost_is_reported_by_cause(build: Build, suite: Suite) -> None:
    done = suite("run", build("walls"), build("kinds"), "--in", "wardian", "--baseline", "host")
    assert done.returncode == 1
    assert "5 cases that pass in host and not in wardian, by cause" in done.stdout
    assert "refused: process ptrace" in done.stdout
    assert "kinds:" not in done.stdout  # what fails on the host as well is not lost
    assert "of 17 that pass in host 13 pass (76.47 %)" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_nothing_lost_is_a_success(build: Build, suite: Suite) -> None:
    done = suite("run", build("walls"), "--filter", "Room.*", "--in", "wardian,host")
    assert (done.returncode, "by cause" in done.stdout) == (0, False)


def test_a_sandbox_that_lacks_walls_says_so_and_runs(build: Build, suite: Suite) -> None:
    done = suite("run", build("kinds"), "--in", present("bubblewrap"), "--json")
    assert "bubblewrap does not support: landlock, notify" in done.stderr
    assert document(done)["sandboxes"][0]["degraded"] == ["landlock", "notify"]


# Other protocols


def test_tap_and_exit_codes_come_through_the_same_door(suite: Suite) -> None:
    found = document(suite("run", script("points"), script("short"), script("code"), "--json"))
    assert statuses(found, "points.sh") == {
        "opens": "passed", "closes": "failed", "seeks": "skipped", "locks": "skipped",
        "opens #2": "passed",
    }  # fmt: skip
    short = statuses(found, "short.sh")
    assert list(short.values()) == ["passed", "crashed", "not_run", "not_run"]
    assert "SIGSEGV" in outcomes(found, "short.sh")["(program)"]["detail"]
    assert statuses(found, "code.sh") == {"(program)": "passed"}
    protocols = {one["program"]: one["protocol"] for one in found["programs"]}
    assert protocols == {"points.sh": "tap", "short.sh": "tap", "code.sh": "exit"}


@pytest.mark.parametrize(("code", "status"), [("1", "failed"), ("32", "skipped"), ("4", "skipped")])
def test_an_exit_code_of_ltp_or_kselftest_is_understood(
    suite: Suite, code: str, status: str
) -> None:
    done = suite("run", script("code"), "--env", f"CODE={code}", "--in", "wardian,host", "--json")
    found = document(done)
    assert statuses(found, "code.sh") == statuses(found, "code.sh", "host") == {"(program)": status}


def test_the_protocol_can_be_said(suite: Suite) -> None:
    found = document(suite("run", script("points"), "--protocol", "exit", "--json"))
    assert statuses(found, "points.sh") == {"(program)": "failed"}


def test_a_program_that_hangs_without_output_is_ended(suite: Suite, tmp_path: Path) -> None:
    program = tmp_path / "hang"
    program.write_text("#!/bin/sh\nsleep 100\n")
    program.chmod(0o755)
    found = document(suite("run", program, "--timeout", "1s", "--json"))
    assert statuses(found, "hang") == {"(program)": "timeout"}


def test_in_a_directory_with_googletest_helpers_are_passed_over(
    build: Build, suite: Suite, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy(build("kinds"), folder / "kinds")
    shutil.copy(script("code"), folder / "helper")
    (folder / "notes.txt").write_text("no program")
    done = suite("run", folder, "--json")
    assert [one["program"] for one in document(done)["programs"]] == ["kinds"]
    assert "skipped, not googletest: helper" in done.stderr


def test_libraries_beside_a_program_and_its_runfiles_are_shared(
    suite: Suite, tmp_path: Path
) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("cc is not installed")
    folder = tmp_path / "made"
    (folder / "lib").mkdir(parents=True)
    (folder / "prog.runfiles").mkdir()
    (folder / "prog.runfiles" / "data").write_text("7")
    (folder / "secret").write_text("not shared")
    (folder / "part.c").write_text("int part(void) { return 0; }\n")
    (folder / "prog.c").write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
        "int part(void);\nint main(int argc, char **argv) {\n"
        '  char path[4096];\n  snprintf(path, sizeof path, "%s/data", getenv("TEST_SRCDIR"));\n'
        "  if (access(path, R_OK)) return 2;\n"
        "  strcpy(strrchr(argv[0], '/'), \"/secret\");\n"
        "  return access(argv[0], F_OK) ? part() : 3;\n}\n"
    )
    for words in (
        ["-shared", "-fPIC", "-o", "lib/libpart.so", "part.c"],
        ["-o", "prog", "prog.c", "-Llib", "-lpart", "-Wl,-rpath,$ORIGIN/lib"],
    ):
        subprocess.run([compiler, *words], cwd=folder, check=True)
    found = document(suite("run", folder / "prog", "--json"))
    assert statuses(found, "prog") == {"(program)": "passed"}, found


# Parts, results, resuming


def test_shards_together_are_the_whole(build: Build, suite: Suite) -> None:
    parts = [
        statuses(document(suite("run", build("kinds"), "--shard", f"{i}/3", "--json")), "kinds")
        for i in (1, 2, 3)
    ]
    assert sum(len(part) for part in parts) == len(KINDS)
    assert {name: status for part in parts for name, status in part.items()} == KINDS


def test_filter_and_exclude_choose_cases(build: Build, suite: Suite) -> None:
    done = suite(
        "run", build("kinds"), "--filter", "Few/*", "--filter", "kinds:Plain.P*",
        "--exclude", "*/1", "--json",
    )  # fmt: skip
    assert set(statuses(document(done), "kinds")) == {
        "Plain.Passes", "Few/Values.AreSmall/0", "Few/Values.AreSmall/2",
    }  # fmt: skip


def test_junit_is_well_formed_and_counts(build: Build, suite: Suite, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    suite("run", build("rough"), build("kinds"), "--timeout", "2s", "--junit", report)
    suites = {one.get("name"): one for one in ElementTree.parse(report).getroot()}  # noqa: S314
    rough, kinds = suites["rough [wardian]"], suites["kinds [wardian]"]
    counted = {key: rough.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counted == {"tests": "14", "failures": "0", "errors": "4", "skipped": "0"}
    assert (kinds.get("failures"), kinds.get("skipped")) == ("4", "3")
    assert len(rough.findall("testcase")) == 14


def test_unchanged_programs_are_not_run_again(build: Build, suite: Suite, tmp_path: Path) -> None:
    program = tmp_path / "kinds"
    shutil.copy(build("kinds"), program)
    args = ("run", program, "--in", "wardian,host", "-o", tmp_path / "out", "--resume", "--json")
    first = document(suite(*args))
    files = sorted((tmp_path / "out").glob("*/*.json"))
    assert [str(one.relative_to(tmp_path / "out")) for one in files] == [
        "host/kinds.json", "wardian/kinds.json",
    ]  # fmt: skip
    times = [one.stat().st_mtime_ns for one in files]
    again = document(suite(*args))
    assert [one["outcomes"] for one in again["programs"]] == [
        one["outcomes"] for one in first["programs"]
    ]
    assert [one.stat().st_mtime_ns for one in files] == times
    document(suite(*args, "--timeout", "30s"))  # nothing took so long: it still counts
    assert [one.stat().st_mtime_ns for one in files] == times
    document(suite(*args, "--env", "OTHER=1"))  # another way: run again
    assert [one.stat().st_mtime_ns for one in files] != times
    files[0].write_text("{")  # what can't be read does not count
    assert statuses(document(suite(*args)), "kinds", "host") == KINDS
    with program.open("ab") as file:
        file.write(b"changed")
    before = [one.stat().st_mtime_ns for one in files]
    document(suite(*args))
    assert all(a != b for a, b in zip(before, (f.stat().st_mtime_ns for f in files), strict=True))


def test_a_suite_that_was_killed_goes_on_where_it_was(
    build: Build, suite: Suite, tmp_path: Path
) -> None:
    slow = tmp_path / "programs"
    slow.mkdir()
    for name in ("a", "b", "c"):
        (slow / name).write_text("#!/bin/sh\necho ran\nsleep 0.2\n")
        (slow / name).chmod(0o755)
    (slow / "d").write_text("#!/bin/sh\nsleep 60\n")
    (slow / "d").chmod(0o755)
    out = tmp_path / "out"
    args = ["run", str(slow), "-o", str(out), "--resume", "--json", "--timeout", "40s"]
    process = subprocess.Popen(
        [*COMMAND, "suite", *args, "--jobs", "1"], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, cwd=tmp_path, env=environment(),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while len(list(out.glob("wardian/*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {path: path.stat().st_mtime_ns for path in out.glob("wardian/*.json")}
    assert sorted(path.name for path in kept) == ["a.json", "b.json", "c.json"]
    assert all(json.loads(path.read_text())["schema"] for path in kept)
    (slow / "d").write_text("#!/bin/sh\nexit 1\n")
    found = document(suite(*args))
    assert {one["program"]: one["outcomes"][0]["status"] for one in found["programs"]} == {
        "a": "passed", "b": "passed", "c": "passed", "d": "failed",
    }  # fmt: skip
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_an_interrupt_ends_all_that_runs(suite: Suite, tmp_path: Path) -> None:
    program = tmp_path / "sleeper"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/begun\nsleep 300\n")
    program.chmod(0o755)
    process = subprocess.Popen(
        [*COMMAND, "suite", "run", str(program), "--in", "wardian,host", "--timeout", "5m"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=tmp_path, env=environment(),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.1)  # on the host; a signal before that meets a Python that only starts
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_program_of_the_host_running(
    suite: Suite, tmp_path: Path, number: signal.Signals
) -> None:
    program = tmp_path / "sleeper"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 300\n")
    program.chmod(0o755)
    process = subprocess.Popen(
        [*COMMAND, "suite", "run", str(program), "--in", "host", "--timeout", "5m"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=tmp_path, env=environment(),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    pid = int((tmp_path / "pid").read_text())
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("run",), 2, "missing argument"),
        (("run", "nowhere"), 125, "nowhere"),
        (("run", "."), 3, "no program"),
        (("run", "PROGRAM", "--filter", "no.such"), 3, "no case matches"),
        (("run", "PROGRAM", "--shard", "3/2"), 2, "--shard"),
        (("run", "PROGRAM", "--timeout", "none"), 2, "--timeout"),
        (("run", "PROGRAM", "--in", "astrology"), 2, "no backend"),
        (("run", "PROGRAM", "--baseline", "astrology"), 2, "no backend"),
        (("run", "PROGRAM", "--protocol", "astrology"), 2, "--protocol"),
        (("run", "PROGRAM", "--policy", "astrology"), 125, "no preset"),
        (("run", "PROGRAM", "--resume"), 2, "-o DIR"),
        (("run", "PROGRAM", "--env", "X"), 2, "--env"),
        (("run", "PROGRAM", "--blame", "--baseline", "none"), 2, "--blame"),
        (("catalogue", "nowhere"), 2, "nowhere"),
        (("catalogue", "."), 3, "no googletest case"),
    ],
)
def test_a_wrong_call_is_reported_and_writes_nothing(
    suite: Suite, tmp_path: Path, args: tuple[str, ...], code: int, message: str
) -> None:
    done = suite(*(str(script("code")) if one == "PROGRAM" else one for one in args))
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.parametrize("name", ["run", "catalogue"])
def test_every_command_has_help_with_two_examples(suite: Suite, name: str) -> None:
    done = suite(name, "--help")
    assert done.returncode == 0
    assert done.stdout.count(f"wardian suite {name}") >= 2
    assert "--json" in done.stdout


def test_a_sandbox_that_can_not_be_had_is_a_result(build: Build, suite: Suite) -> None:
    done = suite(
        "run", build("kinds"), "--in", "gvisor", "--json", PATH=os.path.dirname(sys.executable)
    )
    found = document(done)
    assert statuses(found, "kinds", "gvisor") == {"(program)": "not_run"}
    assert "could not be set up" in outcomes(found, "kinds", "gvisor")["(program)"]["detail"]


def test_progress_is_shown_on_a_terminal_and_goes_again(build: Build, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    done = subprocess.run(
        [*COMMAND, "suite", "run", str(build("kinds")), "--filter", "Few/*"],
        stdout=subprocess.PIPE, stderr=theirs, stdin=subprocess.DEVNULL, cwd=tmp_path,
        env=environment(TERM="xterm"), timeout=60, check=False,
    )  # fmt: skip
    os.close(theirs)
    reported = b""
    try:
        while piece := os.read(ours, 65536):
            reported += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert b"1/1 programs, 3 cases, 1 not passed" in reported
    assert reported.rindex(b"\r\x1b[K") < reported.index(b"wardian: 3 cases of 1 program")
    assert b"\x1b" not in done.stdout


# A project below the host's /work, where a guest has its own


@pytest.mark.parametrize("sandbox", ["wardian", "bubblewrap", "gvisor"])
@pytest.mark.parametrize("whole", [True, False], ids=["folder", "file"])
def test_a_program_below_work_keeps_its_path_and_its_own_work_directory(
    tmp_path: Path, sandbox: str, whole: bool
) -> None:
    present(sandbox)
    folder = tmp_path / "project"
    folder.mkdir()
    folder.chmod(0o755)
    test = folder / "one.sh"
    test.write_text(
        '#!/bin/sh\n[ "$0" = /work/a/project/one.sh ] && echo x > "$TEST_TMPDIR/x" && '
        "echo x > /work/x && ! echo x > /work/a/project/one.sh\n"
    )
    test.chmod(0o755)
    at = "/work/a/project" if whole else "/work/a/project/one.sh"
    share = Share(str(folder if whole else test), at)
    program = SuiteProgram("one.sh", "/work/a/project/one.sh", "exit", "", (share,))
    where = target(sandbox, Policy.preset("conformance"))
    found = run_program(program, where, RunOptions(), Running(), lambda case, status: None)
    assert [(one.status, one.detail) for one in found.outcomes] == [("passed", "")]
    assert test.read_text().startswith("#!/bin/sh")


def test_what_lies_in_work_itself_is_shared_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wardian.measure.suites.programs.WORK", str(tmp_path))
    (tmp_path / "tmp").mkdir()
    for name in ("one.sh", "data"):
        (tmp_path / name).write_text("#!/bin/sh\n")
    (tmp_path / "one.sh").chmod(0o755)
    program = find_programs([str(tmp_path)]).programs[0]
    names = [str(tmp_path / name) for name in ("data", "one.sh")]
    assert program.shares == tuple(Share(name, name) for name in names)
