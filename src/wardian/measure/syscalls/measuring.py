"""The measurements for coverage: read from artifacts, or made now."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from wardian.errors import NothingMatched
from wardian.measure.probes import artifact as artifacts
from wardian.measure.probes import specimen as specimens
from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.expectations import Profile
from wardian.measure.probes.running import OnDone, kept, measure
from wardian.measure.probes.specimen import Specimen
from wardian.measure.probes.witnesses import witnesses
from wardian.measure.syscalls.cells import CAPABILITY
from wardian.measure.syscalls.matrix import build
from wardian.measure.target import HOST, Target
from wardian.sandbox.policy.policy import Policy

OnAgain = Callable[[int], None]


def specimens_of_calls(probes_dir: str | None) -> list[Specimen]:
    """Raises NothingMatched if there are none, UsageError if there is no such directory."""
    every = specimens.find_specimens(specimens.probes_dir(probes_dir))
    found = [one for one in every if one.capability.startswith(CAPABILITY)]
    if not found:
        raise NothingMatched("there are no specimens of system calls")
    return found


def read(directory: str) -> list[Artifact]:
    """The artifacts of system calls. Raises InputError, and NothingMatched if there are none."""
    found = [one for one in artifacts.read_all(directory) if one.capability.startswith(CAPABILITY)]
    if not found:
        raise NothingMatched(
            f"{directory} has no measurements of system calls",
            hint="wardian syscalls coverage --artifacts DIR makes them",
        )
    return found


def decisions(policy: Policy) -> dict[str, str]:
    """What a policy decides in the place of the table."""
    return dict.fromkeys(policy.allow_syscalls, "allow") | dict.fromkeys(
        policy.deny_syscalls, "deny"
    )


def measured(
    wanted: Sequence[Specimen],
    targets: Sequence[Target],
    profiles: Mapping[str, Profile],
    decided: Mapping[str, str],
    *,
    host_named: bool,
    jobs: int | None,
    kept_in: str | None,
    on_done: OnDone,
    on_again: OnAgain,
) -> list[Artifact]:
    """Every specimen in every sandbox.

    What differs from the host for no reason is measured once more, one at a time, and what comes of
    that counts: a busy machine makes timers late, and others use the same host.
    """
    if kept_in is not None:
        for target in targets:
            artifacts.clear(kept_in, target.name, [one.id for one in wanted], others=False)
        on_done = kept(kept_in, on_done)
    with witnesses() as env:
        ask = partial(measure, env=env, profiles=profiles, host_named=host_named, on_done=on_done)
        found = ask(wanted, targets, jobs=jobs)
        matrix = build(found, os.uname().machine, decisions=decided)
        doubtful = {one.specimen for one in matrix.unexplained}
        if not doubtful:
            return found
        again = [one for one in wanted if one.id in doubtful]
        differing = {HOST, *(one.sandbox for one in matrix.unexplained)}
        where = [one for one in targets if one.name in differing]
        on_again(len(again) * len(where))
        second = ask(again, where, jobs=1)
    newer = {(one.id, one.sandbox): one for one in second}
    return [newer.get((one.id, one.sandbox), one) for one in found]
