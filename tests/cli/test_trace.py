"""``wardian trace``, as people call it: report, document, lines, timeline."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_documents import ROOT, conforms, schema
from tests.command import COMMAND, Wardian, environment
from wardian.cli.options import EXEC_OPTIONS, RUN_OPTIONS
from wardian.cli.trace import TRACE_OPTIONS

SKILL = str(ROOT / "skills" / "csv-report")
LINE = re.compile(r"^ +\d+\.\d{4} \[\d+(:\d+)?\] +\S")


def trace_schema() -> dict[str, Any]:
    """The one that docs/reference/trace.md shows."""
    text = (ROOT / "docs" / "reference" / "trace.md").read_text()
    found = re.search(r"^```json schema\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    document: dict[str, Any] = json.loads(found.group(1))
    del document["properties"]["result"]
    return document


def checked(text: str, *, skill: bool = False) -> dict[str, Any]:
    """The document, after it was compared with what is documented."""
    document: dict[str, Any] = json.loads(text)
    result = document.pop("result")
    wanted = trace_schema()
    wanted["required"].remove("result")
    conforms(document, wanted)
    about = {key: result.pop(key, None) for key in ("skill", "script", "files", "files_left_out")}
    assert (about["script"] is not None) == skill
    conforms(result, schema())
    return document | {"result": result}


# The report


def test_the_report_follows_the_output_and_the_exit_code_is_the_commands(wardian: Wardian) -> None:
    done = wardian("trace", "--", "sh", "-c", "echo out; echo err >&2; echo x >made; exit 7")
    assert (done.stdout, done.returncode) == ("out\n", 7)
    lines = done.stderr.splitlines()
    assert lines[:2] == ["err", "programs"]
    assert "  created          /work/made" in lines
    assert "system calls" in lines
    assert lines[-1].startswith("exit 7 · ")


def test_many_files_in_one_place_are_told_as_that_place(wardian: Wardian) -> None:
    script = "mkdir d; i=0; while [ $i -lt 60 ]; do echo >d/$i; i=$((i+1)); done"
    report = wardian("trace", "--", "sh", "-c", script).stderr
    assert re.search(r"created +61 below /work/d|created +60 below /work/d", report), report
    full = wardian("trace", "-v", "--", "sh", "-c", script).stderr
    assert len(re.findall(r" /work/d/\d+$", full, re.MULTILINE)) == 60


def test_processes_that_are_alike_are_told_once(wardian: Wardian) -> None:
    done = wardian("trace", "--", "sh", "-c", "for i in 1 2 3 4; do /bin/true; done; ls >/dev/null")
    assert re.search(r"├ /bin/true +×4$", done.stderr, re.MULTILINE)
    assert re.search(r"└ ls ", done.stderr)


def test_what_was_refused_is_in_the_report(wardian: Wardian) -> None:
    done = wardian("trace", "--", "sh", "-c", "cat /etc/shadow; true")
    assert done.returncode == 0
    assert "/etc/shadow" in done.stderr


def test_quiet_tells_nothing(wardian: Wardian) -> None:
    done = wardian("trace", "-q", "--", "true")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_text_of_the_guest_can_not_reach_the_terminal_raw(wardian: Wardian) -> None:
    script = "printf x >\"$(printf 'a\\033[31mb')\"; exec sh -c : \"$(printf '\\033]0;t\\007')\""
    for options in ((), ("-f",), ("-v",)):
        done = wardian("trace", *options, "--", "sh", "-c", script)
        assert "\x1b" not in done.stderr
        assert "\\x1b" in done.stderr


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ((), 125, "no skill or command given"),
        (("-f", "--json", "--", "true"), 125, "cannot be combined"),
        (("-o", "x", "--perfetto", "x", "--", "true"), 125, "need different files"),
        (("-o", "", "--", "true"), 125, "cannot be empty"),
        (("-o", "no/such/place", "--", "true"), 125, "no/such/place"),
        (("--backend", "host", "--", "true"), 125, "can't trace"),
        (("--follw", "--", "true"), 125, "did you mean --follow"),
        (("no-such-skill", "x"), 125, "no-such-skill"),
        (("--", "no-such-program"), 127, "not found"),
        (("--time", "300ms", "--", "sleep", "60"), 124, "time limit"),
    ],
)
def test_what_goes_wrong_is_told_without_a_traceback(
    args: tuple[str, ...], code: int, message: str, wardian: Wardian
) -> None:
    done = wardian("trace", *args)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert message in done.stderr


@pytest.mark.parametrize("option", ["-o", "--perfetto"])
def test_a_full_disk_is_told_and_does_not_end_the_guest(
    option: str, wardian: Wardian, tmp_path: Path
) -> None:
    script = "ls -R /usr/lib >/dev/null; echo >end"
    done = wardian("trace", "--work", ".", option, "/dev/full", "--", "sh", "-c", script)
    assert done.returncode == 125
    assert "/dev/full: No space left" in done.stderr
    assert (tmp_path / "end").exists()


def test_help_shows_examples(wardian: Wardian) -> None:
    done = wardian("trace", "--help")
    assert done.stdout.count("wardian trace ") >= 2
    assert wardian("trace", "--", "ls", "--help").stdout.startswith("Usage: ls")


def test_every_option_is_described_and_all_of_run_are_there() -> None:
    page = (ROOT / "docs" / "trace.md").read_text()
    names = {option.name for option in TRACE_OPTIONS}
    assert {option.name for option in (*RUN_OPTIONS, *EXEC_OPTIONS)} <= names
    for name in ("follow", "perfetto", "to", "json", "quiet"):
        assert f"`--{name}" in page


# The document


@pytest.mark.parametrize(
    "args",
    [
        ("--", "true"),
        ("--", "sh", "-c", "ls | wc; exit 3"),
        ("--", "sh", "-c", "kill -9 $$"),
        ("--", "no-such-program"),
        ("--time", "200ms", "--", "sleep", "60"),
        (
            "--",
            "/usr/bin/python3",
            "-c",
            "import socket; socket.socket().connect(('127.0.0.1', 1))",
        ),
        ("--perfetto", "p", "--", "true"),
    ],
)
def test_the_document_is_as_documented(args: tuple[str, ...], wardian: Wardian) -> None:
    done = wardian("trace", "--json", *args)
    document = checked(done.stdout)
    assert document["result"]["exit_code"] == done.returncode


def test_the_document_has_the_output_unless_it_goes_to_a_file(
    wardian: Wardian, tmp_path: Path
) -> None:
    here = checked(wardian("trace", "--json", "--", "echo", "hi").stdout)
    assert here["result"]["stdout"] == "hi\n"
    done = wardian("trace", "--json", "-o", "t.json", "--", "echo", "hi")
    assert (done.stdout, done.stderr) == ("hi\n", "")
    there = checked((tmp_path / "t.json").read_text())
    assert there["result"]["stdout"] == ""
    assert there["processes"][0]["command"] == ["echo", "hi"]


def test_names_that_are_not_text_do_not_spoil_the_document(wardian: Wardian) -> None:
    done = wardian("trace", "--json", "--", "sh", "-c", "echo >\"$(printf 'a\\377')\"")
    document = checked(done.stdout)
    assert "/work/a\ufffd" in {file["path"] for file in document["files"]}


def test_an_error_is_a_document_too(wardian: Wardian) -> None:
    done = wardian("trace", "--json", "--backend", "host", "--", "true")
    assert json.loads(done.stdout)["schema"] == "wardian.error/1"


# A skill's script


def test_a_script_of_a_skill_is_traced(wardian: Wardian, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("region;amount\nnorth;10\n")
    script = ("report.py", "--work", ".", "--", "sales.csv", "--by", "region", "--sum", "amount")
    done = wardian("trace", SKILL, *script)
    assert (done.returncode, "north" in done.stdout) == (0, True), done.stderr
    assert re.search(r"read .*\n(.*\n)* +/work/sales.csv\n", done.stderr), done.stderr
    document = checked(wardian("trace", "--json", SKILL, *script).stdout, skill=True)
    read = {file["path"] for file in document["files"] if "read" in file["actions"]}
    assert {"/work/sales.csv", "/skill/scripts/report.py"} <= read


def test_what_a_script_made_is_kept_with_out(wardian: Wardian, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    shared = f"{tmp_path}/a.csv:/mnt/a.csv"
    done = wardian(
        "trace", SKILL, "report.py", "--read", shared, "--out", "kept", "-o", "report",
        "--", "/mnt/a.csv", "--format", "json", "--out", "about.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "kept" / "about.json").exists()
    assert "/work/about.json" in (tmp_path / "report").read_text()


def test_a_skill_alone_lists_its_scripts(wardian: Wardian) -> None:
    assert "scripts/report.py" in wardian("trace", SKILL).stdout


# Following


def test_each_call_is_a_line(wardian: Wardian, tmp_path: Path) -> None:
    script = "echo hi >x; cat x; sleep 0.3; ls no-such"
    done = wardian("trace", "-f", "-o", "lines", "--", "sh", "-c", script)
    assert (done.stdout, done.returncode) == ("hi\n", 2)
    lines = (tmp_path / "lines").read_text().splitlines()
    assert all(LINE.match(line) for line in lines), [x for x in lines if not LINE.match(x)]
    text = "\n".join(lines)
    assert 'openat(AT_FDCWD, "/work/x", O_WRONLY|O_CREAT|O_TRUNC, 0666)' in text
    assert re.search(
        r'\[(\d+)\] +execve\("/usr/bin/cat", …\)\n(.*\n)*.* \[\1\] +is now cat x', text
    )
    assert re.search(r'statx\(AT_FDCWD, "/work/no-such", .*→ ENOENT', text)
    assert re.search(r"clock_nanosleep\(…\) returns after (\d{3} ms|\d\.\d\d s)", text)
    assert re.search(r"\[4\] +exit_group\(0\)", text)


def test_lines_come_while_it_runs(tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    with lines.open("w") as stderr:
        process = subprocess.Popen(
            [*COMMAND, "trace", "-f", "--", "sh", "-c", ": >/work/now; sleep 600"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, env=environment(),
        )  # fmt: skip
    try:
        deadline = time.monotonic() + 30
        while "clock_nanosleep" not in lines.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert "/work/now" in lines.read_text()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()


def test_threads_and_processes_have_names_of_their_own(wardian: Wardian) -> None:
    code = (
        "import threading, os; t = threading.Thread(target=os.getppid); t.start(); t.join(); "
        "pid = os.fork()\nif pid: os.wait()"
    )
    text = wardian("trace", "-f", "--", "/usr/bin/python3", "-c", code).stderr
    assert re.search(r"\[2:1\] +getppid\(\)", text)
    assert re.search(r"\[[3-9]\] +starts, forked by \[2\]", text)


def test_addresses_and_questions_are_readable(wardian: Wardian) -> None:
    code = (
        "import socket as s; s.socket().bind(('127.0.0.1', 4711)); "
        "s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))\n"
        "try: s.getaddrinfo('name.example.org', 80)\nexcept OSError: pass"
    )
    text = wardian("trace", "-f", "--", "/usr/bin/python3", "-c", code).stderr
    assert re.search(r"bind\(\d, 127.0.0.1:4711", text)
    assert re.search(r"sendto\(\d, …, 1, 0, 127.0.0.1:9", text)
    assert "asking for name.example.org" in text


# The timeline


def timeline(wardian: Wardian, tmp_path: Path, *command: str) -> list[dict[str, Any]]:
    """The events of a timeline, after what the Trace Event Format asks of each was checked."""
    done = wardian("trace", "-q", "--perfetto", "p.json", "--", *command)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "p.json").read_text())
    assert document["displayTimeUnit"] in ("ms", "ns")
    events: list[dict[str, Any]] = document["traceEvents"]
    for event in events:
        assert event["ph"] in ("M", "X", "i"), event
        assert {"name", "pid", "tid"} <= set(event), event
        assert all(type(event[key]) is int and event[key] > 0 for key in ("pid", "tid"))
        assert event["ph"] == "M" or event["ts"] >= 0
        assert event["ph"] != "X" or event["dur"] >= 0
        assert event["ph"] != "i" or event["s"] == "t"
        assert event["ph"] != "M" or event["name"] in (
            "process_name", "thread_name", "process_sort_index"
        )  # fmt: skip
    return events


SCRIPT = "sleep 0.3; (exec ls /) >/dev/null; exec cat /etc/hostname"


def test_programs_and_waits_are_slices_and_other_calls_instants(
    wardian: Wardian, tmp_path: Path
) -> None:
    events = timeline(wardian, tmp_path, "sh", "-c", SCRIPT)
    programs = [one for one in events if one.get("cat") == "program"]
    assert {one["args"]["path"] for one in programs} >= {"/usr/bin/sh", "/usr/bin/cat"}
    slept = [one for one in events if one["name"] == "clock_nanosleep" and one["ph"] == "X"]
    assert [150_000 < one["dur"] < 10_000_000 for one in slept] == [True]
    assert any(one["ph"] == "i" and one["name"] == "openat" for one in events)
    named = {one["args"]["name"] for one in events if one["name"] == "process_name"}
    assert {name.split()[0] for name in named} == {"cat", "sleep", "ls"}


def test_slices_of_a_track_lie_in_each_other_or_apart(wardian: Wardian, tmp_path: Path) -> None:
    events = timeline(wardian, tmp_path, "sh", "-c", SCRIPT)
    tracks: dict[int, list[tuple[float, float]]] = {}
    for one in events:
        if one["ph"] == "X":
            tracks.setdefault(one["tid"], []).append((one["ts"], one["ts"] + one["dur"]))
    for slices in tracks.values():
        open_until: list[float] = []
        for start, end in sorted(slices, key=lambda one: (one[0], -one[1])):
            while open_until and open_until[-1] <= start + 0.002:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + 0.002, (start, end, open_until)
            open_until.append(end)


def test_each_track_belongs_to_one_process(wardian: Wardian, tmp_path: Path) -> None:
    code = (
        "import threading, subprocess; t = threading.Thread(target=print); t.start(); t.join(); "
        "subprocess.run(['true'])"
    )
    events = timeline(wardian, tmp_path, "/usr/bin/python3", "-c", code)
    owners: dict[int, set[int]] = {}
    for one in events:
        owners.setdefault(one["tid"], set()).add(one["pid"])
    assert all(len(pids) == 1 for pids in owners.values())
    named = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
    assert set(named) == set(owners)
    first, second, thread = sorted(named.values())
    assert (first, thread) == ("pid 2", "thread 1")
    assert second.startswith("pid ")


def test_a_timeline_of_a_run_that_was_killed_is_whole(wardian: Wardian, tmp_path: Path) -> None:
    done = wardian("trace", "-q", "--perfetto", "p.json", "--time", "500ms", "--", "sleep", "60")
    assert done.returncode == 124
    events = json.loads((tmp_path / "p.json").read_text())["traceEvents"]
    (program,) = [one for one in events if one.get("cat") == "program"]
    assert program["dur"] > 100_000
    (slept,) = [one for one in events if one["name"] == "clock_nanosleep"]
    assert slept["ph"] == "X"


def test_a_record_can_be_kept_of_a_traced_run(wardian: Wardian, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    done = wardian("trace", "-q", "--record", str(runs), "--", "sh", "-c", "echo hi; exit 3")
    assert (done.stdout, done.returncode) == ("hi\n", 3)
    assert wardian("log", "--dir", str(runs), "--json").returncode == 0
    assert os.listdir(runs)
