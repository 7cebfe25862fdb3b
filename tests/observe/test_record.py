"""A run that is recorded: what is written, for whose eyes, and what happens if it can't be."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import shutil
import signal
import socket
import stat
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import wardian as package
from tests.command import COMMAND
from tests.skill_folders import MakeSkill
from wardian.observe import record

from .conftest import Wardian, document, everything, on_small_disk, only

LONGEST_S = 20.0
PYTHON = "/usr/bin/python3"
needs_python = pytest.mark.skipif(
    not os.path.exists(PYTHON), reason="python3 of the system is not installed"
)


def test_a_record_holds_what_was_run_by_whom_and_how_it_ended(
    wardian: Wardian, records: Path, tmp_path: Path
) -> None:
    command = ["sh", "-c", "echo out; echo err >&2; exit 3"]
    done = wardian("exec", "--record", records, "--time", "9s", "--", *command)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    found = only(records)
    reported = document(found)
    assert reported["schema"] == "wardian.record/1"
    assert reported["id"] == found.name
    assert (reported["kind"], reported["command"], reported["backend"]) == (
        "exec",
        command,
        "wardian",
    )
    assert reported["who"]["uid"] == os.getuid()
    assert reported["cwd"] == str(tmp_path / "here")
    assert reported["wardian"] == package.__version__
    assert reported["host"]["kernel"] == f"Linux {os.uname().release}"
    assert reported["started"] <= reported["ended"]
    assert reported["end"]["exit_code"] == 3
    assert reported["end"]["error"] is None
    result = json.loads((found / "result.json").read_text())
    assert (result["schema"], result["exit_code"]) == ("wardian.result/1", 3)
    assert reported["policy_digest"] == result["policy_digest"]
    assert (found / "stdout").read_bytes() == b"out\n"
    assert (found / "stderr").read_bytes() == b"err\n"
    assert reported["output"]["stdout"] == {"bytes": 4, "kept_bytes": 4, "cut": False}


def test_the_policy_in_a_record_is_the_one_that_policy_show_prints(
    wardian: Wardian, records: Path
) -> None:
    wardian("exec", "--record", records, "--memory", "1G", "--", "true")
    kept = only(records) / "policy.toml"
    shown = wardian("policy", "show", "--policy", kept, "--json")
    wanted = wardian("policy", "show", "--memory", "1G", "--json")
    assert json.loads(shown.stdout) == json.loads(wanted.stdout)


def test_only_its_owner_can_read_a_record(wardian: Wardian, records: Path) -> None:
    wardian("exec", "--record", records, "--", "true", umask=0)
    assert stat.S_IMODE(records.stat().st_mode) == 0o700
    assert stat.S_IMODE(only(records).stat().st_mode) == 0o700
    modes = {stat.S_IMODE(path.stat().st_mode) for path in only(records).iterdir()}
    assert modes == {0o600}


def test_a_directory_that_is_there_keeps_its_permissions(wardian: Wardian, records: Path) -> None:
    records.mkdir(mode=0o755)
    wardian("exec", "--record", records, "--", "true")
    assert stat.S_IMODE(records.stat().st_mode) == 0o755
    assert stat.S_IMODE(only(records).stat().st_mode) == 0o700


def test_without_record_nothing_is_written(wardian: Wardian, tmp_path: Path) -> None:
    before = everything(tmp_path)
    wardian("exec", "--", "true")
    assert everything(tmp_path) == before


@needs_python
def test_the_program_is_named_with_its_digest(wardian: Wardian, records: Path) -> None:
    wardian("exec", "--record", records, "--", PYTHON, "-c", "pass")
    real = os.path.realpath(PYTHON)
    digest = hashlib.sha256(Path(real).read_bytes()).hexdigest()
    program = document(only(records))["program"]
    assert program == {"path": real, "digest": f"sha256:{digest}", "why": ""}


def test_a_program_in_a_share_is_found_there(
    wardian: Wardian, records: Path, tmp_path: Path
) -> None:
    shutil.copy("/bin/true", tmp_path / "here" / "tool")
    wardian("exec", "--record", records, "--work", tmp_path / "here", "--", "./tool")
    assert document(only(records))["program"]["path"] == str(tmp_path / "here" / "tool")


def test_a_program_that_is_not_there_is_recorded_as_not_found(
    wardian: Wardian, records: Path
) -> None:
    done = wardian("exec", "--record", records, "--", "no-such-program")
    assert done.returncode == 127
    reported = document(only(records))
    assert reported["end"]["reason"] == "not found"
    assert reported["program"]["digest"] is None
    assert reported["program"]["why"]


def test_a_skill_is_named_with_a_digest_that_changes_with_it(
    wardian: Wardian, records: Path, make_skill: MakeSkill, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.sh": "echo one\n"})

    def recorded(directory: str) -> dict[str, object]:
        done = wardian("run", skill, "a.sh", "--record", tmp_path / directory)
        assert done.returncode == 0, done.stderr
        reported: dict[str, object] = document(only(tmp_path / directory))["skill"]
        return reported

    first, again = recorded("1"), recorded("2")
    assert first == again
    assert (first["name"], first["script"]) == ("demo", "scripts/a.sh")
    assert str(first["digest"]).startswith("sha256:")
    (skill / "scripts/a.sh").write_text("echo two\n")
    assert recorded("3")["digest"] != first["digest"]
    assert document(only(tmp_path / "1"))["kind"] == "run"


def test_a_sandbox_that_could_not_be_set_up_is_recorded_as_failed(
    wardian: Wardian, records: Path
) -> None:
    done = wardian("exec", "--record", records, "--cwd", "/nonesuch", "--", "true")
    assert done.returncode == 125
    end = document(only(records))["end"]
    assert (end["exit_code"], end["reason"]) == (125, "failed")
    assert "/nonesuch" in end["error"]


# What was printed


def test_output_is_kept_as_bytes(wardian: Wardian, records: Path) -> None:
    done = wardian("exec", "--record", records, "--", "printf", r"a\377\000\033[31mb\r\n")
    assert done.stdout == b"a\xff\x00\x1b[31mb\r\n"
    assert (only(records) / "stdout").read_bytes() == done.stdout


def test_output_that_is_captured_for_json_is_kept_too(wardian: Wardian, records: Path) -> None:
    done = wardian("exec", "--json", "--record", records, "--", "sh", "-c", "echo a; echo b >&2")
    assert json.loads(done.stdout)["stdout"] == "a\n"
    assert (only(records) / "stdout").read_bytes() == b"a\n"
    assert (only(records) / "stderr").read_bytes() == b"b\n"


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["passed through", "json"])
def test_the_beginning_of_much_output_is_kept(
    wardian: Wardian, records: Path, options: tuple[str, ...]
) -> None:
    script = "seq 1500000; seq 3 >&2"
    done = wardian("exec", "--record", records, *options, "--", "sh", "-c", script)
    assert done.returncode == 0
    kept = (only(records) / "stdout").read_bytes()
    assert len(kept) == record.KEPT_BYTES
    whole = b"".join(b"%d\n" % number for number in range(1, 1500001))
    assert kept == whole[: len(kept)]
    stdout = document(only(records))["output"]["stdout"]
    assert stdout == {"bytes": len(whole), "kept_bytes": len(kept), "cut": True}
    if not options:
        assert done.stdout == whole
    assert (only(records) / "stderr").read_bytes() == b"1\n2\n3\n"


def test_output_to_a_terminal_is_kept(records: Path, environment: dict[str, str]) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        command = [*COMMAND, "exec", "--record", str(records), "--", "sh", "-c", "tty; echo seen"]
        os.execve(command[0], command, environment)  # noqa: S606
    seen = b""
    try:
        while data := os.read(terminal, 4096):
            seen += data
    except OSError:
        pass  # the other end is closed
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    assert b"/dev/pts/" in seen
    assert (only(records) / "stdout").read_bytes() == seen


def test_output_to_nowhere_is_kept(wardian: Wardian, records: Path) -> None:
    nowhere = subprocess.DEVNULL
    wardian("exec", "--record", records, "--", "echo", "x", stdout=nowhere, stderr=nowhere)
    assert (only(records) / "stdout").read_bytes() == b"x\n"


def test_output_to_a_file_that_is_appended_to_is_kept(
    wardian: Wardian, records: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"before\n")
    with target.open("ab") as file:
        wardian("exec", "--record", records, "--", "seq", "20000", stdout=file)
    numbers = b"".join(b"%d\n" % number for number in range(1, 20001))
    assert target.read_bytes() == b"before\n" + numbers
    assert (only(records) / "stdout").read_bytes() == numbers


def test_output_to_a_socket_is_kept(wardian: Wardian, records: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wardian("exec", "--record", records, "--", "echo", "x", stdout=theirs)
        theirs.close()
        assert ours.recv(100) == b"x\n"
    assert (only(records) / "stdout").read_bytes() == b"x\n"


def test_the_backend_host_says_that_output_was_not_kept(wardian: Wardian, records: Path) -> None:
    done = wardian("exec", "--backend", "host", "--record", records, "--", "echo", "x")
    assert done.stdout == b"x\n"
    kept = document(only(records))["output"]
    assert (kept["captured"], bool(kept["why"])) == (False, True)
    assert not (only(records) / "stdout").exists()


def test_a_reader_that_goes_away_ends_the_guest_as_without_a_record(
    records: Path, environment: dict[str, str]
) -> None:
    with subprocess.Popen(
        [*COMMAND, "exec", "--record", str(records), "--", "yes"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.read(2) == b"y\n"
        process.stdout.close()
        assert process.wait(LONGEST_S) == 128 + signal.SIGPIPE
    assert document(only(records))["end"]["signal"] == signal.SIGPIPE


def test_a_reader_that_does_not_read_stops_neither_the_clock_nor_the_other_stream(
    records: Path, environment: dict[str, str]
) -> None:
    script = "yes & head -c 500000 /dev/zero >&2; wait"
    with subprocess.Popen(
        [*COMMAND, "exec", "-q", "--time", "2s", "--record", records, "--", "sh", "-c", script],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.read(500000) == bytes(500000)
        assert process.wait(LONGEST_S) == 124


@needs_python
def test_a_guest_can_not_print_one_thing_and_have_another_recorded(
    wardian: Wardian, records: Path
) -> None:
    """vmsplice(2) puts pages into a pipe that the guest can still change."""
    script = """
