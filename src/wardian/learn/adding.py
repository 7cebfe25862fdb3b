"""Add to a learned policy what one more run needs and the policy lacks.

The ceiling of such a run is the default policy, what the learned one grants, and what the caller's
options grant: never what the run itself asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wardian import toml
from wardian.errors import NotProven, PolicyError, UsageError
from wardian.learn.draft import Draft, Wider, draft, spelt_limits
from wardian.learn.editing import with_items, with_remark, with_summary, with_value
from wardian.learn.learned import ALLOWS, LearnedFile
from wardian.learn.needs import ObservedNeeds
from wardian.learn.places import places
from wardian.sandbox.policy.difference import differences
from wardian.sandbox.policy.file import parse_policy
from wardian.sandbox.policy.policy import Limits, Policy
from wardian.text import printable

# How many files were opened in all says little of how many were open at once.
UNSEEN = ("files",)


def ceiling(known: Policy) -> Policy:
    """What the next run may have, before the caller's options. Pure."""
    usual = Policy.default()
    pairs = zip(known.limits, usual.limits, strict=True)
    limits = Limits(*(None if None in pair else max(pair) for pair in pairs))  # type: ignore[arg-type,type-var]
    return usual._replace(
        shares=known.shares,
        work=known.work,
        network=known.network if usual.network == "none" else usual.network,
        allow_hosts=known.allow_hosts,
        deny_hosts=known.deny_hosts,
        max_connections=known.max_connections,
        max_per_second=known.max_per_second,
        max_sent_bytes=known.max_sent_bytes,
        max_received_bytes=known.max_received_bytes,
        pass_env=tuple(dict.fromkeys((*known.pass_env, *usual.pass_env))),
        set_env=known.set_env,
        limits=limits,
        allow_syscalls=tuple(dict.fromkeys((*usual.allow_syscalls, *known.allow_syscalls))),
        landlock_abi=known.landlock_abi,
        degrade=tuple(dict.fromkeys((*usual.degrade, *known.degrade))),
    )


def addition(known: Policy, needs: ObservedNeeds, allowed: Policy, wider: Wider) -> Draft:
    """A draft with only what the known policy lacks, but for limits, which are those of both."""
    one = draft(needs, allowed, wider)
    every = one.needs
    found = (
        places(every.files, every.directories, listed_too=wider.listed, known=known.base)
        if known.base is not None
        else []
    )
    calls, denied = one.calls, set(known.deny_syscalls)
    has = {(share.path, share.at, share.write) for share in known.shares}
    has |= {(path, at, False) for path, at, _ in has}
    named = {*known.pass_env, *(name for name, _ in known.set_env)}
    return one._replace(
        places=tuple(found),
        calls=calls._replace(made=calls.made & denied, kept=calls.kept & denied),
        limits=_limits(known.limits, one.limits, every.peaks, wider.times),
        shares=tuple(share for share in one.shares if tuple(share) not in has),
        passed=tuple(name for name in one.passed if name not in named),
        variables=tuple((name, value) for name, value in one.variables if name not in named),
    )


def _limits(
    known: Limits, found: Limits, peaks: Mapping[str, float], times: Mapping[str, float]
) -> Limits:
    """A limit is raised, with head-room, if the run went beyond it, or failed for it. Pure."""
    changed: dict[str, float | None] = {}
    for field in Limits._fields:
        before, after = getattr(known, field), getattr(found, field)
        beyond = field not in UNSEEN and before is not None and peaks.get(field, 0) > before
        if before is None or not (beyond or times.get(field, 1) > 1):
            continue
        if after is None or after > before:
            changed[field] = after
    return known._replace(**changed)  # type: ignore[arg-type]


def widened(
    file: LearnedFile, one: Draft, header: Iterable[str] = (), summary: Sequence[str] = ()
) -> str:
    """The file with the addition in it; all that was there stays, but for the summary at its head.
    Raises UsageError if the addition does not fit into it."""
    text = file.text
    for step in (_with_files, _with_surroundings, _with_limits, _with_calls):
        text = step(text, file.policy, one)
    if text != file.text:
        text = with_remark(text, [printable(line) for line in header])
        text = with_summary(text, ALLOWS, summary) if summary else text
    _check(file, text)
    return text


def _with_files(text: str, known: Policy, one: Draft) -> str:
    text = with_items(text, "files", "base", [(p.path, f"added: {p.why}") for p in one.places])
    for key, write in (("read", False), ("write", True)):
        given = [(str(share), "added") for share in one.shares if share.write == write]
        text = with_items(text, "files", key, given)
    return text


def _with_surroundings(text: str, known: Policy, one: Draft) -> str:
    if one.network not in ("none", known.network) and known.network != "host":
        text = with_value(text, "network", "mode", toml.quoted(one.network))
    if one.network == "names" and known.network != "host":
        more = [(rule, "added") for rule in one.hosts if rule not in known.allow_hosts]
        text = with_items(text, "network", "allow", more)
    key = "only" if "only" in toml.loads(text).get("environment", {}) else "pass"
    text = with_items(text, "environment", key, [(name, "added") for name in one.passed])
    if one.variables:
        pairs = {**dict(known.set_env), **dict(one.variables)}.items()
        value = ", ".join(f"{toml.quoted(name)} = {toml.quoted(value)}" for name, value in pairs)
        text = with_value(text, "environment", "set", f"{{ {value} }}")
    given_up = [name for name in one.allowed.degrade if name not in known.degrade]
    return with_items(text, "protections", "degrade", [(name, "added") for name in given_up])


def _with_limits(text: str, known: Policy, one: Draft) -> str:
    for field, key, value, why in spelt_limits(one):
        if getattr(one.limits, field) != getattr(known.limits, field):
            text = with_value(text, "limits", key, value, why)
    return text


def _with_calls(text: str, known: Policy, one: Draft) -> str:
    used = [name for name in one.allowed.allow_syscalls if name in one.needs.calls]
    allow = [name for name in used if name not in known.allow_syscalls]
    text = with_items(text, "syscalls", "allow", [(name, "added") for name in allow])
    calls = [(name, "added") for name in sorted(one.calls.made - set(allow))]
    calls += [(name, "added, kept") for name in sorted(one.calls.kept - set(allow))]
    return with_items(text, "syscalls", "only", calls)


def _check(file: LearnedFile, text: str) -> None:
    """It reads as a policy that allows no less in any dimension."""
    try:
        new = parse_policy(text, file.path, Policy.default())
    except PolicyError as error:
        raise UsageError(
            f"--add {file.path}: the addition does not fit into the file: {error}",
            hint="learn it anew, from all runs: wardian learn -o FILE …",
        ) from None
    if any(one.more != "b" for one in differences(file.policy, new)):
        raise NotProven(f"{file.path} would allow less than it did")
