"""Nights that never were: a store with a history of any length, the same for the same seed.

What changes and when is known (``EVENTS``), so that tests can check a timeline, right or wrong
one. ``python -m tests.measure.campaign.synthetic STORE [NIGHTS]`` makes one to look at.
"""

from __future__ import annotations

import datetime
import random
import sys
from collections.abc import Iterator
from typing import NamedTuple

from wardian.measure.case import Case
from wardian.measure.outcome import Outcome
from wardian.measure.store.figures import counted, skills_passing
from wardian.measure.store.model import Campaign, Figure, Finding
from wardian.measure.store.store import Store, Write

FIRST = datetime.datetime(2026, 1, 1, 2, 30, tzinfo=datetime.UTC)
SANDBOXES = ("wardian", "bubblewrap", "bubblewrap-stock", "gvisor", "host")
STOCK = "bubblewrap-stock"  # stops less than the others: what concerns the kernel is allowed
DOMAINS = ("filesystem", "network", "process", "kernel", "identity", "limits", "syscall")
SKILLS = ("csv-report", "file-inventory", "image-contact-sheet", "log-digest", "notebook")


class Event(NamedTuple):
    """From this night on (0 is the first), this case has this status; ``why`` is what changed."""

    night: int
    identity: tuple[str, str, str]
    status: str
    why: str


# Part of the history: nights are fractions of its length, so that short ones have them too.
EVENTS = (
    (0.25, ("probe", "core__network__probe_3", "wardian"), "blocked_unexpected", "policy"),
    (0.35, ("probe", "core__network__probe_3", "wardian"), "supported", "policy"),
    (0.50, ("probe", "core__kernel__probe_1", "gvisor"), "supported", "sandbox:gvisor"),
    (0.60, ("skill", "notebook/case 2", "bubblewrap"), "fail", "skill:notebook"),
    (0.75, ("check", "core__syscall__probe_0#check 1", "host"), "fail", "kernel"),
    (0.90, ("suite", "read_test:ReadTest.Case2", "wardian"), "fail", "wardian"),
)


def events(nights: int) -> list[Event]:
    """When things happen in a history of so many nights."""
    return [Event(int(part * nights), *rest) for part, *rest in EVENTS]