import ctypes, mmap, time
libc = ctypes.CDLL(None, use_errno=True)
page = mmap.mmap(-1, 4096)
page[:] = b"A" * 4096
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
vector = Vector(ctypes.addressof(ctypes.c_char.from_buffer(page)), 4096)
for _ in range(12):  # without a control group, 16 pages may be given away
    assert libc.vmsplice(1, ctypes.byref(vector), 1, 0) == 4096
    page[:] = b"B" * 4096
    page[:] = b"A" * 4096
"""
    done = wardian("exec", "--record", records, "--", PYTHON, "-c", script)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) == 12 * 4096
    assert (only(records) / "stdout").read_bytes() == done.stdout


@needs_python
def test_the_guest_holds_no_descriptor_of_the_record(wardian: Wardian, records: Path) -> None:
    script = "import os; print(sorted(os.listdir('/proc/self/fd')))"
    done = wardian("exec", "--record", records, "--", PYTHON, "-c", script)
    assert done.stdout == b"['0', '1', '2', '3']\n"  # the last is the listing itself


# Secrets


SECRET = "s3cr3t-t0ken-0f-the-caller"
KEY = "-----BEGIN KEY-----\nAbCdEfGhIjKlMnOpQrStUvWxYz\n0123456789abcdef\n-----END KEY-----"


@pytest.mark.parametrize(
    "options",
    [("--env", "TOKEN"), ("--env", f"TOKEN={SECRET}"), ("--policy", "sets.toml"),
     ("--policy", "passes.toml")],
    ids=["passed by name", "given a value", "set by a policy", "passed by a policy"],
)  # fmt: skip
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["passed through", "json"])
def test_the_value_of_a_variable_is_nowhere_in_a_record(
    wardian: Wardian, records: Path, tmp_path: Path, options: tuple[str, ...], more: tuple[str, ...]
) -> None:
    here = tmp_path / "here"
    (here / "sets.toml").write_text(f'[environment]\nset = {{TOKEN = "{SECRET}"}}\n')
    (here / "passes.toml").write_text('[environment]\npass = ["TOKEN"]\n')
    script = 'echo "token: $TOKEN"; env >&2; exec "/no/$TOKEN"'
    done = wardian(
        "exec", "--record", records, *options, *more, "--", "sh", "-c", script, SECRET,
        env={"TOKEN": SECRET, "OTHER": "0ther-secret-that-does-not-pass"},
    )  # fmt: skip
    assert SECRET.encode() in done.stdout
    kept = everything(records)
    assert SECRET.encode() not in kept
    assert b"0ther-secret" not in kept
    assert b"token: ${TOKEN}" in kept
    reported = document(only(records))
    assert "TOKEN" in reported["environment"]["set"] + reported["environment"]["passed"]
    assert reported["command"][-1] == "${TOKEN}"


def test_a_key_of_several_lines_is_not_recorded_line_by_line(
    wardian: Wardian, records: Path
) -> None:
    script = 'echo "$KEY" | while read -r line; do echo "line $line"; done'
    wardian("exec", "--record", records, "--env", f"KEY={KEY}", "--", "sh", "-c", script)
    kept = everything(records)
    for line in KEY.splitlines():
        assert line.encode() not in kept


def test_a_value_is_not_on_the_disk_even_while_the_run_lasts(
    records: Path, environment: dict[str, str]
) -> None:
    with started(records, environment, "--env", f"TOKEN={SECRET}", script="echo $TOKEN"):
        assert SECRET.encode() not in everything(records)
    assert only(records).name.endswith(".running")
    assert SECRET.encode() not in everything(records)


def test_a_value_that_is_cut_off_at_the_end_does_not_show_its_beginning(
    wardian: Wardian, records: Path
) -> None:
    before = record.KEPT_BYTES - len(SECRET) // 2
    script = f"head -c {before} /dev/zero; echo $TOKEN"
    wardian("exec", "--record", records, "--env", f"TOKEN={SECRET}", "--", "sh", "-c", script)
    assert (only(records) / "stdout").read_bytes() == bytes(before)


# Runs that are killed, places that can't be written to


@contextmanager
def started(
    records: Path, environment: dict[str, str], *options: str, script: str = "true"
) -> Iterator[subprocess.Popen[bytes]]:
    """A recorded run that has printed ``ready`` and would go on for a minute."""
    script += "; echo ready; exec sleep 60"
    with subprocess.Popen(
        [*COMMAND, "exec", "--record", str(records), *options, "--", "sh", "-c", script],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            while process.stdout.readline() != b"ready\n":
                assert process.poll() is None
            while not _hands_signals_on(process.pid):
                assert process.poll() is None
            yield process
        finally:
            process.kill()


def _hands_signals_on(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) & 1 << (signal.SIGTERM - 1))


def test_a_killed_run_leaves_a_record_that_is_reported_as_incomplete(
    wardian: Wardian, records: Path, environment: dict[str, str]
) -> None:
    with started(records, environment, script="echo evidence"):
        listed = json.loads(wardian("log", "--dir", records, "--json").stdout)["runs"]
        assert [run["state"] for run in listed] == ["running"]
        assert wardian("log", "prune", "--keep", "0", "--dir", records).returncode == 3
    listed = json.loads(wardian("log", "--dir", records, "--json").stdout)["runs"]
    assert [run["state"] for run in listed] == ["incomplete"]
    shown = wardian("log", "show", "last", "--dir", records, "--output")
    assert b"is incomplete" in shown.stdout
    assert b"evidence" in shown.stdout
    assert wardian("log", "prune", "--keep", "0", "--dir", records).returncode == 0
    assert list(records.iterdir()) == []


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_run_that_a_signal_ends_is_recorded_in_full(
    records: Path, environment: dict[str, str], name: str
) -> None:
    with started(records, environment) as process:
        os.kill(process.pid, signal.Signals[name])
        assert process.wait(LONGEST_S) == 128 + signal.Signals[name]
    assert document(only(records))["end"]["signal"] == signal.Signals[name]


def test_a_supervisor_that_is_killed_leaves_a_failed_run(
    records: Path, environment: dict[str, str]
) -> None:
    with started(records, environment) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)
        assert process.wait(LONGEST_S) == 125
    assert "supervisor" in document(only(records))["end"]["error"]


def test_a_place_that_is_not_a_directory_is_an_error_before_the_run(
    wardian: Wardian, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        _is_refused(wardian, tmp_path, place)


def test_a_place_that_can_not_be_written_to_is_an_error_before_the_run(
    wardian: Wardian, tmp_path: Path, as_root: bool
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    _is_refused(wardian, tmp_path, Path("/proc/records") if as_root else closed)


def _is_refused(wardian: Wardian, tmp_path: Path, place: Path) -> None:
    work = tmp_path / "here"
    done = wardian("exec", "--work", work, "--record", place, "--", "touch", "ran")
    assert done.returncode == 125
    assert done.stderr.startswith(b"error: the run can't be recorded in ")
    assert b"hint: " in done.stderr
    assert not (work / "ran").exists()


def test_a_full_disk_is_an_error_before_the_run(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    place = tmp_path / "disk"
    command = " ".join(COMMAND)
    script = (
        f"head -c 100000 /dev/zero > {place}/filler 2>/dev/null; "
        f"{command} exec --work work --record {place} -- touch ran; echo $?; ls {place}"
    )
    (tmp_path / "work").mkdir()
    done = subprocess.run(
        on_small_disk(place, "16k", script), cwd=tmp_path, env=environment, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    _skip_unless_mounted(done)
    assert done.stdout == "125\nfiller\n"
    assert "no space left on device" in done.stderr
    assert not (tmp_path / "work" / "ran").exists()


def test_a_disk_that_fills_up_during_the_run_does_not_change_its_result(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    place = tmp_path / "disk"
    command = " ".join(COMMAND)
    inside = "head -c 100000 /dev/zero; exit 7"
    script = (
        f"{command} exec --record {place} -- sh -c '{inside}' | wc -c; "
        f"{command} exec --record {place} --json -- sh -c '{inside}' > {tmp_path}/json; echo $?; "
        f"{command} log --dir {place} --json > {tmp_path}/log"
    )
    done = subprocess.run(
        on_small_disk(place, "64k", script), cwd="/", env=environment, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    _skip_unless_mounted(done)
    assert done.stdout.split()[0] == "100000"
    assert "could not complete the record" in done.stderr
    assert "the result is not affected" in done.stderr
    assert "Traceback" not in done.stderr
    runs = json.loads((tmp_path / "log").read_text())["runs"]
    assert "incomplete" in {run["state"] for run in runs}


def _skip_unless_mounted(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")


def test_a_run_that_could_alter_its_own_record_is_refused(
    wardian: Wardian, records: Path, tmp_path: Path
) -> None:
    records.mkdir()
    link = tmp_path / "link"
    link.symlink_to(records)
    for options in (
        ("--work", tmp_path, "--record", records),
        ("--write", f"{tmp_path}:/mnt", "--record", records / "deeper"),
        ("--write", f"{records}:/mnt", "--record", records),
        ("--work", records, "--record", link),
        ("--work", records, "--record", tmp_path),
    ):
        done = wardian("exec", *options, "--", "true")
        assert done.returncode == 125
        assert b"could alter" in done.stderr
        assert list(records.iterdir()) == []
    done = wardian("exec", "--read", f"{tmp_path}:/mnt", "--record", records, "--", "true")
    assert done.returncode == 0


def test_a_hundred_runs_at_once_are_a_hundred_records(wardian: Wardian, records: Path) -> None:
    def run(number: int) -> int:
        script = f"echo {number}; exit {number % 50}"
        return wardian("exec", "--record", records, "--", "sh", "-c", script).returncode

    with ThreadPoolExecutor(10) as pool:
        codes = list(pool.map(run, range(100)))
    assert codes == [number % 50 for number in range(100)]
    found = list(records.iterdir())
    assert len({path.name.rpartition("-")[2] for path in found}) == 100
    assert {int((path / "stdout").read_text()) for path in found} == set(range(100))
    assert all(document(path)["end"] is not None for path in found)


def test_recordings_in_threads_of_one_process_do_not_disturb_each_other(records: Path) -> None:
    from wardian import Policy, Sandbox

    policy = Policy.default()
    about = record.RecordedRun("exec", ("echo", "x"), policy)

    def run(number: int) -> str | None:
        recording = record.Recording(str(records), about)
        with Sandbox.create(policy) as sandbox:
            result = sandbox.run(["echo", str(number)])
        return recording.end(result, output=(result.stdout, result.stderr))

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(run, range(12))) == {None}
    printed = {int((path / "stdout").read_text()) for path in records.iterdir()}
    assert printed == set(range(12))


def test_a_recording_that_is_not_begun_leaves_nothing_behind(
    records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: record.Recording, name: str, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    from wardian import Policy
    from wardian.errors import SandboxError

    monkeypatch.setattr(record.Recording, "_write", full)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(SandboxError, match="no space left"):
        record.Recording(str(records), record.RecordedRun("exec", ("true",), Policy.default()))
    assert list(records.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_record_has_its_name_only_once_everything_is_there(
    records: Path, environment: dict[str, str]
) -> None:
    with started(records, environment) as process:
        assert only(records).name.endswith(".running")
        os.kill(process.pid, signal.SIGTERM)
        process.wait(LONGEST_S)
    assert not only(records).name.endswith(".running")
    names = {path.name for path in only(records).iterdir()}
    assert names == {"record.json", "result.json", "policy.toml", "stdout", "stderr"}
