"""What all kinds of cases share: statuses, targets, refusals, walls."""

from __future__ import annotations

import pytest

from wardian.measure import outcome, refused
from wardian.measure.blame import ROOT, SECCOMP, WALLS, Circumstances
from wardian.measure.suites.charging import HANGS_ALIKE, IMPATIENCE, Patience
from wardian.measure.suites.execution import RunOptions
from wardian.measure.suites.keeping import known, whole
from wardian.measure.suites.outcomes import ProgramResult, SuiteOutcome
from wardian.measure.suites.selection import Selection
from wardian.measure.suites.suspecting import suspect
from wardian.measure.target import target
from wardian.observe.events import Path, TracedCall
from wardian.sandbox.backends import NAMES
from wardian.sandbox.policy.policy import Policy, Share
from wardian.sandbox.refusals.notes import UNKNOWN
from wardian.sandbox.run.result import Allow, Refusal

READ = Allow("--read /usr/share", '[files]\nread = ["/usr/share"]')
MISSING = Refusal("file", "read", "/usr/share", UNKNOWN, "not shared", allow=READ)


@pytest.mark.parametrize("kind", [outcome.PROBE, outcome.SUITE, outcome.CALL])
def test_every_status_is_in_the_one_table(kind: tuple[str, ...]) -> None:
    assert [name for name in kind if name not in outcome.STATUSES] == []
    assert {outcome.health(name) for name in kind} <= set(outcome.HEALTH)


def test_a_status_that_nobody_knows_is_no_answer() -> None:
    assert outcome.status("astrology").health == "broken"
    assert outcome.cell("not_run") == "NOT RUN"
    assert [outcome.cell(name) for name in outcome.PROBE[:5]] == ["yes", "no", "NO!", "YES!", "-"]


def test_a_target_gives_up_what_its_backend_lacks_and_nothing_else() -> None:
    for name in NAMES:
        found = target(name)
        assert found.policy == Policy.default().but(degrade=found.degraded)
    assert target("wardian").degraded == ()


def test_a_refusal_is_read_back_with_what_would_allow_it() -> None:
    assert refused.read(refused.document(MISSING)) == MISSING
    bare = MISSING._replace(allow=None)
    assert refused.read(refused.document(bare)) == bare
    assert refused.read_text(refused.text(MISSING))[:3] == MISSING[:3]


def test_a_wall_for_which_a_policy_has_nothing_to_give_up_is_not_tried() -> None:
    policy = Policy.default()
    nothing = Circumstances()
    ways = {wall.name: wall.way(policy, nothing, launcher=False) for wall in WALLS}
    assert {name for name, way in ways.items() if way} == {
        "seccomp", "landlock", "namespace.network", "limits",
    }  # fmt: skip
    seen = Circumstances(refusals=(MISSING,))
    assert ROOT.way(policy, seen, launcher=False) == "policy"
    assert ROOT.policy is not None
    assert ROOT.policy(policy, seen).shares == (*policy.shares, Share("/usr/share", "/usr/share"))
    assert SECCOMP.way(policy, nothing, launcher=True) == "launcher"


def test_hangs_at_one_refusal_shorten_the_time_and_another_reason_gets_all_of_it() -> None:
    patience = Patience(60)
    for _ in range(HANGS_ALIKE):
        assert patience.hung((MISSING,))
        patience.ended()  # cases in between go well
    assert patience.case_s == 60 / IMPATIENCE
    assert patience.hung((MISSING,))
    other = MISSING._replace(kind="network", action="connect", target="[::1]:80")
    assert not patience.hung((other,))
    assert patience.case_s == 60
    assert patience.hung((other,))
    assert patience.case_s == 60 / IMPATIENCE


@pytest.mark.parametrize(
    ("name", "args", "paths", "wall"),
    [
        ("prctl", (39, 0, 0, 0, 0, 0), {}, "no_new_privs"),
        ("prctl", (15, 0, 0, 0, 0, 0), {}, ""),
        ("prlimit64", (0, 7, 4096, 0, 0, 0), {}, "limits"),
        ("prlimit64", (0, 7, 0, 4096, 0, 0), {}, ""),
        ("ioctl", (3, 0x8933, 0, 0, 0, 0), {}, "namespace.network"),
        ("ioctl", (3, 0x5401, 0, 0, 0, 0), {}, ""),
        ("openat", (0, 0, 1, 0, 0, 0), {1: Path("/proc/sys/kernel/x")}, "read-only mounts"),
        ("openat", (0, 0, 0, 0, 0, 0), {1: Path("/proc/sys/kernel/x")}, ""),
        ("setresuid", (0, 0, 0, 0, 0, 0), {}, "capabilities"),
        ("getpid", (0, 0, 0, 0, 0, 0), {}, ""),
    ],
)
def test_a_call_that_walls_answer_quietly_names_the_wall(
    name: str, args: tuple[int, ...], paths: dict[int, Path], wall: str
) -> None:
    assert suspect(TracedCall(0.0, 1, 1, name, args, 0, paths)).partition(":")[0] == wall


def test_what_is_kept_counts_as_long_as_another_time_would_have_changed_nothing() -> None:
    every = repr(Selection())
    outcomes = (SuiteOutcome("A.quick", "passed", 1.0), SuiteOutcome("A.hung", "timeout", 60.0))
    kept = ProgramResult("p", "/p", "", "gtest", "wardian", "k", outcomes, 0.0, 1, "", every, 60.0)
    assert whole(kept, RunOptions()) == kept
    assert whole(kept, RunOptions(timeout_s=30)) == kept
    assert whole(kept, RunOptions(timeout_s=90)) is None
    assert set(known(kept, RunOptions(timeout_s=90))) == {"A.quick"}
    assert set(known(kept, RunOptions(timeout_s=0.5))) == {"A.hung"}
    some = whole(kept, RunOptions(Selection(("A.quick",))))
    assert some is not None
    assert [one.case for one in some.outcomes] == ["A.quick"]
    part = kept._replace(selected=repr(Selection(("A.*",))))
    assert whole(part, RunOptions()) is None  # there may be others
