"""What the shipped specimens say of the default policy, measured here: the promise of the docs."""

from __future__ import annotations

import shutil

import pytest

from wardian import Policy
from wardian.measure.probes.expectations import default_profile, read_profile
from wardian.measure.syscalls.matrix import Matrix, build
from wardian.measure.syscalls.measuring import decisions, measured, specimens_of_calls
from wardian.measure.target import target

pytestmark = pytest.mark.long

AT_LEAST = 300


def measure() -> Matrix:
    """Every specimen of a system call, in wardian and on the host."""
    policy = Policy.default()
    names = ("wardian", "host")
    found = measured(
        specimens_of_calls(None),
        [target(name, policy) for name in names],
        {name: read_profile(default_profile(name)) for name in names},
        decisions(policy),
        host_named=False,
        jobs=None,
        kept_in=None,
        on_done=lambda _: None,
        on_again=lambda _: None,
    )
    return build(found, found[0].machine)


# One test, because to measure takes a minute or two, and workers share nothing.
@pytest.mark.timeout(1800)
def test_programs_have_what_they_need_and_nothing_differs_from_the_host_without_a_reason() -> None:
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed")
    matrix = measure()
    assert matrix.unmeasured == {"wardian": [], "host": []}
    assert matrix.unexplained == ()
    for line in matrix.lines:
        cell = line.cells["wardian"]
        if line.knowledge.priority in ("critical", "high"):
            assert cell.status == "supported", f"{line.name}: {cell.note}"
        assert cell.note or cell.status != "partial", line.name
    # An older kernel, or another processor, has fewer calls.
    there = [one for one in matrix.lines if one.cells["host"].status != "missing"]
    allowed = [one for one in there if one.row.kind in ("allow", "when")]
    assert matrix.counts("wardian")["supported"] >= min(AT_LEAST, len(allowed) - 3)
