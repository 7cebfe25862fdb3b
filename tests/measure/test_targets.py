"""Targets: stock bubblewrap is measured beside bubblewrap with wardian's filter, and is offered to
nobody who runs something."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.command import call, environment
from wardian.errors import UsageError, WallError
from wardian.measure.probes.expectations import default_profile, profile_names
from wardian.measure.target import TARGETS, check_targets, target
from wardian.sandbox.backends import NAMES, check_backends
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.sandbox import Sandbox

STOCK = "bubblewrap-stock"
needs_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="not installed: bwrap")
# The filter and its count stand in /proc; a namespace of one's own is what the filter refuses.
SEEN = "grep Seccomp: /proc/self/status; unshare --user true && echo nested; ulimit -n"


def test_every_target_has_a_profile() -> None:
    assert set(TARGETS) == {*NAMES, STOCK}
    assert TARGETS[-1] == "host"
    assert {default_profile(name) for name in TARGETS} <= set(profile_names())


def test_stock_bubblewrap_is_a_target_and_no_backend_to_choose() -> None:
    assert check_targets(f"wardian,{STOCK}") == ("wardian", STOCK)
    with pytest.raises(UsageError, match="no backend"):
        check_backends(STOCK)


@needs_bwrap
def test_no_command_runs_anything_in_stock_bubblewrap(tmp_path: Path) -> None:
    given_up = ("seccomp", "landlock", "notify", "limits.processes")
    flags = [word for name in given_up for word in ("--degrade", name)]
    done = call("exec", "--backend", STOCK, *flags, "--", "true", cwd=tmp_path, env=environment())
    assert done.returncode == 125
    assert f"there is no backend '{STOCK}'" in done.stderr
    own = environment(WARDIAN_BACKEND=STOCK)
    done = call("exec", *flags, "--", "true", cwd=tmp_path, env=own)
    assert done.returncode == 125


@needs_bwrap
def test_stock_bubblewrap_runs_nothing_unless_the_filter_is_given_up_by_name() -> None:
    policy = Policy.default().but(degrade=("landlock", "notify"))
    with pytest.raises(WallError, match="no syscall filter"):
        Sandbox.create(policy, backend=STOCK, fresh=True).run(["true"])


@needs_bwrap
def test_stock_bubblewrap_lacks_what_wardian_adds_to_bubblewrap() -> None:
    seen = {}
    for name in ("bubblewrap", STOCK):
        with target(name).sandbox() as sandbox:
            result = sandbox.run(["sh", "-c", SEEN])
            seen[name] = result.stdout.decode().split()
            assert {wall.name: wall.enforced for wall in result.protections}["seccomp"] == (
                name == "bubblewrap"
            )
    assert seen["bubblewrap"][:2] == ["Seccomp:", "2"]
    assert "nested" not in seen["bubblewrap"]
    assert seen[STOCK][:3] == ["Seccomp:", "0", "nested"]
    assert seen["bubblewrap"][-1] != seen[STOCK][-1], "the limit on open files is wardian's"