def cases(scale: int = 12) -> Iterator[Case]:
    """Some 60 × scale cases: probes in each domain, checks, skills' cases and a suite."""
    for sandbox in SANDBOXES:
        for domain in DOMAINS:
            for number in range(scale):
                name = f"core__{domain}__probe_{number}"
                about = {"title": f"Tries thing {number} of {domain}", "language": "python"}
                yield Case("probe", name, sandbox, domain, f"{domain}_thing_{number}", about)
                for check in range(3 if domain == "syscall" else 0):
                    about = {"title": f"Check {check}", "specimen": name}
                    capability = f"syscall_call_{number}"
                    yield Case("check", f"{name}#check {check}", sandbox, domain, capability, about)
        for skill in SKILLS:
            for number in range(max(3, scale // 3)):
                about = {"script": "scripts/main.py", "language": "python", "skill": skill}
                yield Case("skill", f"{skill}/case {number}", sandbox, skill, "", about)
        for program in ("read_test", "write_test"):
            for number in range(scale):
                suite = program.removesuffix("_test").title()
                name = f"{program}:{suite}Test.Case{number}"
                yield Case("suite", name, sandbox, program, "", {"file": f"{program}.cc"})


def usual(case: Case) -> str:
    """What a case comes to unless something happens to it."""
    number = sum(case.name.encode())
    if case.kind == "probe":
        blocked = case.group in ("kernel", "identity") and case.sandbox != "host"
        blocked = blocked and (case.sandbox, case.group) != (STOCK, "kernel")
        if number % 23 == 0:
            return "unavailable"
        return "blocked_expected" if blocked else "supported"
    if case.kind == "suite":
        return "fail" if case.sandbox == "gvisor" and number % 7 == 0 else "pass"
    return "ok" if case.kind == "check" else "pass"


def fill(store: Store, nights: int, *, scale: int = 12, seed: int = 7) -> list[Campaign]:
    """Write a history of so many nights."""
    chance = random.Random(seed)
    every = list(cases(scale))
    happening = events(nights)
    status = {one.identity: usual(one) for one in every}
    versions = {"sandbox:gvisor": "runsc 20251001", "sandbox:bubblewrap": "0.8.0"}
    versions |= {f"skill:{name}": "sha256:" + "0" * 64 for name in SKILLS}
    about = {"kernel": 0, "policy": 0, "wardian": 0}
    made = []
    with store.writing():
        for night in range(nights):
            for event in happening:
                if event.night == night:
                    status[event.identity] = event.status
                    _change(event.why, about, versions)
            made.append(_night(store, night, every, status, about, versions, chance))
    return made


def _change(why: str, about: dict[str, int], versions: dict[str, str]) -> None:
    if why in about:
        about[why] += 1
    elif why.startswith("skill:"):
        versions[why] = "sha256:" + "1" * 64
    else:
        versions[why] += ".1"


def _night(
    store: Store,
    night: int,
    every: list[Case],
    status: dict[tuple[str, str, str], str],
    about: dict[str, int],
    versions: dict[str, str],
    chance: random.Random,
) -> Campaign:
    start = FIRST + datetime.timedelta(days=night)
    campaign = store.begin(
        Campaign(
            id=0,
            uid=f"{chance.getrandbits(128):032x}",
            kind="nightly",
            night=start.date().isoformat(),
            started=_time(start),
            ended="",
            state="running",
            host="nursery",
            kernel=f"6.{12 + about['kernel']}.1",
            machine="x86_64",
            user_id=1000,
            wardian=f"0.{1 + about['wardian']}.0",
            wardian_digest=f"{about['wardian']:x}" * 64,
            policy="default",
            policy_digest="sha256:" + f"{about['policy']:x}" * 64,
            config_digest="c" * 64,
            versions=versions,
            shard="",
            owner="",
        )
    )
    writes = [
        Write(case, _outcome(case, status[case.identity]), round(chance.uniform(0.02, 0.4), 4),
              _time(start + datetime.timedelta(seconds=number // 10)), f"{number:032x}")
        for number, case in enumerate(every)
    ]  # fmt: skip
    store.record(campaign, writes)
    results = store.results(campaign.id)
    seconds = 300 if night == 0 else 30 + chance.random() * 20
    figures = [*counted(results), *skills_passing(results)]
    figures.append(Figure(campaign.id, "campaign.seconds", "", round(seconds, 1), "s", "steps"))
    store.record_figures(campaign.id, figures)
    bad = [one for one in results if one.health == "bad" and one.case.sandbox == "wardian"]
    store.record_findings(campaign.id, [_finding(campaign, one.case) for one in bad])
    for step, kind in (("probes", "probe"), ("skills", "skill"), ("suites", "suite")):
        count = sum(one.case.kind == kind for one in results)
        store.step(
            campaign.id, step, state="done", started=_time(start), ended=_time(start), total=count,
            done=count, reused=count if night else 0,
        )  # fmt: skip
    store.finish(campaign.id, "finished", _time(start + datetime.timedelta(seconds=seconds)))
    return store.campaign(campaign.id)


def _outcome(case: Case, status: str) -> Outcome:
    good = status in ("supported", "pass", "ok")
    observed = None
    if case.kind == "probe" and status != "unavailable":
        observed = "allowed" if status in ("supported", "allowed_unexpected") else "blocked"
    number = "EPERM" if observed == "blocked" else None
    refusals = [] if good else [{"kind": "syscall", "action": "mount", "target": "/proc"}]
    evidence = {"refusals": refusals, "output": "" if good else f"{case.name}: not permitted\n"}
    cause = "" if good or status == "blocked_expected" else f"{case.name} is {status}"
    return Outcome(status, cause, "as it is tried", number, observed, evidence)


def _finding(campaign: Campaign, case: Case) -> Finding:
    severity = "critical" if case.kind == "skill" else "medium"
    document = {
        "cases": [
            {
                "kind": case.kind,
                "name": case.name,
                "sandbox": case.sandbox,
                "status": "fail",
                "cause": "not permitted",
                "since": campaign.night,
            },
        ],
        "count": 1,
        "since": campaign.night,
        "skills": [case.group] if case.kind == "skill" else [],
        "wall": "syscall filter",
        "proposal": {
            "what": "policy",
            "patch": "--- a/policy.toml\n+++ b/policy.toml\n@@ -0,0 +1,2 @@\n+[syscalls]\n"
            '+allow = ["mount"]\n',
            "verified": True,
        },
    }
    slug = f"{case.kind}-{case.name}-{case.sandbox}"
    title = f"{case.name} does not hold in {case.sandbox}"
    return Finding(campaign.id, slug, severity, title, "the filter denies it", document)


def _time(when: datetime.datetime) -> str:
    return when.isoformat(timespec="milliseconds")


if __name__ == "__main__":
    with Store.open(sys.argv[1]) as made_up:
        fill(made_up, int(sys.argv[2]) if len(sys.argv) > 2 else 200)
