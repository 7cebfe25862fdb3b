"""``wardian doctor``: here, where it works, and in places made worse on purpose."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

import wardian as package
from tests.command import COMMAND, Wardian, environment
from wardian.sandbox.doctor import attempts
from wardian.sandbox.doctor.advice import HostFacts, advice, landlock_advice

HERE = HostFacts(1000, (6, 8), {"user/max_user_namespaces": "15000"}, None, "/opt/launch")


def test_it_says_that_the_default_policy_runs(wardian: Wardian) -> None:
    done = wardian("doctor")
    assert done.returncode == 0
    assert "The default policy runs here." in done.stdout
    assert "\x1b" not in done.stdout


def test_json_has_every_wall_backend_and_program(wardian: Wardian) -> None:
    document = json.loads(wardian("doctor", "--json").stdout)
    assert document["schema"] == "wardian.doctor/1"
    assert document["works"] is True
    found = {check["name"]: check for check in document["checks"]}
    for name in ("launcher", "default policy", "namespace.user", "seccomp", "landlock", "wardian",
                 "host", "bubblewrap", "gvisor", "cgroup delegation", "python3", "sh"):  # fmt: skip
        assert set(found[name]) == {"name", "kind", "works", "detail", "fix", "needed"}
    assert found["sh"]["works"]
    assert found["host"]["works"]


def test_each_attempt_agrees_with_the_walls_that_stand() -> None:
    # With every wall standing (the test above), no single step may be reported as refused.
    assert attempts.failures(attempts.ACTIONS) == {}


def test_an_attempt_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "LONGEST_S", 0.2)
    assert attempts.attempt(lambda: __import__("time").sleep(60)) == errno.ETIMEDOUT


def test_an_attempt_that_fails_tells_its_errno() -> None:
    def fail() -> None:
        raise OSError(errno.ENOSPC, "no space")

    assert attempts.attempt(fail) == errno.ENOSPC


@pytest.mark.parametrize(
    ("wall", "number", "changes", "why", "fix"),
    [
        ("namespace.user", errno.ENOSPC, {"sysctls": {"user/max_user_namespaces": "0"}},
         "max_user_namespaces is 0", "sysctl -w user.max_user_namespaces="),
        ("namespace.user", errno.EPERM, {"sysctls": {"kernel/unprivileged_userns_clone": "0"}},
         "unprivileged_userns_clone is 0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        ("namespace.user", errno.EACCES,
         {"sysctls": {"kernel/apparmor_restrict_unprivileged_userns": "1"}},
         "AppArmor", 'profile wardian "/opt/launch" flags=(unconfined)'),
        ("namespace.user", errno.EPERM, {"container": "docker"}, "docker", "seccomp=unconfined"),
        ("namespace.user", errno.EPERM, {"container": "podman", "uid": 0}, "podman", "unmask=ALL"),
        ("namespace.user", errno.EPERM, {"container": "kubernetes"}, "kubernetes", "procMount"),
        ("namespace.user", errno.EPERM, {}, "not permitted", "seccomp filter"),
        ("namespace.network", errno.ENOSPC, {}, "used up", "user.max_net_namespaces"),
        ("namespace.mount", errno.ENOSPC, {}, "used up", "user.max_mnt_namespaces"),
        ("namespace.cgroup", errno.EINVAL, {}, "no cgroup namespaces", "CONFIG_NAMESPACES"),
        ("namespace.user", errno.EAGAIN, {}, "no more processes", "ulimit -u"),
        ("mount", errno.ENOSYS, {"kernel": (5, 4)}, "Linux 5.12", "newer kernel"),
        ("mount", errno.ENOSPC, {}, "used up", "fs.mount-max"),
        ("proc", errno.EPERM, {"container": "docker"}, "hidden", "systempaths=unconfined"),
        ("proc", errno.EPERM, {}, "hidden", "--degrade proc"),
        ("notify", errno.EINVAL, {}, "invalid", "--degrade notify"),
        ("seccomp", errno.EINVAL, {}, "invalid", "CONFIG_SECCOMP_FILTER"),
        ("namespace.user", errno.ETIMEDOUT, {}, "no answer", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_is_explained_with_the_way_out(
    wall: str, number: int, changes: dict[str, object], why: str, fix: str
) -> None:
    told = advice(wall, number, HERE._replace(**changes))
    assert why in told.why
    assert fix in told.fix


@pytest.mark.parametrize(
    ("abi", "kernel", "fix"), [(0, (5, 4), "newer"), (0, (6, 8), "lsm="), (1, (6, 8), "newer")]
)
def test_landlock_is_explained(abi: int, kernel: tuple[int, int], fix: str) -> None:
    assert fix in landlock_advice(abi, HERE._replace(kernel=kernel)).fix


def worse(*wrapper: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*wrapper, *COMMAND, "doctor", "--json"],
        capture_output=True, text=True, timeout=120, check=False, env=environment(),
    )  # fmt: skip


def test_without_user_namespaces_it_says_so_and_exits_with_1() -> None:
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    # In a user namespace of its own whose count of further ones is 0, as a hardened host has it.
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    done = worse("unshare", "--user", "--map-root-user", "sh", "-c", script, "sh")
    if "can't create /proc/sys" in done.stderr or done.stdout == "":
        pytest.skip(f"this host does not let a test lower the limit: {done.stderr[-200:]}")
    document = json.loads(done.stdout)
    assert (done.returncode, document["works"]) == (1, False)
    found = {check["name"]: check for check in document["checks"]}
    assert not found["namespace.user"]["works"]
    assert "max_user_namespaces" in found["namespace.user"]["fix"]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("limit", ["ulimit -n 12", "ulimit -u 5", "ulimit -f 0"])
def test_tiny_limits_do_not_make_it_fall_over(limit: str) -> None:
    done = worse("sh", "-c", f'{limit}; exec "$@"', "sh")
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1, 125)


def test_inside_wardian_it_says_that_it_can_not_be_nested() -> None:
    source = str(Path(package.__file__).parents[1])
    if not os.access("/usr/bin/python3", os.X_OK) or sys.version_info[:2] != (3, 11):
        pytest.skip("needs the system's own Python to be the one that runs the tests")
    site = os.path.dirname(os.path.dirname(click.__file__ or ""))
    inner = ["env", f"PYTHONPATH={source}:{site}", "/usr/bin/python3", "-m", "wardian", "doctor"]
    done = subprocess.run(
        [*COMMAND, "exec", "--read", source, "--read", site, "--", *inner],
        capture_output=True, text=True, timeout=120, check=False, env=environment(),
    )  # fmt: skip
    if "part of wardian's own files" in done.stderr:
        pytest.skip("the launcher's own files can't be shared with a guest")
    assert done.returncode == 1
    assert "does not run here" in done.stdout
    assert "Traceback" not in done.stderr
