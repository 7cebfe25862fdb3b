"""A campaign as a list of independent units of work: what each runs, and what it depends on.

A unit is plain data, so that any process on any machine that can reach the files can perform it.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from wardian.measure.campaign.workbench import Workbench
from wardian.measure.case import Case
from wardian.measure.probes.expectations import Profile
from wardian.measure.probes.specimen import Specimen, shipped
from wardian.measure.skills.inventory import SkillEntry
from wardian.measure.store.store import key_of
from wardian.measure.suites.programs import SuiteProgram
from wardian.measure.target import Target
from wardian.runner.cases.model import SkillCase
from wardian.sandbox.policy.policy import Policy

OURS = "wardian"
BEHAVIOUR = "syscall"  # the domain of specimens that look at one call's behaviour
# In this order: what people run, then what could block it, then the rest.
PRIORITY = {"skills": 0, "probes": 1, "traces": 2, "specimens": 3, "suites": 4}


class Unit(NamedTuple):
    """``case`` is the main one; to perform it may give more (checks, cases of a program). All of
    them have the unit's key. ``needs`` are sandbox:NAME and interpreter:NAME."""

    step: str
    case: Case
    payload: Mapping[str, Any]
    depends: Mapping[str, str]
    needs: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Names all that its results depend on."""
        return key_of({**self.depends, "case": "\0".join(self.case.identity)})

    @property
    def priority(self) -> tuple[int, int, str]:
        """In our own sandbox first; what is the same elsewhere can wait."""
        elsewhere = 0 if self.case.sandbox == OURS else 1
        return elsewhere, PRIORITY.get(self.step, 9), self.case.name


def of_specimens(
    specimens: Sequence[Specimen],
    targets: Sequence[Target],
    profiles: Mapping[str, str],
    expected: Mapping[str, Profile],
    workbench: Workbench,
    timeout_s: float,
    policy: Policy,
) -> list[Unit]:
    """Probes and behaviour specimens, each in each sandbox. ``policy`` has nothing
    given up: each sandbox gives up what it has to where it is used."""
    interpreters = dict(workbench.interpreters)
    found = []
    for target in targets:
        common = workbench.depends(target.name) | {"policy": target.policy.digest}
        for one in specimens:
            depends = common | {
                "specimen": specimen_digest(one),
                "expectation": expectation_digest(expected[target.name], one),
                f"interpreter:{one.language}": interpreters.get(one.language, ""),
            }
            about = {"title": one.summary, "language": one.language, "source": f"probes/{one.path}"}
            payload = {
                "root": one.root, "path": one.path, "sandbox": target.name, "policy": policy,
                "profile": profiles[target.name], "timeout_s": timeout_s,
            }  # fmt: skip
            case = Case("probe", one.id, target.name, one.domain, one.capability, about)
            step = "specimens" if one.domain == BEHAVIOUR else "probes"
            needs = (f"sandbox:{target.name}", f"interpreter:{one.language}")
            found.append(Unit(step, case, payload, depends, needs))
    return found


def of_skills(
    entries: Iterable[SkillEntry],
    policy: Policy,
    digests: Mapping[str, str],
    workbench: Workbench,
    *,
    traced: bool,
) -> list[Unit]:
    """Skills' cases in each sandbox; ``traced``: in ours, with all that they do. ``digests`` are
    those of the policy as each sandbox puts it up."""
    interpreters = dict(workbench.interpreters)
    found = []
    for entry in entries:
        for case in entry.cases:
            language = entry.language(case.script)
            for sandbox in [OURS] if traced else digests:
                if sandbox not in digests:
                    continue
                depends = workbench.depends(sandbox) | {
                    "policy": digests[sandbox],
                    "skill": entry.digest,
                    "test": case_digest(case),
                    f"interpreter:{language}": interpreters.get(language, ""),
                }
                about = {
                    "title": case.name, "script": case.script, "language": language,
                    "skill": entry.name, "tier": entry.tier,
                }  # fmt: skip
                kind, step = ("trace", "traces") if traced else ("skill", "skills")
                payload = {
                    "skill": entry.path, "case": case.name, "sandbox": sandbox,
                    "policy": policy,
                }  # fmt: skip
                name = f"{entry.name}/{case.name}"
                # cases that want other programs say so themselves
                needs = [f"sandbox:{sandbox}"]
                needs += [f"interpreter:{language}"] if language in interpreters else []
                main = Case(kind, name, sandbox, entry.name, "", about)
                found.append(Unit(step, main, payload, depends, tuple(needs)))
    return found


def of_suites(
    programs: Sequence[SuiteProgram],
    targets: Sequence[Target],
    workbench: Workbench,
    timeout_s: float,
    policy: Policy,
) -> list[Unit]:
    """Each program in each sandbox; its cases come of it."""
    found = []
    for target in targets:
        common = workbench.depends(target.name) | {"policy": target.policy.digest}
        for one in programs:
            depends = common | {"program": one.digest, "timeout": str(timeout_s)}
            payload = {"path": one.path, "name": one.name, "protocol": one.protocol,
                       "sandbox": target.name, "policy": policy,
                       "timeout_s": timeout_s}  # fmt: skip
            case = Case("suite", one.name, target.name, one.name, "", {"program": one.name})
            found.append(Unit("suites", case, payload, depends, (f"sandbox:{target.name}",)))
    return found


# What they depend on


@functools.cache
def _file_digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def specimen_digest(specimen: Specimen) -> str:
    """Over the specimen and the helpers that lie beside the specimens."""
    whole = hashlib.sha256(_file_digest(specimen.source).encode())
    for path in _helpers(specimen.root):
        whole.update(_file_digest(path).encode())
    return f"sha256:{whole.hexdigest()}"


@functools.cache
def _helpers(root: str) -> tuple[str, ...]:
    places = dict.fromkeys((root, os.path.realpath(shipped("probes"))))
    return tuple(
        os.path.join(place, name)
        for place in places
        for name in sorted(os.listdir(place))
        if name.startswith("_") and os.path.isfile(os.path.join(place, name))
    )


def expectation_digest(profile: Profile, specimen: Specimen) -> str:
    """Digest of the expectation, including its reason, which the report shows."""
    wanted = profile.of(specimen)
    return f"{wanted.expect} {hashlib.sha256(repr(wanted).encode()).hexdigest()[:16]}"


def case_digest(case: SkillCase) -> str:
    """Of a case of a skill."""
    return "sha256:" + hashlib.sha256(repr(case).encode()).hexdigest()


def forget_files() -> None:
    """Files may have changed since: for processes that run several campaigns."""
    _file_digest.cache_clear()
    _helpers.cache_clear()
