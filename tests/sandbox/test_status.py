"""What the launcher says, turned into results and errors that say what to do."""

from __future__ import annotations

import errno
import json

import pytest

from wardian.errors import BackendError, SandboxError, ShareError, WallError
from wardian.sandbox.host import Host
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.run.failures import explain
from wardian.sandbox.run.left_running import left_running
from wardian.sandbox.run.plan import Plan, make_plan
from wardian.sandbox.run.result import Result
from wardian.sandbox.run.status import interpret

LIMITS = Policy.default().limits
PLAN: Plan = make_plan(Policy.default(), [], Host("x86_64", (6, 18), 7, 1000))
ENDED = {
    "event": "ended", "reason": "exited", "code": 0, "signal": 0, "exec_errno": 0, "wall_us": 1500,
    "user_us": 1000, "system_us": 500, "peak_bytes": 4096, "tasks": 2, "stdin_bytes": 0,
    "stdout_bytes": 3, "stderr_bytes": 0, "output_exceeded": False,
}  # fmt: skip


def result_of(*events: dict[str, object], tail: bytes = b"") -> Result:
    status = (
        b"".join(json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in events)
        + tail
    )
    policy = Policy.default()
    return interpret(
        status, b"out", b"err", command=["prog"], plan=PLAN, arch="x86_64", policy=policy
    )


@pytest.mark.parametrize(
    ("changes", "code", "reason"),
    [
        ({}, 0, "exited"),
        ({"code": 3}, 3, "exited"),
        ({"reason": "signal", "signal": 15}, 143, "signal"),
        ({"reason": "signal", "signal": 24}, 152, "cpu limit"),
        ({"reason": "signal", "signal": 25}, 153, "disk limit"),
        ({"reason": "signal", "signal": 40}, 168, "signal"),
        ({"reason": "time"}, 124, "time limit"),
        ({"reason": "memory"}, 137, "memory limit"),
        ({"reason": "output"}, 137, "output limit"),
        ({"reason": "exec", "exec_errno": errno.ENOENT}, 127, "not found"),
        ({"reason": "exec", "exec_errno": errno.EACCES}, 126, "not executable"),
        ({"reason": "exec", "exec_errno": errno.ENOEXEC}, 126, "not executable"),
        ({"reason": "exec", "exec_errno": errno.ELIBBAD}, 126, "not executable"),
        ({"reason": "exec", "exec_errno": errno.E2BIG}, 126, "not executable"),
        ({"reason": "killed"}, 137, "killed"),
        ({"reason": "caller"}, 137, "killed"),
        ({"reason": "lost"}, 137, "killed"),
        ({"reason": "hangup"}, 137, "killed"),
    ],
)
def test_each_end_has_its_code_and_reason(
    changes: dict[str, object], code: int, reason: str
) -> None:
    result = result_of(ENDED | changes)
    assert (result.exit_code, result.reason) == (code, reason)
    assert (result.stdout, result.stderr) == (b"out", b"err")
    struck = [limit.name for limit in result.limits if limit.struck]
    assert struck == ([reason.removesuffix(" limit")] if reason.endswith(" limit") else [])


def test_a_cut_off_status_is_the_supervisor_s_death() -> None:
    for tail in (b"", b'{"event":"star', b'{"event":"started","pid":3}\n{"event":"ended","rea'):
        with pytest.raises(BackendError, match="supervisor was killed"):
            result_of(tail=tail)


def test_garbage_on_the_status_is_ignored() -> None:
    assert result_of({"event": "started", "pid": 3}, ENDED, tail=b"\xff\xfe\n{\n").ok


@pytest.mark.parametrize(
    ("wall", "number", "hint"),
    [
        ("namespaces", errno.EPERM, ""),
        ("namespaces", errno.ENOSPC, "max_user_namespaces"),
        ("namespaces", errno.EUSERS, "max_user_namespaces"),
        ("namespaces", errno.EAGAIN, "ulimit -u"),
        ("mount", errno.ENOSYS, "5.12"),
        ("mount", errno.ENOSPC, "mount-max"),
        ("mount", errno.EMFILE, "ulimit -n"),
        ("mount", errno.EPERM, ""),
        ("proc", errno.EPERM, "--degrade proc"),
        ("landlock", errno.EPERM, "wardian doctor"),
        ("seccomp", errno.EINVAL, "wardian doctor"),
        ("identity", errno.EPERM, "wardian doctor"),
    ],
)
def test_a_wall_that_fell_is_named_with_a_way_out(wall: str, number: int, hint: str) -> None:
    error = explain({"event": "failed", "wall": wall, "what": "doing it", "errno": number}, LIMITS)
    assert isinstance(error, WallError)
    assert str(error).startswith(f"{wall}: doing it: ")
    assert error.hint
    assert hint in error.hint


def test_a_share_and_a_working_directory_are_named() -> None:
    share = explain({"wall": "share", "what": "opening /a b/c", "errno": errno.ENOENT}, LIMITS)
    assert isinstance(share, ShareError)
    assert str(share) == "can't share /a b/c: no such file or directory"
    what = "changing to the working directory /x in the guest"
    cwd = explain({"wall": "cwd", "what": what, "errno": errno.ENOENT}, LIMITS)
    assert isinstance(cwd, SandboxError)
    assert "/x" in str(cwd)


def test_every_failure_the_launcher_can_report_is_explained() -> None:
    for wall in ("share", "cwd", "mount", "anything"):
        for what in ("x", "", "a b in the guest"):
            for number in (0, 1, 9999):
                assert str(explain({"wall": wall, "what": what, "errno": number}, LIMITS))


def test_a_refusal_of_an_unknown_call_is_told() -> None:
    refused = {
        "event": "refused", "call": 9999, "by": "f", "process": 0, "count": 3, "at_us": 1,
        "args": "0 0 0 0 0 0", "text": "", "other": "",
    }  # fmt: skip
    known = refused | {"call": 101}
    refusals = result_of(refused, known, ENDED).refusals
    assert [r.action for r in refusals] == ["syscall 9999", "ptrace"]
    assert refusals[0].count == 3


@pytest.mark.parametrize(
    ("command", "listening", "shown"),
    [
        ("node\0server.js\0", "0100007F:F49A", "node server.js (listening on 127.0.0.1:62618)"),
        ("a b\0c d\0", "", "'a b' 'c d'"),
        ("nginx: worker process\0\0\0", "", "nginx: worker process"),
        ("(kworker)", "", "(kworker)"),
        ("\x1b[2J\n\xff\0x\0", "", r"'\x1b[2J\n\xff' x"),
        ("x" * 256, "", "x" * 256 + "…"),
        (
            "s\0",
            "00000000:0050 00000000000000000000000001000000:1F90",
            "s (listening on 0.0.0.0:80, [::1]:8080)",
        ),
    ],
)
def test_what_was_left_running_is_one_line(command: str, listening: str, shown: str) -> None:
    process = {"event": "left-process", "pid": 3, "command": command, "listening": listening}
    counts = [{"event": "left-running", "count": count} for count in (1, 7)]
    found, more = left_running([counts[0], process, counts[1]])
    assert ([str(one) for one in found], more) == ([shown], 6)
