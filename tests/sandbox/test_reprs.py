"""What values look like when they are printed: one short harmless line with the facts, never the
output; and what a failed command's exception says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from wardian import Policy, Reason, Sandbox, Share, Usage
from wardian.errors import CommandFailed
from wardian.sandbox.run import status

ROOT = Path(__file__).parents[2]
HOSTILE = (
    "import sys; print('\\x1b[2J' + 'o' * 3000000)\n"
    "print('\\x1b]0;owned\\x07' + 'e' * 9000 + '\\u202e', file=sys.stderr); sys.exit(3)"
)


def one_line(value: object, most: int = 400) -> str:
    text = repr(value)
    assert text.isprintable(), text
    assert len(text) <= most
    return text


def test_a_result_says_how_it_ended(sandbox: Sandbox) -> None:
    result = sandbox.run(["python3", "-c", HOSTILE])
    text = one_line(result)
    assert text.startswith("<Result python3 -c ")
    assert ": exit 3, " in text
    assert "3000005 + " in text
    assert "ooo" not in text
    assert "SIGTERM, exit 143" in one_line(sandbox.run(["sh", "-c", "kill $$"]))
    assert "time limit, exit 124" in one_line(sandbox.run(["sleep", "9"], timeout_s=0.1))
    assert "not found, exit 127" in one_line(sandbox.run(["nonesuch" * 20]))


def test_a_result_names_what_stood_in_the_way(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "new\nline\x1b[31m"
    secret.write_text("x")
    result = sandbox.run(["cat", str(secret)])
    assert "1 refused, likely: read /" in re.sub(r"\d+ refused", "1 refused", one_line(result))
    (cause,) = result.likely_causes
    shown = one_line(cause)
    assert shown.startswith("<Refusal file: read /")
    assert "allow: --read " in shown


def test_a_policy_says_what_it_gives_and_no_values_of_variables() -> None:
    policy = Policy.default()
    assert one_line(policy) == (
        "<Policy network none, time 10m, cpu 10m, memory 4G, processes 512, files 512, "
        "disk 2G, output 64M>"
    )
    shares = [Share(f"/data/{i}", f"/data/{i}", write=i > 2) for i in range(9)]
    wide = policy.with_shares(shares).with_env({"TOKEN": "s3cr3t"}).with_limits(time=None)
    text = one_line(wide.but(network="names", allow_hosts=("api.example.com:443",)))
    assert "network api.example.com:443, read /data/0 /data/1 /data/2, write /data/3" in text
    assert "and 3 more" in text
    assert "env TOKEN" in text
    assert "s3cr3t" not in text
    assert "time" not in text.replace("TOKEN", "")
    one_line(policy.but(work="/w" * 3000, deny_syscalls=("\x1b[2J",) * 50))


def test_sandbox_process_and_usage_are_one_line_each(sandbox: Sandbox) -> None:
    assert one_line(sandbox).startswith("<Sandbox wardian: <Policy network none")
    process = sandbox.start(["sleep", "9"])
    assert one_line(process) == f"<Process {process.pid}: running>"
    process.kill()
    assert "killed, exit 137" in one_line(process) or process.wait(9).reason == "killed"
    assert "killed, exit 137" in one_line(process)
    assert one_line(Usage(1.5, 0.25, 0.25, 48_000_000, 3)) == (
        "<Usage 1.5 s, CPU 0.5 s, 48 MB, 3 processes, output 0 bytes>"
    )
    sandbox.close()
    assert "closed" in one_line(sandbox)


def test_a_failed_command_says_what_it_wrote_last_and_what_stood_in_the_way(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    script = f"seq 1 100 >&2; printf '\\033[2Jlast words' >&2; cat {secret}"
    with pytest.raises(CommandFailed) as caught:
        sandbox.run(["sh", "-c", script]).check()
    error = caught.value
    assert error.stderr.splitlines()[0] == "92"
    assert "\\x1b[2Jlast words" in error.stderr
    assert [one.target for one in error.likely_causes] == [str(secret)]
    lines = str(error).splitlines()
    assert lines[0] == "sh ended with 1 (exited)"
    assert lines[1] == "standard error ends with:"
    assert lines[-1] == (
        f"likely cause: read {secret}: not shared with the run (allow: --read {secret})"
    )
    assert all(line.isprintable() for line in lines)


def test_a_failures_message_is_bounded_whatever_the_guest_wrote(sandbox: Sandbox) -> None:
    result = sandbox.run(["python3", "-c", HOSTILE])
    with pytest.raises(CommandFailed) as caught:
        result.check()
    assert len(str(caught.value)) < 4000
    assert caught.value.result is result
    assert sandbox.run(["true"]).check().ok
    with pytest.raises(
        CommandFailed, match=r"^nonesuch ended with 127 \(not found\): nonesuch: not"
    ):
        sandbox.run(["nonesuch"]).check()


# Reasons


def test_reasons_are_a_closed_list() -> None:
    documented = (ROOT / "docs/reference/result.md").read_text()
    enum = re.search(r'"reason": \{"enum": \[(.*?)\]', documented)
    assert enum is not None
    assert re.findall(r'"([^"]+)"', enum[1]) == list(get_args(Reason))


def test_every_end_that_the_launcher_reports_has_a_reason_of_the_list() -> None:
    found = set()
    for reason in [*status.LIMITS, "exec", "signal", "exited", "killed", "caller", "lost", "new"]:
        for number in (*range(1, 65), 0):
            ended = {"reason": reason, "signal": number, "code": 0, "exec_errno": number}
            found.add(status._verdict(ended, "program")[1])
    assert found == set(get_args(Reason))
