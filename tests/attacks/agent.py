"""Runs attacks for a test, as the user it was started as: a JSON request a line, an answer a line.

Started by ``callers.Caller`` with the directory that holds the package as its only argument; needs
nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

sys.path.insert(0, sys.argv[1])

from wardian import Policy, Sandbox
from wardian.errors import WardianError
from wardian.sandbox import host
from wardian.sandbox.backends.landlock import Landlock
from wardian.sandbox.backends.wardian import Wardian
from wardian.sandbox.policy.policy import Share
from wardian.sandbox.run.records import record

KEPT = 1 << 16  # of each stream; how long it was is told besides


def policy_of(request: dict[str, Any]) -> Policy:
    """The default policy, with what the request changes."""
    shares = [Share(*share) for share in request["shares"]]
    policy = Policy.default().with_limits(**request["limits"]).with_shares(shares)
    policy = policy._replace(
        work=request["work"], degrade=tuple(request["degrade"]), interface=request["interface"]
    )
    return policy.debugging() if request["debug"] else policy


def high_water_kb(pid: int) -> int:
    """The most memory that a process ever held; 0 once it is gone."""
    try:
        with open(f"/proc/{pid}/status") as status:
            found = [line.split()[1] for line in status if line.startswith("VmHWM:")]
    except OSError:
        return 0
    return int(found[0]) if found else 0


PREPARATION = "/programs/hostile.py"


def made(request: dict[str, Any]) -> Sandbox:
    """A sandbox behind all walls but those named; a living one has seen a hostile command."""
    living = request["living"]
    sandbox = Sandbox(policy_of(request), living=living, backend_name=request["backend"])
    kind = {"wardian": Wardian, "landlock": Landlock}[request["backend"]]
    records = b"".join(record(*fields) for fields in request["records"])
    if request["without"]:
        flags = b"".join(record("flag", f"without-{wall}") for wall in request["without"])
        sandbox._backend = kind(binary=request["test_launcher"], extra=flags + records)
    elif records:
        sandbox._backend = kind(extra=records)
    if living:
        sandbox._place = sandbox._backend
        prepared = sandbox.run(
            ["/usr/bin/python3", "-I", "-S", PREPARATION],
            timeout_s=20,
            env={"UNTRACED": "1"} if request["debug"] else {},
        )
        if prepared.stdout != b"prepared\n":
            sandbox.close()
            raise OSError(f"the hostile first command failed: {prepared}")
    return sandbox


class Kept:
    """The last living sandbox, for further attacks under the same policy: what one of them leaves
    there, the next one finds."""

    def __init__(self) -> None:
        self._key, self._sandbox = "", None

    def of(self, request: dict[str, Any]) -> Sandbox:
        """The one for this request, made or kept."""
        same = ("shares", "limits", "work", "degrade", "interface", "debug", "records")
        key = json.dumps([request[name] for name in same])
        if key != self._key or self._sandbox is None:
            self.close()
            self._sandbox, self._key = made(request), key
        return self._sandbox

    def close(self) -> None:
        if self._sandbox is not None:
            self._sandbox.close()
        self._sandbox = None


KEPT_SANDBOX = Kept()


def run(request: dict[str, Any]) -> dict[str, Any]:
    """One command, alone or as a later one."""
    if request["living"] and request["kept"]:
        answer = attacked(request, KEPT_SANDBOX.of(request))
        if answer["reason"] not in ("exited", "signal"):
            KEPT_SANDBOX.close()
        return answer
    with older_kernel(request["landlock_abi"]), made(request) as sandbox:
        return attacked(request, sandbox)


@contextmanager
def older_kernel(abi: int | None) -> Iterator[None]:
    """As on one with that Landlock and no more."""
    found = host.landlock_abi
    if abi is not None:
        host.landlock_abi = lambda: abi
        host.this_host.cache_clear()
    yield
    if abi is not None:
        host.landlock_abi = found
        host.this_host.cache_clear()


def attacked(request: dict[str, Any], sandbox: Sandbox) -> dict[str, Any]:
    """What came of it."""
    process = sandbox.start(request["command"], env=request["env"], cwd=request["cwd"])
    launcher_kb = 0
    while not process.ended:
        launcher_kb = max(launcher_kb, high_water_kb(process.pid))
        process._done.wait(0.002)
    result = process.wait()
    return {
        "exit_code": result.exit_code,
        "reason": result.reason,
        "wall_s": result.usage.wall_s,
        "cpu_s": result.usage.cpu_s,
        "peak_bytes": result.usage.peak_memory_bytes,
        "truncated": result.truncated,
        "stdout": result.stdout[:KEPT].decode("utf-8", "replace"),
        "stderr": result.stderr[:KEPT].decode("utf-8", "replace"),
        "output_bytes": len(result.stdout) + len(result.stderr),
        "refused": [refusal.action for refusal in result.refusals],
        "launcher_kb": launcher_kb,
        "left_running": [one._asdict() for one in result.left_running],
        "left_running_more": result.left_running_more,
    }


def natively(request: dict[str, Any]) -> dict[str, Any]:
    """The same command with no wall at all."""
    done = subprocess.run(
        request["command"],
        env={**os.environ, **request["env"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return {
        "exit_code": done.returncode,
        "reason": "natively",
        "stdout": done.stdout[:KEPT].decode("utf-8", "replace"),
        "stderr": done.stderr[:KEPT].decode("utf-8", "replace"),
        "refused": [],
    }


def main() -> None:
    """Answer until there are no more requests."""
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = natively(request) if request["natively"] else run(request)
        except (WardianError, OSError) as error:
            KEPT_SANDBOX.close()
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
    KEPT_SANDBOX.close()


if __name__ == "__main__":
    main()
