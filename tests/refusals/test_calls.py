"""Every call that the filter refuses, really made: it is reported, and where something would allow
it, that does; where nothing would, letting it pass the filter is really not enough."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox
from tests.refusals.wall import ARCH, PYTHON
from wardian import Policy, Result, syscalls
from wardian.cli.options import EXEC_OPTIONS, parse, policy_of
from wardian.sandbox.policy.policy import Share
from wardian.sandbox.refusals.ranking import is_routine
from wardian.sandbox.run.result import Refusal

GUEST = Path(__file__).parent / "guests" / "calls.py"
# Calls of which some can be had and some not, or that are refused only with some arguments.
CASES = {
    "fanotify_init": ["0x200", "0x4", "0"],
    "ioctl": ["0x5423", "0x4b33", "0x5603"],
    "mknod": ["104755", "020644", "060644"],
    "mknodat": ["102755", "020644"],
    "open_tree": ["0", "1"],
    "open_tree_attr": ["0", "1"],
    "prctl": ["15", "6"],
    "socket": ["AF_INET,SOCK_RAW,1", "AF_PACKET,SOCK_RAW,0", "AF_NETLINK,SOCK_RAW,4"],
    "socketpair": ["AF_PACKET,SOCK_DGRAM,0"],
    "unshare": ["0x10000000", "0x20000", "0x80", "0x40000000"],
}
REFUSED = [
    row
    for row in syscalls.rows()
    if row.kind in ("deny", "when")
    # What the filter answers by itself is no refusal.
    and not all(" answer " in guard for guard in row.decision.split("; "))
]
MADE = [
    (row.name, case)
    for row in REFUSED
    if row.number(ARCH) is not None
    for case in CASES.get(row.name, [""])
]


def run(make_sandbox: MakeSandbox, policy: Policy, name: str, case: str) -> Result:
    # Fresh: in a living sandbox the command's own filter refuses prlimit64 first, and reports nothing.
    sandbox = make_sandbox(policy.with_shares([Share(str(GUEST), "/calls.py")]), fresh=True)
    number = str(syscalls.number(name, ARCH))
    return sandbox.run([PYTHON, "-I", "-S", "/calls.py", number, name, case])


def noteworthy(result: Result) -> list[Refusal]:
    """What was refused, without what libraries only look for."""
    return [refusal for refusal in result.refusals if not is_routine(refusal)]


@pytest.mark.parametrize(("name", "case"), MADE, ids=[f"{n}-{c}".rstrip("-") for n, c in MADE])
def test_a_refused_call_is_told_and_what_is_said_to_help_helps(
    name: str, case: str, make_sandbox: MakeSandbox, tmp_path: Path
) -> None:
    policy = Policy.default()
    refused = run(make_sandbox, policy, name, case)
    assert refused.exit_code == 1
    (found,) = noteworthy(refused)
    assert found.kind in ("syscall", "process")
    assert (found.action, found.count) == (name, 1)
    assert found.target.startswith(f"{name}(")
    assert found.reason == syscalls.lookup(name).reason
    if found.allow is None:
        passed = run(make_sandbox, policy.but(allow_syscalls=(name,)), name, case)
        assert passed.exit_code != 0, "letting it pass the filter would have helped"
        return
    file = tmp_path / "policy.toml"
    file.write_text(found.allow.policy, encoding="utf-8")
    by_flag = policy_of(parse(shlex.split(found.allow.flag), EXEC_OPTIONS)[0])
    assert by_flag == Policy.from_toml(file)
    helped = run(make_sandbox, by_flag, name, case)
    if b"ENOSYS" in helped.stderr:
        pytest.skip(f"this kernel has no {name}")
    assert helped.exit_code == 0, helped.stderr
    assert not noteworthy(helped)
